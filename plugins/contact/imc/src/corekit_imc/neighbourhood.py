"""Which edges of a rod are each other's neighbourhood, so that they are no contact.

Edges i and j are left out when the shortest way along edges between their nearer ends is shorter than

    c·(r_i + r_j)                                                                                   (1)

c = ½π is the half circle of a rod bent as tightly as it is thick. In metres, not in edges: a fine mesh does not touch
itself at rest. Ways lead over joints and around rings, wherever edges share a frame.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["neighbour_keys"]


@compiled
def _incidence(ends: IntArray) -> tuple[IntArray, IntArray]:
    """The edges at every node: begins (nodes + 1,) and edges, sorted by node."""
    n, nodes = len(ends), 0
    for k in range(n):
        nodes = max(nodes, ends[k, 0] + 1, ends[k, 1] + 1)
    begin = np.zeros(nodes + 1, dtype=np.int64)
    for k in range(n):
        begin[ends[k, 0] + 1] += 1
        begin[ends[k, 1] + 1] += 1
    for p in range(nodes):
        begin[p + 1] += begin[p]
    fill = begin[:-1].copy()
    incident = np.empty(2 * n, dtype=np.int64)
    for k in range(n):
        for e in range(2):
            incident[fill[ends[k, e]]] = k
            fill[ends[k, e]] += 1
    return begin, incident


@compiled
def neighbour_keys(
    edges: IntArray, ends: IntArray, length: Array, radius: Array, shapes: int, share: float
) -> IntArray:
    """Sorted keys i·shapes + j (i < j) of the pairs of (1).

    Args:
        edges: shape indices, ascending, (n,).
        ends: their frames, numbered from 0, (n, 2).
        length, radius: of the edges [m], (n,).
        share: c [-].
    """
    n = len(edges)
    begin, incident = _incidence(ends)
    nodes = len(begin) - 1
    largest = np.max(radius) if n else 0.0
    way = np.full(nodes, np.inf)
    queue = np.empty(4 * n + 4, dtype=np.int64)
    keys = np.empty(64, dtype=np.int64)
    count = 0
    for k in range(n):
        way[ends[k, 0]] = way[ends[k, 1]] = 0.0
        queue[0], queue[1] = ends[k, 0], ends[k, 1]
        head, tail = 0, 2
        while head < tail:
            node = queue[head]
            head += 1
            for u in range(begin[node], begin[node + 1]):
                m = incident[u]
                if m == k:
                    continue
                if m > k and way[node] < share * (radius[k] + radius[m]):
                    if count == len(keys):
                        grown = np.empty(2 * count, dtype=np.int64)
                        grown[:count] = keys
                        keys = grown
                    keys[count] = edges[k] * shapes + edges[m]
                    count += 1
                other = ends[m, 0] + ends[m, 1] - node
                onwards = way[node] + length[m]
                if onwards < share * (radius[k] + largest) and onwards < way[other] and tail < len(queue):
                    way[other] = onwards
                    queue[tail] = other
                    tail += 1
        for u in range(tail):
            way[queue[u]] = np.inf
    return np.unique(keys[:count])
