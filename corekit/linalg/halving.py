"""Factorisations that can be taken in halves, A = L·Lᵀ, so that impulses need only half of G·Jᵀ.

    J·G·Jᵀ = Yᵀ·Y,   G·Jᵀ·λ = L⁻ᵀ·(Y·λ)   with   Y = L⁻¹·Jᵀ                                  (1)

Prescribed coordinates have zeros in Y.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from corekit.data.arrays import Array
from corekit.linalg.factorisation import Factor

__all__ = ["Halving"]


class Halving(Factor, ABC):
    """A factorisation that offers (1)."""

    @abstractmethod
    def halve(self, rows: Array, first: int, x: Array, before: Array, free: Array, half: Array) -> None:
        """Write this matrix's share of Y, and `before` + J·x into `free`.

        Args:
            rows: J of all bodies, shape (R, nv). first: where this matrix's velocities begin.
            x: velocities, shape (n,). before, free: shape (R,), possibly the same. half: Y of all bodies, (nv, R).
        """

    @abstractmethod
    def answer(self, half: Array, first: int, impulse: Array, x: Array) -> None:
        """Add G·Jᵀ·λ to x."""
