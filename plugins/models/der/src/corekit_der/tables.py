"""Arrays of edges and pairs of edges for compiled kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array, IntArray

__all__ = [
    "EDGE_ROW",
    "BlockEntries",
    "BlockEntryTable",
    "RodTable",
    "Rods",
    "block_entry_table",
    "empty_rods",
    "with_stiffness",
]

EDGE_ROW = 14
"""Length of an edge state: t (0–2), l (3), m₁ (4–6), m₂ (7–9), A (10–12), a·t (13)."""


class Rods(NamedTuple):
    """Edges (E) and pairs (P) of a graph of rods. Indices are into q and v, which have the same order.

    A pair is two edges that meet at a node and bend and twist against each other. It runs from the
    far node of the first edge, through the common node, to the far node of the second; an edge stored the other
    way has the sign −1. A constant angle turns the directors of the second edge, so that the pair is untwisted in its
    rest shape. Without it (k₁, k₂), a mean over both edges, would depend on each limb's choice of directors.

    Attributes:
        edge: first index of the edge's start and end node, and index of its twist angle, (E, 3).
        length: rest length [m], (E,).
        axial: EA [N], 0 for an edge that only clamps, (E,).
        pair: the two edges, (P, 2).
        sign: orientation ±1 of each, (P, 2).
        phase: cosine and sine of the angle that turns the second edge's directors, (P, 2).
        pair_dofs: indices of far node, first angle, common node, second angle, far node, (P, 5).
        pair_stiffness: EI₁/V, EI₂/V, GJ/V [N·m], (P, 3).
        rest_strain: k̄₁, k̄₂, τ̄ [–], (P, 3); inputs of natural curvature change it.
        edge_state: workspace, the state of every edge, (E, EDGE_ROW).
        torque: workspace, ∂E/∂θ of every edge [N·m], (E,).
        block, nodal: workspace, (8, 8) and (11, 11).
        slope: workspace, (3, 8).
    """

    edge: IntArray
    length: Array
    axial: Array
    pair: IntArray
    sign: Array
    phase: Array
    pair_dofs: IntArray
    pair_stiffness: Array
    rest_strain: Array
    edge_state: Array
    torque: Array
    block: Array
    nodal: Array
    slope: Array


class BlockEntries(NamedTuple):
    """Positions of block entries in the flat storage of a matrix.

    Entry `entry[k]` of block b (counted row by row) has the position base[b] + table[kind[b], k]. Along a chain all
    blocks are of one kind, so the table stays in the processor's cache for any length of the chain.

    Attributes:
        entry: stored entries of a block, (s,).
        base, kind: first position and kind of every block, (k,).
        table: positions relative to the first, (kinds, s).
    """

    entry: IntArray
    base: IntArray
    kind: IntArray
    table: IntArray


RodTable = tuple[
    IntArray, Array, Array, IntArray, Array, Array, IntArray, Array, Array, Array, Array, Array, Array, Array
]
"""The arrays of `Rods` as a plain tuple: passing it to compiled code costs half the time."""

BlockEntryTable = tuple[IntArray, IntArray, IntArray, IntArray, IntArray, IntArray, IntArray, IntArray]
"""The arrays of the edges' and of the pairs' `BlockEntries`."""


def empty_rods(edges: int, pairs: int) -> Rods:
    """Return zeroed tables."""
    return Rods(
        edge=np.zeros((edges, 3), dtype=np.int64),
        length=np.zeros(edges),
        axial=np.zeros(edges),
        pair=np.zeros((pairs, 2), dtype=np.int64),
        sign=np.ones((pairs, 2)),
        phase=np.tile([1.0, 0.0], (pairs, 1)),
        pair_dofs=np.zeros((pairs, 5), dtype=np.int64),
        pair_stiffness=np.zeros((pairs, 3)),
        rest_strain=np.zeros((pairs, 3)),
        edge_state=np.zeros((edges, EDGE_ROW)),
        torque=np.zeros(edges),
        block=np.zeros((8, 8)),
        nodal=np.zeros((11, 11)),
        slope=np.zeros((3, 8)),
    )


def with_stiffness(rods: Rods, axial: Array, pair_stiffness: Array) -> Rods:
    """Return tables with other stiffness, rest strains to change and workspace of their own; they share the rest."""
    written = ("rest_strain", "edge_state", "torque", "block", "nodal", "slope")
    own = {name: getattr(rods, name).copy() for name in written}
    return rods._replace(axial=axial.copy(), pair_stiffness=pair_stiffness.copy(), **own)


def block_entry_table(edges: BlockEntries, pairs: BlockEntries) -> BlockEntryTable:
    """Return both as one plain tuple."""
    a, b = edges, pairs
    return a.entry, a.base, a.kind, a.table, b.entry, b.base, b.kind, b.table
