"""Boxes and polytopes on the half-space z ≤ 0: their supporting corners.

With p the centre, the corners x_c in the shape's axes and R those axes in the half-space's frame, the gap is

    φ = min_c z_c,   z_c = (p + R·x_c)_z.                                                       (1)

A corner is a material point, so its gap is smooth and its rate exact. Up to four are reported: the lowest,
and three that spread the support. The height of a corner reduces the distance at which it counts,

    extent = (level distance) − (z_c − φ)/sin(flat angle),   counted if > 0,                     (2)

so at most those count that would lie on the plane if the shape tilted by the flat angle, and of two above
each other the lower. The first of the three has the largest extent from the lowest corner, the others the
largest on either side of the line to it. Ties keep the given order, so that a resting face keeps its
contacts.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector
from corekit_sdf.features import CORNER
from corekit_sdf.rows import add_row

__all__ = ["corners_on_plane"]

_SAME_HEIGHT: Final = 1e-9
_SAME_EXTENT: Final = 1e-6


@compiled
def _corner_position(
    corners: Array, c: int, p: Vector, x_axis: Vector, y_axis: Vector, z_axis: Vector
) -> Vector:
    """Return p + R·x_c [m]."""
    x, y, z = corners[c, 0], corners[c, 1], corners[c, 2]
    return (
        p[0] + x * x_axis[0] + y * y_axis[0] + z * z_axis[0],
        p[1] + x * x_axis[1] + y * y_axis[1] + z * z_axis[1],
        p[2] + x * x_axis[2] + y * y_axis[2] + z * z_axis[2],
    )


@compiled
def corners_on_plane(
    corners: Array, radius: float, p: Vector, x_axis: Vector, y_axis: Vector, z_axis: Vector,
    flat_sine: float, rows: Array, feature_ids: IntArray,
) -> int:  # fmt: skip
    """Add the lowest corner and up to three more; return their count.

    Args:
        corners: in the shape's own axes [m], shape (k, 3).
        radius: of a ball about the shape's origin that contains them [m].
        p, x_axis, y_axis, z_axis: centre and axes of the shape in the half-space's frame.
        flat_sine: sine of the flat angle, 0 for one point alone.
    """
    lowest = math.inf
    for c in range(len(corners)):
        z = _corner_position(corners, c, p, x_axis, y_axis, z_axis)[2]
        lowest = z if z < lowest or math.isnan(z) else lowest
    lowest_corner, count = 0, 0
    for c in range(len(corners)):
        if _corner_position(corners, c, p, x_axis, y_axis, z_axis)[2] <= lowest + _SAME_HEIGHT * radius:
            lowest_corner = c
            break
    origin = _corner_position(corners, lowest_corner, p, x_axis, y_axis, z_axis)
    count = add_row(
        rows, feature_ids, 0, CORNER + lowest_corner, origin[2], (0.0, 0.0, 1.0),
        (origin[0], origin[1], 0.5 * origin[2]),
    )  # fmt: skip
    if flat_sine == 0.0:
        return count
    line_x, line_y = 0.0, 0.0
    for role in range(3):  # away from the first corner; left of that line; right of it
        best, chosen = _SAME_EXTENT * radius, -1
        for c in range(len(corners)):
            x = _corner_position(corners, c, p, x_axis, y_axis, z_axis)
            dx, dy = x[0] - origin[0], x[1] - origin[1]
            aside = line_x * dy - line_y * dx
            level = math.hypot(dx, dy) if role == 0 else (aside if role == 1 else -aside)
            extent = level - (x[2] - origin[2]) / flat_sine
            if extent > best + (_SAME_EXTENT * radius if chosen >= 0 else 0.0):
                best, chosen = extent, c
        if chosen < 0:
            continue
        x = _corner_position(corners, chosen, p, x_axis, y_axis, z_axis)
        count = add_row(
            rows, feature_ids, count, CORNER + chosen, x[2], (0.0, 0.0, 1.0), (x[0], x[1], 0.5 * x[2])
        )
        if role == 0:
            dx, dy = x[0] - origin[0], x[1] - origin[1]
            length = math.hypot(dx, dy)
            line_x, line_y = dx / length, dy / length
    return count
