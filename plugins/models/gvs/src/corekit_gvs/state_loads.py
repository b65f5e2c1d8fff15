"""Loads that Python functions of users work out from where a place is and how it moves, between sweep and forces.

    F = (m; f) = function(t, p, R, V),   V = (ω; v) of p                                                 (1)

about the place p with its axes R, in world axes, or in those of the frame if the load follows. With J of p, and J̇ by
(1) of `jacobian_rates`, q_k turns and shifts p by J_k and changes V, by parts, by J̇_k + J_ω,k × V:

    ∂F/∂q_k = G_x·J_k + G_v·(J̇_k + J_ω,k × V),   ∂F/∂q̇_k = G_v·J_k                                      (2)

G_x and G_v, (6, 6), are central differences of the function: of a turn and a shift, and of ω and v. That levers and
axes turn is in `tangent`, as for any load.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit_gvs.python_functions import call, function_of
from corekit_gvs.tables import (
    COLUMNS,
    JACOBIAN_RATES,
    JACOBIANS,
    NODES,
    PIECES,
    PLACES,
    RATE_ROWS,
    STATE,
    Packed,
    integers_of,
    work_of,
)  # fmt: skip

__all__ = ["StateLoad"]

_SMALL = 1e-5
"""Width of the differences, relative to 1 + |velocity|; turns in rad, shifts in m."""


@final
class StateLoad:
    """One load by (1).

    Args:
        entry: the function, or its name.
        path: where it stands in the options.
        node: node of the place.
        row: its row in WRENCHES.
        offset: of p in the frame of the node [m], (3,).
        follows: whether F is in the axes of the frame.
    """

    def __init__(self, entry: Any, path: str, node: int, row: int, offset: Array, follows: bool) -> None:
        self._function, self._path = function_of(entry, path), path
        self._node, self._row = node, row
        self._offset, self._follows = offset, follows

    def _place(self, packed: Packed) -> tuple[Array, Array, Array, Array]:
        """p, R, V and the lever from the node to p."""
        state = work_of(packed, PLACES)[STATE * self._node : STATE * (self._node + 1)]
        rotation = state[:9].reshape(3, 3).copy()
        arm, omega = rotation @ self._offset, state[12:15].copy()
        return state[9:12] + arm, rotation, np.concatenate([omega, state[15:18] + np.cross(omega, arm)]), arm

    def _wrench(self, t: float, position: Array, rotation: Array, velocity: Array) -> Array:
        return call(self._function, self._path, (6,), t, position.copy(), rotation.copy(), velocity.copy())

    def update(self, packed: Packed, wrenches: Array, t: float) -> None:
        """Write (1) after a sweep with velocities."""
        wrenches[self._row, :6] = self._wrench(t, *self._place(packed)[:3])

    def add_slopes(
        self, packed: Packed, pole: Array, t: float, moves: bool, stiffness: Array, damping: Array
    ) -> None:
        """Add −Jᵀ·(2) to K and D, after `jacobian_rates` about the pole where the robot moves."""
        position, rotation, velocity, arm = self._place(packed)
        by_place, by_velocity = self._differences(t, position, rotation, velocity)
        nodes, pieces = integers_of(packed, NODES, 8), integers_of(packed, PIECES, 4)
        piece, at = pieces[nodes[self._node, 1]], nodes[self._node, 4]
        active = int(piece[0])
        columns = integers_of(packed, COLUMNS, 1).ravel()[piece[2] : piece[2] + active]
        J = work_of(packed, JACOBIANS)[6 * at : 6 * (at + active)].reshape(6, active).copy()
        J[3:] += np.cross(J[:3].T, arm).T
        changes = np.zeros((6, active))
        if moves:
            first = RATE_ROWS * at
            changes[:] = work_of(packed, JACOBIAN_RATES)[first : first + 6 * active].reshape(6, active)
            changes[3:] += np.cross(changes[:3].T, position - pole).T
            for part in (slice(0, 3), slice(3, 6)):
                changes[part] += np.cross(J[:3].T, velocity[part]).T
        block = np.ix_(columns, columns)
        stiffness[block] -= J.T @ (by_place @ J + by_velocity @ changes)
        damping[block] -= J.T @ by_velocity @ J

    def _differences(
        self, t: float, position: Array, rotation: Array, velocity: Array
    ) -> tuple[Array, Array]:
        """G_x and G_v in world axes."""
        steps = _SMALL * (1.0 + np.abs(velocity))

        def placed(change: Array) -> Array:
            spin = np.cross(change[:3], np.eye(3)).T  # change × each axis, in columns
            turned = rotation + spin @ rotation + 0.5 * spin @ spin @ rotation
            return self._wrench(t, position + change[3:], turned, velocity)

        def moving(change: Array) -> Array:
            return self._wrench(t, position, rotation, velocity + change)

        found = [_slopes(placed, np.full(6, _SMALL)), _slopes(moving, steps)]
        if self._follows:
            found = [np.vstack([rotation @ each[:3], rotation @ each[3:]]) for each in found]
        return found[0], found[1]


def _slopes(function: Callable[[Array], Array], steps: Array) -> Array:
    """Central differences by six changes, one a column."""
    ahead, behind = ([function(sign * each) for each in np.diag(steps)] for sign in (1.0, -1.0))
    return ((np.array(ahead) - np.array(behind)) / (2.0 * steps[:, None])).T
