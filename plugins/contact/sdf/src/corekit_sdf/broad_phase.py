"""Broad phase: bounding spheres against planes, boxes, planar shapes, and shapes with an axis.

The gap of two shapes is at least the signed distance of the first's centre from the second, less the radius of a sphere
about the first. Of two shapes with an axis either may be the first: a long one is far larger than the sphere of a disk
that passes it. Spheres about both are asked first.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, dot, norm, to_local
from corekit_sdf.features import BOX, CAPSULE, CIRCLE, CYLINDER, HALF_SPACE, POLYGON, RING, flat_first
from corekit_sdf.spheres import point_box

__all__ = ["find_near_pairs"]

_ROUNDING: Final = 1e-12
"""Share of the shapes' radii by which a bound along an axis may be wrong."""


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
def _axial_distance_bound(kind: int, size: Array, position: Array, rotation: Array, a: int, b: int) -> float:
    """Return the signed distance of the centre of a shape from a capsule or cylinder b [m]."""
    axis = (rotation[b, 0, 2], rotation[b, 1, 2], rotation[b, 2, 2])
    d = (
        position[a, 0] - position[b, 0],
        position[a, 1] - position[b, 1],
        position[a, 2] - position[b, 2],
    )
    along = dot(d, axis)
    aside = norm(add_scaled(d, -along, axis))
    R, beyond = size[b, 0], abs(along) - size[b, 1]
    if kind == CAPSULE:
        beyond = max(beyond, 0.0)
        return math.sqrt(aside * aside + beyond * beyond) - R
    aside -= R
    if aside > 0.0 and beyond > 0.0:
        return math.sqrt(aside * aside + beyond * beyond)
    return max(aside, beyond)


@compiled
def _is_apart(
    kind: IntArray, size: Array, radius: Array, position: Array, rotation: Array, a: int, b: int, margin: float
) -> bool:  # fmt: skip
    """Whether the gap of a round shape and a shape b with an axis is not below the margin, by their axes."""
    if kind[b] != CAPSULE and kind[b] != CYLINDER:
        return False
    bound = _axial_distance_bound(int(kind[b]), size, position, rotation, a, b) - radius[a]
    return bound >= margin + _ROUNDING * (radius[a] + radius[b])


@compiled
def find_near_pairs(
    pairs: IntArray, kind: IntArray, size: Array, radius: Array, corners: Array, corner_start: IntArray,
    position: Array, rotation: Array, margin: float, out: IntArray,
) -> int:  # fmt: skip
    """Copy the pairs whose gap may be below the margin [m]; return their count.

    The lower bound of the gap is (distance of the first's centre) − (first's radius). That distance is the signed one
    from a plane, box, planar shape, capsule or cylinder, else that of the centres less the second's radius. A pair with
    a pose of nan stays, so that the solver sees it.

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
        if bound - radius[a] >= margin:
            continue
        is_round = kind[b] != HALF_SPACE and kind[b] != BOX and kind[b] < CIRCLE
        if is_round and (
            _is_apart(kind, size, radius, position, rotation, a, b, margin)
            or _is_apart(kind, size, radius, position, rotation, b, a, margin)
        ):
            continue
        out[count, 0], out[count, 1] = i, j
        count += 1
    return count
