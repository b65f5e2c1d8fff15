"""The bodies of a closed surface: triangles that hang together around what they enclose.

Two triangles at an edge belong together. Where bodies touch, more meet at an edge: those on both sides of a wedge of
material do, and each body has its own of two walls in one place.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from corekit.data.arrays import Array, IntArray

__all__ = ["bodies"]

_SAME = 1e-5
"""Angle [rad] below which two triangles at an edge stand in one place."""


def bodies(vertices: Array, faces: IntArray) -> list[IntArray]:
    """Indices of the triangles of each body.

    Args:
        vertices: shape (n, 3).
        faces: shape (t, 3); each edge is run through as often in one direction as in the other.
    """
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    _, edge, count = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(edge.ravel(), kind="stable")
    ends = np.cumsum(count)
    pairs = [order[np.stack([ends - 2, ends - 1])[:, count == 2]].T]
    for end, many in zip(ends[count > 2], count[count > 2], strict=True):
        pairs.append(_wedges(vertices, faces, edges, order[end - many : end]))
    one, other = np.concatenate(pairs).T % len(faces)
    links = coo_array((np.ones(len(one)), (one, other)), shape=(len(faces), len(faces)))
    _, body = connected_components(links, directed=False)
    return np.split(np.argsort(body, kind="stable"), np.cumsum(np.bincount(body))[:-1])


def _wedges(vertices: Array, faces: IntArray, edges: IntArray, sides: IntArray) -> IntArray:
    """Pairs of the sides of one edge between which there is material.

    Seen along the edge a → b, material lies behind a triangle that runs through a → b, clockwise, and before one that
    runs through b → a, by the direction of its normal.
    """
    a, b = np.sort(edges[sides[0]])
    along = vertices[b] - vertices[a]
    third = faces[sides % len(faces)].sum(axis=1) - a - b
    off = vertices[third] - vertices[a]
    closes = edges[sides, 0] == a
    start = off[np.argmin(closes)]  # of one that opens
    across = np.cross(along, start)
    turned = np.arctan2(off @ across * np.linalg.norm(along), off @ np.cross(across, along))
    turn = np.mod(turned - _SAME * closes, 2.0 * np.pi)
    turn[np.argmin(closes)] = -1.0
    opened: list[int] = []
    pairs = []
    for k in np.argsort(turn):
        if not closes[k]:
            opened.append(k)
        elif opened:
            pairs.append((sides[opened.pop()], sides[k]))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
