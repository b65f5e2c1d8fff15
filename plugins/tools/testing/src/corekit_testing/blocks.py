"""Blocks of a chain's nodes in a matrix of any layout, so that one model can offer all of them."""

from __future__ import annotations

import itertools

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.linalg.matrices import Banded, BlockDiagonal, Dense, Diagonal, Matrix

__all__ = ["add_differences", "add_nodes", "new_matrix"]


def new_matrix(structure: str, n: int, block: int, width: int) -> Matrix:
    """A zero matrix of size n: `diagonal`, `block-diagonal` (k = block), `banded` (width) or `dense`."""
    if structure == "diagonal":
        return Diagonal(n)
    if structure == "block-diagonal":
        return BlockDiagonal(n // block, block)
    return Banded(n, width) if structure == "banded" else Dense(n)


def add_nodes(matrix: Matrix, block: Array) -> None:
    """Add a symmetric block for every node, shape (nodes, k, k), k ≤ 3; what the layout cannot hold must be 0."""
    k = block.shape[-1]
    if isinstance(matrix, Dense):
        node = np.arange(len(block))
        matrix.data.reshape(len(block), k, len(block), k)[node, :, node] += block
    elif isinstance(matrix, Banded):
        for column in range(k):
            for row in range(column, k):
                matrix.data[row - column, column::k] += block[:, row, column]
    elif isinstance(matrix, BlockDiagonal):
        matrix.data += block
    elif isinstance(matrix, Diagonal):
        matrix.data += np.einsum("nii->ni", block).ravel()


def add_differences(matrix: Matrix, node: IntArray, block: Array) -> None:
    """Add Σ D_iᵀ·B_i·D_i, with symmetric blocks and the differences of neighbours D_i·x = x_i − x_{i−1}.

    Args:
        matrix: that can hold it; of a diagonal or block-diagonal one the first node alone, which has none before it.
        node: each once, shape (m,).
        block: shape (m, k, k), k ≤ 3.
    """
    k, later = block.shape[-1], node > 0
    nodes, after, pair = matrix.n // k, node[later], block[later]
    own = np.zeros((nodes, k, k))
    own[node] += block
    own[after - 1] += pair
    add_nodes(matrix, own)
    if isinstance(matrix, Dense):
        grid = matrix.data.reshape(nodes, k, nodes, k)
        grid[after, :, after - 1] -= pair
        grid[after - 1, :, after] -= pair
    elif isinstance(matrix, Banded) and len(after):
        for row, column in itertools.product(range(k), repeat=2):
            matrix.data[k + row - column, k * (after - 1) + column] -= pair[:, row, column]
