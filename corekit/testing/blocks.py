"""Adding small blocks to a matrix in any layout, so that one model can offer all of them."""

from __future__ import annotations

from corekit.data.arrays import Array
from corekit.linalg.matrices import Banded, BlockDiagonal, Dense, Diagonal, Matrix

__all__ = ["add_block", "new_matrix"]


def new_matrix(structure: str, n: int, block: int, width: int) -> Matrix:
    """A zero matrix of size n: `diagonal`, `block-diagonal` (k = block), `banded` (width) or `dense`."""
    if structure == "diagonal":
        return Diagonal(n)
    if structure == "block-diagonal":
        return BlockDiagonal(n // block, block)
    return Banded(n, width) if structure == "banded" else Dense(n)


def add_block(matrix: Matrix, row: int, column: int, block: Array) -> None:
    """Add `block` (k, k) with its upper left entry at (row, column); what the layout cannot hold must be 0.

    A band stores one triangle, so a block above the diagonal is the mirror of one below and is left out.
    """
    k = len(block)
    if isinstance(matrix, Dense):
        matrix.data[row : row + k, column : column + k] += block
    elif isinstance(matrix, Banded):
        for i in range(k):
            for j in range(k):
                if row + i >= column + j:
                    matrix.data[row + i - column - j, column + j] += block[i, j]
    elif isinstance(matrix, BlockDiagonal) and row == column:
        size = matrix.block
        start = row % size
        matrix.data[row // size, start : start + k, start : start + k] += block
    elif isinstance(matrix, Diagonal) and row == column:
        matrix.data[row : row + k] += block.diagonal()
