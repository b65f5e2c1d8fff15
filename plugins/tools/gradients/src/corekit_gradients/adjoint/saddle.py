"""The linear systems of a solution's derivatives, solved as they are and transposed.

    ⎡ A  −Bᵀ ⎤ ⎡x⎤   ⎡r⎤
    ⎣ C   N  ⎦ ⎣λ⎦ = ⎣s⎦                                                                        (1)

A of the momentum (nv, nv), unsymmetric in general; rows of constraints, joints and closed contacts below. They are
solved by the Schur complement S = N + C·A⁻¹·Bᵀ of the rows, or, where massless links make A singular alone, as a whole.
Where contacts are redundant S is singular. As long as what is asked is consistent, any solution will do: that by the
pseudo-inverse of the scaled matrix serves (1) and its transpose.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np
from scipy.linalg.lapack import dgecon, dgetrf, dgetrs

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["SaddleSystem"]

_SINGULAR: Final = 1e-11
"""Reciprocal condition of a scaled matrix below which it has no inverse, and singular values that count as zero."""


@compiled
def _scale(matrix: Array, rows: Array, columns: Array, out: Array) -> float:
    """Write a matrix with the largest entry of every column 1, of rows nearly so, and factors; return its 1-norm."""
    n, norm = len(matrix), 0.0
    for i in range(n):
        largest = np.finfo(np.float64).tiny
        for j in range(n):
            largest = max(largest, abs(matrix[i, j]))
        rows[i] = 1.0 / largest
    for j in range(n):
        largest, total = np.finfo(np.float64).tiny, 0.0
        for i in range(n):
            out[i, j] = matrix[i, j] * rows[i]
            largest = max(largest, abs(out[i, j]))
            total += abs(out[i, j])
        columns[j] = 1.0 / largest
        norm = max(norm, total / largest)
        for i in range(n):
            out[i, j] *= columns[j]
    return norm


@final
class _Square:
    """A square matrix, scaled, factorised or, if it is singular, with its pseudo-inverse."""

    def __init__(self, matrix: Array) -> None:
        self._inverse: Array | None = None
        n = len(matrix)
        self._rows, self._columns = np.ones((2, n))
        self.is_regular = True
        if not n:
            return
        scaled = np.empty((n, n))
        norm = _scale(matrix, self._rows, self._columns, scaled)
        self._factor, self._pivots, info = dgetrf(scaled)
        condition = dgecon(self._factor, norm)[0] if info == 0 else 0.0
        self.is_regular = bool(condition > _SINGULAR)
        if not self.is_regular:
            left, size, right = np.linalg.svd(scaled)
            rank = int(np.count_nonzero(size > _SINGULAR * size[0]))
            self._inverse = (right[:rank].T / size[:rank]) @ left[:, :rank].T

    def solve(self, rhs: Array, *, transposed: bool = False) -> Array:
        """The solution for one or several right-hand sides, (n,) or (n, k)."""
        if not len(rhs):
            return rhs.copy()
        before, after = (self._columns, self._rows) if transposed else (self._rows, self._columns)
        scaled = rhs * (before if rhs.ndim == 1 else before[:, None])
        if self._inverse is not None:
            found = (self._inverse.T if transposed else self._inverse) @ scaled
        else:
            found = dgetrs(self._factor, self._pivots, scaled, trans=int(transposed))[0]
        return np.asarray(found * (after if rhs.ndim == 1 else after[:, None]))


@final
class SaddleSystem:
    """(1) of one solution.

    Args:
        momentum: A, shape (nv, nv). impulses: B, shape (r, nv). rows: C, shape (r, nv). compliance: N, shape (r, r).
    """

    def __init__(self, momentum: Array, impulses: Array, rows: Array, compliance: Array) -> None:
        self._impulses, self._rows = impulses, rows
        self._split = len(momentum)
        self._upper = _Square(momentum)
        self._whole: _Square | None = None
        self.is_regular = True
        if not self._upper.is_regular:
            self._whole = _Square(np.block([[momentum, -impulses.T], [rows, compliance]]))
            self.is_regular = self._whole.is_regular
        elif len(rows):
            self._response = self._upper.solve(impulses.T)
            self._complement = _Square(compliance + rows @ self._response)
            self.is_regular = self._complement.is_regular

    def solve(self, rhs: Array, rhs_rows: Array) -> tuple[Array, Array]:
        """x and λ of (1), for one right-hand side or several."""
        if self._whole is not None:
            found = self._whole.solve(np.concatenate([rhs, rhs_rows]))
            return found[: self._split], found[self._split :]
        free = self._upper.solve(rhs)
        if not len(self._rows):
            return free, rhs_rows.copy()
        impulse = self._complement.solve(rhs_rows - self._rows @ free)
        return free + self._response @ impulse, impulse

    def solve_transposed(self, rhs: Array, rhs_impulse: Array) -> tuple[Array, Array]:
        """w and y of the transpose of (1): Aᵀ·w + Cᵀ·y = r, −B·w + Nᵀ·y = s."""
        if self._whole is not None:
            found = self._whole.solve(np.concatenate([rhs, rhs_impulse]), transposed=True)
            return found[: self._split], found[self._split :]
        if not len(self._rows):
            return self._upper.solve(rhs, transposed=True), rhs_impulse.copy()
        # w = A⁻ᵀ(r − Cᵀy), so that (Nᵀ + B·A⁻ᵀ·Cᵀ)·y = s + B·A⁻ᵀ·r
        y = self._complement.solve(rhs_impulse + self._response.T @ rhs, transposed=True)
        return self._upper.solve(rhs - self._rows.T @ y, transposed=True), y
