"""Broad phase: bounding spheres against spheres, boxes, planes and planar shapes."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, norm, to_local
from corekit_sdf.features import BOX, CIRCLE, HALF_SPACE, POLYGON, RING, flat_first
from corekit_sdf.spheres import point_box

__all__ = ["find_near_pairs"]


@compiled
def _planar_distance_bound(kind: int, R: float, corners: Array, x: Vector) -> float:
    """Return a lower bound of the distance of a point from a planar shape, in the shape's frame [m]."""
    if kind == CIRCLE:
        return math.hypot(x[0], x[2]) - R
    if kind == RING:
        return R - math.hypot(x[0], x[2])
    low_x = low_z = math.inf
    high_x = high_z = -math.inf
    for k in range(len(corners)):
        low_x, high_x = min(low_x, corners[k, 0]), max(high_x, corners[k, 0])
        low_z, high_z = min(low_z, corners[k, 2]), max(high_z, corners[k, 2])
    beyond_x = max(low_x - x[0], x[0] - high_x, 0.0)
    beyond_z = max(low_z - x[2], x[2] - high_z, 0.0)
    inside = -math.inf if kind == POLYGON and beyond_x == 0.0 and beyond_z == 0.0 else 0.0
    return math.hypot(beyond_x, beyond_z) - R + inside


@compiled
def find_near_pairs(
    pairs: IntArray, kind: IntArray, size: Array, radius: Array, corners: Array, corner_start: IntArray,
    position: Array, rotation: Array, margin: float, out: IntArray,
) -> int:  # fmt: skip
    """Copy the pairs whose gap may be below the margin [m]; return their count.

    The lower bound of the gap is (distance of the first's centre) − (first's radius). That distance is the
    signed one from a plane, box or planar shape, else the distance of the centres less the second's radius. A
    pair with a pose of nan stays, so that the solver sees it.

    Args:
        pairs: those to look at.
        kind, size, radius: of all shapes, (n,), (n, 3) [m] and (n,) [m].
        corners: of shape s, those from corner_start[s] to corner_start[s + 1], in its frame [m].
        position, rotation: of all shapes, (n, 3) [m] and (n, 3, 3).
    """
    count = 0
    for row in range(len(pairs)):
        i, j = pairs[row, 0], pairs[row, 1]
        a, b = (j, i) if flat_first(int(kind[i]), int(kind[j])) else (i, j)
        d = (
            position[a, 0] - position[b, 0],
            position[a, 1] - position[b, 1],
            position[a, 2] - position[b, 2],
        )
        if kind[b] == HALF_SPACE:
            bound = d[0] * rotation[b, 0, 2] + d[1] * rotation[b, 1, 2] + d[2] * rotation[b, 2, 2]
        elif kind[b] == BOX:
            bound, _ = point_box(to_local(rotation[b], d), (size[b, 0], size[b, 1], size[b, 2]))
        elif kind[b] >= CIRCLE:
            shape_corners = corners[corner_start[b] : corner_start[b + 1]]
            bound = _planar_distance_bound(int(kind[b]), size[b, 0], shape_corners, to_local(rotation[b], d))
        else:
            bound = norm(d) - radius[b]
        if not bound - radius[a] >= margin:
            out[count, 0], out[count, 1] = i, j
            count += 1
    return count
