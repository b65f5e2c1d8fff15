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

__all__ = ["SMALL", "SmallFactor", "answer_small", "free_small", "halve_small"]

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
def free_small(
    lower: Array, prescribed: IntArray, right: Array, fixed: Array, matrix: Array, x: Array
) -> None:
    """Write x = A⁻¹·b, prescribed entries at their values."""
    n = len(x)
    for i in range(n):
        total = right[i]
        for k in range(len(prescribed)):
            total -= matrix[i, prescribed[k]] * fixed[k]
        x[i] = total
    for k in range(len(prescribed)):
        x[prescribed[k]] = fixed[k]
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= lower[i, k] * x[k]
        x[i] = total * lower[i, i]
    for i in range(n - 1, -1, -1):
        total = x[i] * lower[i, i]
        x[i] = total
        for k in range(i):
            x[k] -= lower[i, k] * total


@compiled
def halve_small(
    lower: Array, prescribed: IntArray, rows: Array, first: int, x: Array, free: Array, half: Array
) -> None:
    """Write the body's share of Y (nv, R), and add J·x to `free` (R,); its velocities begin at `first`."""
    n, count = len(lower), len(free)
    for r in range(count):
        total = 0.0
        for i in range(n):
            value = rows[r, first + i]
            half[first + i, r] = value
            total += value * x[i]
        free[r] += total
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
def answer_small(
    lower: Array, prescribed: IntArray, half: Array, first: int, impulse: Array, x: Array
) -> None:
    """Add G·Jᵀ·λ to x."""
    n, moved = len(lower), np.zeros(len(lower))
    for r in range(half.shape[1]):
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

    def solve(self, b: Array, fixed: Array, x: Array, impulse: Array) -> None:
        assert self._matrix is not None
        free_small(self._lower, self._prescribed, b, fixed, self._matrix.data, x)

    def half(self) -> tuple[Array, IntArray]:
        return self._lower, self._prescribed
