"""Rows with force bounds, which the impulse solver solves for beside contacts: w_b = J·v⁺ + E·λ + offset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, final

import numpy as np
from attrs import evolve, frozen

from corekit.data.arrays import Array

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["BoundedRows", "bounded_rows"]


@final
@frozen(eq=False)
class BoundedRows:
    """p rows, one body after the other.

    Args:
        bodies: index of every body that has any. slices: where its velocities stand in the world.
        blocks: its rows by its own velocities, shape (its rows, its nv).
        offset, compliance: E, of all rows, shape (p,).
        lower, upper: of λ, shape (p,) [N·s].
    """

    bodies: Sequence[int]
    slices: Sequence[slice]
    blocks: Sequence[Array]
    offset: Array
    compliance: Array
    lower: Array
    upper: Array

    @property
    def count(self) -> int:
        """Number of rows p."""
        return len(self.offset)

    def after(self, impulse: Array) -> BoundedRows:
        """The rows for what is given beyond impulses (p,) that act already."""
        return evolve(
            self,
            offset=self.offset + self.compliance * impulse,
            lower=self.lower - impulse,
            upper=self.upper - impulse,
        )

    def to_dense(self, velocities: int) -> Array:
        """J, a new array (p, nv)."""
        dense, first = np.zeros((self.count, velocities)), 0
        for where, block in zip(self.slices, self.blocks, strict=True):
            dense[first : first + len(block), where] = block
            first += len(block)
        return dense

    def add_transpose_product(self, impulse: Array, out: Array) -> None:
        """out += Jᵀ·λ, for λ (p,) and out (nv,)."""
        first = 0
        for where, block in zip(self.slices, self.blocks, strict=True):
            out[where] += block.T @ impulse[first : first + len(block)]
            first += len(block)


def bounded_rows(world: WorldTerms, about: Array, step: float) -> BoundedRows | None:
    """The bounded rows of all bodies, linearised about velocities (nv,), in a step h [s]; None without any."""
    if not world.has_bounded:
        return None
    parts = []
    for b, (terms, where) in enumerate(zip(world.bodies, world.slices, strict=True)):
        own, index = terms.constraints, terms.bounded
        if own is not None and len(index):
            rows = own.rows.to_dense(terms.body.nv, index)
            offset = -own.target[index] - rows @ about[where]
            parts.append((b, where, rows, offset, own.compliance[index], *own.bounds(step)))
    bodies, slices, rows, *others = zip(*parts, strict=True)
    return BoundedRows(bodies, slices, rows, *map(np.concatenate, others))
