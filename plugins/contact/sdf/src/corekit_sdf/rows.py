"""The few contact points of one pair, in the pair's work frame, before they go into the contact set.

`rows` has shape (MAX_POINTS, 7): gap [m], normal from the second shape of the pair into the first, point
[m]; `names` has shape (MAX_POINTS,): the feature of each.
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, along, scaled
from corekit_sdf.features import PLUS

__all__ = ["MAX_POINTS", "put", "put_sphere", "row_point"]

MAX_POINTS: Final = 4
"""Points reported for one pair at most."""


@compiled
def put(
    rows: Array, names: IntArray, count: int, feature: int, gap: float, normal: Vector, point: Vector
) -> int:
    """Append a point; returns the new count."""
    names[count] = feature
    rows[count, 0] = gap
    for i in range(3):
        rows[count, 1 + i] = normal[i]
        rows[count, 4 + i] = point[i]
    return count + 1


@compiled
def row_point(rows: Array, index: int) -> Vector:
    """The point [m] of a row."""
    return (rows[index, 4], rows[index, 5], rows[index, 6])


@compiled
def put_sphere(
    phi: float, outward: Vector, sign: float, centre: Vector, radius: float, rows: Array, names: IntArray
) -> int:
    """A sphere whose centre has signed distance φ; sign = +1 if the sphere is the pair's first shape."""
    gap = phi - radius
    point = along(centre, -(radius + 0.5 * gap), outward)
    return put(rows, names, 0, PLUS, gap, scaled(outward, sign), point)
