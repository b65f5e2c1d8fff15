"""Factorisations that keep a matrix's structure and eliminate constraints and prescribed velocities.

What a factorisation solves stands in `factorisation`.

| structure | rows | method                                                       | cost       |
|-----------|------|--------------------------------------------------------------|------------|
| diagonal, block diagonal | no | Cholesky of the blocks, compiled                | n·k²       |
| banded    | no   | Cholesky, compiled for the widths of chains of rods          | n·width²   |
| dense     | no   | Cholesky, compiled if small; LU if asked for unsymmetric matrices | n³    |
| sparse    | no   | LU without pivoting, analysed once                           | its fill-in |
| any       | yes  | LU of the saddle-point matrix, banded after reverse Cuthill–McKee | n·width² |
"""

from __future__ import annotations

from typing import final

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs, dpotrf, dpotrs

from corekit.data.arrays import Array, IntArray
from corekit.linalg.band_cholesky import NARROW, NarrowBandCholesky, WideBandCholesky
from corekit.linalg.constraint_rows import EliminatedConstraints
from corekit.linalg.factorisation import Factorisation, UnconstrainedFactorisation
from corekit.linalg.matrices import Banded, BlockDiagonal, Dense, Diagonal, Matrix
from corekit.linalg.saddle_point import SaddlePointFactorisation
from corekit.linalg.sparse import Sparse
from corekit.linalg.sparse_lu import SparseLU
from corekit.linalg.square_root import SMALL, SquareRootFactorisation

__all__ = ["make_factorisation"]

_NONE = np.zeros(0, dtype=np.int64)


def make_factorisation(
    matrix: Matrix,
    rows: EliminatedConstraints | None = None,
    prescribed: IntArray = _NONE,
    symmetric: bool = True,
) -> Factorisation:
    """The factorisation that suits a matrix's structure; it is filled by `refactor`.

    Args:
        matrix: a buffer with the structure to be factorised.
        rows: constraints to eliminate, or None.
        prescribed: indices of prescribed velocities.
        symmetric: whether A is symmetric positive definite; only dense and sparse matrices may be otherwise,
            sparse ones with a positive definite symmetric part.
    """
    if rows is not None and rows.count:
        return SaddlePointFactorisation(matrix, rows, prescribed)
    if isinstance(matrix, (Diagonal, BlockDiagonal)):
        return SquareRootFactorisation(matrix, prescribed)
    if isinstance(matrix, Banded):
        return (NarrowBandCholesky if matrix.width <= NARROW else WideBandCholesky)(matrix, prescribed)
    if isinstance(matrix, Sparse):
        return _SparseFactorisation(matrix, prescribed, symmetric)
    if isinstance(matrix, Dense):
        if not symmetric:
            return _DenseLU(matrix.n, prescribed)
        if matrix.n <= SMALL:
            return SquareRootFactorisation(matrix, prescribed)
        return _DenseCholesky(matrix.n, prescribed)
    raise TypeError(f"no factorisation for {type(matrix).__name__}")


@final
class _DenseCholesky(UnconstrainedFactorisation):
    def __init__(self, n: int, prescribed: IntArray) -> None:
        super().__init__(n, prescribed)
        self._lower = np.zeros((n, n), order="F")

    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        self._matrix = matrix
        lower = self._lower
        lower[:] = matrix.data
        for p in self._prescribed:
            lower[p, :] = 0.0
            lower[:, p] = 0.0
            lower[p, p] = 1.0
        _, info = dpotrf(lower, lower=1, clean=0, overwrite_a=1)
        return info == 0

    def _substitute(self, block: Array, *, transposed: bool = False) -> None:
        dpotrs(self._lower, block, lower=1, overwrite_b=1)


@final
class _DenseLU(UnconstrainedFactorisation):
    """Dense LU: for unsymmetric or indefinite matrices (contact potentials with friction)."""

    def __init__(self, n: int, prescribed: IntArray) -> None:
        super().__init__(n, prescribed)
        self._lu = np.zeros((n, n), order="F")
        self._pivots: IntArray = np.zeros(n, dtype=np.int64)

    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        self._matrix = matrix
        self._lu[:] = matrix.data
        for p in self._prescribed:
            self._lu[p, :] = 0.0
            self._lu[:, p] = 0.0
            self._lu[p, p] = 1.0
        _, self._pivots, info = dgetrf(self._lu, overwrite_a=1)
        return info == 0

    def _substitute(self, block: Array, *, transposed: bool = False) -> None:
        dgetrs(self._lu, self._pivots, block, trans=int(transposed), overwrite_b=1)


@final
class _SparseFactorisation(UnconstrainedFactorisation):
    def __init__(self, template: Sparse, prescribed: IntArray, symmetric: bool) -> None:
        super().__init__(template.n, prescribed)
        pattern = template.pattern
        self._symmetric = symmetric
        self._lu = SparseLU(pattern)
        self._cleared = np.flatnonzero(np.isin(pattern.row, prescribed) | np.isin(pattern.column, prescribed))
        self._ones = pattern.diagonal[prescribed]
        self._values = np.zeros(len(pattern.row))

    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        self._matrix, values = matrix, matrix.data
        if len(self._cleared):
            values = self._values
            values[:] = matrix.data
            values[self._cleared] = 0.0
            values[self._ones] = 1.0
        return self._lu.refactor(values, self._symmetric)

    def _substitute(self, block: Array, *, transposed: bool = False) -> None:
        for column in block.T:
            if transposed:
                self._lu.solve_transposed(column)
            else:
                self._lu.solve(column)
