"""Spheres, capsules and cylinders against the half-space z ≤ 0.

With p the centre and u the axis in the half-space's frame, the lowest point gives

    φ = p_z − r (sphere),   p_z − h·|u_z| − r (capsule),   p_z − h·|u_z| − R·√(u_x² + u_y²) (cylinder).   (1)
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, sign_of
from corekit_sdf.features import PLUS, end_feature
from corekit_sdf.rims import nearest_rim_point, rim_direction, rim_feature
from corekit_sdf.rows import add_row
from corekit_sdf.witness import ALIGNED

__all__ = ["capsule_on_plane", "cylinder_on_plane", "sphere_on_plane"]


@compiled
def _add_plane_row(rows: Array, feature_ids: IntArray, count: int, feature: int, x: Vector) -> int:
    """Append the point midway between x, on the surface, and its foot on the plane."""
    return add_row(rows, feature_ids, count, feature, x[2], (0.0, 0.0, 1.0), (x[0], x[1], 0.5 * x[2]))


@compiled
def sphere_on_plane(p: Vector, radius: float, rows: Array, feature_ids: IntArray) -> int:
    """Add one point."""
    return _add_plane_row(rows, feature_ids, 0, PLUS, (p[0], p[1], p[2] - radius))


@compiled
def capsule_on_plane(
    p: Vector, u: Vector, radius: float, h: float, flat_sine: float, rows: Array, feature_ids: IntArray
) -> int:
    """Add the lower end, and the other end if the axis is within the flat angle of the plane.

    Args:
        flat_sine: sine of the flat angle, 0 for one point alone.
    """
    low = -sign_of(u[2])
    x = add_scaled(p, low * h, u)
    if abs(u[2]) < ALIGNED and flat_sine == 0.0:
        x = p
    count = _add_plane_row(rows, feature_ids, 0, end_feature(low), (x[0], x[1], x[2] - radius))
    if abs(u[2]) < flat_sine:
        x = add_scaled(p, -low * h, u)
        count = _add_plane_row(rows, feature_ids, count, end_feature(-low), (x[0], x[1], x[2] - radius))
    return count


@compiled
def cylinder_on_plane(
    p: Vector, u: Vector, x_axis: Vector, y_axis: Vector, R: float, h: float, flat_sine: float, rows: Array,
    feature_ids: IntArray,
) -> int:  # fmt: skip
    """Add the lowest point, and three more rim points of a cap on the plane or one more point of a side line on it."""
    slope = math.hypot(u[0], u[1])
    low = -sign_of(u[2])
    end = add_scaled(p, low * h, u)
    level = slope < ALIGNED
    # towards the lowest point of a rim: −(e_z − u_z·u)/slope
    down = (0.0, 0.0, 0.0) if level else (u[2] * u[0] / slope, u[2] * u[1] / slope, -slope)
    count = 0
    if flat_sine == 0.0 and abs(u[2]) < ALIGNED:
        return _add_plane_row(rows, feature_ids, 0, end_feature(low), add_scaled(p, R, down))
    if not level or flat_sine == 0.0:
        count = _add_plane_row(rows, feature_ids, count, end_feature(low), add_scaled(end, R, down))
    if slope < flat_sine:
        omitted = -1 if level else nearest_rim_point(down, x_axis, y_axis)
        for k in range(4):
            if k != omitted:
                x = add_scaled(end, R, rim_direction(k, x_axis, y_axis))
                count = _add_plane_row(rows, feature_ids, count, rim_feature(k, low), x)
    elif abs(u[2]) < flat_sine:
        x = add_scaled(add_scaled(p, -low * h, u), R, down)
        count = _add_plane_row(rows, feature_ids, count, end_feature(-low), x)
    return count
