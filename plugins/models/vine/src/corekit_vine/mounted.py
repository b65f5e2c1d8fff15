"""A robot on a base that moves: the coordinates of the base, and sparse matrices with its rows and columns.

q = (x [m], unit quaternion w x y z, the robot's q),     v = (V [m/s], ω [rad/s], the robot's v), world axes   (1)
"""

from __future__ import annotations

from typing import Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.geometry.frames import quat_wxyz_from_rotation
from corekit.geometry.pose_coordinates import move_pose, read_pose
from corekit.geometry.vectors import add_scaled, row, subtract
from corekit.linalg.matrices import Sparse, SparsePattern
from corekit.roles.model import Coordinate
from corekit_vine.chain import body_inertia
from corekit_vine.config import VineConfig
from corekit_vine.inertia import compute_base_inertia, compute_gyration
from corekit_vine.moving_base import BASE, add_inertia, add_inertia_derivatives
from corekit_vine.tip_load import add_tip_load, add_tip_load_derivatives

__all__ = ["BASE", "BASE_COORDINATES", "BASE_VELOCITIES", "POSE", "MountedChain"]

POSE: Final = 7
"""Coordinates of the base."""
_BANDS: Final = 5
"""Half-width of the robot's own K."""
BASE_COORDINATES = (
    *(Coordinate(f"base-{axis}", "m") for axis in "xyz"),
    *(Coordinate(f"base-quat-{part}", "1") for part in "wxyz"),
)
BASE_VELOCITIES = (
    *(Coordinate(f"base-velocity-{axis}", "m/s") for axis in "xyz"),
    *(Coordinate(f"base-angular-velocity-{axis}", "rad/s") for axis in "xyz"),
)


@compiled
def _add_band(band: Array, where: IntArray, out: Array) -> None:
    """Add a symmetric lower band (w + 1, n) to `out`; `where` (2, w + 1, n) are both places of its entries."""
    for d in range(band.shape[0]):
        for j in range(band.shape[1] - d):
            out[where[0, d, j]] += band[d, j]
            if d > 0:
                out[where[1, d, j]] += band[d, j]


@compiled
def _add_base_columns(
    base: Array, position: Array, rotation: Array, frame: IntArray, local: Array, own_dofs: IntArray, own: Array,
    dofs: IntArray, values: Array,
) -> None:  # fmt: skip
    """Write rows of points from those in the robot's velocities, (c, 3) and (c, 3, 3): e_i of V, e_j × x of ω."""
    for c in range(frame.size):
        f = frame[c]
        x = subtract(row(position, f), (base[0], base[1], base[2]))
        for k in range(3):
            x = add_scaled(x, local[c, k], (rotation[f, 0, k], rotation[f, 1, k], rotation[f, 2, k]))
        for k in range(BASE):
            dofs[c, k] = k
            for i in range(3):
                values[c, i, k] = 1.0 if k == i else 0.0
        # e_j × x
        values[c, 1, 3], values[c, 2, 3] = -x[2], x[1]
        values[c, 0, 4], values[c, 2, 4] = x[2], -x[0]
        values[c, 0, 5], values[c, 1, 5] = -x[1], x[0]
        for k in range(3):
            dofs[c, BASE + k] = BASE + own_dofs[c, k]
            for i in range(3):
                values[c, i, BASE + k] = own[c, i, k]


