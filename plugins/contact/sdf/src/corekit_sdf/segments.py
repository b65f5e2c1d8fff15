"""Spheres and capsules on segments: a chain of lines through the corners, with a radius.

For a core point P and segment i from V_i with direction e_i the minima of the distance are

    P's foot on the segment:          φ = |δ|,       n = ±perpendicular(e_i) towards P;          (1)
    a corner V, P beyond its lines:   φ = ‖P − V‖,   n = (P − V)/φ;                              (2)

less both radii. An axis has minima at its ends, points from which the gap does not fall along the axis. It
also has minima over its interior, at corners from which the gap does not fall along their lines. Where axis
and segment cross, points show no way out. The pair is then separated along the better of the two
perpendiculars,

    φ = max_{n ⊥ either} [min over the axis of n·a − max over the segment of n·b],                (3)

and ends and corners on that segment are not reported. A sphere whose centre passes a segment comes out on the
other side.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled
from corekit_sdf.planar import (
    AT_CORNER,
    AT_CORNER_END,
    CROSSED,
    ON_EDGE,
    ON_EDGE_END,
    PLANAR,
    PLANAR_FEATURES,
    ROUNDING,
    SIDE_AT_CORNER,
    Plane,
    add_planar_row,
    corner,
    dot2,
    perpendicular2,
    to_plane,
)
from corekit_sdf.polygon import edge_of

__all__ = ["capsule_on_segments", "sphere_on_segments"]


@compiled
def _is_left(corners: Array, k: int, a: Plane, b: Plane) -> bool:
    """Whether corner k is on the left of the line from a to b, or on it; it is the same for both of its segments."""
    v = corner(corners, k)
    return dot2(perpendicular2((b[0] - a[0], b[1] - a[1])), (v[0] - a[0], v[1] - a[1])) >= 0.0


@compiled
def _crosses(corners: Array, k: int, a: Plane, b: Plane) -> bool:
    """Whether the segment from a to b crosses segment k; a line through a corner counts as on one side of it."""
    v, e, _ = edge_of(corners, k)
    m = perpendicular2(e)
    start, stop = dot2(m, (a[0] - v[0], a[1] - v[1])), dot2(m, (b[0] - v[0], b[1] - v[1]))
    return (start < 0.0) != (stop < 0.0) and _is_left(corners, k, a, b) != _is_left(corners, k + 1, a, b)


@compiled
def _crosses_at(corners: Array, k: int, a: Plane, b: Plane) -> bool:
    """Whether the segment from a to b crosses a segment that begins or ends at corner k."""
    before = k > 0 and _crosses(corners, k - 1, a, b)
    return before or (k < len(corners) - 1 and _crosses(corners, k, a, b))


@compiled
def _add_point_minima(
    corners: Array, x: Vector, radius: float, thick: float, inward: Plane, slack: float, a: Plane, b: Plane,
    on_edge: int, at_corner: int, max_rows: int, rows: Array, feature_ids: IntArray, count: int,
) -> int:  # fmt: skip
    """Append the minima (1), (2) at a core point of the axis from a to b, if the gap does not fall along `inward`.

    Over a segment it may fall by `slack`: the end of an axis that lies there counts. At a corner it may not: what it
    falls to is the minimum of the same corner over the interior.
    """
    c = to_plane(x)
    last = len(corners) - 1
    beyond = True  # whether the point is beyond the end of the previous segment
    for k in range(last + 1):
        feature = PLANAR + PLANAR_FEATURES * k
        v = corner(corners, k)
        d = (c[0] - v[0], c[1] - v[1])
        ahead = False
        if k < last:
            _, e, length = edge_of(corners, k)
            t, m = dot2(e, d), perpendicular2(e)
            delta = dot2(m, d)
            n = (-m[0], -m[1]) if delta < 0.0 else m
            if abs(delta) <= ROUNDING * length and dot2(n, inward) < 0.0:
                # on the segment: rounding must not choose the side from which the gap falls
                n = (-n[0], -n[1])
            ahead = t >= 0.0
            if 0.0 <= t <= length and dot2(n, inward) >= -slack and not _crosses(corners, k, a, b):
                count = add_planar_row(
                    rows, feature_ids, count, max_rows, feature + on_edge, abs(delta) - thick, n, x, radius
                )
        if beyond and not ahead and not _crosses_at(corners, k, a, b):
            distance = math.hypot(d[0], d[1])
            n = (d[0] / distance, d[1] / distance) if distance > 0.0 else (0.0, 1.0)
            if dot2(n, inward) < 0.0 and distance <= ROUNDING * math.hypot(b[0] - a[0], b[1] - a[1]):
                slope = math.hypot(inward[0], inward[1])
                n = (inward[0] / slope, inward[1] / slope)  # on the corner the way to it is rounding
            if dot2(n, inward) >= -ROUNDING:
                count = add_planar_row(
                    rows, feature_ids, count, max_rows, feature + at_corner, distance - thick, n, x, radius
                )
        if k < last:
            _, e, length = edge_of(corners, k)
            beyond = dot2(e, d) > length
    return count


@compiled
def sphere_on_segments(
    corners: Array, p: Vector, radius: float, thick: float, max_rows: int, rows: Array, feature_ids: IntArray
) -> int:
    """Add up to four minima."""
    c = to_plane(p)
    return _add_point_minima(
        corners, p, radius, thick, (0.0, 0.0), 0.0, c, c, ON_EDGE, AT_CORNER,
        max_rows, rows, feature_ids, 0,
    )  # fmt: skip


@compiled
def _add_corner_minima(
    corners: Array, p: Vector, u: Vector, w: Plane, length: float, half: float, radius: float, thick: float,
    slack: float, a: Plane, b: Plane, max_rows: int, rows: Array, feature_ids: IntArray, count: int,
) -> int:  # fmt: skip
    """Append the minima at corners over the interior of the axis; w is its unit direction seen along y."""
    last = len(corners) - 1
    for k in range(last + 1):
        v = corner(corners, k)
        s = w[0] * (v[0] - p[0]) + w[1] * (v[1] - p[2])
        if not abs(s) < half or _crosses_at(corners, k, a, b):
            continue
        x = add_scaled(p, s / length, u)
        n = perpendicular2(w)
        if not _is_left(corners, k, a, b):
            n = (-n[0], -n[1])
        gap = n[0] * (x[0] - v[0]) + n[1] * (x[2] - v[1])
        rises = True
        if k > 0:
            _, e, _ = edge_of(corners, k - 1)
            rises = -dot2(n, e) <= slack
        if k < last:
            _, e, _ = edge_of(corners, k)
            rises = rises and dot2(n, e) <= slack
        if rises:
            feature = PLANAR + PLANAR_FEATURES * k + SIDE_AT_CORNER
            count = add_planar_row(rows, feature_ids, count, max_rows, feature, gap - thick, n, x, radius)
    return count


@compiled
def _add_crossing(
    corners: Array, k: int, p: Vector, u: Vector, w: Plane, length: float, half: float, radius: float,
    thick: float, max_rows: int, rows: Array, feature_ids: IntArray, count: int,
) -> int:  # fmt: skip
    """Append (3) for segment k, which crosses the axis."""
    v, e, edge_length = edge_of(corners, k)
    d = (p[0] - v[0], p[2] - v[1])
    best, n, x = -math.inf, e, p
    for choice in range(4):
        m = perpendicular2(e) if choice < 2 else perpendicular2(w)
        if choice & 1:
            m = (-m[0], -m[1])
        along_axis, along_edge = half * dot2(m, w), edge_length * dot2(m, e)
        f = dot2(m, d) - abs(along_axis) - max(along_edge, 0.0)
        if f > best:
            best, n = f, m
            if choice < 2:
                s = -half if along_axis > 0.0 else half
            else:
                t = edge_length if along_edge > 0.0 else 0.0
                s = min(max(-dot2(w, d) + t * dot2(w, e), -half), half)
            x = add_scaled(p, s / length, u)
    feature = PLANAR + PLANAR_FEATURES * k + CROSSED
    return add_planar_row(rows, feature_ids, count, max_rows, feature, best - thick, n, x, radius)


@compiled
def capsule_on_segments(
    corners: Array, p: Vector, u: Vector, radius: float, h: float, thick: float, slack: float, max_rows: int,
    rows: Array, feature_ids: IntArray,
) -> int:  # fmt: skip
    """Add up to four minima at ends, corners and crossings.

    Args:
        slack: sine of the flat angle, the steepest slope of the gap between two ends that both count.
    """
    count = 0
    w = to_plane(u)
    a, b = to_plane(add_scaled(p, h, u)), to_plane(add_scaled(p, -h, u))
    for end in range(2):
        sign = -1.0 if end else 1.0
        count = _add_point_minima(
            corners, add_scaled(p, sign * h, u), radius, thick, (-sign * w[0], -sign * w[1]), slack, a, b,
            ON_EDGE_END + end, AT_CORNER_END + end, max_rows, rows, feature_ids, count,
        )  # fmt: skip
    length = math.hypot(w[0], w[1])
    if not length > 1e-12:
        return count
    w = (w[0] / length, w[1] / length)
    half = h * length
    count = _add_corner_minima(
        corners, p, u, w, length, half, radius, thick, slack, a, b, max_rows, rows, feature_ids, count
    )
    for k in range(len(corners) - 1):
        if _crosses(corners, k, a, b):
            count = _add_crossing(
                corners, k, p, u, w, length, half, radius, thick, max_rows, rows, feature_ids, count
            )
    return count
