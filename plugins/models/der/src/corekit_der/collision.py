"""Collision shapes of rods, and the pairs excluded from contact.

Two edges are excluded if the arc between them is shorter than

    ½π·(r_i + r_j)                                                                          (1)

This is a half circle with the thickness of the rod as its radius, so the excluded length does not depend on the mesh.
The arc is the shortest path over joints and around rings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra

from corekit.data.arrays import Array, IntArray
from corekit.geometry.frames import Pose
from corekit.geometry.shapes import Shape
from corekit_der.config import DERConfig
from corekit_der.graph import Graph

__all__ = ["collision_shapes", "find_near_edges", "find_shapes_at"]


def find_shapes_at(
    graph: Graph, shapes: Sequence[Shape], real: IntArray, first_node: int, node: int
) -> IntArray:
    """Return the shapes less than (1) along the arc from a node: of edges, `real` in order, or at nodes."""
    ends, length = graph.edge[real], graph.length[real]
    count = int(ends.max()) + 1
    between = coo_array((length, (ends[:, 0], ends[:, 1])), shape=(count, count)).tocsr()
    away = dijkstra(between, directed=False, indices=[node])[0]
    if len(shapes) == len(real):
        near = away[ends].min(axis=1) < math.pi * graph.radius[real]
    else:
        radius = np.array([shape.size[0] for shape in shapes])
        near = away[[shape.frame - first_node for shape in shapes]] < math.pi * radius
    return np.flatnonzero(near)


def collision_shapes(
    graph: Graph, config: DERConfig, real: IntArray, first_node: int, first_edge: int
) -> tuple[tuple[Shape, ...], IntArray]:
    """Return the shapes and the excluded pairs of shapes, (k, 2).

    Args:
        real: edges without the ghosts, in order, (e,).
        first_node: frame of the first node. first_edge: that of the first edge if edges have frames.
    """
    if config.collision == "none":
        return (), np.zeros((0, 2), dtype=np.int64)
    friction = [limb.friction for limb in graph.limbs]
    limb_of_edge, radius, ends = (values[real].tolist() for values in (graph.limb, graph.radius, graph.edge))
    # exclusions matter only for self-contact
    near = np.zeros((0, 2), dtype=np.int64)
    if config.self_contact:
        near = find_near_edges(graph.edge[real], graph.length[real], graph.radius[real])
    identity = Pose()
    if config.collision == "edges":
        edges = zip(ends, radius, limb_of_edge, strict=True)
        return tuple(
            Shape(
                "edge",
                (r,),
                frame=first_node + a,
                second_frame=first_node + b,
                offset=identity,
                friction=friction[i],
            )
            for (a, b), r, i in edges
        ), near
    if config.collision == "capsules":
        halves = (0.5 * graph.length[real]).tolist()
        return tuple(
            Shape("capsule", (r, half), frame=first_edge + k, offset=identity, friction=friction[i])
            for k, (r, half, i) in enumerate(zip(radius, halves, limb_of_edge, strict=True))
        ), near
    nodes = int(graph.edge[real].max()) + 1
    largest = np.zeros(nodes)
    np.maximum.at(largest, graph.edge[real].ravel(), np.repeat(graph.radius[real], 2))
    limb = np.zeros(nodes, dtype=np.int64)
    limb[graph.edge[real].ravel()] = np.repeat(graph.limb[real], 2)
    spheres = tuple(
        Shape("sphere", (r,), frame=first_node + k, offset=identity, friction=friction[i])
        for k, (r, i) in enumerate(zip(largest.tolist(), limb.tolist(), strict=True))
    )
    # the spheres of one edge, and of edges near along the arc, overlap
    if not config.self_contact:
        return spheres, near
    ends_of = graph.edge[real]
    node_pairs = [ends_of[near][:, [0, 1], [a, b]] for a in (0, 1) for b in (0, 1)]
    excluded = np.unique(np.sort(np.concatenate([ends_of, *node_pairs]), axis=1), axis=0)
    return spheres, excluded[excluded[:, 0] < excluded[:, 1]]


def find_near_edges(edge: IntArray, length: Array, radius: Array) -> IntArray:
    """Return the pairs of edges with an arc distance below (1), (k, 2), smaller index first.

    A breadth-first search starts at all edges at once and stops when no edge gains a neighbour.
    """
    count = len(edge)
    incidence = csr_array(
        (np.ones(2 * count), (np.repeat(np.arange(count), 2), edge.ravel())),
        shape=(count, int(edge.max()) + 1),
    )
    touching = csr_array(incidence @ incidence.T)
    start, neighbour = touching.indptr, touching.indices
    first, second = np.arange(count), np.arange(count)
    arc = -length.copy()  # a neighbour has the distance 0
    known = np.zeros(0, dtype=np.int64)
    best = np.zeros(0)
    while len(first):
        degree = start[second + 1] - start[second]
        source = np.repeat(np.arange(len(first)), degree)
        offset = np.arange(len(source)) - np.repeat(np.cumsum(degree) - degree, degree)
        next_edge = neighbour[start[second[source]] + offset]
        i, distance = first[source], arc[source] + length[second[source]]
        near = (distance < 0.5 * math.pi * (radius[i] + radius[next_edge])) & (next_edge != i)
        key, distance = i[near] * count + next_edge[near], distance[near]
        # keep the shortest path to each edge, and only new or shorter pairs
        order = np.lexsort((distance, key))
        key, distance = key[order], distance[order]
        once = np.concatenate([[True], key[1:] != key[:-1]]) if len(key) else np.zeros(0, dtype=bool)
        key, distance = key[once], distance[once]
        index = np.searchsorted(known, key)
        is_known = index < len(known)
        is_known[is_known] = known[index[is_known]] == key[is_known]
        better = ~is_known
        better[is_known] = distance[is_known] < best[index[is_known]] - 1e-15
        best[index[is_known & better]] = distance[is_known & better]
        known, best = np.concatenate([known, key[~is_known]]), np.concatenate([best, distance[~is_known]])
        order = np.argsort(known, kind="stable")
        known, best = known[order], best[order]
        first, second, arc = key[better] // count, key[better] % count, distance[better]
    pairs = np.column_stack([known // count, known % count])
    return pairs[pairs[:, 0] < pairs[:, 1]]
