"""Two-vectors of the plane, and rows that store the lowest few minima.

A planar shape stands in its local x–z plane and is unbounded along its local y axis. At any y of the other
shape its signed distance is that of the plane. A sphere counts as its centre, a capsule as its axis, both
seen along y; the radius is subtracted.

Every local minimum of the distance is a contact (both walls of a corner, both ends of a capsule in a ring).
Its normal is the gradient of its gap, and the least of the gaps is the distance. Without patches only that
one is reported.

A minimum may belong to two features: two edges in line meet at the foot of a point, and the foot of a corner is an end
of an axis. It is one contact, with the name of the first feature and the lower gap.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, norm, subtract
from corekit_sdf.rows import MAX_POINTS, add_row, row_point

__all__ = [
    "AT_CORNER",
    "AT_CORNER_END",
    "CROSSED",
    "ON_EDGE",
    "ON_EDGE_END",
    "PLANAR",
    "PLANAR_FEATURES",
    "ROUNDING",
    "SIDE_AT_CORNER",
    "Plane",
    "add_planar_row",
    "corner",
    "dot2",
    "perpendicular2",
    "to_plane",
]

Plane: TypeAlias = tuple[float, float]
"""A vector (x, z) of the x–z plane."""

# features beyond those of `features`: PLANAR + PLANAR_FEATURES·k + (one of the following), for edge or corner k
PLANAR: Final = 100
PLANAR_FEATURES: Final = 8
ON_EDGE: Final = 0  # a sphere on edge k, 1 and 2 a capsule's + and − end
ON_EDGE_END: Final = 1
AT_CORNER: Final = 3  # a sphere at corner k, 4 and 5 a capsule's + and − end
AT_CORNER_END: Final = 4
SIDE_AT_CORNER: Final = 6  # corner k at a capsule's side
CROSSED: Final = 7  # edge k across a capsule's axis

ROUNDING: Final = 1e-9
"""Sine below which directions count as perpendicular: what rounding could deny two features is the contact of both."""
_SAME: Final = 1e-3
"""How far two contacts that are one differ, points relative to the radius, and normals: an end may be beside a corner.

Of two as near the loads are undetermined within 1e-6."""


@compiled
def dot2(a: Plane, b: Plane) -> float:
    """Return a·b."""
    return a[0] * b[0] + a[1] * b[1]


@compiled
def perpendicular2(a: Plane) -> Plane:
    """Return a turned by a right angle, from x towards −z: outward of an edge of a counter-clockwise polygon."""
    return (a[1], -a[0])


@compiled
def corner(corners: Array, k: int) -> Plane:
    """Return corner k; k is cyclic."""
    i = k % len(corners)
    return (corners[i, 0], corners[i, 2])


@compiled
def to_plane(x: Vector) -> Plane:
    """Return a point as seen along y."""
    return (x[0], x[2])


@compiled
def add_planar_row(
    rows: Array, feature_ids: IntArray, count: int, max_rows: int, feature: int, gap: float, normal: Plane,
    x: Vector, radius: float,
) -> int:  # fmt: skip
    """Append the contact of the core point x with radius unless it is there; if the rows are full, replace the highest.

    Args:
        max_rows: number of rows to keep, at most MAX_POINTS.
        gap: of the core point [m].
    """
    gap -= radius
    n = (normal[0], 0.0, normal[1])
    offset = radius + 0.5 * gap
    point = (x[0] - offset * n[0], x[1], x[2] - offset * n[2])
    for k in range(count):
        turned = math.hypot(n[0] - rows[k, 1], n[2] - rows[k, 3])
        if turned <= _SAME and norm(subtract(point, row_point(rows, k))) <= _SAME * radius:
            if gap < rows[k, 0]:  # the name stays, or rounding would choose it
                add_row(rows, feature_ids, k, int(feature_ids[k]), gap, n, point)
            return count
    if count < min(max_rows, MAX_POINTS):
        return add_row(rows, feature_ids, count, feature, gap, n, point)
    highest, highest_gap = -1, gap
    for k in range(count):
        if rows[k, 0] > highest_gap or math.isnan(rows[k, 0]):
            highest, highest_gap = k, rows[k, 0]
    if highest >= 0:
        add_row(rows, feature_ids, highest, feature, gap, n, point)
    return count
