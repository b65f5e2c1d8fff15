"""Tracking of a motion by a linear-quadratic regulator that varies with time.

    u = u*_k − s_k − K_k·e_k,    e = (C_k·(q − q*_k), v − v*_k)                                (1)

at the instants t_k of the motion, held until the next. K_k and s_k are the least of `riccati` (2) for
e_{k+1} = A_k·e_k + B_k·δu_k + c_k. The file of the motion holds A, B, c and the charts C beside it: differences of the
simulator's own steps, contacts among them, of the world that it was planned for. Nothing is added to the body: unlike a
stiff joint control that a model takes over, the law leaves its stiffness and damping alone.

A contact that is closed along the motion is closed in its differences, so that the law knows no way back to it: where
an error of the model opens it, the law is not valid any more.

Weights are per body: `coordinates` on ξ², `rates` on v², `final` times both at the end; `effort` is that of the inputs.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.roles.component import BuildContext
from corekit.roles.controller import ControlledWorld, Controller, Inputs
from corekit_feedback.config import TrackingLqrConfig
from corekit_feedback.motion_file import MotionFile
from corekit_feedback.riccati import TrackingGains, solve_tracking

__all__ = ["TrackingLqr"]


@final
class TrackingLqr(Controller):
    """Implements (1).

    Raises:
        ConfigError: the file holds no motion with its differences, or the weights name none of its bodies.
    """

    def __init__(self, config: TrackingLqrConfig, context: BuildContext | None = None) -> None:
        self._motion = motion = MotionFile(config.file, (context or BuildContext()).path or "tracking-lqr")
        q, arrays = np.diag(motion.weights(config.coordinates, config.rates)), motion.arrays
        r = config.effort * np.eye(arrays["inputs"].shape[1])
        self.gains: TrackingGains = solve_tracking(
            arrays["a"], arrays["b"], arrays["c"], q, r, config.final * q
        )

    def compute_inputs(self, world: ControlledWorld) -> Inputs:
        motion, gains = self._motion, self.gains
        k = motion.interval(world)
        error = np.concatenate([motion.displacement(world, k), world.state.v - motion.arrays["v"][k]])
        u = motion.arrays["inputs"][k] - gains.offset[k] - gains.feedback[k] @ error
        return motion.by_channel(u)
