"""Sparse matrices with a fixed pattern, in compressed columns.

    A[row[p], j] = data[p]   for start[j] ≤ p < start[j + 1],   rows ascending in every column                (1)

The pattern is symmetric and holds the whole diagonal; the values may be unsymmetric. It is made once and shared by
every matrix that has it: what was worked out about it (orderings, elimination trees) stays with the factorisation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Self, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.matrices import Banded, BlockDiagonal, Diagonal, Matrix

__all__ = ["Sparse", "SparsePattern"]


@final
class SparsePattern:
    """The places of (1).

    Attributes:
        n: size.
        start: (n + 1,).
        row: (entries,).
        diagonal: where the diagonal stands in `data`, (n,).
    """

    def __init__(self, n: int, start: IntArray, row: IntArray) -> None:
        self.n, self.start, self.row = n, start, row
        column = np.repeat(np.arange(n), np.diff(start))
        self.column: IntArray = column
        self.diagonal: IntArray = np.flatnonzero(row == column)

    @classmethod
    def of(cls, n: int, rows: IntArray, columns: IntArray) -> Self:
        """The least symmetric pattern with a whole diagonal that holds the given entries (repeated ones count once)."""
        every = np.arange(n)
        keys = np.concatenate([columns * n + rows, rows * n + columns, every * n + every])
        keys = np.unique(keys)
        start = np.searchsorted(keys, np.arange(n + 1) * n)
        return cls(n, start.astype(np.int64), (keys % n).astype(np.int64))

    @cached_property
    def transposed(self) -> IntArray:
        """Where the mirror entry of every entry stands, (entries,)."""
        return np.lexsort((self.column, self.row))

    def where(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Positions in `data` of entries; raises ValueError where one is not in the pattern."""
        found = positions(self.start, self.row, rows, columns)
        missing = np.flatnonzero(found < 0)
        if len(missing):
            i, j = int(rows[missing[0]]), int(columns[missing[0]])
            raise ValueError(f"entry ({i}, {j}) is not in the pattern of this sparse matrix")
        return found


@final
class Sparse(Matrix):
    """A matrix with a fixed sparse pattern: data (entries,)."""

    def __init__(self, pattern: SparsePattern) -> None:
        self.pattern = pattern
        self.n = pattern.n
        self.data = np.zeros(len(pattern.row))
        self._scaled = np.zeros_like(self.data)
        self._maps: dict[object, tuple[IntArray, IntArray]] = {}

    def add(self, other: Matrix, factor: float = 1.0) -> None:
        if other.n != self.n:
            raise TypeError(f"a matrix of size {other.n} does not fit into a Sparse one of size {self.n}")
        if isinstance(other, Sparse) and other.pattern is self.pattern:
            self._add_same(other, factor)
        elif isinstance(other, Diagonal):
            self.data[self.pattern.diagonal] += factor * other.data
        else:
            place, where = self._map(other)
            self.data[place] += factor * other.data.ravel(order="K")[where]

    def _map(self, other: Matrix) -> tuple[IntArray, IntArray]:
        """Where the entries of another structure go, worked out once for each structure."""
        if isinstance(other, Sparse):
            key: object = other.pattern
        elif isinstance(other, (Banded, BlockDiagonal)):
            key = (type(other).__name__, other.data.shape)
        else:
            raise TypeError(f"a {type(other).__name__} matrix does not fit into a Sparse one")
        if key not in self._maps:
            rows, columns, where = other.entries()
            try:
                self._maps[key] = self.pattern.where(rows, columns), where
            except ValueError as error:
                raise TypeError(f"{error}: allocate the sum with `widest`") from None
        return self._maps[key]

    def multiply(self, x: Array, out: Array) -> None:
        _multiply(self.pattern.start, self.pattern.row, self.data, x, out)

    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        return self.pattern.row, self.pattern.column, np.arange(len(self.data))

    def union(self, others: Sequence[Matrix]) -> Matrix | None:
        parts = [other.entries()[:2] for other in others]
        rows, columns = (np.concatenate([part[i] for part in parts]) for i in range(2))
        pattern = SparsePattern.of(self.n, rows, columns)
        # one pattern for all where nothing is added to it
        same = len(pattern.row) == len(self.pattern.row)
        return Sparse(self.pattern if same else pattern)

    def symmetrise(self) -> None:
        np.add(self.data, self.data[self.pattern.transposed], out=self._scaled)
        np.multiply(self._scaled, 0.5, out=self.data)


@compiled
def _multiply(start: IntArray, row: IntArray, data: Array, x: Array, out: Array) -> None:
    out[:] = 0.0
    for j in range(len(x)):
        for p in range(start[j], start[j + 1]):
            out[row[p]] += data[p] * x[j]


@compiled
def positions(start: IntArray, row: IntArray, rows: IntArray, columns: IntArray) -> IntArray:
    """Where entries stand in `data`, −1 where the pattern has none, by bisection in their columns."""
    found = np.empty(len(rows), dtype=np.int64)
    for e in range(len(rows)):
        low, high = start[columns[e]], start[columns[e] + 1]
        end = high
        while low < high:
            middle = (low + high) // 2
            if row[middle] < rows[e]:
                low = middle + 1
            else:
                high = middle
        found[e] = low if low < end and row[low] == rows[e] else -1
    return found
