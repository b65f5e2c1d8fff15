"""Boxes and polytopes on the half-space z ≤ 0: the corners they stand on.

With p the centre, the corners x_c in the shape's axes and R those axes in the half-space's frame, the gap is

    φ = min_c z_c,   z_c = (p + R·x_c)_z.                                                       (1)

A corner is a material point, so its gap is smooth and its rate exact. Up to four are reported: the lowest, and three
that spread the support. A corner counts as far from a place only by what its own height leaves of it,

    reach = (level distance) − (z_c − φ)/sin(flat angle),   counted if > 0,                     (2)

so at most those that would lie on the plane if the shape tilted by the flat angle, and of two above each other the
lower. Among them: the one of largest reach from the lowest, then the largest on either side of the line to it.
Corners that tie are taken in their given order, so that a face at rest keeps its contacts.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector
from corekit_sdf.features import CORNER
from corekit_sdf.rows import put

__all__ = ["corners_on_plane"]

_SAME_HEIGHT: Final = 1e-9
_SAME_REACH: Final = 1e-6


@compiled
def _place(corners: Array, c: int, p: Vector, x_axis: Vector, y_axis: Vector, z_axis: Vector) -> Vector:
    """p + R·x_c [m]."""
    x, y, z = corners[c, 0], corners[c, 1], corners[c, 2]
    return (
        p[0] + x * x_axis[0] + y * y_axis[0] + z * z_axis[0],
        p[1] + x * x_axis[1] + y * y_axis[1] + z * z_axis[1],
        p[2] + x * x_axis[2] + y * y_axis[2] + z * z_axis[2],
    )


@compiled
def corners_on_plane(
    corners: Array, radius: float, p: Vector, x_axis: Vector, y_axis: Vector, z_axis: Vector,
    flat_sine: float, rows: Array, names: IntArray,
) -> int:  # fmt: skip
    """The lowest corner and up to three more; returns how many.

    Args:
        corners: in the shape's own axes [m], shape (k, 3).
        radius: of the ball about the shape's origin that holds them [m].
        p, x_axis, y_axis, z_axis: centre and axes of the shape in the half-space's frame.
        flat_sine: sine of the flat angle, 0 for one point alone.
    """
    lowest = math.inf
    for c in range(len(corners)):
        z = _place(corners, c, p, x_axis, y_axis, z_axis)[2]
        lowest = z if z < lowest or math.isnan(z) else lowest
    first, count = 0, 0
    for c in range(len(corners)):
        if _place(corners, c, p, x_axis, y_axis, z_axis)[2] <= lowest + _SAME_HEIGHT * radius:
            first = c
            break
    origin = _place(corners, first, p, x_axis, y_axis, z_axis)
    count = put(
        rows, names, 0, CORNER + first, origin[2], (0.0, 0.0, 1.0), (origin[0], origin[1], 0.5 * origin[2])
    )
    if flat_sine == 0.0:
        return count
    line_x, line_y = 0.0, 0.0
    for role in range(3):  # away from the first corner; left of that line; right of it
        best, chosen = _SAME_REACH * radius, -1
        for c in range(len(corners)):
            x = _place(corners, c, p, x_axis, y_axis, z_axis)
            dx, dy = x[0] - origin[0], x[1] - origin[1]
            across = line_x * dy - line_y * dx
            level = math.hypot(dx, dy) if role == 0 else (across if role == 1 else -across)
            reach = level - (x[2] - origin[2]) / flat_sine
            if reach > best + (_SAME_REACH * radius if chosen >= 0 else 0.0):
                best, chosen = reach, c
        if chosen < 0:
            continue
        x = _place(corners, chosen, p, x_axis, y_axis, z_axis)
        count = put(rows, names, count, CORNER + chosen, x[2], (0.0, 0.0, 1.0), (x[0], x[1], 0.5 * x[2]))
        if role == 0:
            dx, dy = x[0] - origin[0], x[1] - origin[1]
            length = math.hypot(dx, dy)
            line_x, line_y = dx / length, dy / length
    return count
