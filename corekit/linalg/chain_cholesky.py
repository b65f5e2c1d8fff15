"""Bands as wide as those of chains of rods, factorised and applied in compiled code with inner loops of fixed length.

    A = L·D·Lᵀ,   x = L⁻ᵀ·D⁻¹·L⁻¹·b                                                          (1)

column by column, each of which changes the next `WIDTH`. The compiler unrolls loops of a length that it knows, which
LAPACK's cannot have: less than half of its time. Narrower bands are padded with zeros, and so is the end of the matrix,
so that there is one kernel for all. A is positive definite if and only if every pivot is positive.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.constraint_rows import EliminatedConstraints
from corekit.linalg.factorisation import UnconstrainedFactorisation
from corekit.linalg.matrices import Banded, Matrix

__all__ = ["NARROWEST", "WIDTH", "ChainCholesky"]

WIDTH: Final = 10
"""Half-width of the kernels: two nodes and two angles of a rod."""
NARROWEST: Final = 7
"""Half-width from which padding costs less than LAPACK does."""


@compiled
def _factorise(band: Array, n: int) -> bool:
    """Overwrite columns `band` (n + WIDTH, WIDTH + 1) of A by those of L, and the diagonal by D⁻¹: (1)."""
    for j in range(n):
        pivot = band[j, 0]
        if not pivot > 0.0:
            return False
        inverse = 1.0 / pivot
        band[j, 0] = inverse
        for k in range(1, WIDTH + 1):
            share = band[j, k] * inverse
            for i in range(k, WIDTH + 1):
                band[j + k, i - k] -= share * band[j, i]
        for k in range(1, WIDTH + 1):
            band[j, k] *= inverse
    return True


@compiled
def _substitute(band: Array, n: int, work: Array, x: Array) -> None:
    """Overwrite x (n,) by A⁻¹·x; `work` (n + 2·WIDTH,) is zero in its first and last WIDTH entries."""
    for j in range(n):
        even, odd = x[j], 0.0
        # from the farthest: the next entry waits for the nearest one alone
        for k in range(WIDTH, 1, -2):
            if j >= k:
                even -= band[j - k, k] * work[WIDTH + j - k]
            if j >= k - 1 and k > 2:
                odd -= band[j - k + 1, k - 1] * work[WIDTH + j - k + 1]
        even += odd
        if j:
            even -= band[j - 1, 1] * work[WIDTH + j - 1]
        work[WIDTH + j] = even
    for j in range(n - 1, -1, -1):
        even, odd = work[WIDTH + j] * band[j, 0], 0.0
        for k in range(WIDTH, 1, -2):
            even -= band[j, k] * work[WIDTH + j + k]
            if k > 2:
                odd -= band[j, k - 1] * work[WIDTH + j + k - 1]
        even += odd
        even -= band[j, 1] * work[WIDTH + j + 1]
        work[WIDTH + j] = even
        x[j] = even


@compiled
def _solve_negative(
    band: Array, n: int, work: Array, residual: Array, prescribed: IntArray, x: Array
) -> None:
    """Write −A⁻¹·residual into x; 0 at prescribed entries."""
    for j in range(n):
        x[j] = -residual[j]
    for p in prescribed:
        x[p] = 0.0
    _substitute(band, n, work, x)


@final
class ChainCholesky(UnconstrainedFactorisation):
    """(1) for bands of half-width `NARROWEST` to `WIDTH`.

    Args:
        template: a buffer with the structure.
        prescribed: indices of prescribed velocities, which become identity rows.
    """

    def __init__(self, template: Banded, prescribed: IntArray) -> None:
        super().__init__(template.n, prescribed)
        n = template.n
        self._n, self._width = n, template.width
        self._band = np.zeros((n + WIDTH, WIDTH + 1))
        self._work = np.zeros(n + 2 * WIDTH)
        rows, columns, where = template.entries()
        touched = np.isin(rows, prescribed) | np.isin(columns, prescribed)
        # what a band stores beyond the matrix may be anything
        beyond = np.setdiff1d(np.arange(template.data.size), where)
        column, below = np.divmod(np.union1d(where[touched], beyond), template.width + 1)
        self._cleared = column * (WIDTH + 1) + below
        self._flat = self._band.ravel()

    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        self._matrix, n, width = matrix, self._n, self._width
        self._band[:n, : width + 1] = matrix.data.T
        if width < WIDTH:
            self._band[:n, width + 1 :] = 0.0
        self._flat[self._cleared] = 0.0
        if len(self._prescribed):
            self._band[self._prescribed, 0] = 1.0
        return bool(_factorise(self._band, n))

    def solve_negative(self, residual: Array, out: Array) -> None:
        _solve_negative(self._band, self._n, self._work, residual, self._prescribed, out)

    def _substitute(self, block: Array) -> None:
        for column in block.T:
            _substitute(self._band, self._n, self._work, column)
