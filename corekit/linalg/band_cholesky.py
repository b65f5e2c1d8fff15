"""Cholesky factorisations of symmetric bands.

    A = L·D·Lᵀ,   x = L⁻ᵀ·D⁻¹·L⁻¹·b                                                          (1)

Chains of rods have half-widths up to 10. For those (1) is compiled here with inner loops of this length, which the
compiler unrolls: 9 µs and 4 µs for factorisation and solution of 423 rows, where LAPACK's pbtrf and pbtrs, which wider
bands use, need 23 µs and 10 µs, twice a step of 235 to 750 µs. Narrower bands are padded with zeros.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np
from scipy.linalg.lapack import dpbtrf, dpbtrs

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.constraint_rows import EliminatedConstraints
from corekit.linalg.factorisation import UnconstrainedFactorisation
from corekit.linalg.matrices import Banded, Matrix

__all__ = ["NARROW", "NarrowBandCholesky", "WideBandCholesky"]

NARROW: Final = 10
"""Half-width of the compiled loops: two nodes and two angles of a rod."""


@final
class NarrowBandCholesky(UnconstrainedFactorisation):
    """(1) for half-widths up to `NARROW`.

    Args:
        template: a buffer with the structure.
        prescribed: indices of prescribed velocities, which become identity rows.
    """

    def __init__(self, template: Banded, prescribed: IntArray) -> None:
        super().__init__(template.n, prescribed)
        n, width = template.n, template.width
        # entry (j + d, j) at [NARROW + j, d], with rows of zeros before and behind
        self._band = np.zeros((n + 2 * NARROW, NARROW + 1))
        self._work = np.zeros(n + 2 * NARROW)
        inside = self._band[NARROW:-NARROW]
        self._own, self._padding, self._diagonal = (
            inside[:, : width + 1],
            inside[:, width + 1 :],
            inside[:, 0],
        )
        # what a band stores beyond the matrix may be anything
        beyond = np.setdiff1d(np.arange(template.data.size), template.entries()[2])
        column, below = np.divmod(np.union1d(_positions(template, prescribed), beyond), width + 1)
        self._cleared = (NARROW + column) * (NARROW + 1) + below
        self._flat = self._band.ravel()

    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        self._matrix = matrix
        self._own[:] = matrix.data.T
        if self._padding.size:
            self._padding[:] = 0.0
        self._flat[self._cleared] = 0.0
        if len(self._prescribed):
            self._diagonal[self._prescribed] = 1.0
        return bool(_factorise(self._band))

    def solve_negative(self, residual: Array, out: Array) -> None:
        _solve_negative(self._band, self._work, residual, self._prescribed, out)

    def _substitute(self, block: Array, *, transposed: bool = False) -> None:
        for column in block.T:
            _substitute(self._band, self._work, column)


@final
class WideBandCholesky(UnconstrainedFactorisation):
    """(1) by LAPACK, of L·√D."""

    def __init__(self, template: Banded, prescribed: IntArray) -> None:
        super().__init__(template.n, prescribed)
        self._band = np.zeros_like(template.data)
        self._cleared = _positions(template, prescribed)

    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        self._matrix = matrix
        self._band[:] = matrix.data
        self._band.ravel(order="K")[self._cleared] = 0.0
        self._band[0, self._prescribed] = 1.0
        return dpbtrf(self._band, lower=1, overwrite_ab=1)[1] == 0

    def _substitute(self, block: Array, *, transposed: bool = False) -> None:
        dpbtrs(self._band, block, lower=1, overwrite_b=1)


def _positions(template: Banded, prescribed: IntArray) -> IntArray:
    """Positions in `data.ravel(order="K")` of the entries in rows and columns of prescribed velocities."""
    rows, columns, where = template.entries()
    return np.unique(where[np.isin(rows, prescribed) | np.isin(columns, prescribed)])


@compiled
def _factorise(band: Array) -> bool:
    """Overwrite A by L, and its diagonal by D⁻¹: (1); False if A is not positive definite."""
    for j in range(NARROW, len(band) - NARROW):
        pivot = band[j, 0]
        if not pivot > 0.0:
            return False
        inverse = 1.0 / pivot
        band[j, 0] = inverse
        for k in range(1, NARROW + 1):
            factor = band[j, k] * inverse
            for i in range(k, NARROW + 1):
                band[j + k, i - k] -= factor * band[j, i]
        for k in range(1, NARROW + 1):
            band[j, k] *= inverse
    return True


@compiled
def _substitute(band: Array, work: Array, x: Array) -> None:
    """Overwrite x (n,) by A⁻¹·x; `work` (n + 2·NARROW,) is zero in its first and last NARROW entries."""
    n = len(x)
    # the nearest entry last: it is the one that the processor has to wait for
    for j in range(NARROW, n + NARROW):
        total = x[j - NARROW]
        for k in range(NARROW, 0, -1):
            total -= band[j - k, k] * work[j - k]
        work[j] = total
    for j in range(n + NARROW - 1, NARROW - 1, -1):
        total = work[j] * band[j, 0]
        for k in range(NARROW, 0, -1):
            total -= band[j, k] * work[j + k]
        work[j] = total
        x[j - NARROW] = total


@compiled
def _solve_negative(band: Array, work: Array, residual: Array, prescribed: IntArray, x: Array) -> None:
    """Write −G·residual into x (n,)."""
    for j in range(len(x)):
        x[j] = -residual[j]
    for p in prescribed:
        x[p] = 0.0
    _substitute(band, work, x)
