"""The arrays that compiled kernels read: what edges and pairs of edges there are, and how stiff."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array, IntArray

__all__ = ["EDGE_ROW", "PlaceTable", "Places", "RodTable", "Rods", "empty_rods", "place_table"]

EDGE_ROW = 14
"""Numbers an edge keeps at a state: t (0–2), l (3), m₁ (4–6), m₂ (7–9), A (10–12), a·t (13)."""


class Rods(NamedTuple):
    """Edges (E) and pairs (P) of a graph of rods. Indices are into q and v, which stand in the same order.

    A pair is two edges that meet at a node and bend and twist against each other. Both are traversed from the
    far node of the first, through the common node, to the far node of the second: an edge stored the other
    way has the sign −1. The directors of the second edge count turned by a constant angle that makes the pair untwisted
    in its rest shape: rods that meet in a joint were each given directors of their own, and (k₁, k₂) is a mean of both.

    Attributes:
        edge: first index of the edge's start and end node, and index of its twist angle, (E, 3).
        length: rest length [m], (E,).
        axial: EA [N], 0 for an edge that only clamps, (E,).
        pair: the two edges, (P, 2).
        sign: ±1 of each, (P, 2).
        phase: cos and sin of the angle by which the second edge's directors are turned in the pair, (P, 2).
        where: indices of far node, first angle, common node, second angle, far node, (P, 5).
        bend: EI₁/V, EI₂/V, GJ/V [N·m], (P, 3).
        rest: k̄₁, k̄₂, τ̄ [–]; rewritten where natural curvature is an input, (P, 3).
        at: work space of the edges, (E, EDGE_ROW).
        torque: work space, ∂E/∂θ of each edge [N·m], (E,).
        block, nodal: work space, (8, 8) and (11, 11).
        slope: work space, (3, 8).
    """

    edge: IntArray
    length: Array
    axial: Array
    pair: IntArray
    sign: Array
    phase: Array
    where: IntArray
    bend: Array
    rest: Array
    at: Array
    torque: Array
    block: Array
    nodal: Array
    slope: Array


class Places(NamedTuple):
    """Where the entries of equal blocks stand in the flat storage of a matrix.

    Entry `entry[k]` of block b (counted row by row) stands at base[b] + table[kind[b], k]. Along a chain all blocks
    are of one kind, so the table stays in the processor's nearest memory however long the chain is.

    Attributes:
        entry: which entries are stored, (s,).
        base, kind: of every block, (k,).
        table: (kinds, s).
    """

    entry: IntArray
    base: IntArray
    kind: IntArray
    table: IntArray


RodTable = tuple[
    IntArray, Array, Array, IntArray, Array, Array, IntArray, Array, Array, Array, Array, Array, Array, Array
]
"""The arrays of `Rods` as a plain tuple, which is handed to compiled code in half the time."""

PlaceTable = tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]
"""The arrays of the edges' and of the pairs' `Places`."""


def empty_rods(edges: int, pairs: int) -> Rods:
    """Zeroed tables of the given sizes."""
    return Rods(
        edge=np.zeros((edges, 3), dtype=np.int64),
        length=np.zeros(edges),
        axial=np.zeros(edges),
        pair=np.zeros((pairs, 2), dtype=np.int64),
        sign=np.ones((pairs, 2)),
        phase=np.tile([1.0, 0.0], (pairs, 1)),
        where=np.zeros((pairs, 5), dtype=np.int64),
        bend=np.zeros((pairs, 3)),
        rest=np.zeros((pairs, 3)),
        at=np.zeros((edges, EDGE_ROW)),
        torque=np.zeros(edges),
        block=np.zeros((8, 8)),
        nodal=np.zeros((11, 11)),
        slope=np.zeros((3, 8)),
    )


def place_table(edges: Places, pairs: Places) -> PlaceTable:
    """Both as one plain tuple."""
    a, b = edges, pairs
    return a.entry, a.base, a.kind, a.table, b.entry, b.base, b.kind, b.table
