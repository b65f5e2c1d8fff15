"""Diagonal matrices, inverted in compiled code: L of `halving` is the root of the diagonal."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.factorisation import EliminatedRows
from corekit.linalg.halving import Halving
from corekit.linalg.matrices import Matrix

__all__ = ["DiagonalFactor"]


@compiled
def _invert(diagonal: Array, prescribed: IntArray, inverse: Array) -> bool:
    """Write A⁻¹, 0 at prescribed entries; False if another is not positive."""
    for i in range(len(diagonal)):
        inverse[i] = 1.0 / diagonal[i] if diagonal[i] > 0.0 else -1.0
    for p in prescribed:
        inverse[p] = 0.0
    return inverse.min() >= 0.0


@compiled
def _halve(
    inverse: Array, rows: Array, first: int, x: Array, before: Array, free: Array, half: Array
) -> None:
    """Write the share of Y, and what J·x adds to `before`."""
    for r in range(len(free)):
        free[r] = before[r]
    for i in range(len(inverse)):
        root, here = math.sqrt(inverse[i]), first + i
        for r in range(len(free)):
            free[r] += rows[r, here] * x[i]
            half[here, r] = root * rows[r, here]


@compiled
def _answer(inverse: Array, half: Array, first: int, impulse: Array, x: Array) -> None:
    """Add G·Jᵀ·λ to x."""
    for i in range(len(inverse)):
        push = 0.0
        for r in range(len(impulse)):
            push += half[first + i, r] * impulse[r]
        x[i] += math.sqrt(inverse[i]) * push


@final
class DiagonalFactor(Halving):
    """A diagonal matrix of n rows.

    Args:
        prescribed: indices of prescribed velocities.
    """

    def __init__(self, n: int, prescribed: IntArray) -> None:
        self._inverse = np.ones(n)
        self._prescribed = prescribed
        self._fixes = len(prescribed) > 0

    def refactor(self, matrix: Matrix, rows: EliminatedRows | None) -> bool:
        return _invert(matrix.data, self._prescribed, self._inverse)

    def solve(self, b: Array, fixed: Array, x: Array, impulse: Array) -> None:
        np.multiply(self._inverse, b, out=x)
        if self._fixes:
            x[self._prescribed] = fixed

    def columns(self, block: Array) -> None:
        np.multiply(block, self._inverse[:, None], out=block)

    def halve(self, rows: Array, first: int, x: Array, before: Array, free: Array, half: Array) -> None:
        _halve(self._inverse, rows, first, x, before, free, half)

    def answer(self, half: Array, first: int, impulse: Array, x: Array) -> None:
        _answer(self._inverse, half, first, impulse, x)
