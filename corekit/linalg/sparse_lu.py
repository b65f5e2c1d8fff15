"""Elimination of a sparse matrix with a symmetric pattern, its analysis made once.

With P a permutation that keeps fill-in low (minimum degree) and no pivoting,

    P·A·Pᵀ = L·U,   L unit lower, U upper, U's pattern that of Lᵀ;   U = D·Lᵀ where A is symmetric            (1)

row k of L and column k of U are found from the rows before, along the paths of the elimination tree:

    L₀·y = A[:k, k],   U₀ᵀ·z = A[k, :k]ᵀ,   U[:k, k] = y,   L[k, :k] = z,   d_k = A[k, k] − z·y               (2)

Every d_k is positive if the symmetric part of A is positive definite; the first one that is not ends the
elimination. The ordering, the tree and the pattern of L are kept as long as the pattern of A is.

Sources: Liu (1990), "The role of elimination trees in sparse factorization"; Davis (2006), "Direct Methods for Sparse
Linear Systems", ch. 4; the ordering is SuperLU's minimum degree on A + Aᵀ.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.sparse import SparsePattern

__all__ = ["SparseLU", "fill_reducing"]


def fill_reducing(pattern: SparsePattern) -> IntArray:
    """The place of every unknown in an order with little fill-in, (n,)."""
    n = pattern.n
    if n < 3:
        return np.arange(n)
    degree = np.diff(pattern.start)
    values = np.full(len(pattern.row), -1.0)
    # strictly dominant, so that SuperLU needs no pivoting and its column order is one for both sides
    values[pattern.diagonal] = 2.0 * degree
    matrix = csc_array((values, pattern.row, pattern.start), shape=(n, n))
    factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return np.asarray(factors.perm_c, dtype=np.int64)


class SparseLU:
    """L and U of (1) for matrices of one pattern.

    Args:
        pattern: of A.
        place: of every unknown in the order of elimination; None: minimum degree, unless the pattern is a
            narrow band as it stands.
    """

    def __init__(self, pattern: SparsePattern, place: IntArray | None = None) -> None:
        n = pattern.n
        self.pattern = pattern
        if place is None:
            place = np.arange(n) if _fills_little(pattern) else fill_reducing(pattern)
        self.place = place
        # the upper triangle of P·A·Pᵀ by columns, and for every entry its mirror
        row, column = place[pattern.row], place[pattern.column]
        upper = np.flatnonzero(row <= column)
        upper = upper[np.lexsort((row[upper], column[upper]))]
        self._row = row[upper]
        self._start = np.searchsorted(column[upper], np.arange(n + 1)).astype(np.int64)
        self._where = upper
        self._mirror = pattern.transposed[upper]
        self._parent = _tree(self._start, self._row)
        counts = _column_counts(self._start, self._row, self._parent)
        self._begin = np.concatenate([[0], np.cumsum(counts)])
        fill = int(self._begin[-1])
        self._index: IntArray = np.zeros(fill, dtype=np.int64)
        self._lower, self._upper = np.zeros(fill), np.zeros(fill)
        self._diagonal = np.zeros(n)
        self._used: IntArray = np.zeros(n, dtype=np.int64)
        self._work = np.zeros((2, n))
        self._stack = np.zeros((2, n), dtype=np.int64)
        self._flag = np.zeros(n, dtype=np.int64)
        self._right = np.zeros(n)
        self._symmetric = True

    @property
    def fill(self) -> int:
        """Entries of L below its diagonal."""
        return len(self._index)

    def refactor(self, data: Array, symmetric: bool) -> bool:
        """Eliminate the matrix with these values; False where a pivot is not positive or not finite."""
        self._symmetric = symmetric
        return bool(
            _eliminate(
                self._start, self._row, self._where, self._mirror, data, symmetric, self._parent, self._begin,
                self._index, self._lower, self._upper, self._diagonal, self._used, self._work, self._stack,
                self._flag,
            )
        )  # fmt: skip

    def solve(self, x: Array) -> None:
        """Overwrite x (n,) by A⁻¹·x."""
        upper = self._lower if self._symmetric else self._upper
        _substitute(
            self._begin, self._index, self._lower, upper, self._diagonal, self._symmetric, self.place, self._right,
            x,
        )  # fmt: skip


def _fills_little(pattern: SparsePattern) -> bool:
    """Whether the band of the pattern as it stands is about as full as the pattern itself."""
    below = pattern.row - pattern.column
    width = int(np.max(below, initial=0))
    return bool((width + 1) * pattern.n <= 1.5 * np.count_nonzero(below >= 0))


@compiled
def _tree(start: IntArray, row: IntArray) -> IntArray:
    """Parents of the elimination tree, −1 for roots; `row` holds the upper triangle by columns."""
    n = len(start) - 1
    parent, ancestor = np.full(n, -1), np.full(n, -1)
    for k in range(n):
        for p in range(start[k], start[k + 1]):
            i = row[p]
            while i != -1 and i < k:
                following = ancestor[i]
                ancestor[i] = k
                if following == -1:
                    parent[i] = k
                i = following
    return parent


@compiled
def _column_counts(start: IntArray, row: IntArray, parent: IntArray) -> IntArray:
    """Entries of L below the diagonal in every column."""
    n = len(parent)
    count, flag = np.zeros(n, dtype=np.int64), np.full(n, -1)
    for k in range(n):
        flag[k] = k
        for p in range(start[k], start[k + 1]):
            i = row[p]
            while i < k and flag[i] != k:
                count[i] += 1
                flag[i] = k
                i = parent[i]
    return count


@compiled
def _eliminate(
    start: IntArray, row: IntArray, where: IntArray, mirror: IntArray, data: Array, symmetric: bool,
    parent: IntArray, begin: IntArray, index: IntArray, lower: Array, upper: Array, diagonal: Array,
    used: IntArray, work: Array, stack: IntArray, flag: IntArray,
) -> bool:  # fmt: skip
    """Run (2) over all k; `lower` holds L and `upper` Uᵀ by columns, `diagonal` the d_k."""
    n = len(diagonal)
    y, z = work[0], work[1]
    path, order = stack[0], stack[1]
    for k in range(n):
        used[k] = 0
        flag[k] = -1
    for k in range(n):
        flag[k] = k
        d = 0.0
        top = n
        for p in range(start[k], start[k + 1]):
            i = row[p]
            if i == k:
                d = data[where[p]]
                continue
            y[i] = data[where[p]]
            if not symmetric:
                z[i] = data[mirror[p]]
            length = 0
            while flag[i] != k:
                path[length] = i
                length += 1
                flag[i] = k
                i = parent[i]
            while length > 0:
                length -= 1
                top -= 1
                order[top] = path[length]
        for t in range(top, n):
            j = order[t]
            first, last = begin[j], begin[j] + used[j]
            yj = y[j]
            y[j] = 0.0
            if symmetric:
                zj = yj / diagonal[j]
                for p in range(first, last):
                    y[index[p]] -= lower[p] * yj
            else:
                zj = z[j] / diagonal[j]
                z[j] = 0.0
                for p in range(first, last):
                    y[index[p]] -= lower[p] * yj
                    z[index[p]] -= upper[p] * zj
                upper[last] = yj
            d -= zj * yj
            index[last], lower[last] = k, zj
            used[j] += 1
        if not 0.0 < d < np.inf:
            # leave the work space clean for the next matrix
            y[:] = 0.0
            z[:] = 0.0
            return False
        diagonal[k] = d
    return True


@compiled
def _substitute(
    begin: IntArray, index: IntArray, lower: Array, upper: Array, diagonal: Array, symmetric: bool, place: IntArray,
    x: Array, out: Array,
) -> None:  # fmt: skip
    """Overwrite `out` by A⁻¹·out; `x` is room for it in the order of elimination."""
    n = len(x)
    for i in range(n):
        x[place[i]] = out[i]
    for j in range(n):
        xj = x[j]
        for p in range(begin[j], begin[j + 1]):
            x[index[p]] -= lower[p] * xj
    if symmetric:
        for j in range(n):
            x[j] /= diagonal[j]
    for j in range(n - 1, -1, -1):
        xj = x[j]
        for p in range(begin[j], begin[j + 1]):
            xj -= upper[p] * x[index[p]]
        x[j] = xj if symmetric else xj / diagonal[j]
    for i in range(n):
        out[i] = x[place[i]]
