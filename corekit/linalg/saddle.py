"""Bilateral rows eliminated with the matrix: LU of the saddle matrix, banded where its ordering makes it so.

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
from corekit.linalg.factorisation import EliminatedRows, Factor
from corekit.linalg.matrices import Matrix

__all__ = ["Saddle"]


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
class Saddle(Factor):
    """LU of (1), ordered once from its pattern.

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
