"""The order of coordinates, and where the entries of elements stand in a matrix's storage.

Nodes (3 coordinates, 2 if planar) and edges (their angle; none if planar) are units. Two units are neighbours
where one element holds both; the band of the Hessian is as wide as its farthest neighbours. A chain in its own
order, x₀ θ₀ x₁ θ₁ …, has half-width 10 (planar: 5); joints and rings are reordered by reverse Cuthill–McKee
where that gives a narrower band.

Source: Cuthill and McKee (1969), "Reducing the bandwidth of sparse symmetric matrices".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from corekit.data.arrays import IntArray
from corekit.linalg.matrices import Banded
from corekit.linalg.sparse import Sparse, SparsePattern
from corekit_der.graph import Graph
from corekit_der.tables import Places

__all__ = ["Numbering", "dofs_of", "number", "pattern_of", "places"]


@frozen(eq=False)
class Numbering:
    """Where units stand in q and v.

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


def number(graph: Graph, planar: bool) -> Numbering:
    """The narrower of the limbs' own order and reverse Cuthill–McKee."""
    n, e = len(graph.position), len(graph.edge)
    if planar:
        sizes, natural = np.full(n, 2), np.argsort(graph.node_order, kind="stable")
        members = [graph.edge, graph.pair_node]
    else:
        sizes = np.concatenate([np.full(n, 3), np.ones(e, dtype=np.int64)])
        natural = np.argsort(np.concatenate([graph.node_order, graph.edge_order]), kind="stable")
        members = [graph.edge, np.column_stack([graph.pair_node, n + graph.pair])]
    one = np.concatenate([np.repeat(m, m.shape[1], axis=1).ravel() for m in members])
    other = np.concatenate([np.tile(m, (1, m.shape[1])).ravel() for m in members])
    best = _starts(natural, sizes)
    if _width(best, sizes, one, other) > (5 if planar else 10):
        pattern = coo_array((np.ones(len(one)), (one, other)), shape=(len(sizes), len(sizes))).tocsr()
        order = np.asarray(reverse_cuthill_mckee(pattern, symmetric_mode=True), dtype=np.int64)
        candidate = _starts(order, sizes)
        if _width(candidate, sizes, one, other) < _width(best, sizes, one, other):
            best = candidate
    edge = np.full(e, -1) if planar else best[n:]
    return Numbering(best[:n], edge, int(sizes.sum()), _width(best, sizes, one, other))


def _starts(order: IntArray, sizes: IntArray) -> IntArray:
    """First index of every unit when they stand in this order."""
    starts = np.empty(len(order), dtype=np.int64)
    starts[order] = np.concatenate([[0], np.cumsum(sizes[order])[:-1]])
    return starts


def _width(starts: IntArray, sizes: IntArray, one: IntArray, other: IntArray) -> int:
    """Largest distance between indices of neighbouring units."""
    return int(np.max(starts[one] + sizes[one] - 1 - starts[other], initial=0))


def dofs_of(units: IntArray, sizes: tuple[int, ...]) -> IntArray:
    """Indices of elements whose units start at `units` (k, u) and have these sizes, (k, sum of sizes)."""
    return np.concatenate([units[:, i, None] + np.arange(size) for i, size in enumerate(sizes)], axis=1)


def places(dofs: IntArray, matrix: Banded | Sparse) -> Places:
    """Which entries of blocks on `dofs` (k, d) a matrix stores, and where: the lower triangle for a band, all else."""
    d = dofs.shape[1]
    if isinstance(matrix, Banded):
        i, j = np.tril_indices(d)
        row, column = np.maximum(dofs[:, i], dofs[:, j]), np.minimum(dofs[:, i], dofs[:, j])
        place = (row - column) + column * (matrix.width + 1)
    else:
        i, j = np.indices((d, d)).reshape(2, -1)
        rows, columns = dofs[:, i], dofs[:, j]
        place = matrix.pattern.where(rows.ravel(), columns.ravel()).reshape(rows.shape)
    base = place[:, :1]
    table, kind = np.unique(place - base, axis=0, return_inverse=True)
    return Places(d * i + j, np.ascontiguousarray(base[:, 0]), kind.ravel().astype(np.int64), table)


def pattern_of(size: int, blocks: Sequence[IntArray]) -> SparsePattern:
    """The pattern of blocks on indices (k, d) each."""
    row = [np.repeat(dofs, dofs.shape[1], axis=1).ravel() for dofs in blocks]
    column = [np.tile(dofs, (1, dofs.shape[1])).ravel() for dofs in blocks]
    return SparsePattern.of(size, np.concatenate(row), np.concatenate(column))
