"""Velocities of frames, as the models give those of material points, and what pushes on frames spread to bodies.

A frame f moves with its origin x and turns with ω. Of points at its origin and at its axes' ends e_i,

    ẋ = P(0)·v,      ω = ½·Σ_i e_i × (P(e_i) − P(0))·v                                                     (1)

so that a covector (p, ϑ) of (ẋ, ω) is one of v by Pᵀ, with ½·ϑ × e_i at the ends of the axes. A frame that carries only
points at its origin, as a node of a rod, has no use for ω, and its model need not know it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.state import State
from corekit.roles.body import Body

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["FrameTwists"]

_CORNERS = np.vstack([np.zeros(3), np.eye(3)])


class _Rows(NamedTuple):
    """Rows of a body's frames: where they stand among all, and four points each."""

    place: IntArray
    dofs: IntArray
    values: Array


@compiled
def _add_twists(
    place: IntArray, arms: Array, dofs: IntArray, values: Array, v: Array, speed: Array, spin: Array
) -> None:
    """Write (1) of the frames of a body."""
    points = np.empty((4, 3))
    for i in range(len(place)):
        f = place[i]
        for p in range(4):
            for x in range(3):
                points[p, x] = 0.0
                for k in range(dofs.shape[1]):
                    points[p, x] += values[4 * i + p, x, k] * v[dofs[4 * i + p, k]]
        for x in range(3):
            y, z = (x + 1) % 3, (x + 2) % 3
            speed[f, x] = points[0, x]
            for e in range(3):
                ahead, behind = points[e + 1, z] - points[0, z], points[e + 1, y] - points[0, y]
                spin[f, x] += 0.5 * (arms[f, e, y] * ahead - arms[f, e, z] * behind)


@compiled
def _spread_twists(
    place: IntArray, arms: Array, dofs: IntArray, values: Array, of_speed: Array, of_spin: Array, out: Array
) -> None:
    """Add the covector of v of those of the frames of a body."""
    force = np.empty((4, 3))
    for i in range(len(place)):
        f = place[i]
        for x in range(3):
            y, z = (x + 1) % 3, (x + 2) % 3
            force[0, x] = of_speed[f, x]
            for e in range(3):
                force[e + 1, x] = 0.5 * (of_spin[f, y] * arms[f, e, z] - of_spin[f, z] * arms[f, e, y])
                force[0, x] -= force[e + 1, x]
        for p in range(4):
            for k in range(dofs.shape[1]):
                for x in range(3):
                    out[dofs[4 * i + p, k]] += force[p, x] * values[4 * i + p, x, k]


@final
class FrameTwists:
    """(1) of some frames at a state.

    Args:
        world: its terms. state: one of its states. frames: indices of world frames, each once, shape (n,).
        turns: whether ω of each is wanted, shape (n,).
        rotation: of these frames, shape (n, 3, 3).

    Attributes:
        rotation: as given.
    """

    def __init__(
        self, world: WorldTerms, state: State, frames: IntArray, turns: BoolArray, rotation: Array
    ) -> None:
        self._nv, self._count, self.rotation = world.nv, len(frames), rotation
        # e_i of every frame as rows, zero of those that do not turn
        self._arms = np.ascontiguousarray(np.swapaxes(rotation, 1, 2) * turns[:, None, None])
        self._rows: list[_Rows] = []
        for terms in world.bodies:
            body = terms.body
            first = body.first_frame
            own = np.flatnonzero((frames >= first) & (frames < first + len(body.description.frames)))
            if len(own):
                self._rows.append(_rows_of(body, state, frames[own] - first, turns[own], own))

    def multiply(self, v: Array) -> tuple[Array, Array]:
        """ẋ and ω for v, both (n, 3)."""
        speed, spin = np.zeros((2, self._count, 3))
        for place, dofs, values in self._rows:
            _add_twists(place, self._arms, dofs, values, v, speed, spin)
        return speed, spin

    def multiply_transposed(self, place: Array, turn: Array) -> Array:
        """Covector of v, shape (nv,), for those of ẋ and ω, both (n, 3)."""
        out = np.zeros(self._nv)
        for at, dofs, values in self._rows:
            _spread_twists(at, self._arms, dofs, values, place, turn, out)
        return out


def _rows_of(body: Body, state: State, frames: IntArray, turns: BoolArray, place: IntArray) -> _Rows:
    """The rows of some frames of a body, with velocities of the world."""
    model, count, width = body.abilities.point_jacobian, 4 * len(frames), body.description.jacobian_width
    assert model is not None  # composition refuses shapes of others where something may touch
    dofs, values = np.zeros((count, width), dtype=np.int64), np.zeros((count, 3, width))
    local = (_CORNERS[None] * turns[:, None, None]).reshape(-1, 3)
    model.compute_point_jacobians(state.body_states[body.index], np.repeat(frames, 4), local, dofs, values)
    return _Rows(place, dofs + body.first_v, values)
