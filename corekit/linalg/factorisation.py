"""Factorisations of a step matrix, with constraints and prescribed velocities eliminated.

    A·x = b + J_bᵀ·λ,     J_b·x + E·λ = r,     x_p = prescribed values                      (1)

and its homogeneous form with r = 0 and x_p = 0, written x = G·b. A must be positive definite on the kernel of J_b
(apart from the prescribed velocities); alone it may be singular. G is symmetric if A is. Without constraints the rows
and columns of prescribed velocities become those of the identity; with them one matrix holds all,

    [[A, J_bᵀ], [J_b, −E]]·(x, −λ) = (b, r)                                                 (2)

| structure of A           | constraints | method                                                 | cost       |
|--------------------------|-------------|--------------------------------------------------------|------------|
| diagonal, block diagonal | no          | Cholesky of the blocks, compiled                       | n·k²       |
| dense                    | no          | Cholesky, compiled if small; LU where unsymmetric      | n³         |
| narrow band              | no          | Cholesky, compiled for the widths of chains of rods    | n·width²   |
| sparse, wide band        | no          | LU without pivoting, compiled, analysed once           | its fill-in|
| any                      | yes         | LU of (2), banded after reverse Cuthill–McKee if narrow| n·width²   |

Source for the ordering: Cuthill and McKee (1969); George (1971).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final, final

import numpy as np
from scipy.linalg.lapack import dgbtrf, dgbtrs, dgetrf, dgetrs, dpotrf, dpotrs
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.cholesky import (
    NARROW,
    factorise_band,
    factorise_blocks,
    respond_by_band,
    respond_by_blocks,
    solve_blocks,
    substitute_band,
    substitute_blocks,
    write_band,
)
from corekit.linalg.constraint_rows import EliminatedConstraints
from corekit.linalg.matrices import Banded, BlockDiagonal, Dense, Diagonal, Matrix, Sparse, SparsePattern
from corekit.linalg.sparse_lu import SparseLU

__all__ = ["BandFactorisation", "BlockFactorisation", "Factorisation", "make_factorisation"]

_NONE: IntArray = np.zeros(0, dtype=np.int64)
_SMALL: Final = 24
"""Largest size of a dense matrix for which compiled loops are worth it."""


class Factorisation(ABC):
    """A reusable factorisation of (1); its buffers are sized once.

    Args:
        template: a matrix with the structure to be factorised.
        prescribed: indices of prescribed velocities.
    """

    def __init__(self, template: Matrix, prescribed: IntArray) -> None:
        self.prescribed = prescribed
        self._matrix, self._rows = template, EliminatedConstraints(0, 1)
        self._known, self._known_part = np.zeros((2, template.n))

    @abstractmethod
    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        """Factorise; False if A is not positive definite or the saddle-point matrix is singular."""

    @abstractmethod
    def _substitute(self, block: Array, *, transposed: bool = False) -> None:
        """Overwrite a block (n, R) in Fortran order, zero at prescribed velocities, by G·block, or by Gᵀ·block."""

    def _solve(self, x: Array, rhs: Array, impulse: Array, *, transposed: bool) -> None:
        """Overwrite x, which holds b and the prescribed values, and write λ for r = `rhs`."""
        self._substitute(x[:, None], transposed=transposed)

    def solve(self, b: Array, prescribed_values: Array, x: Array, impulse: Array) -> None:
        """Write x (n,) and λ (nb,) of (1); b is not changed, there are p prescribed values."""
        x[:] = b
        rhs = self._rows.rhs
        if len(self.prescribed):
            if np.count_nonzero(prescribed_values):
                self._known[self.prescribed] = prescribed_values
                self._matrix.multiply(self._known, self._known_part)
                x -= self._known_part
                rhs = rhs - self._rows.product(self._known)
            x[self.prescribed] = prescribed_values
        self._solve(x, rhs, impulse, transposed=False)

    def solve_transposed(self, b: Array, rhs: Array, x: Array, impulse: Array) -> None:
        """Write x (n,) and λ (nb,) of (1) with Aᵀ in place of A, r = `rhs` and x_p = 0; b is not changed.

        This is the adjoint of `solve`: where x̄ and λ̄ are the derivatives of a scalar by x and λ, b = x̄ and
        r = −λ̄ give its derivatives x by b and −λ by r.
        """
        x[:] = b
        x[self.prescribed] = 0.0
        self._solve(x, rhs, impulse, transposed=True)

    def solve_columns(self, block: Array) -> None:
        """Overwrite `block`, shape (n, R), Fortran order, by G·block."""
        if len(self.prescribed):
            block[self.prescribed] = 0.0
        self._substitute(block)


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
        return _SaddlePointFactorisation(matrix, rows, prescribed)
    if isinstance(matrix, Dense) and not (symmetric and matrix.n <= _SMALL):
        return _DenseFactorisation(matrix, prescribed, symmetric)
    if isinstance(matrix, (Diagonal, BlockDiagonal, Dense)):
        return BlockFactorisation(matrix, prescribed)
    if isinstance(matrix, Banded) and matrix.width <= NARROW:
        return BandFactorisation(matrix, prescribed)
    return _SparseFactorisation(matrix, prescribed, symmetric)


@final
class BlockFactorisation(Factorisation):
    """Cholesky of each block, of which a small dense matrix is one and a diagonal one has n.

    Attributes:
        lower_factor: by blocks, (n/k, k, k), D⁻¹ on the diagonal and L below it; `refactor` rewrites the buffer.
        prescribed: the indices.
        scratch: a work array, (n,).
    """

    def __init__(self, template: Dense | BlockDiagonal | Diagonal, prescribed: IntArray) -> None:
        super().__init__(template, prescribed)
        k = template.data.shape[-1] if template.data.ndim > 1 else 1
        self.lower_factor = np.zeros((template.n // k, k, k))
        self._blocks = template.data.reshape(self.lower_factor.shape)
        self.scratch = np.zeros(template.n)

    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        if matrix is not self._matrix:
            self._matrix, self._blocks = matrix, matrix.data.reshape(self.lower_factor.shape)
        return factorise_blocks(self._blocks, self.prescribed, self.lower_factor)

    def _substitute(self, block: Array, *, transposed: bool = False) -> None:
        substitute_blocks(self.lower_factor, block.T)

    def respond(self, rows: Array, first: int, response: Array) -> None:
        """Write (G·Jᵀ)ᵀ of the body whose velocities begin at `first`, see `respond_by_blocks`."""
        respond_by_blocks(self.lower_factor, self.prescribed, rows, first, response)

    def solve(self, b: Array, prescribed_values: Array, x: Array, impulse: Array) -> None:
        solve_blocks(self.lower_factor, self.prescribed, b, prescribed_values, self._blocks, x)


class _CopyFactorisation(Factorisation, ABC):
    """Factorises a copy of A, in which prescribed velocities have rows and columns of the identity.

    Args:
        copy: buffer for the copy, in the shape of the matrix's data.
    """

    def __init__(self, template: Matrix, prescribed: IntArray, copy: Array) -> None:
        super().__init__(template, prescribed)
        rows, columns, where = template.entries()
        order = "C" if template.data.flags.c_contiguous else "F"
        held = np.isin(rows, prescribed) | np.isin(columns, prescribed)
        self._copy = copy
        self._cleared = np.unravel_index(where[held], copy.shape, order)
        self._ones = np.unravel_index(where[held & (rows == columns)], copy.shape, order)

    @abstractmethod
    def _factorise(self) -> bool: ...

    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        self._matrix = matrix
        self._copy[...] = matrix.data
        if len(self.prescribed):
            self._copy[self._cleared] = 0.0
            self._copy[self._ones] = 1.0
        return self._factorise()


@final
class _DenseFactorisation(_CopyFactorisation):
    def __init__(self, template: Dense, prescribed: IntArray, symmetric: bool) -> None:
        super().__init__(template, prescribed, np.zeros((template.n, template.n), order="F"))
        self._is_symmetric, self._pivots = symmetric, _NONE

    def _factorise(self) -> bool:
        if self._is_symmetric:
            return dpotrf(self._copy, lower=1, clean=0, overwrite_a=1)[1] == 0
        _, self._pivots, info = dgetrf(self._copy, overwrite_a=1)
        return info == 0

    def _substitute(self, block: Array, *, transposed: bool = False) -> None:
        if self._is_symmetric:
            dpotrs(self._copy, block, lower=1, overwrite_b=1)
        else:
            dgetrs(self._copy, self._pivots, block, trans=int(transposed), overwrite_b=1)


@final
class BandFactorisation(Factorisation):
    """Cholesky of a band of half-width `NARROW` or less.

    Attributes:
        band: L and D⁻¹, see `factorise_band`; `refactor` rewrites the buffer.
        work: a work array of `substitute_band`.
    """

    def __init__(self, template: Banded, prescribed: IntArray) -> None:
        super().__init__(template, prescribed)
        self.band = np.zeros((template.n + 2 * NARROW, NARROW + 1))
        self.work = np.zeros(len(self.band))

    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        self._matrix = matrix
        write_band(matrix.data.T, self.prescribed, self.band)
        return bool(factorise_band(self.band))

    def _substitute(self, block: Array, *, transposed: bool = False) -> None:
        for column in block.T:
            substitute_band(self.band, self.work, column)

    def respond(self, rows: Array, first: int, response: Array) -> None:
        """Write (G·Jᵀ)ᵀ of the body whose velocities begin at `first`, see `respond_by_band`."""
        respond_by_band(self.band, self.work, self.prescribed, rows, first, response)


@final
class _SparseFactorisation(_CopyFactorisation):
    def __init__(self, template: Matrix, prescribed: IntArray, symmetric: bool) -> None:
        super().__init__(template, prescribed, np.zeros_like(template.data))
        self._is_symmetric = symmetric
        self._where: IntArray | None = None
        if isinstance(template, Sparse):
            self._lu = SparseLU(template.pattern)
        else:
            rows, columns, where = template.entries()
            self._where = where[np.lexsort((rows, columns))]
            self._lu = SparseLU(SparsePattern.from_entries(template.n, rows, columns))

    def _factorise(self) -> bool:
        data = self._copy if self._where is None else self._copy.ravel(order="K")[self._where]
        return self._lu.refactor(data, self._is_symmetric)

    def _substitute(self, block: Array, *, transposed: bool = False) -> None:
        for column in block.T:
            self._lu.solve(column, transposed=transposed)


@compiled
def _fill(
    lu: Array, matrix: Array, a_where: IntArray, a_target: IntArray, rows: Array, j_where: IntArray, j_target: IntArray,
    jt_target: IntArray, compliance: Array, e_target: IntArray, p_target: IntArray,
) -> None:  # fmt: skip
    """Write (2): what stands where in the matrix and the rows, to where in the LU buffer; dofs may repeat in a row."""
    lu[:] = 0.0
    for i in range(len(a_where)):
        lu[a_target[i]] = matrix[a_where[i]]
    for i in range(len(j_where)):
        lu[j_target[i]] += rows[j_where[i]]
        lu[jt_target[i]] += rows[j_where[i]]
    for i in range(len(e_target)):
        lu[e_target[i]] = -compliance[i]
    for i in range(len(p_target)):
        lu[p_target[i]] = 1.0


@final
class _SaddlePointFactorisation(Factorisation):
    """LU of (2) with pivoting, ordered by the matrix layout and the rows' dofs; when the dofs change it is anew."""

    def __init__(self, template: Matrix, rows: EliminatedConstraints, prescribed: IntArray) -> None:
        super().__init__(template, prescribed)
        self._rows = rows
        self._dofs: IntArray = np.full_like(rows.dofs, -1)
        self._unknowns = np.zeros((template.n + rows.count, 1), order="F")

    def _choose_order(self) -> None:
        """Choose the permutation and the target of every entry in the LU buffer."""
        matrix, rows, held = self._matrix, self._rows, self.prescribed
        n, size = matrix.n, matrix.n + rows.count
        self._dofs[:] = rows.dofs
        a_row, a_column, a_where = matrix.entries()
        a_kept = ~(np.isin(a_row, held) | np.isin(a_column, held))
        a_row, a_column, self._a_where = a_row[a_kept], a_column[a_kept], a_where[a_kept]
        self._j_where = np.flatnonzero(~np.isin(rows.dofs.ravel(), held))
        j_row = np.repeat(np.arange(n, size), rows.dofs.shape[1])[self._j_where]
        j_column = rows.dofs.ravel()[self._j_where]
        row = np.concatenate([a_row, j_row, j_column, np.arange(n, size), held])
        column = np.concatenate([a_column, j_column, j_row, np.arange(n, size), held])
        pattern = coo_array((np.ones(len(row)), (row, column)), shape=(size, size)).tocsr()
        self._permutation = permutation = np.empty(size, dtype=np.int64)
        permutation[reverse_cuthill_mckee(pattern, symmetric_mode=True)] = np.arange(size)
        row, column = permutation[row], permutation[column]
        self._width = width = int(np.max(np.abs(row - column), initial=0))
        self._is_banded = 3 * width + 1 < size
        depth = 3 * width + 1 if self._is_banded else size
        self._lu = np.zeros((depth, size), order="F")
        target = row + column * depth + (2 * width - column if self._is_banded else 0)
        ends = np.cumsum([len(a_row), len(j_row), len(j_row), rows.count])
        self._a_target, self._j_target, self._jt_target, self._e_target, self._p_target = np.split(
            target, ends
        )

    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        assert rows is not None
        self._matrix, self._rows = matrix, rows
        if not np.array_equal(self._dofs, rows.dofs):
            self._choose_order()
        _fill(
            self._lu.ravel(order="K"), matrix.data.ravel(order="K"), self._a_where, self._a_target,
            rows.values.ravel(), self._j_where, self._j_target, self._jt_target, rows.compliance, self._e_target,
            self._p_target,
        )  # fmt: skip
        if self._is_banded:
            _, self._pivots, info = dgbtrf(self._lu, self._width, self._width, overwrite_ab=1)
        else:
            _, self._pivots, info = dgetrf(self._lu, overwrite_a=1)
        return info == 0

    def _substitute_all(self, block: Array, *, transposed: bool) -> None:
        """Overwrite unknowns (n + nb, R) of (2) in the order of elimination by the solution."""
        if self._is_banded:
            width, trans = self._width, int(transposed)
            dgbtrs(self._lu, width, width, block, self._pivots, trans=trans, overwrite_b=1)
        else:
            dgetrs(self._lu, self._pivots, block, trans=int(transposed), overwrite_b=1)

    def _solve(self, x: Array, rhs: Array, impulse: Array, *, transposed: bool) -> None:
        n, unknowns, permutation = len(x), self._unknowns[:, 0], self._permutation
        unknowns[permutation[:n]] = x
        unknowns[permutation[n:]] = rhs
        self._substitute_all(self._unknowns, transposed=transposed)
        x[:] = unknowns[permutation[:n]]
        np.negative(unknowns[permutation[n:]], out=impulse)

    def _substitute(self, block: Array, *, transposed: bool = False) -> None:
        work = np.zeros((len(self._permutation), block.shape[1]), order="F")
        work[self._permutation[: len(block)]] = block
        self._substitute_all(work, transposed=transposed)
        block[:] = work[self._permutation[: len(block)]]
