"""Contact points of a capsule or cylinder on a box: the closest pair alone, or a patch where it lies flat."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, dot
from corekit_sdf.cap_patch import cap_on_edge, cap_on_face
from corekit_sdf.closest import add_closest_row
from corekit_sdf.line_patch import line_on_face
from corekit_sdf.separation import Separation

__all__ = ["add_box_rows"]


@compiled
def add_box_rows(
    separation: Separation, p: Vector, u: Vector, x_axis: Vector, y_axis: Vector, a: Vector, h: float,
    R: float, flat_sine: float, flat_cosine: float, rows: Array, feature_ids: IntArray,
) -> int:  # fmt: skip
    """Write the rows of a cylinder (R > 0) or segment (R = 0) on a box, at most four; return their number.

    The least of their gaps is φ. A flat lies on another if their angle is within the flat angle and the
    pair's normal is within twice that of the face's or cap's.

    Args:
        separation: the signed distance, from `cylinder_box` or `segment_box`.
        flat_sine: sine of the flat angle, 0 for the closest pair alone.
        flat_cosine: cosine of twice the flat angle.
    """
    n = separation[1]
    count = 0
    if flat_sine > 0.0:
        k = 0
        for axis in range(1, 3):
            if abs(n[axis]) > abs(n[k]):
                k = axis
        if abs(n[k]) > flat_cosine:
            if R > 0.0 and math.hypot(u[(k + 1) % 3], u[(k + 2) % 3]) < flat_sine:
                count = cap_on_face(separation, k, p, u, x_axis, y_axis, a, h, R, rows, feature_ids)
            elif abs(u[k]) < flat_sine:
                count = line_on_face(separation, k, flat_cosine, p, u, a, h, R, rows, feature_ids)
        if count == 0 and R > 0.0 and abs(dot(u, n)) > flat_cosine:
            axis = 0
            for i in range(1, 3):
                if abs(u[i]) < abs(u[axis]):
                    axis = i
            if abs(u[axis]) < flat_sine:
                count = cap_on_edge(separation, axis, p, u, a, h, R, rows, feature_ids)
    if count == 0:
        count = add_closest_row(separation, p, u, a, h, R, rows, feature_ids)
    return count
