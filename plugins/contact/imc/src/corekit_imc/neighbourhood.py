"""Neighbouring edges of a rod, whose pairs are excluded from contact.

Edges i and j are excluded if the shortest path along edges between their nearer ends is shorter than

    c·(r_i + r_j)                                                                                   (1)

c = ½π is the half circle of a rod bent as tightly as it is thick. The limit is in metres, not in edges: a
fine mesh does not touch itself at rest. Paths lead over joints and around rings, wherever edges share a
frame.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["neighbour_keys"]


@compiled
def _incidence(ends: IntArray) -> tuple[IntArray, IntArray]:
    """Return the edges at every node: begins (nodes + 1,) and edges, sorted by node."""
    n, nodes = len(ends), 0
    for k in range(n):
        nodes = max(nodes, ends[k, 0] + 1, ends[k, 1] + 1)
    begin = np.zeros(nodes + 1, dtype=np.int64)
    for k in range(n):
        begin[ends[k, 0] + 1] += 1
        begin[ends[k, 1] + 1] += 1
    for p in range(nodes):
        begin[p + 1] += begin[p]
    next_free = begin[:-1].copy()
    incident = np.empty(2 * n, dtype=np.int64)
    for k in range(n):
        for e in range(2):
            incident[next_free[ends[k, e]]] = k
            next_free[ends[k, e]] += 1
    return begin, incident


@compiled
def neighbour_keys(
    edges: IntArray, ends: IntArray, length: Array, radius: Array, shape_count: int, factor: float
) -> IntArray:
    """Return the sorted keys i·shape_count + j (i < j) of the pairs of (1).

    Args:
        edges: shape indices, ascending, (n,).
        ends: their frames, numbered from 0, (n, 2).
        length, radius: of the edges [m], (n,).
        factor: c [-].
    """
    n = len(edges)
    begin, incident = _incidence(ends)
    nodes = len(begin) - 1
    largest = np.max(radius) if n else 0.0
    path_length = np.full(nodes, np.inf)
    queue = np.empty(4 * n + 4, dtype=np.int64)
    keys = np.empty(64, dtype=np.int64)
    count = 0
    for k in range(n):
        path_length[ends[k, 0]] = path_length[ends[k, 1]] = 0.0
        queue[0], queue[1] = ends[k, 0], ends[k, 1]
        head, tail = 0, 2
        while head < tail:
            node = queue[head]
            head += 1
            for u in range(begin[node], begin[node + 1]):
                m = incident[u]
                if m == k:
                    continue
                if m > k and path_length[node] < factor * (radius[k] + radius[m]):
                    if count == len(keys):
                        grown = np.empty(2 * count, dtype=np.int64)
                        for i in range(count):
                            grown[i] = keys[i]
                        keys = grown
                    keys[count] = edges[k] * shape_count + edges[m]
                    count += 1
                other = ends[m, 0] + ends[m, 1] - node
                extended_length = path_length[node] + length[m]
                if (
                    extended_length < factor * (radius[k] + largest)
                    and extended_length < path_length[other]
                    and tail < len(queue)
                ):
                    path_length[other] = extended_length
                    queue[tail] = other
                    tail += 1
        for u in range(tail):
            path_length[queue[u]] = np.inf
    return np.unique(keys[:count])
