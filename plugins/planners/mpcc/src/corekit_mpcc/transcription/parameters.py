"""The numbers of a task as parameters of the prepared programs."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit_mpcc.cost import Cost
from corekit_mpcc.situation import Situation
from corekit_mpcc.transcription.price import WEIGHTS
from corekit_mpcc.transcription.stage import Stage

__all__ = ["shared_parameters", "weight_vector"]


def weight_vector(cost: Cost, *, dynamic: bool) -> Array:
    """The weights in the order of `WEIGHTS`; the kinematic stage has its own for the change of velocities."""
    names = ["kinematic_acceleration" if name == "acceleration" and not dynamic else name for name in WEIGHTS]
    return np.array([getattr(cost, name) for name in names], dtype=float)


def shared_parameters(stage: Stage, situation: Situation, q: Array, cost: Cost | None = None) -> Array:
    """s of a stage.

    Args:
        q: coordinates at the start, from which `Cost.shape` counts.
        cost: instead of the task's.
    """
    task, ball = situation.config, situation.ball
    return stage.shared.pack(
        {
            "h": task.horizon.step,
            "mu": task.friction,
            "eps_sd": task.search.smoothing,
            "radius": ball.radius,
            "mass": ball.mass,
            "moment": ball.moment,
            "angular_damping": ball.angular_damping,
            "linear_damping": ball.linear_damping,
            "weight": ball.weight,
            "centre0": ball.position,
            "quat0": ball.quat_wxyz,
            "quat_target": situation.target_quat_wxyz,
            "centre_target": situation.target_position,
            "l_ref": q,
            "weights": weight_vector(task.cost if cost is None else cost, dynamic=stage.dynamic),
        }
    )