@compiled
def _write_particles(scalars: Array, lengths: Array, gyration: float, out: Array) -> None:
    """Write the mass of every body, and J − ½·J_x, ½·J_x, ½·J_x of its axes as particles, (n, 4)."""
    for i in range(len(out)):
        mass, across = body_inertia(scalars, lengths, i // 2)
        half = 0.5 * mass * gyration
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = mass, across - half, half, half


@final
class MountedChain:
    """What a base that moves adds to a robot.

    Args:
        config: of the robot. gravity: in world axes [m/s²]. scalars: of its `Chain`.

    Attributes:
        position, rotation: of the base at the last `settle`.
    """

    def __init__(self, config: VineConfig, gravity: Array, scalars: Array) -> None:
        n = 3 * config.bodies
        self._gravity, self._scalars = gravity, scalars
        self._gyration, self._inertia = compute_gyration(config), np.zeros((config.bodies, 4))
        self._base = np.array(compute_base_inertia(config))
        self.position, self.rotation = np.zeros(3), np.zeros((3, 3))
        self._table = np.zeros((10, 3))
        local = np.concatenate(
            [np.tile(np.arange(BASE), (config.bodies, 1)), BASE + np.arange(n).reshape(-1, 3)], axis=1
        )
        rows, columns = np.broadcast_arrays(local[:, :, None], local[:, None, :])
        below = np.minimum(np.arange(_BANDS + 1)[:, None] + np.arange(n), n - 1) + BASE
        across = np.broadcast_to(np.arange(n) + BASE, below.shape)
        self._pattern = SparsePattern.from_entries(
            BASE + n, np.concatenate([rows.ravel(), below.ravel()]), np.concatenate([columns.ravel(), across.ravel()])
        )  # fmt: skip
        self._where = self._pattern.where(rows.ravel(), columns.ravel()).reshape(rows.shape)
        self._band = np.stack(
            [self._pattern.where(a.ravel(), b.ravel()).reshape(a.shape) for a, b in ((below, across), (across, below))]
        )  # fmt: skip

    def new_matrix(self) -> Sparse:
        """A buffer for M, K or D."""
        return Sparse(self._pattern)

    def settle(self, state: State) -> State:
        """Place the base as a state says; return the robot's own state, views."""
        read_pose(state.q, self.position, self.rotation)
        return State(state.q[POSE:], state.v[BASE:], state.aux, state.time)

    @staticmethod
    def place(state: State, position: Array, rotation: Array, velocity: Array, spin: Array) -> None:
        """Write pose and twist of the base into q and v."""
        state.q[:3], state.q[3:POSE] = position, quat_wxyz_from_rotation(rotation)
        state.v[:3], state.v[3:BASE] = velocity, spin

    @staticmethod
    def move(start: State, velocity: Array, step: float, out: State) -> None:
        """Move the base with v̄ over h."""
        move_pose(start.q, velocity, step, out.q)

    def _particles(self, lengths: Array) -> Array:
        _write_particles(self._scalars, lengths, self._gyration, self._inertia)
        return self._inertia

    def add_inertia(
        self, lengths: Array, own: State, v: Array, mass: Array, force: Array, *, moving: bool = True
    ) -> None:
        """Add M and the forces of inertia and weight; of weight alone if not `moving`."""
        add_inertia(
            self.rotation, self._base, self._particles(lengths), own.q, v, self._gravity, 1.0 if moving else 0.0,
            self._table, self._where, mass, force,
        )  # fmt: skip

    def add_tip_load(self, lengths: Array, own: State, inputs: Array, force: Array) -> None:
        """Add to the force on the base what the load at the tip does to it."""
        add_tip_load(self.rotation, lengths, own.q, inputs, force)

    def add_derivatives(
        self, lengths: Array, own: State, v: Array, inputs: Array, stiffness: Array, damping: Array
    ) -> None:
        """Add K and D of inertia and weight, and of what the load at the tip does to the base."""
        add_tip_load_derivatives(self.rotation, lengths, own.q, inputs, self._where[-1], stiffness)
        add_inertia_derivatives(
            self.rotation, self._particles(lengths), own.q, v, self._gravity, self._table, self._where, stiffness,
            damping,
        )  # fmt: skip

    def add_band(self, band: Array, out: Array) -> None:
        """Add a lower band in the robot's own velocities."""
        _add_band(band, self._band[:, : len(band)], out)

    def height_energy(self, lengths: Array, own: State) -> float:
        """Potential energy of the weight [J], from the world's origin."""
        flat = own.q.reshape(-1, 3)
        places = self.position + flat[:, :1] * self.rotation[:, 0] + flat[:, 1:2] * self.rotation[:, 2]
        return -float(
            self._particles(lengths)[:, 0] @ (places @ self._gravity)
            + self._base[0] * self.position @ self._gravity
        )

    def write_rows(
        self, poses: tuple[Array, Array], points: tuple[IntArray, Array], own: tuple[IntArray, Array], dofs: IntArray,
        values: Array,
    ) -> None:  # fmt: skip
        """Write rows of points, frames and places in them, from poses of the frames and rows of the robot alone."""
        _add_base_columns(self.position, *poses, *points, *own, dofs, values)
