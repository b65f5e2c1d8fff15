"""Rows of a pair's closest points and of the points beside them."""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, dot, norm, sign_of
from corekit_sdf.features import CORNER, EDGE, MINUS, PLUS, SIDE, corner_number, edge_number, end_feature
from corekit_sdf.rows import add_row, row_point
from corekit_sdf.separation import CAP, EDGE_SIDE, END, FACE, SIDE_VERTEX, Separation
from corekit_sdf.witness import ALIGNED, midpoint

__all__ = ["add_closest_row", "add_distinct_row"]

_ROUNDING: Final = 1e-8
"""How far a point's gap may be below its pair's, relative to the least distance of two points."""
_OF_PLACES: Final = 64.0 * 2.0**-52
"""The same relative to where the point is in the frame of the box, by the rounding of places there."""


@compiled
def _closest_feature(separation: Separation, u: Vector) -> int:
    """Return the feature that the closest points lie on."""
    _, n, stratum, which = separation
    un = dot(u, n)
    if stratum == EDGE_SIDE:
        return EDGE + edge_number(which, n)
    if stratum == END:
        return PLUS if which == 1 else MINUS
    if stratum == SIDE_VERTEX or (stratum == FACE and abs(un) < ALIGNED):
        return SIDE
    if stratum == CAP and min(abs(n[0]), abs(n[1]), abs(n[2])) > ALIGNED:
        return CORNER + corner_number(n)
    return end_feature(-sign_of(un))


@compiled
def add_closest_row(
    separation: Separation, p: Vector, u: Vector, a: Vector, h: float, R: float, rows: Array,
    feature_ids: IntArray,
) -> int:  # fmt: skip
    """Write the closest pair of points as the first row; return 1."""
    point = midpoint(separation, p, u, a, h, R)
    return add_row(rows, feature_ids, 0, _closest_feature(separation, u), separation[0], separation[1], point)


@compiled
def add_distinct_row(
    rows: Array, feature_ids: IntArray, count: int, min_distance: float, phi: float, feature: int, gap: float,
    normal: Vector, point: Vector,
) -> int:  # fmt: skip
    """Append a point unless a row has its feature or is within `min_distance`, or it is deeper than the pair.

    A deeper one is measured along another normal, near the closest pair: with the pair's gap φ [m], which no gap is
    below, its rate would be wrong.
    """
    if gap < phi - max(_ROUNDING * min_distance, _OF_PLACES * norm(point)):
        return count
    for row in range(count):
        if feature_ids[row] == feature:
            return count
        if norm(add_scaled(point, -1.0, row_point(rows, row))) < min_distance:
            return count
    return add_row(rows, feature_ids, count, feature, max(gap, phi), normal, point)
