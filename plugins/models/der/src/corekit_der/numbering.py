"""Order of coordinates, and storage positions of element blocks in a matrix.

Nodes (3 coordinates, 2 if planar) and edges (their angle; none if planar) are units. Two units are neighbours
if one element contains both; the farthest neighbours determine the band of the Hessian. A chain in its natural
order, x₀ θ₀ x₁ θ₁ …, has half-width 10 (planar: 5). Reverse Cuthill–McKee reorders joints and rings
if this gives a narrower band.

Source: Cuthill and McKee (1969), "Reducing the bandwidth of sparse symmetric matrices".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from corekit.data.arrays import IntArray
from corekit.linalg.matrices import Banded, Sparse, SparsePattern
from corekit_der.graph import Graph
from corekit_der.tables import BlockEntries

__all__ = ["Numbering", "block_dofs", "block_entries", "block_pattern", "number_coordinates"]


@frozen(eq=False)
class Numbering:
    """Indices of units in q and v.

    Args:
        node: first index of every node, (N,).
        edge: index of every edge's angle, (E,); −1 if planar.
        size: length of q.
        width: half-width of the Hessian's band.
    """

    node: IntArray
    edge: IntArray
    size: int
    width: int


def number_coordinates(graph: Graph, planar: bool) -> Numbering:
    """Return the order with the narrower band: that of the limbs or reverse Cuthill–McKee."""
    n, e = len(graph.position), len(graph.edge)
    if planar:
        sizes, natural = np.full(n, 2), np.argsort(graph.node_order, kind="stable")
        members = [graph.edge, graph.pair_node]
    else:
        sizes = np.concatenate([np.full(n, 3), np.ones(e, dtype=np.int64)])
        natural = np.argsort(np.concatenate([graph.node_order, graph.edge_order]), kind="stable")
        members = [graph.edge, np.column_stack([graph.pair_node, n + graph.pair])]
    first = np.concatenate([np.repeat(m, m.shape[1], axis=1).ravel() for m in members])
    second = np.concatenate([np.tile(m, (1, m.shape[1])).ravel() for m in members])
    best = _first_indices(natural, sizes)
    if _half_width(best, sizes, first, second) > (5 if planar else 10):
        pattern = coo_array((np.ones(len(first)), (first, second)), shape=(len(sizes), len(sizes))).tocsr()
        order = np.asarray(reverse_cuthill_mckee(pattern, symmetric_mode=True), dtype=np.int64)
        candidate = _first_indices(order, sizes)
        if _half_width(candidate, sizes, first, second) < _half_width(best, sizes, first, second):
            best = candidate
    edge = np.full(e, -1) if planar else best[n:]
    return Numbering(best[:n], edge, int(sizes.sum()), _half_width(best, sizes, first, second))


def _first_indices(order: IntArray, sizes: IntArray) -> IntArray:
    """Return the first index of every unit in this order."""
    starts = np.empty(len(order), dtype=np.int64)
    starts[order] = np.concatenate([[0], np.cumsum(sizes[order])[:-1]])
    return starts


def _half_width(starts: IntArray, sizes: IntArray, first: IntArray, second: IntArray) -> int:
    """Return the largest distance between indices of neighbouring units."""
    return int(np.max(starts[first] + sizes[first] - 1 - starts[second], initial=0))


def block_dofs(units: IntArray, sizes: tuple[int, ...]) -> IntArray:
    """Return the indices (k, sum of sizes) of elements with units that start at `units` (k, u)."""
    return np.concatenate([units[:, i, None] + np.arange(size) for i, size in enumerate(sizes)], axis=1)


def block_entries(dofs: IntArray, matrix: Banded | Sparse) -> BlockEntries:
    """Return the stored entries of blocks on `dofs` (k, d): the lower triangle of a band, all of a sparse matrix."""
    d = dofs.shape[1]
    if isinstance(matrix, Banded):
        i, j = np.tril_indices(d)
        row, column = np.maximum(dofs[:, i], dofs[:, j]), np.minimum(dofs[:, i], dofs[:, j])
        position = (row - column) + column * (matrix.width + 1)
    else:
        i, j = np.indices((d, d)).reshape(2, -1)
        rows, columns = dofs[:, i], dofs[:, j]
        position = matrix.pattern.where(rows.ravel(), columns.ravel()).reshape(rows.shape)
    base = position[:, :1]
    table, kind = np.unique(position - base, axis=0, return_inverse=True)
    return BlockEntries(d * i + j, np.ascontiguousarray(base[:, 0]), kind.ravel().astype(np.int64), table)


def block_pattern(size: int, blocks: Sequence[IntArray]) -> SparsePattern:
    """Return the pattern of blocks on indices (k, d) each."""
    row = [np.repeat(dofs, dofs.shape[1], axis=1).ravel() for dofs in blocks]
    column = [np.tile(dofs, (1, dofs.shape[1])).ravel() for dofs in blocks]
    return SparsePattern.from_entries(size, np.concatenate(row), np.concatenate(column))
