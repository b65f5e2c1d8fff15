"""Pairs of edges that are near each other, by a spatial hash.

Edges are put into the cells of a grid that their bounding boxes, grown by their radius and half the margin, touch. The
cell is as long as the longest grown edge, so each lies in at most eight cells; a pair is taken in the one cell that
holds the low corner of the boxes' overlap, so it is taken once. Cells are hashed into as many buckets as edges, and the
buckets filled by counting: cost and memory linear in edges and near pairs.

Source: Teschner et al. (2003), "Optimized spatial hashing for collision detection of deformable objects".
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit_imc.solids import HALF_SPACE

__all__ = ["near_edge_pairs", "near_solids"]


@compiled
def _listed(keys: IntArray, key: int) -> bool:
    """Whether a key stands in a sorted array."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < len(keys) and keys[low] == key


@compiled
def _may_touch(i: int, j: int, body: IntArray, self_contact: BoolArray, never: IntArray, shapes: int) -> bool:
    """Whether shapes i < j are ever to be tested; an obstacle stands second."""
    if body[i] < 0:
        return False
    if body[i] == body[j] and not self_contact[body[i]]:
        return False
    return not _listed(never, i * shapes + j)


@compiled
def _bucket(x: int, y: int, z: int, size: int) -> int:
    return ((x * 73856093) ^ (y * 19349663) ^ (z * 83492791)) % size


@compiled
def _filled(low: Array, high: Array, cell: float) -> tuple[IntArray, IntArray, IntArray]:
    """Buckets of the cells that every box touches: begins, boxes and cells, sorted by bucket."""
    n = len(low)
    first = np.empty((n, 3), dtype=np.int64)
    last = np.empty((n, 3), dtype=np.int64)
    for k in range(n):
        for a in range(3):
            first[k, a] = math.floor(low[k, a] / cell)
            last[k, a] = math.floor(high[k, a] / cell)
    size = 2 * n + 1
    begin = np.zeros(size + 1, dtype=np.int64)
    member = np.empty(0, dtype=np.int64)
    where = np.empty((0, 3), dtype=np.int64)
    fill = begin
    for counting in (True, False):
        if not counting:
            for b in range(size):
                begin[b + 1] += begin[b]
            fill = begin[:-1].copy()
            member = np.empty(begin[size], dtype=np.int64)
            where = np.empty((begin[size], 3), dtype=np.int64)
        for k in range(n):
            for x in range(first[k, 0], last[k, 0] + 1):
                for y in range(first[k, 1], last[k, 1] + 1):
                    for z in range(first[k, 2], last[k, 2] + 1):
                        b = _bucket(x, y, z, size)
                        if counting:
                            begin[b + 1] += 1
                            continue
                        member[fill[b]] = k
                        where[fill[b], 0], where[fill[b], 1], where[fill[b], 2] = x, y, z
                        fill[b] += 1
    return begin, member, where


@compiled
def _meet_here(low: Array, high: Array, where: IntArray, k: int, m: int, u: int, v: int, cell: float) -> bool:
    """Whether boxes k and m overlap, with the low corner of the overlap in the cell of both entries u and v."""
    for a in range(3):
        corner = max(low[k, a], low[m, a])
        if where[u, a] != where[v, a] or corner > min(high[k, a], high[m, a]):
            return False
        if math.floor(corner / cell) != where[u, a]:
            return False
    return True


@compiled
def near_edge_pairs(
    edges: IntArray,
    start: Array,
    end: Array,
    radius: Array,
    kind: IntArray,
    allowed: BoolArray,
    body: IntArray,
    self_contact: BoolArray,
    never: IntArray,
    shapes: int,
    margin: float,
    pairs: IntArray,
    found: int,
) -> int:
    """Append near pairs (i < j) of shapes to `pairs` while there is room; returns how many there are in all.

    Args:
        edges: shape indices of edges and capsules, (n,).
        start, end: ends of every shape, (shapes, 3) [m].
        radius: of every edge and capsule, by shape [m].
        kind: of every shape; allowed: which pairs of kinds are ours.
        body: owner of every shape, −1 for obstacles.
        self_contact: per body.
        never: sorted keys i·shapes + j of pairs never to test.
        margin: gap up to which pairs are near [m].
        found: rows of `pairs` in use.
    """
    n = len(edges)
    low, high = np.empty((n, 3)), np.empty((n, 3))
    cell = 0.0
    for k in range(n):
        i = edges[k]
        grown = radius[i] + 0.5 * margin
        for a in range(3):
            low[k, a] = min(start[i, a], end[i, a]) - grown
            high[k, a] = max(start[i, a], end[i, a]) + grown
            cell = max(cell, high[k, a] - low[k, a])
    if n < 2 or not 0.0 < cell < math.inf:
        return found
    begin, member, where = _filled(low, high, cell)
    for b in range(len(begin) - 1):
        for u in range(begin[b], begin[b + 1]):
            for v in range(u + 1, begin[b + 1]):
                k, m = member[u], member[v]
                if not _meet_here(low, high, where, k, m, u, v, cell):
                    continue
                i, j = min(int(edges[k]), int(edges[m])), max(int(edges[k]), int(edges[m]))
                if not allowed[kind[i], kind[j]] or not _may_touch(i, j, body, self_contact, never, shapes):
                    continue
                if found < len(pairs):
                    pairs[found, 0], pairs[found, 1] = i, j
                found += 1
    return found


@compiled
def near_solids(
    edges: IntArray,
    solids: IntArray,
    start: Array,
    end: Array,
    radius: Array,
    frame: IntArray,
    second: IntArray,
    node_radius: Array,
    kind: IntArray,
    allowed: BoolArray,
    bound: Array,
    position: Array,
    rotation: Array,
    body: IntArray,
    self_contact: BoolArray,
    never: IntArray,
    shapes: int,
    margin: float,
    pairs: IntArray,
    found: int,
) -> int:
    """Append the pairs of edges with half-spaces and solids, tested one by one; see `near_edge_pairs`.

    Args:
        edges, solids: shape indices.
        bound: radius of every solid's bounding sphere, by shape [m].
        position, rotation: of every shape.
        frame, second, node_radius: an edge's end frames, and the radius of a node by frame [m].
    """
    for o in solids:
        for e in edges:
            i, j = min(int(e), int(o)), max(int(e), int(o))
            if not allowed[kind[e], kind[o]] or not _may_touch(i, j, body, self_contact, never, shapes):
                continue
            if kind[o] == HALF_SPACE:
                low = high = 0.0
                for a in range(3):
                    low += rotation[o, a, 2] * (start[e, a] - position[o, a])
                    high += rotation[o, a, 2] * (end[e, a] - position[o, a])
                distance = min(low - node_radius[frame[e]], high - node_radius[second[e]])
            else:
                along = square = 0.0
                for a in range(3):
                    span = end[e, a] - start[e, a]
                    along += span * (position[o, a] - start[e, a])
                    square += span * span
                s = min(max(along / square, 0.0), 1.0) if square > 0.0 else 0.0
                apart = 0.0
                for a in range(3):
                    apart += (start[e, a] + s * (end[e, a] - start[e, a]) - position[o, a]) ** 2
                distance = math.sqrt(apart) - bound[o] - radius[e]
            # written so that nan stays a candidate
            if distance >= margin:
                continue
            if found < len(pairs):
                pairs[found, 0], pairs[found, 1] = i, j
            found += 1
    return found
