"""Collision shapes of rods, and which of them never touch each other.

Two edges are never tested when the arc between them is shorter than

    ½π·(r_i + r_j)                                                                          (1)

a half circle bent as tightly as the rod is thick: what is nearer along the rod is its own neighbourhood, however
fine the mesh. The arc is the shortest over joints and around rings.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_array

from corekit.data.arrays import Array, IntArray
from corekit.geometry.frames import Pose
from corekit.geometry.shapes import Shape
from corekit_der.config import DERConfig
from corekit_der.graph import Graph

__all__ = ["collision_shapes", "edges_nearby"]


def collision_shapes(
    graph: Graph, config: DERConfig, real: IntArray, first_edge: int
) -> tuple[tuple[Shape, ...], IntArray]:
    """The shapes, and pairs of them never to test, (k, 2).

    Args:
        real: edges that are no ghosts, in order, (e,).
        first_edge: frame of the first of them where edges have frames.
    """
    if config.collision == "none":
        return (), np.zeros((0, 2), dtype=np.int64)
    friction = [limb.friction for limb in graph.limbs]
    owner, radius, ends = graph.limb[real].tolist(), graph.radius[real].tolist(), graph.edge[real].tolist()
    # who never touches its own does not need to be told where not to
    none = np.zeros((0, 2), dtype=np.int64)
    near = (
        edges_nearby(graph.edge[real], graph.length[real], graph.radius[real])
        if config.self_contact
        else none
    )
    same = Pose()
    if config.collision == "edges":
        edges = zip(ends, radius, owner, strict=True)
        return tuple(
            Shape("edge", (r,), frame=a, second_frame=b, offset=same, friction=friction[i])
            for (a, b), r, i in edges
        ), near
    if config.collision == "capsules":
        halves = (0.5 * graph.length[real]).tolist()
        return tuple(
            Shape("capsule", (r, half), frame=first_edge + k, offset=same, friction=friction[i])
            for k, (r, half, i) in enumerate(zip(radius, halves, owner, strict=True))
        ), near
    nodes = int(graph.edge[real].max()) + 1
    largest = np.zeros(nodes)
    np.maximum.at(largest, graph.edge[real].ravel(), np.repeat(graph.radius[real], 2))
    limb = np.zeros(nodes, dtype=np.int64)
    limb[graph.edge[real].ravel()] = np.repeat(graph.limb[real], 2)
    spheres = tuple(
        Shape("sphere", (r,), frame=k, offset=same, friction=friction[i])
        for k, (r, i) in enumerate(zip(largest.tolist(), limb.tolist(), strict=True))
    )
    # nodes of edges that are near, or one edge: their spheres overlap along the rod
    pairs = (
        np.concatenate([graph.edge[real[near[:, 0]]][:, [a]] for a in (0, 0, 1, 1)])
        if len(near)
        else np.zeros((0, 1), dtype=np.int64)
    )
    others = (
        np.concatenate([graph.edge[real[near[:, 1]]][:, [b]] for b in (0, 1, 0, 1)])
        if len(near)
        else np.zeros((0, 1), dtype=np.int64)
    )
    both = np.concatenate([graph.edge[real], np.column_stack([pairs, others])])
    both = np.unique(np.sort(both, axis=1), axis=0)
    return spheres, both[both[:, 0] < both[:, 1]] if config.self_contact else none


def edges_nearby(edge: IntArray, length: Array, radius: Array) -> IntArray:
    """Pairs of edges whose arc distance is below (1), (k, 2) with the smaller index first.

    Grows from every edge to its neighbours, all edges at once, until nothing new is near enough.
    """
    count = len(edge)
    incidence = csr_array(
        (np.ones(2 * count), (np.repeat(np.arange(count), 2), edge.ravel())),
        shape=(count, int(edge.max()) + 1),
    )
    touching = csr_array(incidence @ incidence.T)
    start, neighbour = touching.indptr, touching.indices
    first, second = np.arange(count), np.arange(count)
    arc = -length.copy()  # so that a neighbour is at distance 0
    known = np.zeros(0, dtype=np.int64)
    best = np.zeros(0)
    while len(first):
        degree = start[second + 1] - start[second]
        source = np.repeat(np.arange(len(first)), degree)
        offset = np.arange(len(source)) - np.repeat(np.cumsum(degree) - degree, degree)
        reached = neighbour[start[second[source]] + offset]
        i, distance = first[source], arc[source] + length[second[source]]
        near = (distance < 0.5 * math.pi * (radius[i] + radius[reached])) & (reached != i)
        key, distance = i[near] * count + reached[near], distance[near]
        # of the ways to one edge keep the shortest, and only what is new or shorter than known
        order = np.lexsort((distance, key))
        key, distance = key[order], distance[order]
        once = np.concatenate([[True], key[1:] != key[:-1]]) if len(key) else np.zeros(0, dtype=bool)
        key, distance = key[once], distance[once]
        place = np.searchsorted(known, key)
        found = place < len(known)
        found[found] = known[place[found]] == key[found]
        better = ~found
        better[found] = distance[found] < best[place[found]] - 1e-15
        best[place[found & better]] = distance[found & better]
        known, best = np.concatenate([known, key[~found]]), np.concatenate([best, distance[~found]])
        order = np.argsort(known, kind="stable")
        known, best = known[order], best[order]
        first, second, arc = key[better] // count, key[better] % count, distance[better]
    pairs = np.column_stack([known // count, known % count])
    return pairs[pairs[:, 0] < pairs[:, 1]]
