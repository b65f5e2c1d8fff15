"""Pose and velocity of one frame of a body, for controllers and sensors."""

from __future__ import annotations

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.dynamics.bodies import Body
from corekit.errors import ControlError

__all__ = ["FrameState", "frame_state"]


@frozen(eq=False)
class FrameState:
    """A frame in the world.

    Args:
        position: of its origin [m], shape (3,).
        rotation: its axes as columns, shape (3, 3).
        velocity: of its origin [m/s], shape (3,).
        angular_velocity: in world axes [rad/s], shape (3,).
        jacobian: ∂velocity/∂v of the body's velocities, shape (3, nv).
    """

    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    jacobian: Array


def frame_state(body: Body, state: State, index: int) -> FrameState:
    """Return a frame of a body at a state of the body.

    With ẋ₀ of the origin and ẋᵢ of the ends of the axes rᵢ, ω = ½·Σᵢ rᵢ × (ẋᵢ − ẋ₀).

    Raises:
        ControlError: the model gives no velocities of points.
    """
    if "point-jacobian" not in body.abilities:
        raise ControlError(
            f"body {body.name!r}: its model gives no velocities of points (ability point-jacobian)"
        )
    description = body.description
    positions, rotations = np.zeros((len(description.frames), 3)), np.zeros((len(description.frames), 3, 3))
    body.model.compute_frame_poses(state, positions, rotations)
    width = description.jacobian_width
    dofs, values = np.zeros((4, width), dtype=np.int64), np.zeros((4, 3, width))
    local = np.vstack([np.zeros(3), np.eye(3)])
    body.model.compute_point_jacobians(state, np.full(4, index), local, dofs, values)
    rates = np.einsum("cik,ck->ci", values, state.v[dofs])
    axes = rotations[index]
    jacobian = np.zeros((3, body.nv))
    np.add.at(jacobian.T, dofs[0], values[0].T)
    return FrameState(
        position=positions[index],
        rotation=axes,
        velocity=rates[0],
        angular_velocity=0.5 * np.cross(axes.T, rates[1:] - rates[0]).sum(axis=0),
        jacobian=jacobian,
    )
