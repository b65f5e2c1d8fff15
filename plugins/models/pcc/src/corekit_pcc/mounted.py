"""A base that moves, in Python: its coordinates, and the arm's matrices with those of the base.

q = (x [m], unit quaternion w x y z, the arm's q),      v = (V [m/s], ω [rad/s], the arm's q̇), world axes     (1)
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.geometry.frames import quat_wxyz_from_rotation
from corekit.geometry.pose_coordinates import move_pose, read_pose
from corekit.roles.model import Coordinate
from corekit_pcc.arm import Arm
from corekit_pcc.free_base import BASE, add_base_columns
from corekit_pcc.packed import Packed, packed_base_dynamics, packed_base_tangent, packed_poses, packed_rows

__all__ = ["BASE", "BASE_COORDINATES", "BASE_VELOCITIES", "POSE", "MountedBase", "place"]

POSE = 7
"""Coordinates of the base."""
BASE_COORDINATES = (
    *(Coordinate(f"base-{axis}", "m") for axis in "xyz"),
    *(Coordinate(f"base-quat-{part}", "1") for part in "wxyz"),
)
BASE_VELOCITIES = (
    *(Coordinate(f"base-velocity-{axis}", "m/s") for axis in "xyz"),
    *(Coordinate(f"base-angular-velocity-{axis}", "rad/s") for axis in "xyz"),
)


def place(state: State, position: Array, rotation: Array, velocity: Array, angular_velocity: Array) -> None:
    """Write pose and twist of the base into q and v."""
    state.q[:3], state.q[3:POSE] = position, quat_wxyz_from_rotation(rotation)
    state.v[:3], state.v[3:BASE] = velocity, angular_velocity


@final
class MountedBase:
    """Adds the rows and columns of the base to the arm's matrices.

    Args:
        arm, packed: the arm's tables; pose and spin of the base are written into the packed ones.
    """

    def __init__(self, arm: Arm, packed: Packed) -> None:
        n = 3 * len(arm.length)
        self._packed = packed
        base = packed.table[-18:]
        self._position, self._rotation, self._spin = base[:3], base[3:12].reshape(3, 3), base[15:]
        # arc parameters are affine in q: E of `chambers`, block by block
        self._to_arc = np.zeros((n, n))
        for i, block in enumerate(arm.to_arc):
            self._to_arc[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = block
        self._rows = np.zeros((BASE, BASE + n + 1))
        self._stiffness, self._damping = np.zeros((2, BASE + n, 3 + n))

    def settle(self, state: State) -> tuple[Array, Array]:
        """Show the kernels the base of a state; return q and v of the arm, views."""
        read_pose(state.q, self._position, self._rotation)
        self._spin[:] = state.v[3:BASE]
        return state.q[POSE:], state.v[BASE:]

    def add_to_dynamics(
        self, q: Array, v: Array, arm_mass: Array, arm_force: Array, coriolis: bool, mass: Array, force: Array
    ) -> None:
        """Write M and f from those of the arm, of which the last `settle` gave q and v."""
        rows = self._rows
        packed_base_dynamics(*self._packed, q, v, coriolis, rows)
        coupling = rows[:, BASE:-1] @ self._to_arc
        mass[:BASE, :BASE], mass[BASE:, BASE:] = rows[:, :BASE], arm_mass
        mass[:BASE, BASE:], mass[BASE:, :BASE] = coupling, coupling.T
        force[:BASE], force[BASE:] = rows[:, -1], arm_force

    def add_to_tangent(
        self, q: Array, v: Array, arm: tuple[Array, Array], coriolis: bool, stiffness: Array, damping: Array
    ) -> None:
        """Write K and D from those of the arm."""
        packed_base_tangent(*self._packed, q, v, coriolis, self._stiffness, self._damping)
        for found, own, out in zip((self._stiffness, self._damping), arm, (stiffness, damping), strict=True):
            out[:, :3] = 0.0
            out[:BASE, 3:BASE], out[:BASE, BASE:] = found[:BASE, :3], found[:BASE, 3:] @ self._to_arc
            out[BASE:, 3:BASE], out[BASE:, BASE:] = self._to_arc.T @ found[BASE:, :3], own

    def write_rows(
        self,
        q: Array,
        v: Array,
        frames: tuple[IntArray, Array],
        frame: IntArray,
        local: Array,
        dofs: IntArray,
        values: Array,
    ) -> None:
        """Write rows of points fixed in frames; `frames` are section and place of each."""
        count, total = len(frame), len(frames[0])
        own_dofs, own_values = np.empty((count, len(q)), dtype=np.int64), np.empty((count, 3, len(q)))
        position, rotation = np.empty((total, 3)), np.empty((total, 3, 3))
        packed_rows(*self._packed, q, v, *frames, frame, local, own_dofs, own_values)
        packed_poses(*self._packed, q, v, *frames, position, rotation)
        add_base_columns(self._position, frame, local, position, rotation, own_dofs, own_values, dofs, values)

    @staticmethod
    def move(start: State, velocity: Array, step: float, out: State) -> None:
        """Move the base with v̄ over h."""
        move_pose(start.q, velocity, step, out.q)
