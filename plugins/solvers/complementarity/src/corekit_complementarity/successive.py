"""Projected successive over-relaxation for an LCP that has no contacts behind it."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["relax"]


@compiled
def relax(matrix: Array, vector: Array, relaxation: float, z: Array) -> None:
    """One sweep  z_i ← max(0, z_i − ω·(A·z + b)_i/A_ii),  in place.

    The diagonal must be positive: without it a row alone has no solution to step to.
    Converges for symmetric positive definite A with 0 < ω < 2, and for diagonally dominant A.
    Source: Cottle, Pang, Stone (2009), "The Linear Complementarity Problem", section 5.2.
    """
    n = z.size
    for i in range(n):
        w = vector[i]
        for j in range(n):
            w += matrix[i, j] * z[j]
        z[i] = max(0.0, z[i] - relaxation * w / matrix[i, i])
