"""Factorisations that can be taken in halves, A = L·Lᵀ, so that impulses need only half of G·Jᵀ.

    J·G·Jᵀ = Yᵀ·Y,   G·Jᵀ·λ = L⁻ᵀ·(Y·λ)   with   Y = L⁻¹·Jᵀ                                  (1)

Prescribed coordinates have zeros in Y. `halves` takes those of all bodies at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from corekit.data.arrays import Array, IntArray
from corekit.linalg.factorisation import Factor

__all__ = ["Halving"]


class Halving(Factor, ABC):
    """A factorisation that offers (1)."""

    @abstractmethod
    def half(self) -> tuple[Array, IntArray]:
        """The buffer of L, and the prescribed velocities: L as the factorisation keeps it, (n, n), or A⁻¹, (n,)."""
