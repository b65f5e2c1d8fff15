"""Ends that edges share, as the nodes of a rod and the pins of a chain: on a flat one contact each, not one per edge.

Edges that meet at a frame all find it where it touches. Their contacts are one: with the same material points, gap and
normal. If both are reported, the load between them is undetermined, W is singular, and a rod of n nodes on a floor has
2·n − 2 contacts instead of n. The contact of the first edge stands for all.

This holds over a half-space, over a face of a box and along one of its edges, where edges that lie report both of their
ends. On round shapes and across the edges of a box every edge reports its nearest point: where that moves over a node
from edge to edge, the number of contacts must not change, or the force of a contact potential would jump.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_sdf.features import BOX, FEATURES, HALF_SPACE, MINUS

__all__ = ["merge_shared_ends"]

_ROUNDING: Final = 1e-9
"""How far two contacts that are one differ: weights and normals, and gaps relative to the first shape's size."""


@compiled
def _is_end_on_flat(
    c: int, kind: IntArray, second_frame: IntArray, rotation: Array, flat_cosine: float, id: IntArray, shape: IntArray,
    normal: Array,
) -> bool:  # fmt: skip
    """Whether a contact is that of an end of an edge over a half-space, over a face of a box or along an edge of it."""
    edge, flat = shape[c, 0], shape[c, 1]
    if second_frame[edge] < 0:
        edge, flat = flat, edge
    if second_frame[edge] < 0 or id[c] % FEATURES > MINUS:
        return False
    if kind[flat] != BOX:
        return bool(kind[flat] == HALF_SPACE)
    nearest = lying = 0.0
    for axis in range(3):
        along = parallel = 0.0
        for i in range(3):
            along += normal[c, i] * rotation[flat, i, axis]
            parallel += rotation[edge, i, 2] * rotation[flat, i, axis]
        nearest, lying = max(nearest, abs(along)), max(lying, abs(parallel))
    # the flat angle is half of that of the cosine
    return nearest > flat_cosine or lying > math.sqrt(0.5 * (1.0 + flat_cosine))


@compiled
def _are_one(
    a: int, b: int, second_frame: IntArray, size: Array, shape: IntArray, gap: Array, normal: Array, frame: IntArray,
    weight: Array,
) -> bool:  # fmt: skip
    """Whether contacts a and b are of the same pair, or of edges in place of it, and alike."""
    for side in range(2):
        i, j = shape[a, side], shape[b, side]
        if i != j and (second_frame[i] < 0 or second_frame[j] < 0):
            return False
    for slot in range(frame.shape[1]):
        if frame[a, slot] != frame[b, slot] or not abs(weight[a, slot] - weight[b, slot]) <= _ROUNDING:
            return False
    along = 0.0
    for k in range(3):
        along += normal[a, k] * normal[b, k]
    return along >= 1.0 - _ROUNDING and abs(gap[a] - gap[b]) <= _ROUNDING * size[shape[a, 0], 0]


@compiled
def merge_shared_ends(
    first: int, count: int, kind: IntArray, second_frame: IntArray, size: Array, rotation: Array, flat_cosine: float,
    newest: IntArray, earlier: IntArray, id: IntArray, shape: IntArray, gap: Array, point: Array, normal: Array,
    frame: IntArray, local: Array, weight: Array,
) -> int:  # fmt: skip
    """Drop those of the contacts first…count − 1 that repeat one before; return the new count.

    Args:
        kind, second_frame, size, rotation: of all shapes; second_frame −1 for all but edges.
        flat_cosine: of the largest angle between a normal and that of a face that counts.
        newest: a work array with an entry per frame of the world. earlier: one with an entry per contact.
        id, shape, gap, point, normal, frame, local, weight: columns of the contact set.
    """
    # contacts that are one begin with the same frame: those of a frame are linked, the newest first
    for c in range(first, count):
        newest[frame[c, 0]] = -1
    kept = first
    for c in range(first, count):
        f, same = frame[c, 0], -1
        if _is_end_on_flat(c, kind, second_frame, rotation, flat_cosine, id, shape, normal):
            same = newest[f]
            while same >= 0 and not _are_one(same, c, second_frame, size, shape, gap, normal, frame, weight):
                same = earlier[same - first]
        if same >= 0:
            continue
        if kept != c:
            id[kept], gap[kept], shape[kept] = id[c], gap[c], shape[c]
            point[kept], normal[kept] = point[c], normal[c]
            frame[kept], local[kept], weight[kept] = frame[c], local[c], weight[c]
        earlier[kept - first], newest[f] = newest[f], kept
        kept += 1
    return kept
