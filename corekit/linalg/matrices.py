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
from corekit.data.arrays import Array, BoolArray, IntArray

__all__ = [
    "Banded",
    "BlockDiagonal",
    "Dense",
    "Diagonal",
    "Matrix",
    "Sparse",
    "SparsePattern",
    "position",
    "widest",
]


class Matrix(ABC):
    """A square matrix of size n in one of the layouts above.

    Args:
        data: of the layout, C or Fortran contiguous.
        diagonal: a view of the diagonal in it, or None.
    """

    def __init__(self, n: int, data: Array, diagonal: Array | None) -> None:
        self.n, self.data = n, data
        self._diagonal = diagonal
        self._scaled = np.zeros_like(data)
        self._maps: dict[object, tuple[IntArray, IntArray]] = {}

    def zero(self) -> None:
        """Set every entry to zero."""
        self.data.fill(0.0)

    def add(self, other: Matrix, factor: float = 1.0) -> None:
        """Add factor·other, whose pattern must fit into this one's; raises TypeError otherwise."""
        if other.layout == self.layout:
            if factor == 1.0:
                self.data += other.data
            else:
                np.multiply(other.data, factor, out=self._scaled)
                self.data += self._scaled
        elif isinstance(other, Diagonal) and self._diagonal is not None and other.n == self.n:
            term = other.data if factor == 1.0 else factor * other.data
            self._diagonal += term.reshape(self._diagonal.shape)
        else:
            place, where = self._map(other)
            self.data.ravel(order="K")[place] += factor * other.data.ravel(order="K")[where]

    def _map(self, other: Matrix) -> tuple[IntArray, IntArray]:
        """Where the entries of another layout go and where they are, worked out once for each layout."""
        key = other.layout
        if key not in self._maps:
            rows, columns, where = other.entries()
            try:
                if other.n != self.n:
                    raise ValueError
                self._maps[key] = self.where(rows, columns), where
            except ValueError:
                raise TypeError(
                    f"a {type(other).__name__} matrix of size {other.n} does not fit into a {type(self).__name__} "
                    f"one of size {self.n}: allocate the sum with `widest`"
                ) from None
        return self._maps[key]

    @property
    def layout(self) -> object:
        """What is equal for two matrices if their data are of the same layout and pattern."""
        return type(self), self.data.shape

    def has_structure_of(self, other: Matrix) -> bool:
        """Whether the data of both mean the same entries, of patterns made apart too."""
        return self.layout == other.layout

    @abstractmethod
    def multiply(self, x: Array, out: Array) -> None:
        """Write A·x into `out`, both of shape (n,), not aliased."""

    @abstractmethod
    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        """Row, column and position in `data.ravel(order="K")` of every stored entry, both triangles."""

    @abstractmethod
    def where(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Positions of entries in `data.ravel(order="K")`; raises ValueError where one is not stored."""

    def symmetrise(self) -> None:  # noqa: B027 - layouts that are always symmetric have nothing to do
        """Replace A by ½·(A + Aᵀ)."""

    def _symmetrise_blocks(self) -> None:
        """The same for one square block or many, the last two axes of the data."""
        np.add(self.data, self.data.swapaxes(-1, -2), out=self._scaled)
        np.multiply(self._scaled, 0.5, out=self.data)

    def dense(self) -> Array:
        """A as a new (n, n) array; for tests and reports."""
        rows, columns, where = self.entries()
        full = np.zeros((self.n, self.n))
        full[rows, columns] = self.data.ravel(order="K")[where]
        return full


def _check_stored(is_stored: BoolArray) -> None:
    if not is_stored.all():
        raise ValueError("an entry is not in the pattern of this matrix")


@final
class Diagonal(Matrix):
    """A diagonal matrix: data (n,)."""

    def __init__(self, n: int) -> None:
        data = np.zeros(n)
        super().__init__(n, data, data)

    def multiply(self, x: Array, out: Array) -> None:
        np.multiply(self.data, x, out=out)

    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        index = np.arange(self.n)
        return index, index, index

    def where(self, rows: IntArray, columns: IntArray) -> IntArray:
        _check_stored(rows == columns)
        return rows


@final
class BlockDiagonal(Matrix):
    """Equal square blocks on the diagonal: data (blocks, k, k)."""

    def __init__(self, blocks: int, k: int) -> None:
        data = np.zeros((blocks, k, k))
        super().__init__(blocks * k, data, np.einsum("bii->bi", data))
        self.block = k

    def multiply(self, x: Array, out: Array) -> None:
        np.einsum("bij,bj->bi", self.data, x.reshape(-1, self.block), out=out.reshape(-1, self.block))

    def dense(self) -> Array:
        full, k = np.zeros((self.n, self.n)), self.block
        for b, block in enumerate(self.data):
            full[b * k : (b + 1) * k, b * k : (b + 1) * k] = block
        return full

    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        blocks, k, _ = self.data.shape
        b, i, j = np.indices((blocks, k, k)).reshape(3, -1)
        return b * k + i, b * k + j, np.arange(self.data.size)

    def where(self, rows: IntArray, columns: IntArray) -> IntArray:
        _check_stored(rows // self.block == columns // self.block)
        return rows * self.block + columns % self.block

    def symmetrise(self) -> None:
        self._symmetrise_blocks()


@final
class Banded(Matrix):
    """A symmetric band of half-width `width`: data (width + 1, n) in Fortran order, LAPACK's lower form."""

    def __init__(self, n: int, width: int) -> None:
        self.width = min(width, n - 1)
        data = np.zeros((self.width + 1, n), order="F")
        super().__init__(n, data, data[0])

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

    def where(self, rows: IntArray, columns: IntArray) -> IntArray:
        below = np.abs(rows - columns)
        _check_stored(below <= self.width)
        return np.minimum(rows, columns) * (self.width + 1) + below


@final
class Dense(Matrix):
    """A full matrix: data (n, n)."""

    def __init__(self, n: int) -> None:
        data = np.zeros((n, n))
        super().__init__(n, data, np.einsum("ii->i", data))

    def multiply(self, x: Array, out: Array) -> None:
        np.dot(self.data, x, out=out)

    def dense(self) -> Array:
        return self.data.copy()

    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        i, j = np.indices((self.n, self.n)).reshape(2, -1)
        return i, j, np.arange(self.n * self.n)

    def where(self, rows: IntArray, columns: IntArray) -> IntArray:
        return rows * self.n + columns

    def symmetrise(self) -> None:
        self._symmetrise_blocks()


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
    def from_entries(cls, n: int, rows: IntArray, columns: IntArray) -> Self:
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
        found = np.empty(len(rows), dtype=np.int64)
        _positions(self.start, self.row, rows, columns, found)
        missing = np.flatnonzero(found < 0)
        if len(missing):
            i, j = int(rows[missing[0]]), int(columns[missing[0]])
            raise ValueError(f"entry ({i}, {j}) is not in the pattern of this sparse matrix")
        return found


@final
class Sparse(Matrix):
    """A matrix with a fixed sparse pattern: data (entries,)."""

    def __init__(self, pattern: SparsePattern) -> None:
        super().__init__(pattern.n, np.zeros(len(pattern.row)), None)
        self.pattern = pattern

    @property
    def layout(self) -> object:
        return self.pattern

    def has_structure_of(self, other: Matrix) -> bool:
        own = self.pattern
        return isinstance(other, Sparse) and (
            own is other.pattern
            or (np.array_equal(own.start, other.pattern.start) and np.array_equal(own.row, other.pattern.row))
        )

    def multiply(self, x: Array, out: Array) -> None:
        _multiply(self.pattern.start, self.pattern.row, self.data, x, out)

    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        return self.pattern.row, self.pattern.column, np.arange(len(self.data))

    def where(self, rows: IntArray, columns: IntArray) -> IntArray:
        return self.pattern.where(rows, columns)

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
def position(start: IntArray, row: IntArray, i: int, j: int) -> int:
    """Where entry (i, j) stands in compressed columns, −1 where it is not in the pattern."""
    low, high = start[j], start[j + 1]
    while low < high:
        middle = (low + high) // 2
        if row[middle] < i:
            low = middle + 1
        else:
            high = middle
    return low if low < start[j + 1] and row[low] == i else -1


@compiled
def _positions(start: IntArray, row: IntArray, rows: IntArray, columns: IntArray, found: IntArray) -> None:
    for e in range(len(found)):
        found[e] = position(start, row, rows[e], columns[e])


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
        pattern = SparsePattern.from_entries(n, rows, columns)
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
