"""Adding small blocks to a matrix in any layout, so that one model can offer all of them."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.linalg.matrices import Banded, BlockDiagonal, Dense, Diagonal, Matrix

__all__ = ["add_block", "new_matrix"]

_TRIANGLE = {k: np.tril_indices(k) for k in (1, 2, 3)}
_SQUARE = {k: tuple(np.indices((k, k)).reshape(2, -1)) for k in (1, 2, 3)}
"""Rows and columns of a block's lower triangle, and of the whole block."""


def new_matrix(structure: str, n: int, block: int, width: int) -> Matrix:
    """A zero matrix of size n: `diagonal`, `block-diagonal` (k = block), `banded` (width) or `dense`."""
    if structure == "diagonal":
        return Diagonal(n)
    if structure == "block-diagonal":
        return BlockDiagonal(n // block, block)
    return Banded(n, width) if structure == "banded" else Dense(n)


def add_block(matrix: Matrix, row: int, column: int, block: Array) -> None:
    """Add `block` (k, k), k ≤ 3, with its first entry at (row, column), both multiples of k.

    What the description cannot hold must be 0. A band stores one triangle: a block above the diagonal is the
    mirror of one below and is left out.
    """
    k = len(block)
    if isinstance(matrix, Dense):
        matrix.data[row : row + k, column : column + k] += block
    elif isinstance(matrix, Banded):
        if row >= column:
            i, j = _TRIANGLE[k] if row == column else _SQUARE[k]
            matrix.data[row - column + i - j, column + j] += block[i, j]
    elif isinstance(matrix, BlockDiagonal) and row == column:
        size = matrix.block
        start = row % size
        matrix.data[row // size, start : start + k, start : start + k] += block
    elif isinstance(matrix, Diagonal) and row == column:
        matrix.data[row : row + k] += block.diagonal()
