"""Spheres and capsules on a circle and in a ring.

With c a core point seen along the shape's axis, for a circle and for a ring (the inside of a circle, a pipe in section)

    φ = ‖c‖ − R − r,   n = c/‖c‖,      φ = R − ‖c‖ − r,   n = −c/‖c‖.                       (1)

A circle is met by the capsule's nearest core point; in a ring by its ends, each of which is a minimum where the
axis's nearest point to the middle is between them.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, along
from corekit_sdf.features import PLUS, SIDE, end_feature
from corekit_sdf.literals import number
from corekit_sdf.planar import Plane, across, dot2, place, put_low

__all__ = ["capsule_in_ring", "capsule_on_circle", "sphere_in_ring", "sphere_on_circle"]


@compiled
def _outward(c: Plane, otherwise: Plane) -> tuple[float, Plane]:
    """‖c‖ and c/‖c‖, or a given direction at the middle."""
    length = math.hypot(c[0], c[1])
    if length == 0.0:
        return 0.0, otherwise
    return length, (c[0] / length, c[1] / length)


@compiled
def sphere_on_circle(p: Vector, radius: float, R: float, rows: Array, names: IntArray) -> int:
    """One point; the direction at the middle is e_z."""
    distance, n = _outward(place(p), (0.0, 1.0))
    return put_low(rows, names, number(0), number(1), number(PLUS), distance - R, n, p, radius)


@compiled
def sphere_in_ring(p: Vector, radius: float, R: float, rows: Array, names: IntArray) -> int:
    """One point; the direction at the middle is −e_z."""
    distance, n = _outward(place(p), (0.0, 1.0))
    return put_low(rows, names, number(0), number(1), number(PLUS), R - distance, (-n[0], -n[1]), p, radius)


@compiled
def _nearest(p: Vector, u: Vector, h: float) -> float:
    """t of the point of the axis p + t·u that is nearest to the middle, seen along y; 0 where all are."""
    w = place(u)
    square = dot2(w, w)
    if not square > 1e-24:
        return 0.0
    return min(max(-dot2(place(p), w) / square, -h), h)


@compiled
def capsule_on_circle(
    p: Vector, u: Vector, radius: float, h: float, R: float, rows: Array, names: IntArray
) -> int:
    """The nearest core point; across the axis where that passes through the middle."""
    t = _nearest(p, u, h)
    x = along(p, t, u)
    w = place(u)
    length = math.hypot(w[0], w[1])
    sideways = (0.0, 1.0)
    if length > 1e-12:
        sideways = across((w[0] / length, w[1] / length))
    distance, n = _outward(place(x), sideways)
    feature = SIDE if abs(t) < h else end_feature(t)
    return put_low(rows, names, number(0), number(1), feature, distance - R, n, x, radius)


@compiled
def capsule_in_ring(
    p: Vector, u: Vector, radius: float, h: float, R: float, room: int, rows: Array, names: IntArray
) -> int:
    """The end that is further from the middle, and the other where it is a minimum of its own."""
    t = _nearest(p, u, h)
    count = number(0)
    for end in range(2):
        sign = -1.0 if end else 1.0
        x = along(p, sign * h, u)
        distance, n = _outward(place(x), (0.0, 1.0))
        if sign * t < h:  # else the gap falls from here towards the other end
            name = end_feature(sign)
            count = put_low(rows, names, count, room, name, R - distance, (-n[0], -n[1]), x, radius)
    return count
