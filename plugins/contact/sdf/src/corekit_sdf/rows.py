"""Buffer of the contact points of one pair, in the pair's work frame.

`rows` has 7 columns: gap [m], normal from the second shape of the pair into the first, point [m]. `feature_ids` has an
entry per row. Both have room for `MAX_POINTS` rows at least.
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, scaled
from corekit_sdf.features import PLUS

__all__ = ["MAX_POINTS", "add_row", "add_sphere_row", "row_point"]

MAX_POINTS: Final = 4
"""Largest number of points that report one pair."""


@compiled
def add_row(
    rows: Array, feature_ids: IntArray, count: int, feature: int, gap: float, normal: Vector, point: Vector
) -> int:
    """Append a point; return the new count."""
    feature_ids[count] = feature
    rows[count, 0] = gap
    for i in range(3):
        rows[count, 1 + i] = normal[i]
        rows[count, 4 + i] = point[i]
    return count + 1


@compiled
def row_point(rows: Array, index: int) -> Vector:
    """Return the point [m] of a row."""
    return (rows[index, 4], rows[index, 5], rows[index, 6])


@compiled
def add_sphere_row(
    phi: float, outward: Vector, sign: float, centre: Vector, radius: float, rows: Array,
    feature_ids: IntArray,
) -> int:  # fmt: skip
    """Append a sphere whose centre has signed distance φ; sign = +1 if the sphere is the pair's first shape."""
    gap = phi - radius
    point = add_scaled(centre, -(radius + 0.5 * gap), outward)
    return add_row(rows, feature_ids, 0, PLUS, gap, scaled(outward, sign), point)
