"""The row of a pair's closest points, and rows beside it."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, along, dot, norm, side
from corekit_sdf.features import CORNER, EDGE, MINUS, PLUS, SIDE, corner_number, edge_number, end_feature
from corekit_sdf.rows import put, row_point
from corekit_sdf.separation import CAP, EDGE_SIDE, END, FACE, SIDE_VERTEX, Separation
from corekit_sdf.witness import ALIGNED, midpoint

__all__ = ["put_closest", "put_other"]


@compiled
def _closest_feature(found: Separation, u: Vector) -> int:
    """The feature that the closest pair lies on."""
    _, n, stratum, which = found
    un = dot(u, n)
    if stratum == EDGE_SIDE:
        return EDGE + edge_number(which, n)
    if stratum == END:
        return PLUS if which == 1 else MINUS
    if stratum == SIDE_VERTEX or (stratum == FACE and abs(un) < ALIGNED):
        return SIDE
    if stratum == CAP and min(abs(n[0]), abs(n[1]), abs(n[2])) > ALIGNED:
        return CORNER + corner_number(n)
    return end_feature(-side(un))


@compiled
def put_closest(
    found: Separation, p: Vector, u: Vector, a: Vector, h: float, R: float, rows: Array, names: IntArray
) -> int:
    """Write the closest pair as the first row; returns 1."""
    point = midpoint(found, p, u, a, h, R)
    return put(rows, names, 0, _closest_feature(found, u), found[0], found[1], point)


@compiled
def put_other(
    rows: Array, names: IntArray, closest: int, count: int, reach: float, name: int, gap: float,
    normal: Vector, point: Vector,
) -> int:  # fmt: skip
    """Append a point unless its feature is there already or the closest pair (if closest = 1) is within reach."""
    for row in range(count):
        if names[row] == name:
            return count
    if closest == 1 and norm(along(point, -1.0, row_point(rows, 0))) < reach:
        return count
    return put(rows, names, count, name, gap, normal, point)
