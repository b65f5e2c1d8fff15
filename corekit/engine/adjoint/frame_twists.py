"""Velocities of frames, as the models give those of material points, and what pushes on frames spread to bodies.

A frame f moves with its origin x and turns with ω. Of points at its origin and at its axes' ends e_i,

    ẋ = P(0)·v,      ω = ½·Σ_i e_i × (P(e_i) − P(0))·v                                                     (1)

so that a covector (p, ϑ) of (ẋ, ω) is one of v by Pᵀ, with ½·ϑ × e_i at the ends of the axes. A frame that carries only
points at its origin, as a node of a rod, has no use for ω, and its model need not know it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

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
        self._arms = np.swapaxes(rotation, 1, 2) * turns[:, None, None]
        self._rows: list[_Rows] = []
        for terms in world.bodies:
            body = terms.body
            first = body.first_frame
            own = np.flatnonzero((frames >= first) & (frames < first + len(body.description.frames)))
            if len(own):
                self._rows.append(_rows_of(body, state, frames[own] - first, turns[own], own))

    def multiply(self, v: Array) -> tuple[Array, Array]:
        """ẋ and ω for v, both (n, 3)."""
        points = np.zeros((self._count, 4, 3))
        for rows in self._rows:
            points[rows.place] = np.einsum("pxk,pk->px", rows.values, v[rows.dofs]).reshape(-1, 4, 3)
        spin = 0.5 * np.cross(self._arms, points[:, 1:] - points[:, :1]).sum(axis=1)
        return points[:, 0], spin

    def multiply_transposed(self, place: Array, turn: Array) -> Array:
        """Covector of v, shape (nv,), for those of ẋ and ω, both (n, 3)."""
        force = np.empty((self._count, 4, 3))
        force[:, 1:] = 0.5 * np.cross(turn[:, None, :], self._arms)
        force[:, 0] = place - force[:, 1:].sum(axis=1)
        out = np.zeros(self._nv)
        for rows in self._rows:
            given = np.einsum("pxk,px->pk", rows.values, force[rows.place].reshape(-1, 3))
            out += np.bincount(rows.dofs.ravel(), given.ravel(), minlength=self._nv)
        return out


def _rows_of(body: Body, state: State, frames: IntArray, turns: BoolArray, place: IntArray) -> _Rows:
    """The rows of some frames of a body, with velocities of the world."""
    model, count, width = body.abilities.point_jacobian, 4 * len(frames), body.description.jacobian_width
    assert model is not None  # composition refuses shapes of others where something may touch
    dofs, values = np.zeros((count, width), dtype=np.int64), np.zeros((count, 3, width))
    local = (_CORNERS[None] * turns[:, None, None]).reshape(-1, 3)
    model.compute_point_jacobians(state.body_states[body.index], np.repeat(frames, 4), local, dofs, values)
    return _Rows(place, dofs + body.first_v, values)
