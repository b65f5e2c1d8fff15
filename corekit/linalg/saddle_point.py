"""Constraints eliminated with the matrix: LU of the saddle-point matrix, banded where its ordering makes it so.

    [[A, J_bᵀ], [J_b, −E]]·(x, −λ) = (b, r)                                                 (1)

Source for the ordering: Cuthill and McKee (1969); George (1971).
"""

from __future__ import annotations

from typing import final

import numpy as np
from scipy.linalg.lapack import dgbtrf, dgbtrs, dgetrf, dgetrs
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.constraint_rows import EliminatedConstraints
from corekit.linalg.factorisation import Factorisation
from corekit.linalg.matrices import Matrix

__all__ = ["SaddlePointFactorisation"]


@compiled
def _fill(
    lu: Array, matrix: Array, a_where: IntArray, a_target: IntArray, rows: Array, j_where: IntArray, j_target: IntArray,
    jt_target: IntArray, compliance: Array, e_target: IntArray, p_target: IntArray,
) -> None:  # fmt: skip
    """Write (1): what stands where in the matrix and the rows, to where in the LU buffer; dofs may repeat in a row."""
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
class SaddlePointFactorisation(Factorisation):
    """LU of (1), ordered once from its pattern.

    The pattern is read from the matrix layout and the rows' dofs; when the dofs change it is read anew.
    """

    def __init__(self, matrix: Matrix, rows: EliminatedConstraints, prescribed: IntArray) -> None:
        self._n, self._nb = matrix.n, rows.count
        self._prescribed = prescribed
        self._known = np.zeros(self._n)
        self._known_part = np.zeros(self._n)
        self._dofs: IntArray = np.full_like(rows.dofs, -1)
        self._matrix, self._rows = matrix, rows
        self._unknowns = np.zeros((self._n + self._nb, 1), order="F")

    def _order(self, matrix: Matrix, rows: EliminatedConstraints) -> None:
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
        permutation = np.empty(size, dtype=np.int64)
        permutation[order] = np.arange(size)
        self._permutation = permutation
        row, column = permutation[row], permutation[column]
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

    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        assert rows is not None
        if not np.array_equal(self._dofs, rows.dofs):
            self._order(matrix, rows)
        self._matrix, self._rows = matrix, rows
        _fill(
            self._lu.ravel(order="K"), matrix.data.ravel(order="K"), self._a_where, self._a_target,
            rows.values.ravel(), self._j_where, self._j_target, self._jt_target, rows.compliance, self._e_target,
            self._p_target,
        )  # fmt: skip
        if self._banded:
            _, self._pivots, info = dgbtrf(self._lu, self._width, self._width, overwrite_ab=1)
        else:
            _, self._pivots, info = dgetrf(self._lu, overwrite_a=1)
        return info == 0

    def _substitute(self, block: Array, *, transposed: bool = False) -> None:
        if self._banded:
            width, trans = self._width, int(transposed)
            dgbtrs(self._lu, width, width, block, self._pivots, trans=trans, overwrite_b=1)
        else:
            dgetrs(self._lu, self._pivots, block, trans=int(transposed), overwrite_b=1)

    def solve(self, b: Array, prescribed_values: Array, x: Array, impulse: Array) -> None:
        x[:] = b
        rhs = self._rows.rhs
        if len(self._prescribed):
            self._known[self._prescribed] = prescribed_values
            self._matrix.multiply(self._known, self._known_part)
            x -= self._known_part
            x[self._prescribed] = prescribed_values
            rhs = rhs - self._rows.product(self._known)
        self._solve(x, rhs, impulse)

    def solve_transposed(self, b: Array, rhs: Array, x: Array, impulse: Array) -> None:
        x[:] = b
        x[self._prescribed] = 0.0
        self._solve(x, rhs, impulse, transposed=True)

    def _solve(self, x: Array, rhs: Array, impulse: Array, *, transposed: bool = False) -> None:
        """Overwrite x, which holds b, and write λ."""
        n, unknowns, permutation = self._n, self._unknowns[:, 0], self._permutation
        unknowns[permutation[:n]] = x
        unknowns[permutation[n:]] = rhs
        self._substitute(self._unknowns, transposed=transposed)
        x[:] = unknowns[permutation[:n]]
        np.negative(unknowns[permutation[n:]], out=impulse)

    def solve_columns(self, block: Array) -> None:
        n = self._n
        work = np.zeros((n + self._nb, block.shape[1]), order="F")
        work[self._permutation[:n]] = block
        if len(self._prescribed):
            work[self._permutation[self._prescribed]] = 0.0
        self._substitute(work)
        block[:] = work[self._permutation[:n]]
