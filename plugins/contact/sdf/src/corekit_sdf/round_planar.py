"""Spheres and capsules on a circle and in a ring.

With c a core point seen along the shape's axis, for a circle and for a ring (the inside of a circle, a pipe
in section)

    φ = ‖c‖ − R − r,   n = c/‖c‖,      φ = R − ‖c‖ − r,   n = −c/‖c‖.                       (1)

A circle meets the capsule's nearest core point. A ring meets the capsule's ends; each is a minimum if the
axis's point nearest to the ring's centre lies between them.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled
from corekit_sdf.features import PLUS, SIDE, end_feature
from corekit_sdf.planar import Plane, add_planar_row, dot2, perpendicular2, to_plane

__all__ = ["capsule_in_ring", "capsule_on_circle", "sphere_in_ring", "sphere_on_circle"]


@compiled
def _outward(c: Plane, default: Plane) -> tuple[float, Plane]:
    """Return ‖c‖ and c/‖c‖, or the default direction at the centre."""
    length = math.hypot(c[0], c[1])
    if length == 0.0:
        return 0.0, default
    return length, (c[0] / length, c[1] / length)


@compiled
def sphere_on_circle(p: Vector, radius: float, R: float, rows: Array, feature_ids: IntArray) -> int:
    """Add one point; the direction at the centre is e_z."""
    distance, n = _outward(to_plane(p), (0.0, 1.0))
    return add_planar_row(rows, feature_ids, 0, 1, PLUS, distance - R, n, p, radius)


@compiled
def sphere_in_ring(p: Vector, radius: float, R: float, rows: Array, feature_ids: IntArray) -> int:
    """Add one point; the direction at the centre is −e_z."""
    distance, n = _outward(to_plane(p), (0.0, 1.0))
    return add_planar_row(
        rows, feature_ids, 0, 1, PLUS, R - distance, (-n[0], -n[1]), p,
        radius,
    )  # fmt: skip


@compiled
def _nearest_parameter(p: Vector, u: Vector, h: float) -> float:
    """Return t of the axis point p + t·u nearest to the centre, seen along y; 0 if all are equally near."""
    w = to_plane(u)
    square = dot2(w, w)
    if not square > 1e-24:
        return 0.0
    return min(max(-dot2(to_plane(p), w) / square, -h), h)


@compiled
def capsule_on_circle(
    p: Vector, u: Vector, radius: float, h: float, R: float, rows: Array, feature_ids: IntArray
) -> int:
    """Add the nearest core point; if the axis passes through the centre, n is perpendicular to the axis."""
    t = _nearest_parameter(p, u, h)
    x = add_scaled(p, t, u)
    w = to_plane(u)
    length = math.hypot(w[0], w[1])
    sideways = (0.0, 1.0)
    if length > 1e-12:
        sideways = perpendicular2((w[0] / length, w[1] / length))
    distance, n = _outward(to_plane(x), sideways)
    feature = SIDE if abs(t) < h else end_feature(t)
    return add_planar_row(rows, feature_ids, 0, 1, feature, distance - R, n, x, radius)


@compiled
def capsule_in_ring(
    p: Vector, u: Vector, radius: float, h: float, R: float, max_rows: int, rows: Array, feature_ids: IntArray
) -> int:
    """Add the end that is further from the centre, and the other end if it is a minimum too."""
    t = _nearest_parameter(p, u, h)
    count = 0
    for end in range(2):
        sign = -1.0 if end else 1.0
        x = add_scaled(p, sign * h, u)
        distance, n = _outward(to_plane(x), (0.0, 1.0))
        if sign * t < h:  # else the gap falls from here towards the other end
            feature = end_feature(sign)
            count = add_planar_row(
                rows, feature_ids, count, max_rows, feature, R - distance, (-n[0], -n[1]), x, radius
            )
    return count
