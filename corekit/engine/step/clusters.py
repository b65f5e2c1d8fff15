"""Clusters of a world: bodies whose velocities depend on each other without contact, or a single body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, final

import numpy as np

from corekit.data.arrays import Array, IntArray

__all__ = ["Cluster", "Elimination"]


class Elimination(Protocol):
    """Rows between the bodies of a cluster, J·Δ = r_j, which are eliminated from their matrices."""

    def refactor(self, apply_inverse: Callable[[Array], None]) -> bool:
        """Factorise for the rows as they are; False where they contradict or repeat each other.

        Args:
            apply_inverse: overwrites a block (n, R), Fortran order, by G₀·block, G₀ the inverse without the rows.
        """

    def add_reaction(self, free: Array, out: Array) -> None:
        """Write the impulses λ and add Jᵀ·λ to `out` (nv,), for Δ = `free` (nv,) without the rows."""

    def project(self, block: Array) -> None:
        """Overwrite G₀·block by G·block, shape (n,) or (n, R)."""

    def project_world(self, block: Array) -> None:
        """The same of a block of all velocities, shape (nv,) or (nv, R)."""

    def add_unit_responses(self, out: Array) -> None:
        """Add G₀·Jᵀ·S⁻¹·J to `out` (nv, nv): Δ for r_j = J·x by the unit vectors x."""


@final
class Cluster:
    """Bodies that joints hold to each other, or a single one.

    Args:
        bodies: their indices, ascending. slices: where their velocities stand in the world.
        elimination: of their joints, or None without any.

    Attributes:
        velocities: all of theirs in the world, shape (n,). firsts: where those of each body begin among them.
    """

    def __init__(
        self, bodies: Sequence[int], slices: Sequence[slice], elimination: Elimination | None
    ) -> None:
        self.bodies, self.slices, self.elimination = tuple(bodies), tuple(slices), elimination
        self.velocities: IntArray = np.concatenate([np.arange(each.start, each.stop) for each in slices])
        sizes = [each.stop - each.start for each in slices]
        self.firsts = tuple(np.cumsum([0, *sizes])[:-1].tolist())

    @property
    def size(self) -> int:
        """Number of velocities n."""
        return len(self.velocities)
