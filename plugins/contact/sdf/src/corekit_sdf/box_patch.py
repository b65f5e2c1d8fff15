"""Contact points of a capsule or cylinder on a box: the closest pair alone, or a patch where it lies flat."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, dot
from corekit_sdf.cap_patch import cap_on_edge, cap_on_face
from corekit_sdf.closest import add_closest_row
from corekit_sdf.edge_patch import line_on_edge
from corekit_sdf.line_patch import line_on_face
from corekit_sdf.separation import Separation

__all__ = ["add_box_rows"]


@compiled
def _axes_along(d: Vector) -> tuple[int, int]:
    """Return the axes of the box with the least and the largest component of d."""
    least, largest = 0, 0
    for k in range(1, 3):
        if abs(d[k]) < abs(d[least]):
            least = k
        if abs(d[k]) > abs(d[largest]):
            largest = k
    return least, largest


@compiled
def _add_rows_on_edge(
    separation: Separation, p: Vector, u: Vector, a: Vector, h: float, R: float, flat_sine: float,
    flat_cosine: float, rows: Array, feature_ids: IntArray,
) -> int:  # fmt: skip
    """Write the rows of a cap on an edge, or of a line along one; return their number."""
    n = separation[1]
    across, along = _axes_along(u)
    if R > 0.0 and abs(dot(u, n)) > flat_cosine:
        if abs(u[across]) < flat_sine:
            return cap_on_edge(separation, across, p, u, a, h, R, rows, feature_ids)
        return 0
    lean = math.hypot(u[(along + 1) % 3], u[(along + 2) % 3])
    if max(lean, abs(dot(u, n)), abs(n[along])) < flat_sine:
        return line_on_edge(separation, along, p, u, a, h, R, rows, feature_ids)
    return 0


@compiled
def add_box_rows(
    separation: Separation, p: Vector, u: Vector, x_axis: Vector, y_axis: Vector, a: Vector, h: float,
    R: float, flat_sine: float, flat_cosine: float, rows: Array, feature_ids: IntArray,
) -> int:  # fmt: skip
    """Write the rows of a cylinder (R > 0) or segment (R = 0) on a box, at most four; return their number.

    The least of their gaps is φ. A flat lies on another if their angle is within the flat angle and the
    pair's normal is within twice that of the face's or cap's. A line lies along an edge if both are across the
    normal and parallel, each within the flat angle.

    Args:
        separation: the signed distance, from `cylinder_box` or `segment_box`.
        flat_sine: sine of the flat angle, 0 for the closest pair alone.
        flat_cosine: cosine of twice the flat angle.
    """
    n = separation[1]
    count = 0
    if flat_sine > 0.0:
        _, k = _axes_along(n)
        if abs(n[k]) > flat_cosine:
            if R > 0.0 and math.hypot(u[(k + 1) % 3], u[(k + 2) % 3]) < flat_sine:
                count = cap_on_face(separation, k, p, u, x_axis, y_axis, a, h, R, rows, feature_ids)
            elif abs(u[k]) < flat_sine:
                count = line_on_face(separation, k, flat_cosine, p, u, a, h, R, rows, feature_ids)
        if count == 0:
            count = _add_rows_on_edge(separation, p, u, a, h, R, flat_sine, flat_cosine, rows, feature_ids)
    if count == 0:
        count = add_closest_row(separation, p, u, a, h, R, rows, feature_ids)
    return count
