"""Factorisations A = L·Lᵀ of diagonal and of small dense matrices, in compiled code: impulses need half of G·Jᵀ only.

    J·G·Jᵀ = Yᵀ·Y,   G·Jᵀ·λ = L⁻ᵀ·(Y·λ)   with   Y = L⁻¹·Jᵀ                                  (1)

Prescribed velocities have zeros in Y and, if A is dense, identity rows in it. Of a diagonal matrix A⁻¹ is kept, with
L = A^½; of a dense one L with its diagonal inverted. `delassus_assembly` applies (1) to all bodies in one call.
At this size calling LAPACK costs more than it does.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.constraint_rows import EliminatedConstraints
from corekit.linalg.factorisation import Factorisation, UnconstrainedFactorisation
from corekit.linalg.matrices import Matrix

__all__ = [
    "SMALL",
    "DiagonalFactorisation",
    "SmallCholesky",
    "SquareRootFactorisation",
    "add_dense_response",
    "add_diagonal_response",
    "forward_substitute_dense",
    "forward_substitute_diagonal",
    "solve_dense",
    "solve_diagonal",
]

SMALL: Final = 24
"""Largest size of a dense matrix for which this is worth it."""


class SquareRootFactorisation(Factorisation, ABC):
    """A factorisation that offers (1)."""

    @abstractmethod
    def lower_factor(self) -> tuple[Array, IntArray]:
        """The buffer of L, and the prescribed velocities: L as the factorisation keeps it, (n, n), or A⁻¹, (n,)."""


@compiled
def _invert(diagonal: Array, prescribed: IntArray, inverse: Array) -> bool:
    """Write A⁻¹, 0 at prescribed entries; False if another is not positive."""
    for i in range(len(diagonal)):
        inverse[i] = 1.0 / diagonal[i] if diagonal[i] > 0.0 else -1.0
    for p in prescribed:
        inverse[p] = 0.0
    return inverse.min() >= 0.0


@compiled
def solve_diagonal(
    inverse: Array, prescribed: IntArray, rhs: Array, prescribed_values: Array, x: Array
) -> None:
    """Write x = A⁻¹·b, prescribed entries at their values."""
    for i in range(len(x)):
        x[i] = inverse[i] * rhs[i]
    for k in range(len(prescribed)):
        x[prescribed[k]] = prescribed_values[k]


@compiled
def forward_substitute_diagonal(
    inverse: Array, rows: Array, first: int, x: Array, velocity: Array, y: Array
) -> None:
    """Write the body's rows of Y, and add J·x to `velocity` (R,)."""
    for i in range(len(inverse)):
        root, here = math.sqrt(inverse[i]), first + i
        for r in range(len(velocity)):
            velocity[r] += rows[r, here] * x[i]
            y[here, r] = root * rows[r, here]


@compiled
def add_diagonal_response(inverse: Array, y: Array, first: int, impulse: Array, x: Array) -> None:
    """Add G·Jᵀ·λ to x."""
    for i in range(len(inverse)):
        total = 0.0
        for r in range(y.shape[1]):
            total += y[first + i, r] * impulse[r]
        x[i] += math.sqrt(inverse[i]) * total


@final
class DiagonalFactorisation(SquareRootFactorisation):
    """A diagonal matrix of n rows.

    Args:
        prescribed: indices of prescribed velocities.
    """

    def __init__(self, n: int, prescribed: IntArray) -> None:
        self._inverse = np.ones(n)
        self._prescribed = prescribed

    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        return _invert(matrix.data, self._prescribed, self._inverse)

    def solve(self, b: Array, prescribed_values: Array, x: Array, impulse: Array) -> None:
        solve_diagonal(self._inverse, self._prescribed, b, prescribed_values, x)

    def solve_columns(self, block: Array) -> None:
        np.multiply(block, self._inverse[:, None], out=block)

    def lower_factor(self) -> tuple[Array, IntArray]:
        return self._inverse, self._prescribed


@compiled
def _cholesky(matrix: Array, prescribed: IntArray, lower: Array) -> bool:
    """Write L; False if A is not positive definite."""
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
def _substitute(lower: Array, columns: Array) -> None:
    """Overwrite every row b of `columns` (R, n) by A⁻¹·b."""
    count, n = columns.shape
    for c in range(count):
        for i in range(n):
            total = columns[c, i]
            for k in range(i):
                total -= lower[i, k] * columns[c, k]
            columns[c, i] = total * lower[i, i]
        for i in range(n - 1, -1, -1):
            total = columns[c, i] * lower[i, i]
            columns[c, i] = total
            for k in range(i):
                columns[c, k] -= lower[i, k] * total


@compiled
def solve_dense(
    lower: Array, prescribed: IntArray, rhs: Array, prescribed_values: Array, matrix: Array, x: Array
) -> None:
    """Write x = A⁻¹·b, prescribed entries at their values."""
    n = len(x)
    for i in range(n):
        total = rhs[i]
        for k in range(len(prescribed)):
            total -= matrix[i, prescribed[k]] * prescribed_values[k]
        x[i] = total
    for k in range(len(prescribed)):
        x[prescribed[k]] = prescribed_values[k]
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
def forward_substitute_dense(
    lower: Array, prescribed: IntArray, rows: Array, first: int, x: Array, velocity: Array, y: Array
) -> None:
    """Write the body's rows of Y (nv, R), velocity by velocity, and add J·x to `velocity` (R,).

    The body's velocities begin at `first`.
    """
    n, count = len(lower), len(velocity)
    for r in range(count):
        total = 0.0
        for i in range(n):
            value = rows[r, first + i]
            y[first + i, r] = value
            total += value * x[i]
        velocity[r] += total
    for p in prescribed:
        y[first + p] = 0.0
    for i in range(n):
        here = y[first + i]
        for k in range(i):
            factor, before = lower[i, k], y[first + k]
            for r in range(count):
                here[r] -= factor * before[r]
        factor = lower[i, i]
        for r in range(count):
            here[r] *= factor


@compiled
def add_dense_response(
    lower: Array, prescribed: IntArray, y: Array, first: int, impulse: Array, x: Array
) -> None:
    """Add G·Jᵀ·λ to x."""
    n, response = len(lower), np.zeros(len(lower))
    for r in range(y.shape[1]):
        total = impulse[r]
        if total != 0.0:
            for i in range(n):
                response[i] += y[first + i, r] * total
    for i in range(n - 1, -1, -1):
        total = response[i] * lower[i, i]
        response[i] = total
        for k in range(i):
            response[k] -= lower[i, k] * total
    for p in prescribed:
        response[p] = 0.0
    for i in range(n):
        x[i] += response[i]


@final
class SmallCholesky(UnconstrainedFactorisation, SquareRootFactorisation):
    """Cholesky factorisation of a dense matrix with up to `SMALL` rows."""

    def __init__(self, n: int, prescribed: IntArray) -> None:
        super().__init__(n, prescribed)
        self._lower = np.zeros((n, n))

    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        self._matrix = matrix
        return _cholesky(matrix.data, self._prescribed, self._lower)

    def _substitute(self, block: Array) -> None:
        _substitute(self._lower, block.T)

    def solve(self, b: Array, prescribed_values: Array, x: Array, impulse: Array) -> None:
        assert self._matrix is not None
        solve_dense(self._lower, self._prescribed, b, prescribed_values, self._matrix.data, x)

    def lower_factor(self) -> tuple[Array, IntArray]:
        return self._lower, self._prescribed
