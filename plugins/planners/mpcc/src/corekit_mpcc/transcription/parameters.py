"""Numbers of a task as parameters of the prepared programs."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit_mpcc.cost import Cost
from corekit_mpcc.resolved_task import ResolvedTask
from corekit_mpcc.transcription.stage import Stage
from corekit_mpcc.transcription.stage_cost import WEIGHTS

__all__ = ["shared_parameters", "weight_vector"]


def weight_vector(cost: Cost, *, dynamic: bool) -> Array:
    """Return the weights in the order of `WEIGHTS`; the kinematic phase has its own acceleration weight."""
    names = ["kinematic_acceleration" if name == "acceleration" and not dynamic else name for name in WEIGHTS]
    return np.array([getattr(cost, name) for name in names], dtype=float)


def shared_parameters(
    stage: Stage,
    resolved_task: ResolvedTask,
    q: Array,
    cost: Cost | None = None,
    smoothing: float | None = None,
) -> Array:
    """Return s of a stage.

    Args:
        stage: the stage.
        resolved_task: the task in its world.
        q: initial coordinates, the reference of `Cost.posture`.
        cost: weights that replace those of the task.
        smoothing: ε that replaces that of the search [m²].
    """
    config, ball = resolved_task.config, resolved_task.ball
    return stage.shared.pack(
        {
            "h": config.horizon.step,
            "mu": config.friction,
            "eps_sd": config.search.smoothing if smoothing is None else smoothing,
            "radius": ball.radius,
            "mass": ball.mass,
            "moment": ball.moment,
            "angular_damping": ball.angular_damping,
            "linear_damping": ball.linear_damping,
            "weight": ball.weight,
            "centre0": ball.position,
            "quat0": ball.quat_wxyz,
            "quat_target": resolved_task.target_quat_wxyz,
            "centre_target": resolved_task.target_position,
            "l_ref": q,
            "weights": weight_vector(config.cost if cost is None else cost, dynamic=stage.dynamic),
        }
    )
