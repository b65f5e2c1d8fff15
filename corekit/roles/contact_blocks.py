"""A problem that is reduced to impulses, its W dense or, of many contacts, by the bodies that these touch.

Each contact c touches a few bodies b, each of which has its own velocities:

    w_c = Σ_b J_cb·v_b + w₀_c,    v_b = Σ_c G_b·J_cbᵀ·λ_c                                   (1)
    W_cd = Σ_b J_cb·G_b·J_dbᵀ, zero where c and d touch no common body                       (2)

The work for (1) is linear in the number of contacts. The kernel gives such a problem for every island, that is for
contacts that are connected by bodies; islands do not depend on each other. What joints hold to each other counts as
one body. Where rows with bounds act on bodies of an island, W of that island is given dense.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
from attrs import define

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.roles.contact import StepProblem

__all__ = ["ContactBlocks", "ReducedStepProblem", "add_change", "multiply_blocks"]

_NO_ID: IntArray = np.zeros(0, dtype=np.int64)
_NOTHING = np.zeros(0)
_NO_RECORD = np.zeros((0, 0))


class ContactBlocks(NamedTuple):
    """The blocks of (1). A touch is a pair of a contact and a body that can move.

    Attributes:
        first: touches of contact c are first[c] ≤ e < first[c + 1], shape (m + 1,).
        velocity, size: where the body's velocities begin in v, and how many it has, per touch, shape (E,).
        place: where J_cb, and (G_b·J_cbᵀ)ᵀ, each (width, size) by rows, begin in the arrays below, shape (E,).
        jacobian, response: these blocks of all islands.
        body_first, body_touch: touches of body b are body_touch[body_first[b] : body_first[b + 1]], by contacts.
        contact: of every touch, shape (E,).
        velocity_count: length of v.
    """

    first: IntArray
    velocity: IntArray
    size: IntArray
    place: IntArray
    jacobian: Array
    response: Array
    body_first: IntArray
    body_touch: IntArray
    contact: IntArray
    velocity_count: int


@compiled
def add_change(blocks: ContactBlocks, width: int, contact: int, change: Array, velocity: Array) -> None:
    """Add the response of the bodies to the impulse `change` (width,) of one contact to their velocities v."""
    for e in range(blocks.first[contact], blocks.first[contact + 1]):
        at, v, n = blocks.place[e], blocks.velocity[e], blocks.size[e]
        for a in range(width):
            factor = change[a]
            if factor != 0.0:
                for j in range(n):
                    velocity[v + j] += blocks.response[at + a * n + j] * factor


@compiled
def multiply_blocks(
    blocks: ContactBlocks, width: int, free: Array, impulse: Array, velocity: Array, out: Array
) -> None:
    """Write v (nv,) and w = W·λ + w₀ (R,) by (1)."""
    contacts = len(blocks.first) - 1
    velocity[:] = 0.0
    for c in range(contacts):
        add_change(blocks, width, c, impulse[c * width : (c + 1) * width], velocity)
    for c in range(contacts):
        for a in range(width):
            total = free[c * width + a]
            for e in range(blocks.first[c], blocks.first[c + 1]):
                at, v, n = blocks.place[e] + a * blocks.size[e], blocks.velocity[e], blocks.size[e]
                for j in range(n):
                    total += blocks.jacobian[at + j] * velocity[v + j]
            out[c * width + a] = total


@compiled
def _assemble_dense(blocks: ContactBlocks, width: int, delassus: Array) -> None:
    """Write W by (2)."""
    delassus[:] = 0.0
    for b in range(len(blocks.body_first) - 1):
        begin, end = blocks.body_first[b], blocks.body_first[b + 1]
        for k in range(begin, end):
            e = blocks.body_touch[k]
            n, row = blocks.size[e], blocks.contact[e] * width
            for m in range(begin, k + 1):
                f = blocks.body_touch[m]
                column = blocks.contact[f] * width
                for i in range(width):
                    left = blocks.place[e] + i * n
                    for j in range(width):
                        right, total = blocks.place[f] + j * n, 0.0
                        for d in range(n):
                            total += blocks.jacobian[left + d] * blocks.response[right + d]
                        delassus[row + i, column + j] += total
    for i in range(len(delassus)):
        for j in range(i):
            delassus[j, i] = delassus[i, j]


@final
@define(eq=False)
class ReducedStepProblem(StepProblem):
    """Implements `corekit.roles.contact.StepProblem` with W dense, by blocks, or both.

    Args:
        matrix: W, shape (R, R); None: assembled from the blocks where a solver asks for it.
        by_blocks: the blocks of W, for contacts without bounded rows; None where it is dense alone.
    """

    rows_per_contact: int
    step: float
    free_velocity: Array
    matrix: Array | None = None
    contact_count: int = 0
    id: IntArray = _NO_ID
    gap: Array = _NOTHING
    friction: Array = _NOTHING
    friction_record: Array = _NO_RECORD
    start_impulse: Array = _NOTHING
    bounded_count: int = 0
    lower: Array = _NOTHING
    upper: Array = _NOTHING
    by_blocks: ContactBlocks | None = None

    def delassus(self) -> Array:
        """W, shape (R, R), assembled at the first call."""
        if self.matrix is None:
            assert self.by_blocks is not None
            rows = len(self.free_velocity)
            self.matrix = np.empty((rows, rows))
            _assemble_dense(self.by_blocks, self.rows_per_contact, self.matrix)
        return self.matrix

    def blocks(self) -> ContactBlocks | None:
        """W by blocks, or None."""
        return self.by_blocks
