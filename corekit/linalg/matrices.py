"""System matrices as records of raw arrays in documented layouts.

| class          | data                 | entry                                    | holds          |
|----------------|----------------------|------------------------------------------|----------------|
| `Diagonal`     | (n,)                 | A[i, i] = data[i]                        | diagonal       |
| `BlockDiagonal`| (blocks, k, k)       | A[b·k + i, b·k + j] = data[b, i, j]      | any blocks     |
| `Banded`       | (width + 1, n), F    | A[j + d, j] = A[j, j + d] = data[d, j]   | symmetric      |
| `Dense`        | (n, n), C            | A[i, j] = data[i, j]                     | any            |
| `Sparse`       | (entries,)           | compressed columns, see `linalg.sparse`  | fixed pattern  |

The band is LAPACK's lower symmetric one. Buffers are sized once and rewritten in place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import final

import numpy as np
from scipy.linalg.blas import dsbmv

from corekit.data.arrays import Array, IntArray

__all__ = ["Banded", "BlockDiagonal", "Dense", "Diagonal", "Matrix", "symmetrise", "widest"]


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

    def combine(self, a: Matrix, by_a: float, b: Matrix, by_b: float, c: Matrix, by_c: float) -> None:
        """Make this matrix by_a·a + by_b·b + by_c·c."""
        self.zero()
        for other, factor in ((a, by_a), (b, by_b), (c, by_c)):
            if factor:
                self.add(other, factor)

    @abstractmethod
    def multiply(self, x: Array, out: Array) -> None:
        """Write A·x into `out`, both of shape (n,), not aliased."""

    @abstractmethod
    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        """Row, column and position in `data.ravel(order="K")` of every stored entry, both triangles."""

    def symmetrise(self) -> None:  # noqa: B027 - layouts that are always symmetric have nothing to do
        """Replace A by ½·(A + Aᵀ)."""

    def union(self, others: Sequence[Matrix]) -> Matrix | None:
        """A new zero matrix that holds the sum of `others`, if this layout alone can; most leave it to `widest`."""
        return None

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

    def combine(self, a: Matrix, by_a: float, b: Matrix, by_b: float, c: Matrix, by_c: float) -> None:
        if not (isinstance(c, Banded) and c.width == self.width and c.n == self.n):
            super().combine(a, by_a, b, by_b, c, by_c)
            return
        np.multiply(c.data, by_c, out=self.data)
        for other, factor in ((a, by_a), (b, by_b)):
            if factor:
                self.add(other, factor)

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

    def symmetrise(self) -> None:
        np.add(self.data, self.data.swapaxes(-1, -2), out=self._scaled)
        np.multiply(self._scaled, 0.5, out=self.data)

    def entries(self) -> tuple[IntArray, IntArray, IntArray]:
        i, j = np.indices((self.n, self.n)).reshape(2, -1)
        return i, j, np.arange(self.n * self.n)


def symmetrise(matrix: Matrix) -> None:
    """Replace A by ½·(A + Aᵀ) where the layout can hold an unsymmetric matrix."""
    matrix.symmetrise()


def widest(*matrices: Matrix) -> Matrix:
    """A new zero matrix whose pattern holds the sum of the given ones (same size)."""
    sizes = {matrix.n for matrix in matrices}
    if len(sizes) != 1:
        raise ValueError(f"matrices of different sizes {sorted(sizes)} cannot be added")
    n = sizes.pop()
    if any(isinstance(matrix, Dense) for matrix in matrices):
        return Dense(n)
    for matrix in matrices:
        union = matrix.union(matrices)
        if union is not None:
            return union
    blocks = {matrix.block for matrix in matrices if isinstance(matrix, BlockDiagonal)}
    widths = [matrix.width for matrix in matrices if isinstance(matrix, Banded)]
    if not blocks and not widths:
        return Diagonal(n)
    if len(blocks) == 1 and not widths:
        k = blocks.pop()
        return BlockDiagonal(n // k, k)
    return Banded(n, max([*widths, *(k - 1 for k in blocks)]))
