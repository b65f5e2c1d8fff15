"""The points of a capsule or cylinder on a box: the closest pair alone, or a patch where it lies flat."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, dot
from corekit_sdf.cap_patch import cap_on_edge, cap_on_face
from corekit_sdf.closest import put_closest
from corekit_sdf.line_patch import line_on_face
from corekit_sdf.separation import Separation

__all__ = ["put_box_contact"]


@compiled
def put_box_contact(
    found: Separation, p: Vector, u: Vector, x_axis: Vector, y_axis: Vector, a: Vector, h: float, R: float,
    flat_sine: float, flat_cosine: float, rows: Array, names: IntArray,
) -> int:  # fmt: skip
    """Rows of a cylinder (R > 0) or segment (R = 0) on a box, at most four; returns their number.

    The least of their gaps is φ. A flat counts as lying on another when their angle is within the flat
    angle and the pair's normal within twice that of the face's or cap's.

    Args:
        found: the signed distance, from `cylinder_box` or `segment_box`.
        flat_sine: sine of the flat angle, 0 for the closest pair alone.
        flat_cosine: cosine of twice the flat angle.
    """
    n = found[1]
    count = 0
    if flat_sine > 0.0:
        k = 0
        for axis in range(1, 3):
            if abs(n[axis]) > abs(n[k]):
                k = axis
        if abs(n[k]) > flat_cosine:
            if R > 0.0 and math.hypot(u[(k + 1) % 3], u[(k + 2) % 3]) < flat_sine:
                count = cap_on_face(found, k, p, u, x_axis, y_axis, a, h, R, rows, names)
            elif abs(u[k]) < flat_sine:
                count = line_on_face(found, k, flat_cosine, p, u, a, h, R, rows, names)
        if count == 0 and R > 0.0 and abs(dot(u, n)) > flat_cosine:
            axis = 0
            for i in range(1, 3):
                if abs(u[i]) < abs(u[axis]):
                    axis = i
            if abs(u[axis]) < flat_sine:
                count = cap_on_edge(found, axis, p, u, a, h, R, rows, names)
    if count == 0:
        count = put_closest(found, p, u, a, h, R, rows, names)
    return count
