"""Small dense matrices, factorised and applied in compiled code: at this size calling LAPACK costs more than it does.

    A = L·Lᵀ,   x = L⁻ᵀ·L⁻¹·b                                                               (1)

Y of `halving` is filled one velocity after the other over all rows at once. The diagonal of L is kept inverted.
Prescribed coordinates have identity rows in A.
"""

from __future__ import annotations

import math
from typing import Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.factorisation import Direct, EliminatedRows
from corekit.linalg.halving import Halving
from corekit.linalg.matrices import Matrix

__all__ = ["SMALL", "SmallFactor"]

SMALL: Final = 24
"""Largest size for which this is worth it."""


@compiled
def _cholesky(matrix: Array, prescribed: IntArray, lower: Array) -> bool:
    """Write L of (1); False if A is not positive definite."""
    n = len(lower)
    for i in range(n):
        for j in range(i + 1):
            lower[i, j] = matrix[i, j]
    for p in prescribed:
        for j in range(p):
            lower[p, j] = 0.0
        for i in range(p, n):
            lower[i, p] = 0.0
        lower[p, p] = 1.0
    for j in range(n):
        for i in range(j, n):
            total = lower[i, j]
            for k in range(j):
                total -= lower[i, k] * lower[j, k]
            lower[i, j] = total
        pivot = lower[j, j]
        if not pivot > 0.0:
            return False
        inverse = 1.0 / math.sqrt(pivot)
        lower[j, j] = inverse
        for i in range(j + 1, n):
            lower[i, j] *= inverse
    return True


@compiled
def _substitute(lower: Array, rights: Array) -> None:
    """Overwrite every row b of `rights` (R, n) by A⁻¹·b: (1)."""
    count, n = rights.shape
    for c in range(count):
        for i in range(n):
            total = rights[c, i]
            for k in range(i):
                total -= lower[i, k] * rights[c, k]
            rights[c, i] = total * lower[i, i]
        for i in range(n - 1, -1, -1):
            total = rights[c, i] * lower[i, i]
            rights[c, i] = total
            for k in range(i):
                rights[c, k] -= lower[i, k] * total


@compiled
def _halve(
    lower: Array, prescribed: IntArray, rows: Array, first: int, x: Array, before: Array, free: Array, half: Array
) -> None:  # fmt: skip
    """Write the body's share of Y (nv, R), and `before` + J·x into `free` (R,); its velocities begin at `first`."""
    n, count = len(lower), len(free)
    for r in range(count):
        total = 0.0
        for i in range(n):
            value = rows[r, first + i]
            half[first + i, r] = value
            total += value * x[i]
        free[r] = before[r] + total
    for p in prescribed:
        half[first + p] = 0.0
    for i in range(n):
        here = half[first + i]
        for k in range(i):
            factor, before = lower[i, k], half[first + k]
            for r in range(count):
                here[r] -= factor * before[r]
        factor = lower[i, i]
        for r in range(count):
            here[r] *= factor


@compiled
def _answer(lower: Array, prescribed: IntArray, half: Array, first: int, impulse: Array, x: Array) -> None:
    """Add G·Jᵀ·λ to x."""
    n, moved = len(lower), np.zeros(len(lower))
    for r in range(len(impulse)):
        push = impulse[r]
        if push != 0.0:
            for i in range(n):
                moved[i] += half[first + i, r] * push
    for i in range(n - 1, -1, -1):
        total = moved[i] * lower[i, i]
        moved[i] = total
        for k in range(i):
            moved[k] -= lower[i, k] * total
    for p in prescribed:
        moved[p] = 0.0
    for i in range(n):
        x[i] += moved[i]


@final
class SmallFactor(Direct, Halving):
    """Cholesky factorisation (1) of a dense matrix with up to `SMALL` rows."""

    def __init__(self, n: int, prescribed: IntArray) -> None:
        super().__init__(n, prescribed)
        self._lower = np.zeros((n, n))

    def refactor(self, matrix: Matrix, rows: EliminatedRows | None) -> bool:
        self._matrix = matrix
        return _cholesky(matrix.data, self._prescribed, self._lower)

    def _back(self, block: Array) -> None:
        _substitute(self._lower, block.T)

    def halve(self, rows: Array, first: int, x: Array, before: Array, free: Array, half: Array) -> None:
        _halve(self._lower, self._prescribed, rows, first, x, before, free, half)

    def answer(self, half: Array, first: int, impulse: Array, x: Array) -> None:
        _answer(self._lower, self._prescribed, half, first, impulse, x)
