"""Spheres and capsules on segments: a chain of lines through the corners, with a radius.

For a core point P and segment i from V_i with direction e_i the minima of the distance are

    P's foot on the segment:          φ = |δ|,       n = ±across(e_i) towards P;                 (1)
    a corner V, P beyond its lines:   φ = ‖P − V‖,   n = (P − V)/φ;                              (2)

less both radii. An axis has them at its ends, as points from which the gap does not fall along the axis, and over
its interior at corners from which it does not fall along their lines. Where axis and segment cross there is no way
out to be seen from points: the pair is separated along the better of their two perpendiculars,

    φ = max_{n ⊥ either} [min over the axis of n·a − max over the segment of n·b],                (3)

and ends and corners on that segment are not reported. A sphere whose centre passes a segment comes out on
the other side.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, along
from corekit_sdf.literals import number
from corekit_sdf.planar import (
    AT_CORNER,
    AT_CORNER_END,
    CROSSED,
    ON_EDGE,
    ON_EDGE_END,
    PLANAR,
    PLANAR_FEATURES,
    SIDE_AT_CORNER,
    Plane,
    across,
    corner,
    dot2,
    place,
    put_low,
)
from corekit_sdf.polygon import edge_of

__all__ = ["capsule_on_segments", "sphere_on_segments"]


@compiled
def _crosses(corners: Array, k: int, a: Plane, b: Plane) -> bool:
    """Whether the segment from a to b crosses segment k."""
    v, e, length = edge_of(corners, k)
    m, w = across(e), (b[0] - a[0], b[1] - a[1])
    start, stop = dot2(m, (a[0] - v[0], a[1] - v[1])), dot2(m, (b[0] - v[0], b[1] - v[1]))
    if start * stop >= 0.0:
        return False
    share = start / (start - stop)
    t = dot2(e, (a[0] + share * w[0] - v[0], a[1] + share * w[1] - v[1]))
    return 0.0 < t < length


@compiled
def _crosses_at(corners: Array, k: int, a: Plane, b: Plane) -> bool:
    """Whether the segment from a to b crosses a segment that begins or ends at corner k."""
    before = k > 0 and _crosses(corners, k - 1, a, b)
    return before or (k < len(corners) - 1 and _crosses(corners, k, a, b))


@compiled
def _put_point(
    corners: Array, x: Vector, radius: float, thick: float, inward: Plane, slack: float, a: Plane, b: Plane,
    on_edge: int, at_corner: int, room: int, rows: Array, names: IntArray, count: int,
) -> int:  # fmt: skip
    """Append the minima (1), (2) at a core point of the axis from a to b, if the gap does not fall along `inward`."""
    c = place(x)
    last = len(corners) - 1
    beyond = True  # whether the point is beyond the end of the segment before
    for k in range(last + 1):
        feature = PLANAR + PLANAR_FEATURES * k
        v = corner(corners, k)
        d = (c[0] - v[0], c[1] - v[1])
        ahead = False
        if k < last:
            _, e, length = edge_of(corners, k)
            t, m = dot2(e, d), across(e)
            delta = dot2(m, d)
            n = (-m[0], -m[1]) if delta < 0.0 else m
            ahead = t >= 0.0
            if 0.0 <= t <= length and dot2(n, inward) >= -slack and not _crosses(corners, k, a, b):
                count = put_low(rows, names, count, room, feature + on_edge, abs(delta) - thick, n, x, radius)
        if beyond and not ahead and not _crosses_at(corners, k, a, b):
            distance = math.hypot(d[0], d[1])
            n = (d[0] / distance, d[1] / distance) if distance > 0.0 else (0.0, 1.0)
            if dot2(n, inward) >= -slack:
                count = put_low(rows, names, count, room, feature + at_corner, distance - thick, n, x, radius)
        if k < last:
            _, e, length = edge_of(corners, k)
            beyond = dot2(e, d) > length
    return count


@compiled
def sphere_on_segments(
    corners: Array, p: Vector, radius: float, thick: float, room: int, rows: Array, names: IntArray
) -> int:
    """Up to four minima."""
    c = place(p)
    return _put_point(
        corners,
        p,
        radius,
        thick,
        (0.0, 0.0),
        0.0,
        c,
        c,
        number(ON_EDGE),
        number(AT_CORNER),
        room,
        rows,
        names,
        number(0),
    )


@compiled
def _put_corners(
    corners: Array, p: Vector, u: Vector, w: Plane, length: float, half: float, radius: float, thick: float,
    slack: float, a: Plane, b: Plane, room: int, rows: Array, names: IntArray, count: int,
) -> int:  # fmt: skip
    """Append the minima at corners over the interior of the axis, w its unit direction seen along y."""
    last = len(corners) - 1
    for k in range(last + 1):
        v = corner(corners, k)
        s = w[0] * (v[0] - p[0]) + w[1] * (v[1] - p[2])
        if not abs(s) < half or _crosses_at(corners, k, a, b):
            continue
        x = along(p, s / length, u)
        n = across(w)
        gap = n[0] * (x[0] - v[0]) + n[1] * (x[2] - v[1])
        if gap < 0.0:
            gap, n = -gap, (-n[0], -n[1])
        rises = True
        if k > 0:
            _, e, _ = edge_of(corners, k - 1)
            rises = -dot2(n, e) <= slack
        if k < last:
            _, e, _ = edge_of(corners, k)
            rises = rises and dot2(n, e) <= slack
        if rises:
            feature = PLANAR + PLANAR_FEATURES * k + SIDE_AT_CORNER
            count = put_low(rows, names, count, room, feature, gap - thick, n, x, radius)
    return count


@compiled
def _put_crossing(
    corners: Array, k: int, p: Vector, u: Vector, w: Plane, length: float, half: float, radius: float,
    thick: float, room: int, rows: Array, names: IntArray, count: int,
) -> int:  # fmt: skip
    """Append (3) for segment k across the axis."""
    v, e, reach = edge_of(corners, k)
    d = (p[0] - v[0], p[2] - v[1])
    best, n, x = -math.inf, e, p
    for choice in range(4):
        m = across(e) if choice < 2 else across(w)
        if choice & 1:
            m = (-m[0], -m[1])
        along_axis, along_edge = half * dot2(m, w), reach * dot2(m, e)
        f = dot2(m, d) - abs(along_axis) - max(along_edge, 0.0)
        if f > best:
            best, n = f, m
            if choice < 2:
                s = -half if along_axis > 0.0 else half
            else:
                t = reach if along_edge > 0.0 else 0.0
                s = min(max(-dot2(w, d) + t * dot2(w, e), -half), half)
            x = along(p, s / length, u)
    feature = PLANAR + PLANAR_FEATURES * k + CROSSED
    return put_low(rows, names, count, room, feature, best - thick, n, x, radius)


@compiled
def capsule_on_segments(
    corners: Array, p: Vector, u: Vector, radius: float, h: float, thick: float, slack: float, room: int,
    rows: Array, names: IntArray,
) -> int:  # fmt: skip
    """Up to four minima at ends, corners and crossings.

    Args:
        slack: sine of the flat angle: how steeply the gap may fall from one end to the other that counts too.
    """
    count = number(0)
    w = place(u)
    a, b = place(along(p, h, u)), place(along(p, -h, u))
    for end in range(2):
        sign = -1.0 if end else 1.0
        count = _put_point(
            corners, along(p, sign * h, u), radius, thick, (-sign * w[0], -sign * w[1]), slack, a, b,
            ON_EDGE_END + end, AT_CORNER_END + end, room, rows, names, count,
        )  # fmt: skip
    length = math.hypot(w[0], w[1])
    if not length > 1e-12:
        return count
    w = (w[0] / length, w[1] / length)
    half = h * length
    count = _put_corners(corners, p, u, w, length, half, radius, thick, slack, a, b, room, rows, names, count)
    for k in range(len(corners) - 1):
        if _crosses(corners, k, a, b):
            count = _put_crossing(corners, k, p, u, w, length, half, radius, thick, room, rows, names, count)
    return count
