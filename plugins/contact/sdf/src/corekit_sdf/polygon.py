"""Spheres and capsules on simple polygons, convex or not, with corners counter-clockwise for x right, z up.

Edge i from V_i has direction e_i and outward normal m_i. For a core point P with δ_i = m_i·(P − V_i), minima
of the distance are

    δ_i ≥ 0 with P's foot on the edge:            φ = δ_i,   n = m_i;                          (1)
    a convex corner V with P beyond both edges:   φ = ‖P − V‖,   n = (P − V)/φ.                (2)

Inside, the nearest edge gives φ = δ_i < 0. Behind a corner that is not convex both its edges count, each as
an unbounded wall, so that neither contact vanishes when P sinks into the other. Each has its own φ; the
distance to the corner itself is not reported.

A segment has minima at its ends, points from which the gap does not fall along the segment. It also has
minima at convex corners V over its interior. There n is perpendicular to the segment within V's cone of
normals, and

    φ = n·(x − V),   x its point nearest to V,                                                 (3)

which is also negative where V protrudes through the segment between both of its edges. If a segment is
deeper, so that none of these is below 0,

    φ = max over the edges that it crosses of min over its ends of δ,   n = m of that edge,        (4)

or, if it crosses none and is inside, its ends count as points.
"""

from __future__ import annotations

import math
from typing import Final

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

__all__ = ["capsule_on_polygon", "edge_of", "sphere_on_polygon"]

_BEYOND: Final = 1e-12
"""How far beyond its ends an edge has points, relative to its length: rounding must not put one over neither of two."""


@compiled
def edge_of(corners: Array, k: int) -> tuple[Plane, Plane, float]:
    """Return start, unit direction and length [m] of edge k; k is cyclic."""
    v, w = corner(corners, k), corner(corners, k + 1)
    d = (w[0] - v[0], w[1] - v[1])
    length = math.hypot(d[0], d[1])
    return v, (d[0] / length, d[1] / length), length


@compiled
def _convex(corners: Array, k: int) -> bool:
    """Whether the corner at the start of edge k is convex."""
    _, before, _ = edge_of(corners, k - 1 + len(corners))
    _, after, _ = edge_of(corners, k)
    return dot2(perpendicular2(before), after) <= 0.0


@compiled
def _relative(corners: Array, k: int, x: Plane) -> tuple[float, float, float, Plane]:
    """Return δ and foot of x on edge k [m], the edge's length and its outward normal."""
    v, e, length = edge_of(corners, k)
    d = (x[0] - v[0], x[1] - v[1])
    m = perpendicular2(e)
    return dot2(m, d), dot2(e, d), length, m


@compiled
def _nearest_feature(corners: Array, x: Plane) -> tuple[int, bool]:
    """Return the edge nearest to x, and whether the corner at its start is nearer than its interior."""
    best, chosen, at_corner = math.inf, 0, False
    for k in range(len(corners)):
        delta, t, length, _ = _relative(corners, k, x)
        if t < 0.0:
            square = delta * delta + t * t
            if square < best:
                best, chosen, at_corner = square, k, True
        elif t <= length and delta * delta < best:
            best, chosen, at_corner = delta * delta, k, False
    return chosen, at_corner


@compiled
def _edges_behind(corners: Array, x: Plane) -> tuple[int, int, int]:
    """Return up to three edges that count although (1) does not hold, because x is inside (see above); −1 for none."""
    n = len(corners)
    k, at_corner = _nearest_feature(corners, x)
    if at_corner:
        return (-1, -1, -1) if _convex(corners, k) else (k, (k - 1 + n) % n, -1)
    if _relative(corners, k, x)[0] >= 0.0:
        return (-1, -1, -1)
    before = -1 if _convex(corners, k) else (k - 1 + n) % n
    after = -1 if _convex(corners, (k + 1) % n) else (k + 1) % n
    return (k, before, after)


@compiled
def _add_point_minima(
    corners: Array, x: Vector, radius: float, inward: Plane, slack: float, on_edge: int, at_corner: int,
    max_rows: int, rows: Array, feature_ids: IntArray, count: int,
) -> int:  # fmt: skip
    """Append the minima (1), (2) at a core point from which the gap does not fall along `inward`.

    Over an edge it may fall by `slack`: the end of a segment that lies there counts. At a corner it may not: what it
    falls to is the minimum (3) of the same corner.
    """
    c = to_plane(x)
    behind = _edges_behind(corners, c)
    for k in range(len(corners)):
        feature = PLANAR + PLANAR_FEATURES * k
        delta, t, length, m = _relative(corners, k, c)
        over = delta >= 0.0 and -_BEYOND * length <= t <= (1.0 + _BEYOND) * length
        if (over or k == behind[0] or k == behind[1] or k == behind[2]) and dot2(m, inward) >= -slack:
            count = add_planar_row(rows, feature_ids, count, max_rows, feature + on_edge, delta, m, x, radius)
        if t < 0.0 and _convex(corners, k):
            _, t_before, length_before, _ = _relative(corners, k - 1 + len(corners), c)
            v = corner(corners, k)
            d = (c[0] - v[0], c[1] - v[1])
            distance = math.hypot(d[0], d[1])
            if t_before > length_before and distance > 0.0:
                n = (d[0] / distance, d[1] / distance)
                if dot2(n, inward) >= -ROUNDING:
                    count = add_planar_row(
                        rows, feature_ids, count, max_rows, feature + at_corner, distance, n, x, radius
                    )
    return count


