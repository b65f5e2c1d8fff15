"""System matrices as records of raw arrays in documented layouts.

| class          | data                 | entry                                    | holds          |
|----------------|----------------------|------------------------------------------|----------------|
| `Diagonal`     | (n,)                 | A[i, i] = data[i]                        | diagonal       |
| `BlockDiagonal`| (blocks, k, k)       | A[b·k + i, b·k + j] = data[b, i, j]      | any blocks     |
| `Banded`       | (width + 1, n), F    | A[j + d, j] = A[j, j + d] = data[d, j]   | symmetric      |
| `Dense`        | (n, n), C            | A[i, j] = data[i, j]                     | any            |
| `Sparse`       | (entries,)           | A[row[p], j] = data[p]                   | fixed pattern  |

The band is LAPACK's lower symmetric one. A sparse matrix has compressed columns, start[j] ≤ p < start[j + 1], with rows
ascending in every column. Buffers are sized once and rewritten in place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Self, final

import numpy as np
from scipy.linalg.blas import dsbmv

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["Banded", "BlockDiagonal", "Dense", "Diagonal", "Matrix", "Sparse", "SparsePattern", "widest"]


class Matrix(ABC):
    """A square matrix of size n in one of the layouts above."""

    n: int
    data: Array
    _scaled: Array

    def zero(self) -> None:
        """Set every entry to zero."""
        self.data.fill(0.0)

    @abstractmethod
    def add(self, other: Matrix, factor: float = 1.0) -> None:
        """Add factor·other, whose pattern must fit into this one's; raises TypeError otherwise."""

    @abstractmethod
    def multiply(self, x: Array, out: Array) -> None:
        """Write A·x into `out`, both of shape (n,), not aliased."""

    @abstractmethod
    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        """Row, column and position in `data.ravel(order="K")` of every stored entry, both triangles."""

    def symmetrise(self) -> None:  # noqa: B027 - layouts that are always symmetric have nothing to do
        """Replace A by ½·(A + Aᵀ)."""

    def dense(self) -> Array:
        """A as a new (n, n) array; for tests and reports."""
        rows, columns, where = self.entries()
        full = np.zeros((self.n, self.n))
        full[rows, columns] = self.data.ravel(order="K")[where]
        return full

    def _add_same(self, other: Matrix, factor: float) -> None:
        if factor == 1.0:
            self.data += other.data
        else:
            np.multiply(other.data, factor, out=self._scaled)
            self.data += self._scaled


def _misfit(target: Matrix, other: Matrix) -> TypeError:
    return TypeError(
        f"a {type(other).__name__} matrix of size {other.n} does not fit into a {type(target).__name__} "
        f"one of size {target.n}: allocate the sum with `widest`"
    )


@final
class Diagonal(Matrix):
    """A diagonal matrix: data (n,)."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.data = np.zeros(n)
        self._scaled = np.zeros(n)

    def add(self, other: Matrix, factor: float = 1.0) -> None:
        if not isinstance(other, Diagonal) or other.n != self.n:
            raise _misfit(self, other)
        self._add_same(other, factor)

    def multiply(self, x: Array, out: Array) -> None:
        np.multiply(self.data, x, out=out)

    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        index = np.arange(self.n)
        return index, index, index


@final
class BlockDiagonal(Matrix):
    """Equal square blocks on the diagonal: data (blocks, k, k)."""

    def __init__(self, blocks: int, k: int) -> None:
        self.n = blocks * k
        self.block = k
        self.data = np.zeros((blocks, k, k))
        self._scaled = np.zeros((blocks, k, k))
        self._diagonal = np.einsum("bii->bi", self.data)

    def add(self, other: Matrix, factor: float = 1.0) -> None:
        if other.n != self.n:
            raise _misfit(self, other)
        if isinstance(other, Diagonal):
            self._diagonal += factor * other.data.reshape(self._diagonal.shape)
        elif isinstance(other, BlockDiagonal) and other.block == self.block:
            self._add_same(other, factor)
        else:
            raise _misfit(self, other)

    def multiply(self, x: Array, out: Array) -> None:
        np.einsum("bij,bj->bi", self.data, x.reshape(-1, self.block), out=out.reshape(-1, self.block))

    def symmetrise(self) -> None:
        np.add(self.data, self.data.swapaxes(-1, -2), out=self._scaled)
        np.multiply(self._scaled, 0.5, out=self.data)

    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        blocks, k, _ = self.data.shape
        b, i, j = np.indices((blocks, k, k)).reshape(3, -1)
        return b * k + i, b * k + j, np.arange(self.data.size)


@final
class Banded(Matrix):
    """A symmetric band of half-width `width`: data (width + 1, n) in Fortran order, LAPACK's lower form."""

    def __init__(self, n: int, width: int) -> None:
        self.n = n
        self.width = min(width, n - 1)
        self.data = np.zeros((self.width + 1, n), order="F")
        self._scaled = np.zeros_like(self.data)

    def add(self, other: Matrix, factor: float = 1.0) -> None:
        if other.n != self.n:
            raise _misfit(self, other)
        if isinstance(other, Diagonal):
            self.data[0] += other.data if factor == 1.0 else factor * other.data
        elif isinstance(other, Banded) and other.width <= self.width:
            if other.width == self.width:
                self._add_same(other, factor)
            else:
                self.data[: other.width + 1] += factor * other.data
        elif isinstance(other, BlockDiagonal) and other.block - 1 <= self.width:
            for i in range(other.block):
                for j in range(i + 1):
                    self.data[i - j, j :: other.block] += factor * other.data[:, i, j]
        else:
            raise _misfit(self, other)

    def multiply(self, x: Array, out: Array) -> None:
        dsbmv(self.width, 1.0, self.data, x, beta=0.0, y=out, overwrite_y=1, lower=1)

    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        below, column = np.indices((self.width + 1, self.n))
        where = below + column * (self.width + 1)
        inside = (below + column < self.n).ravel()
        below, column, where = below.ravel()[inside], column.ravel()[inside], where.ravel()[inside]
        off = below > 0
        return (
            np.concatenate([below + column, column[off]]),
            np.concatenate([column, (below + column)[off]]),
            np.concatenate([where, where[off]]),
        )


