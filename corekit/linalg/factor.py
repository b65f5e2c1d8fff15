"""Factorisations that keep a matrix's structure and eliminate bilateral rows and prescribed coordinates.

A factorisation answers the saddle system

    A·x = b + J_bᵀ·λ,     J_b·x + E·λ = r,     x_p = fixed                                 (1)

and its homogeneous form with r = 0, fixed = 0, written x = G·b. A must be positive definite on the
kernel of J_b (apart from the prescribed coordinates); alone it may be singular.

| structure | rows | method                                                       | cost       |
|-----------|------|--------------------------------------------------------------|------------|
| diagonal  | no   | division                                                     | n          |
| banded, block diagonal | no | band Cholesky                                     | n·width²   |
| dense     | no   | Cholesky, or LU if asked for unsymmetric matrices            | n³         |
| sparse    | no   | elimination without pivoting, analysed once                  | its fill-in |
| any       | yes  | LU of the saddle matrix, banded after reverse Cuthill–McKee  | n·width²   |

Source for the ordering: Cuthill and McKee (1969); George (1971).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import final

import numpy as np
from scipy.linalg.lapack import (
    dgbtrf,
    dgbtrs,
    dgetrf,
    dgetrs,
    dpbtrf,
    dpbtrs,
    dpotrf,
    dpotrs,
)
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from corekit.data.arrays import Array, IntArray
from corekit.linalg.elimination import Elimination
from corekit.linalg.matrices import Banded, BlockDiagonal, Dense, Diagonal, Matrix
from corekit.linalg.sparse import Sparse

__all__ = ["EliminatedRows", "Factor", "factor"]

_NONE = np.zeros(0, dtype=np.int64)


class EliminatedRows:
    """Rows of (1): dofs (nb, k), values (nb, k), compliance E_b (nb,), right-hand side r (nb,)."""

    __slots__ = ("compliance", "dofs", "target", "values")

    def __init__(self, count: int, width: int) -> None:
        self.dofs: IntArray = np.zeros((count, width), dtype=np.int64)
        self.values: Array = np.zeros((count, width))
        self.compliance: Array = np.zeros(count)
        self.target: Array = np.zeros(count)

    @property
    def count(self) -> int:
        """Number of rows nb."""
        return len(self.target)

    def product(self, v: Array) -> Array:
        """J_b·v, shape (nb,)."""
        return np.einsum("rk,rk->r", self.values, v[self.dofs])

    def add_transpose(self, impulse: Array, out: Array) -> None:
        """out += J_bᵀ·impulse."""
        np.add.at(out, self.dofs, self.values * impulse[:, None])


class Factor(ABC):
    """A reusable factorisation of (1); buffers are sized once."""

    @abstractmethod
    def refactor(self, matrix: Matrix, rows: EliminatedRows | None) -> bool:
        """Factorise; False if A is not positive definite or the saddle matrix is singular."""

    @abstractmethod
    def solve(self, b: Array, fixed: Array, x: Array, impulse: Array) -> None:
        """Write x (n,) and λ (nb,) of (1); `fixed` (p,) are the prescribed values; b is not changed."""

    @abstractmethod
    def columns(self, block: Array) -> None:
        """Overwrite `block`, shape (n, R), Fortran order, by G·block."""


def factor(
    matrix: Matrix, rows: EliminatedRows | None = None, prescribed: IntArray = _NONE, symmetric: bool = True
) -> Factor:
    """The factorisation that suits a matrix's structure; it is filled by `refactor`.

    Args:
        matrix: a buffer with the structure to be factorised.
        rows: bilateral rows, or None.
        prescribed: indices of prescribed velocities.
        symmetric: whether A is symmetric positive definite; only dense and sparse matrices may be otherwise,
            sparse ones with a positive definite symmetric part.
    """
    if rows is not None and rows.count:
        return _Saddle(matrix, rows, prescribed)
    if isinstance(matrix, Diagonal):
        return _DiagonalFactor(matrix.n, prescribed)
    if isinstance(matrix, (Banded, BlockDiagonal)):
        return _BandFactor(matrix, prescribed)
    if isinstance(matrix, Sparse):
        return _SparseFactor(matrix, prescribed, symmetric)
    if isinstance(matrix, Dense):
        return _DenseFactor(matrix.n, prescribed) if symmetric else _GeneralFactor(matrix.n, prescribed)
    raise TypeError(f"no factorisation for {type(matrix).__name__}")


@final
class _DiagonalFactor(Factor):
    def __init__(self, n: int, prescribed: IntArray) -> None:
        self._inverse = np.ones(n)
        self._positive = np.ones(n, dtype=bool)
        self._prescribed = prescribed

    def refactor(self, matrix: Matrix, rows: EliminatedRows | None) -> bool:
        positive = np.greater(matrix.data, 0.0, out=self._positive)
        np.divide(1.0, matrix.data, out=self._inverse, where=positive)
        if len(self._prescribed):
            self._inverse[self._prescribed] = 0.0
            positive[self._prescribed] = True
        return bool(positive.all())

    def solve(self, b: Array, fixed: Array, x: Array, impulse: Array) -> None:
        np.multiply(self._inverse, b, out=x)
        if len(self._prescribed):
            x[self._prescribed] = fixed

    def columns(self, block: Array) -> None:
        np.multiply(block, self._inverse[:, None], out=block)


class _Direct(Factor):
    """What the forms without rows share: prescribed rows become identity rows, their known part moves over."""

    def __init__(self, n: int, prescribed: IntArray) -> None:
        self._prescribed = prescribed
        self._known = np.zeros(n)
        self._moved = np.zeros(n)
        self._matrix: Matrix | None = None

    @abstractmethod
    def _back(self, block: Array) -> None:
        """Overwrite a Fortran block by A⁻¹·block."""

    def solve(self, b: Array, fixed: Array, x: Array, impulse: Array) -> None:
        x[:] = b
        if len(self._prescribed):
            if np.count_nonzero(fixed):
                assert self._matrix is not None
                self._known[self._prescribed] = fixed
                self._matrix.multiply(self._known, self._moved)
                x -= self._moved
            x[self._prescribed] = fixed
        self._back(x[:, None])

    def columns(self, block: Array) -> None:
        if len(self._prescribed):
            block[self._prescribed] = 0.0
        self._back(block)


@final
class _DenseFactor(_Direct):
    def __init__(self, n: int, prescribed: IntArray) -> None:
        super().__init__(n, prescribed)
        self._lower = np.zeros((n, n), order="F")

    def refactor(self, matrix: Matrix, rows: EliminatedRows | None) -> bool:
        self._matrix = matrix
        lower = self._lower
        lower[:] = matrix.data
        for p in self._prescribed:
            lower[p, :] = 0.0
            lower[:, p] = 0.0
            lower[p, p] = 1.0
        _, info = dpotrf(lower, lower=1, clean=0, overwrite_a=1)
        return info == 0

    def _back(self, block: Array) -> None:
        dpotrs(self._lower, block, lower=1, overwrite_b=1)


@final
class _GeneralFactor(_Direct):
    """Dense LU: for unsymmetric or indefinite matrices (contact potentials with friction)."""

    def __init__(self, n: int, prescribed: IntArray) -> None:
        super().__init__(n, prescribed)
        self._lu = np.zeros((n, n), order="F")
        self._pivots: IntArray = np.zeros(n, dtype=np.int64)

    def refactor(self, matrix: Matrix, rows: EliminatedRows | None) -> bool:
        self._matrix = matrix
        self._lu[:] = matrix.data
        for p in self._prescribed:
            self._lu[p, :] = 0.0
            self._lu[:, p] = 0.0
            self._lu[p, p] = 1.0
        _, self._pivots, info = dgetrf(self._lu, overwrite_a=1)
        return info == 0

    def _back(self, block: Array) -> None:
        dgetrs(self._lu, self._pivots, block, overwrite_b=1)


@final
class _BandFactor(_Direct):
    def __init__(self, template: Matrix, prescribed: IntArray) -> None:
        super().__init__(template.n, prescribed)
        width = template.width if isinstance(template, Banded) else template.data.shape[1] - 1
        self._band = Banded(template.n, width)
        rows, columns, where = self._band.entries()
        touched = np.isin(rows, prescribed) | np.isin(columns, prescribed)
        self._cleared = where[touched]

    def refactor(self, matrix: Matrix, rows: EliminatedRows | None) -> bool:
        self._matrix = matrix
        band = self._band
        if isinstance(matrix, Banded):
            band.data[:] = matrix.data
        else:
            band.zero()
            band.add(matrix)
        if len(self._prescribed):
            band.data.ravel(order="K")[self._cleared] = 0.0
            band.data[0, self._prescribed] = 1.0
        _, info = dpbtrf(band.data, lower=1, overwrite_ab=1)
        return info == 0

    def _back(self, block: Array) -> None:
        dpbtrs(self._band.data, block, lower=1, overwrite_b=1)


@final
class _SparseFactor(_Direct):
    def __init__(self, template: Sparse, prescribed: IntArray, symmetric: bool) -> None:
        super().__init__(template.n, prescribed)
        pattern = template.pattern
        self._symmetric = symmetric
        self._elimination = Elimination(pattern)
        self._cleared = np.flatnonzero(np.isin(pattern.row, prescribed) | np.isin(pattern.column, prescribed))
        self._ones = pattern.diagonal[prescribed]
        self._values = np.zeros(len(pattern.row))

    def refactor(self, matrix: Matrix, rows: EliminatedRows | None) -> bool:
        self._matrix, values = matrix, matrix.data
        if len(self._cleared):
            values = self._values
            values[:] = matrix.data
            values[self._cleared] = 0.0
            values[self._ones] = 1.0
        return self._elimination.refactor(values, self._symmetric)

    def _back(self, block: Array) -> None:
        for column in block.T:
            self._elimination.solve(column)


@final
class _Saddle(Factor):
    """LU of [[A, J_bᵀ], [J_b, −E]] for (x, −λ), ordered once from its pattern.

    The pattern is read from the matrix layout and the rows' dofs; when the dofs change it is read anew.
    """

    def __init__(self, matrix: Matrix, rows: EliminatedRows, prescribed: IntArray) -> None:
        self._n, self._nb = matrix.n, rows.count
        self._prescribed = prescribed
        self._known = np.zeros(self._n)
        self._moved = np.zeros(self._n)
        self._dofs: IntArray = np.full_like(rows.dofs, -1)
        self._matrix, self._rows = matrix, rows
        self._unknowns = np.zeros((self._n + self._nb, 1), order="F")

    def _order(self, matrix: Matrix, rows: EliminatedRows) -> None:
        """Choose the permutation and the target of every entry in the LU buffer."""
        n, nb, size = self._n, self._nb, self._n + self._nb
        self._dofs[:] = rows.dofs
        a_row, a_column, a_where = matrix.entries()
        j_row = np.repeat(np.arange(n, size), rows.dofs.shape[1])
        j_column = rows.dofs.ravel()
        a_kept = ~(np.isin(a_row, self._prescribed) | np.isin(a_column, self._prescribed))
        j_kept = np.flatnonzero(~np.isin(j_column, self._prescribed))
        a_row, a_column, self._a_where = a_row[a_kept], a_column[a_kept], a_where[a_kept]
        self._j_where = j_kept
        j_row, j_column = j_row[j_kept], j_column[j_kept]
        row = np.concatenate([a_row, j_row, j_column, np.arange(n, size), self._prescribed])
        column = np.concatenate([a_column, j_column, j_row, np.arange(n, size), self._prescribed])
        pattern = coo_array((np.ones(len(row)), (row, column)), shape=(size, size)).tocsr()
        order = np.asarray(reverse_cuthill_mckee(pattern, symmetric_mode=True), dtype=np.int64)
        place = np.empty(size, dtype=np.int64)
        place[order] = np.arange(size)
        self._place = place
        row, column = place[row], place[column]
        self._width = int(np.max(np.abs(row - column), initial=0))
        self._banded = 3 * self._width + 1 < size
        if self._banded:
            self._lu = np.zeros((3 * self._width + 1, size), order="F")
            target = (2 * self._width + row - column) + column * (3 * self._width + 1)
        else:
            self._lu = np.zeros((size, size), order="F")
            target = row + column * size
        ends = np.cumsum([len(a_row), len(j_row), len(j_row), nb])
        self._a_target, self._j_target, self._jt_target, self._e_target, self._p_target = np.split(
            target, ends
        )

    def refactor(self, matrix: Matrix, rows: EliminatedRows | None) -> bool:
        assert rows is not None
        if not np.array_equal(self._dofs, rows.dofs):
            self._order(matrix, rows)
        self._matrix, self._rows = matrix, rows
        flat = self._lu.ravel(order="K")
        flat.fill(0.0)
        flat[self._a_target] = matrix.data.ravel(order="K")[self._a_where]
        values = rows.values.ravel()[self._j_where]
        np.add.at(flat, self._j_target, values)
        np.add.at(flat, self._jt_target, values)
        flat[self._e_target] = -rows.compliance
        flat[self._p_target] = 1.0
        if self._banded:
            _, self._pivots, info = dgbtrf(self._lu, self._width, self._width, overwrite_ab=1)
        else:
            _, self._pivots, info = dgetrf(self._lu, overwrite_a=1)
        return info == 0

    def _back(self, block: Array) -> None:
        if self._banded:
            dgbtrs(self._lu, self._width, self._width, block, self._pivots, overwrite_b=1)
        else:
            dgetrs(self._lu, self._pivots, block, overwrite_b=1)

    def solve(self, b: Array, fixed: Array, x: Array, impulse: Array) -> None:
        n, unknowns, place = self._n, self._unknowns[:, 0], self._place
        x[:] = b
        target = self._rows.target
        if len(self._prescribed):
            self._known[self._prescribed] = fixed
            self._matrix.multiply(self._known, self._moved)
            x -= self._moved
            x[self._prescribed] = fixed
            target = target - self._rows.product(self._known)
        unknowns[place[:n]] = x
        unknowns[place[n:]] = target
        self._back(self._unknowns)
        x[:] = unknowns[place[:n]]
        np.negative(unknowns[place[n:]], out=impulse)

    def columns(self, block: Array) -> None:
        n = self._n
        work = np.zeros((n + self._nb, block.shape[1]), order="F")
        work[self._place[:n]] = block
        if len(self._prescribed):
            work[self._place[self._prescribed]] = 0.0
        self._back(work)
        block[:] = work[self._place[:n]]
