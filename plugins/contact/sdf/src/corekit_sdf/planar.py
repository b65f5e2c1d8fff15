"""What points and segments on planar shapes share: two-vectors, and rows of which the lowest few are kept.

A planar shape stands in its local x–z plane and reaches without end along its local y axis, so its signed
distance is that of the plane, whatever the y of the other shape: a sphere counts as its centre, a capsule as
its axis, both seen along y, and the radius is subtracted.

Every place where the distance has a minimum of its own is a contact of its own (both walls of a corner, both ends
of a capsule in a ring), each with the gap whose gradient its normal is; the least of the gaps is the distance.
With patches off only that one is reported.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector
from corekit_sdf.rows import MAX_POINTS, put

__all__ = [
    "AT_CORNER",
    "AT_CORNER_END",
    "CROSSED",
    "ON_EDGE",
    "ON_EDGE_END",
    "PLANAR",
    "PLANAR_FEATURES",
    "SIDE_AT_CORNER",
    "Plane",
    "across",
    "corner",
    "dot2",
    "place",
    "put_low",
]

Plane: TypeAlias = tuple[float, float]
"""A vector of the x–z plane."""

# features beyond those of `features`: PLANAR + PLANAR_FEATURES·k + what, for edge or corner k of the shape
PLANAR: Final = 100
PLANAR_FEATURES: Final = 8
ON_EDGE: Final = 0  # a sphere on edge k, 1 and 2 a capsule's + and − end
ON_EDGE_END: Final = 1
AT_CORNER: Final = 3  # a sphere at corner k, 4 and 5 a capsule's + and − end
AT_CORNER_END: Final = 4
SIDE_AT_CORNER: Final = 6  # corner k at a capsule's side
CROSSED: Final = 7  # edge k across a capsule's axis


@compiled
def dot2(a: Plane, b: Plane) -> float:
    """a·b."""
    return a[0] * b[0] + a[1] * b[1]


@compiled
def across(a: Plane) -> Plane:
    """a turned by a right angle, from x towards −z: the outward side of an edge of a counter-clockwise polygon."""
    return (a[1], -a[0])


@compiled
def corner(corners: Array, k: int) -> Plane:
    """Corner k, k counted around."""
    i = k % len(corners)
    return (corners[i, 0], corners[i, 2])


@compiled
def place(x: Vector) -> Plane:
    """A point seen along y."""
    return (x[0], x[2])


@compiled
def put_low(
    rows: Array, names: IntArray, count: int, room: int, feature: int, gap: float, normal: Plane, x: Vector,
    radius: float,
) -> int:  # fmt: skip
    """Append the contact of the core point x with radius, or let it replace the highest where there is no room.

    Args:
        room: how many rows are kept, at most MAX_POINTS.
        gap: of the core point [m].
    """
    gap -= radius
    n = (normal[0], 0.0, normal[1])
    reach = radius + 0.5 * gap
    point = (x[0] - reach * n[0], x[1], x[2] - reach * n[2])
    if count < min(room, MAX_POINTS):
        return put(rows, names, count, feature, gap, n, point)
    highest, most = -1, gap
    for k in range(count):
        if rows[k, 0] > most or math.isnan(rows[k, 0]):
            highest, most = k, rows[k, 0]
    if highest >= 0:
        put(rows, names, highest, feature, gap, n, point)
    return count