@final
class Dense(Matrix):
    """A full matrix: data (n, n)."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.data = np.zeros((n, n))
        self._scaled = np.zeros((n, n))
        self._diagonal = np.einsum("ii->i", self.data)

    def add(self, other: Matrix, factor: float = 1.0) -> None:
        if other.n != self.n:
            raise _misfit(self, other)
        if isinstance(other, Dense):
            self._add_same(other, factor)
        elif isinstance(other, Diagonal):
            self._diagonal += factor * other.data
        else:
            rows, columns, where = other.entries()
            self.data[rows, columns] += factor * other.data.ravel(order="K")[where]

    def multiply(self, x: Array, out: Array) -> None:
        np.dot(self.data, x, out=out)

    def dense(self) -> Array:
        return self.data.copy()

    def where(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Positions of entries in `data.ravel()`."""
        return rows * self.n + columns

    def symmetrise(self) -> None:
        np.add(self.data, self.data.swapaxes(-1, -2), out=self._scaled)
        np.multiply(self._scaled, 0.5, out=self.data)

    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        i, j = np.indices((self.n, self.n)).reshape(2, -1)
        return i, j, np.arange(self.n * self.n)


@final
class SparsePattern:
    """Where the entries of sparse matrices stand; it is made once and shared by every matrix that has it.

    It is symmetric and holds the whole diagonal; the values may be unsymmetric.

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
            raise _misfit(self, other)
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
            raise _misfit(self, other)
        if key not in self._maps:
            rows, columns, where = other.entries()
            try:
                self._maps[key] = self.pattern.where(rows, columns), where
            except ValueError as error:
                raise TypeError(f"{error}: allocate the sum with `widest`") from None
        return self._maps[key]

    def where(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Positions of entries in `data`; raises ValueError where one is not in the pattern."""
        return self.pattern.where(rows, columns)

    def multiply(self, x: Array, out: Array) -> None:
        _multiply(self.pattern.start, self.pattern.row, self.data, x, out)

    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        return self.pattern.row, self.pattern.column, np.arange(len(self.data))

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


def widest(*matrices: Matrix) -> Matrix:
    """A new zero matrix whose pattern holds the sum of the given ones (same size)."""
    sizes = {matrix.n for matrix in matrices}
    if len(sizes) != 1:
        raise ValueError(f"matrices of different sizes {sorted(sizes)} cannot be added")
    n = sizes.pop()
    if any(isinstance(matrix, Dense) for matrix in matrices):
        return Dense(n)
    patterns = [matrix.pattern for matrix in matrices if isinstance(matrix, Sparse)]
    if patterns:
        rows, columns, _ = (
            np.concatenate(each) for each in zip(*(m.entries() for m in matrices), strict=True)
        )
        pattern = SparsePattern.of(n, rows, columns)
        # one pattern for all where nothing is added to it
        return Sparse(patterns[0] if len(pattern.row) == len(patterns[0].row) else pattern)
    blocks = {matrix.block for matrix in matrices if isinstance(matrix, BlockDiagonal)}
    widths = [matrix.width for matrix in matrices if isinstance(matrix, Banded)]
    if not blocks and not widths:
        return Diagonal(n)
    if len(blocks) == 1 and not widths:
        k = blocks.pop()
        return BlockDiagonal(n // k, k)
    return Banded(n, max([*widths, *(k - 1 for k in blocks)]))