@compiled
def sphere_on_polygon(
    corners: Array, p: Vector, radius: float, max_rows: int, rows: Array, feature_ids: IntArray
) -> int:
    """Add up to four minima."""
    return _add_point_minima(
        corners, p, radius, (0.0, 0.0), 0.0, ON_EDGE, AT_CORNER, max_rows, rows,
        feature_ids, 0,
    )  # fmt: skip


@compiled
def _cuts_off_corner(corners: Array, k: int, gap: float, n: Plane, s: float, w: Plane, half: float) -> bool:
    """Whether a segment crosses both edges of corner k, at arc lengths within ± half."""
    crosses_both = True
    for step in range(2):
        _, e, length = edge_of(corners, k - step + len(corners))
        away = (-e[0], -e[1]) if step else e  # along the edge from the corner
        fall = -dot2(n, away)
        if not fall > 0.0 or -gap > length * fall or abs(s - gap / fall * dot2(w, away)) > half:
            crosses_both = False
    return crosses_both


@compiled
def _add_corner_minima(
    corners: Array, p: Vector, u: Vector, radius: float, h: float, slack: float, max_rows: int, rows: Array,
    feature_ids: IntArray, count: int,
) -> int:  # fmt: skip
    """Append the minima (3), with the cones of normals widened by `slack`."""
    w = to_plane(u)
    length = math.hypot(w[0], w[1])
    if not length > 1e-12:
        return count
    w = (w[0] / length, w[1] / length)
    half = h * length
    for k in range(len(corners)):
        if not _convex(corners, k):
            continue
        v = corner(corners, k)
        s = w[0] * (v[0] - p[0]) + w[1] * (v[1] - p[2])
        if not abs(s) < half:
            continue
        x = add_scaled(p, s / length, u)
        n = perpendicular2(w)
        _, before, _ = edge_of(corners, k - 1 + len(corners))
        _, after, _ = edge_of(corners, k)
        # outward, also at a straight corner, where n·before and n·after are rounding
        if dot2(n, perpendicular2(before)) + dot2(n, perpendicular2(after)) < 0.0:
            n = (-n[0], -n[1])
        gap = n[0] * (x[0] - v[0]) + n[1] * (x[2] - v[1])
        if dot2(n, before) < -slack or dot2(n, after) > slack:
            continue
        if gap >= 0.0 or _cuts_off_corner(corners, k, gap, n, s, w, half):
            feature = PLANAR + PLANAR_FEATURES * k + SIDE_AT_CORNER
            count = add_planar_row(rows, feature_ids, count, max_rows, feature, gap, n, x, radius)
    return count


@compiled
def _add_deep_minimum(
    corners: Array, p: Vector, u: Vector, radius: float, h: float, max_rows: int, rows: Array,
    feature_ids: IntArray, count: int,
) -> int:  # fmt: skip
    """Append (4) if the segment pierces the polygon or lies inside; call it only if there is no other minimum there.

    A segment through a corner that is not convex pierces one of its edges, whichever rounding denies it; so does one
    that has no minimum at all. One through a convex corner may touch it alone.
    """
    best, edge, deepest = -math.inf, -1, p
    n, alone = len(corners), count == 0
    a, b = add_scaled(p, h, u), add_scaled(p, -h, u)
    inside = _edges_behind(corners, to_plane(a))[0] >= 0 or _edges_behind(corners, to_plane(b))[0] >= 0
    for k in range(len(corners)):
        high, s, length, m = _relative(corners, k, to_plane(a))
        low, t, _, _ = _relative(corners, k, to_plane(b))
        if (high < 0.0) != (low < 0.0) and min(high, low) > best:
            across = s + (t - s) * high / (high - low)
            before = ROUNDING * length if alone or not _convex(corners, k) else 0.0
            after = ROUNDING * length if alone or not _convex(corners, (k + 1) % n) else 0.0
            if -before < across < length + after:
                best, edge, deepest = min(high, low), k, a if high < low else b
    if edge >= 0:
        _, _, _, m = _relative(corners, edge, to_plane(deepest))
        feature = PLANAR + PLANAR_FEATURES * edge + CROSSED
        return add_planar_row(rows, feature_ids, count, max_rows, feature, best, m, deepest, radius)
    if inside or alone:
        no_direction = (0.0, 0.0)
        for end in range(2):
            count = _add_point_minima(
                corners, b if end else a, radius, no_direction, 0.0, ON_EDGE_END + end, AT_CORNER_END + end,
                max_rows, rows, feature_ids, count,
            )  # fmt: skip
    return count


@compiled
def capsule_on_polygon(
    corners: Array, p: Vector, u: Vector, radius: float, h: float, slack: float, max_rows: int, rows: Array,
    feature_ids: IntArray,
) -> int:  # fmt: skip
    """Add up to four minima at ends and corners.

    Args:
        slack: sine of the flat angle, the steepest slope of the gap between two ends that both count.
    """
    count = 0
    w = to_plane(u)
    for end in range(2):
        sign = -1.0 if end else 1.0
        count = _add_point_minima(
            corners, add_scaled(p, sign * h, u), radius, (-sign * w[0], -sign * w[1]), slack,
            ON_EDGE_END + end, AT_CORNER_END + end, max_rows, rows, feature_ids, count,
        )  # fmt: skip
    count = _add_corner_minima(corners, p, u, radius, h, slack, max_rows, rows, feature_ids, count)
    min_gap = math.inf
    for k in range(count):
        min_gap = min(min_gap, rows[k, 0])
    if min_gap > -radius:
        count = _add_deep_minimum(corners, p, u, radius, h, max_rows, rows, feature_ids, count)
    return count
