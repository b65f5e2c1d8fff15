"""What impulses along the normals of contacts do to the bodies: δ = G·J_nᵀ of the matrix that was factorised last.

Along its normal, alone, a contact is moved by W_nn = J_n·δ per impulse, so that a speed at the contact comes with

    |δ|/W_nn,     |v| = max_j r_j·|v_j|                                                              (1)

of the surface, r the `velocity_scale`: 1 where a body is pushed as it is, ℓ/a at the distance a from a clamp about
which a length ℓ turns. Gaps are known to rounding ϵ·X of places, so the speeds that hold them are known to ϵ·X/h, and
v⁺ of a step in which such contacts press to (1) times that. An iteration cannot come nearer.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.stage_solver import velocity_norms

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["AT_ONCE", "largest_response", "mobility", "normal_responses"]

AT_ONCE: Final = 64
"""Contacts whose δ is computed at once, which bounds the memory that it takes."""
_TINY: Final = sys.float_info.min


def normal_responses(world: WorldTerms, some: IntArray) -> tuple[Array, Array]:
    """J_n and δ of some contacts, both (k, nv)."""
    index, jacobian = some * world.jacobian.width, world.jacobian
    rows = jacobian.to_dense()[index] if jacobian.dense else jacobian.rows.to_dense(world.nv, index)
    columns = np.array(rows.T, order="F")
    world.factorisation.solve_columns(columns)
    return rows, columns.T


@compiled
def mobility(row: Array, moved: Array) -> float:
    """W_nn of one contact, at least 0; `row` and `moved` are its J_n and δ, both (nv,)."""
    total = 0.0
    for i in range(len(row)):
        total += row[i] * moved[i]
    return max(total, 0.0)


def largest_response(world: WorldTerms, pressed: IntArray, scale: Array) -> float:
    """The largest (1) of some contacts, at least 1; contacts that nothing can move have none."""
    largest = 1.0
    for begin in range(0, len(pressed), AT_ONCE):
        for row, moved in zip(*normal_responses(world, pressed[begin : begin + AT_ONCE]), strict=True):
            moves = mobility(row, moved)
            largest = max(largest, velocity_norms(moved, scale)[1] / moves if moves > _TINY else 0.0)
    return largest
