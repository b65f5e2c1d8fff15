"""Near pairs of edges, by a spatial hash.

Each edge is inserted into the grid cells that its bounding box touches, grown by its radius and half the
margin. The cell is as long as the longest grown edge, so each lies in at most eight cells. Only the cell with
the low corner of the boxes' overlap reports a pair, so each pair appears once. A hash maps the cells to as
many buckets as edges, and a counting sort fills the buckets: cost and memory are linear in edges and near
pairs.

Source: Teschner et al. (2003), "Optimized spatial hashing for collision detection of deformable objects".
"""

from __future__ import annotations

import math

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit_imc.solids import HALF_SPACE

__all__ = ["find_near_edge_pairs", "find_near_solid_pairs"]


@compiled
def _contains(keys: IntArray, key: int) -> bool:
    """Whether a sorted array contains a key."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low < len(keys) and keys[low] == key


@compiled
def _may_touch(
    i: int, j: int, body: IntArray, self_contact: BoolArray, excluded: IntArray, shape_count: int
) -> bool:
    """Whether shapes i < j may ever touch; an obstacle is the second."""
    if body[i] < 0:
        return False
    if body[i] == body[j] and not self_contact[body[i]]:
        return False
    return not _contains(excluded, i * shape_count + j)


@compiled
def _bucket(x: int, y: int, z: int, size: int) -> int:
    return ((x * 73856093) ^ (y * 19349663) ^ (z * 83492791)) % size


@compiled
def _fill_buckets(low: Array, high: Array, cell: float) -> tuple[IntArray, IntArray, IntArray]:
    """Return the buckets of the cells that every box touches: begins, boxes and cells, sorted by bucket."""
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
    cells = np.empty((0, 3), dtype=np.int64)
    next_free = begin
    for counting in (True, False):
        if not counting:
            for b in range(size):
                begin[b + 1] += begin[b]
            next_free = begin[:-1].copy()
            member = np.empty(begin[size], dtype=np.int64)
            cells = np.empty((begin[size], 3), dtype=np.int64)
        for k in range(n):
            for x in range(first[k, 0], last[k, 0] + 1):
                for y in range(first[k, 1], last[k, 1] + 1):
                    for z in range(first[k, 2], last[k, 2] + 1):
                        b = _bucket(x, y, z, size)
                        if counting:
                            begin[b + 1] += 1
                            continue
                        member[next_free[b]] = k
                        cells[next_free[b], 0], cells[next_free[b], 1], cells[next_free[b], 2] = x, y, z
                        next_free[b] += 1
    return begin, member, cells


@compiled
def _is_overlap_corner_cell(
    low: Array, high: Array, cells: IntArray, k: int, m: int, u: int, v: int, cell: float
) -> bool:
    """Whether boxes k and m overlap, with the low corner of the overlap in the cell of both entries u and v."""
    for a in range(3):
        corner = max(low[k, a], low[m, a])
        if cells[u, a] != cells[v, a] or corner > min(high[k, a], high[m, a]):
            return False
        if math.floor(corner / cell) != cells[u, a]:
            return False
    return True


@compiled
def find_near_edge_pairs(
    edges: IntArray, start: Array, end: Array, radius: Array, kind: IntArray, allowed: BoolArray,
    body: IntArray, self_contact: BoolArray, excluded: IntArray, shape_count: int, margin: float,
    pairs: IntArray, pair_count: int,
) -> int:  # fmt: skip
    """Append near pairs (i < j) of shapes while `pairs` has space; return the number of all near pairs.

    Args:
        edges: shape indices of edges and capsules, (n,).
        start, end: ends of every shape, (shape_count, 3) [m].
        radius: of every edge and capsule, by shape [m].
        kind: of every shape.
        allowed: which pairs of kinds the detector measures.
        body: body of every shape, −1 for obstacles.
        self_contact: per body.
        excluded: sorted keys i·shape_count + j of excluded pairs.
        margin: gap up to which pairs are near [m].
        pair_count: rows of `pairs` in use.
    """
    n = len(edges)
    low, high = np.empty((n, 3)), np.empty((n, 3))
    cell = 0.0
    for k in range(n):
        i = edges[k]
        half_width = radius[i] + 0.5 * margin
        for a in range(3):
            low[k, a] = min(start[i, a], end[i, a]) - half_width
            high[k, a] = max(start[i, a], end[i, a]) + half_width
            cell = max(cell, high[k, a] - low[k, a])
    if n < 2 or not 0.0 < cell < math.inf:
        return pair_count
    begin, member, cells = _fill_buckets(low, high, cell)
    for b in range(len(begin) - 1):
        for u in range(begin[b], begin[b + 1]):
            for v in range(u + 1, begin[b + 1]):
                k, m = member[u], member[v]
                if not _is_overlap_corner_cell(low, high, cells, k, m, u, v, cell):
                    continue
                i, j = min(int(edges[k]), int(edges[m])), max(int(edges[k]), int(edges[m]))
                if not allowed[kind[i], kind[j]] or not _may_touch(
                    i, j, body, self_contact, excluded, shape_count
                ):
                    continue
                if pair_count < len(pairs):
                    pairs[pair_count, 0], pairs[pair_count, 1] = i, j
                pair_count += 1
    return pair_count


@compiled
def find_near_solid_pairs(
    edges: IntArray, solids: IntArray, start: Array, end: Array, radius: Array, frame: IntArray,
    second: IntArray, node_radius: Array, kind: IntArray, allowed: BoolArray, bound: Array, position: Array,
    rotation: Array, body: IntArray, self_contact: BoolArray, excluded: IntArray, shape_count: int,
    margin: float, pairs: IntArray, pair_count: int,
) -> int:  # fmt: skip
    """Append the near pairs of edges with half-spaces and solids, by a test of each; see `find_near_edge_pairs`.

    Args:
        edges, solids: shape indices.
        bound: bounding radius of every solid, by shape [m].
        position, rotation: of every shape.
        frame, second, node_radius: an edge's end frames, and the radius of a node by frame [m].
    """
    for o in solids:
        for e in edges:
            i, j = min(int(e), int(o)), max(int(e), int(o))
            if not allowed[kind[e], kind[o]] or not _may_touch(
                i, j, body, self_contact, excluded, shape_count
            ):
                continue
            if kind[o] == HALF_SPACE:
                low = high = 0.0
                for a in range(3):
                    low += rotation[o, a, 2] * (start[e, a] - position[o, a])
                    high += rotation[o, a, 2] * (end[e, a] - position[o, a])
                distance = min(low - node_radius[frame[e]], high - node_radius[second[e]])
            else:
                projection = square = 0.0
                for a in range(3):
                    span = end[e, a] - start[e, a]
                    projection += span * (position[o, a] - start[e, a])
                    square += span * span
                s = min(max(projection / square, 0.0), 1.0) if square > 0.0 else 0.0
                square_distance = 0.0
                for a in range(3):
                    square_distance += (start[e, a] + s * (end[e, a] - start[e, a]) - position[o, a]) ** 2
                distance = math.sqrt(square_distance) - bound[o] - radius[e]
            # this form of the comparison keeps nan as a candidate
            if distance >= margin:
                continue
            if pair_count < len(pairs):
                pairs[pair_count, 0], pairs[pair_count, 1] = i, j
            pair_count += 1
    return pair_count
