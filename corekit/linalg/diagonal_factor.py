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

__all__ = ["DiagonalFactor", "answer_diagonal", "free_diagonal", "halve_diagonal"]


@compiled
def _invert(diagonal: Array, prescribed: IntArray, inverse: Array) -> bool:
    """Write A⁻¹, 0 at prescribed entries; False if another is not positive."""
    for i in range(len(diagonal)):
        inverse[i] = 1.0 / diagonal[i] if diagonal[i] > 0.0 else -1.0
    for p in prescribed:
        inverse[p] = 0.0
    return inverse.min() >= 0.0


@compiled
def free_diagonal(inverse: Array, prescribed: IntArray, right: Array, fixed: Array, x: Array) -> None:
    """Write x = A⁻¹·b, prescribed entries at their values."""
    for i in range(len(x)):
        x[i] = inverse[i] * right[i]
    for k in range(len(prescribed)):
        x[prescribed[k]] = fixed[k]


@compiled
def halve_diagonal(inverse: Array, rows: Array, first: int, x: Array, free: Array, half: Array) -> None:
    """Write the share of Y of `halving`, and add J·x to `free`."""
    for i in range(len(inverse)):
        root, here = math.sqrt(inverse[i]), first + i
        for r in range(len(free)):
            free[r] += rows[r, here] * x[i]
            half[here, r] = root * rows[r, here]


@compiled
def answer_diagonal(inverse: Array, half: Array, first: int, impulse: Array, x: Array) -> None:
    """Add G·Jᵀ·λ to x."""
    for i in range(len(inverse)):
        push = 0.0
        for r in range(half.shape[1]):
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

    def refactor(self, matrix: Matrix, rows: EliminatedRows | None) -> bool:
        return _invert(matrix.data, self._prescribed, self._inverse)

    def solve(self, b: Array, fixed: Array, x: Array, impulse: Array) -> None:
        free_diagonal(self._inverse, self._prescribed, b, fixed, x)

    def columns(self, block: Array) -> None:
        np.multiply(block, self._inverse[:, None], out=block)

    def half(self) -> tuple[Array, IntArray]:
        return self._inverse, self._prescribed
