"""The points of two cylinders, disks or segments: the closest pair, and where they lie on each other up to three more.

Caps and side lines count as lying on each other when they are within the flat angle and the pair's normal within
twice that of the cap's. Of what `axial_overlap` finds those are taken that spread the support: the furthest from the
first, then the furthest on either side of the line to it; points that tie in their given order.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, along, cross, dot, norm, scaled, side
from corekit_sdf.axial_overlap import FACE, Turned, cap_on_cap, line_on_cap, line_on_line, pair_feature
from corekit_sdf.features import SIDE, end_feature
from corekit_sdf.literals import number
from corekit_sdf.rows import put, row_point
from corekit_sdf.witness import ALIGNED

__all__ = ["put_axial"]


@compiled
def _lying(
    first: Turned, second: Turned, n: Vector, sine: float, cosine: float, rows: Array, names: IntArray
) -> int:
    """Found points of what lies on each other; returns how many.

    Args:
        sine: of the flat angle.
        cosine: of twice that.
    """
    u, v = first[3], second[3]
    between, lean = norm(cross(u, v)), abs(dot(u, v))
    on_second = second[5] > 0.0 and abs(dot(v, n)) > cosine
    on_first = first[5] > 0.0 and abs(dot(u, n)) > cosine
    if on_second and first[5] > 0.0 and between < sine:
        return cap_on_cap(first, second, n, rows, names)
    if on_second and lean < sine:
        return line_on_cap(first, second, n, 1.0, rows, names)
    if on_first and lean < sine:
        return line_on_cap(second, first, scaled(n, -1.0), -1.0, rows, names)
    if between < sine and not on_first and not on_second and abs(dot(u, n)) < sine:
        count = line_on_line(first, second, n, 1.0, rows, names, number(0))
        return line_on_line(second, first, scaled(n, -1.0), -1.0, rows, names, count)
    return 0


@compiled
def _lowest(body: Turned, d: Vector) -> tuple[bool, Vector, int]:
    """Whether the point furthest along d is the only one, the point, and the name of what it is on."""
    centre, _, _, u, h, R = body
    lean = dot(u, d)
    rim = along(d, -lean, u)
    slope = norm(rim)
    if abs(lean) < ALIGNED:
        return False, along(centre, R / slope, rim), SIDE
    end = side(lean)
    x = along(centre, end * h, u)
    if slope < ALIGNED and R > 0.0:
        return False, x, FACE
    if R > 0.0:
        x = along(x, R / slope, rim)
    return True, x, end_feature(end)


@compiled
def _closest(first: Turned, second: Turned, n: Vector, gap: float) -> tuple[bool, Vector, int]:
    """Whether the closest pair is the only one, the point midway, and its feature."""
    alone_a, a, name_a = _lowest(first, scaled(n, -1.0))
    alone_b, b, name_b = _lowest(second, n)
    feature = pair_feature(name_a, name_b)
    if alone_a:
        return True, along(a, -0.5 * gap, n), feature
    if alone_b:
        return True, along(b, 0.5 * gap, n), feature
    if name_a == SIDE and name_b == SIDE:
        area = dot(n, cross(first[3], second[3]))
        if abs(area) > ALIGNED:
            s = dot(n, cross(along(b, -1.0, a), second[3])) / area
            return True, along(along(a, min(max(s, -first[4]), first[4]), first[3]), -0.5 * gap, n), feature
    return False, a, feature


@compiled
def _spread(
    found: Array, found_names: IntArray, points: int, n: Vector, gap: float, rows: Array, names: IntArray,
    count: int,
) -> int:  # fmt: skip
    """Add up to three found points that spread the support about the first row; returns the new count."""
    origin = row_point(rows, number(0))
    line = (0.0, 0.0, 0.0)
    extent = 0.0
    for role in range(3):  # away from the first point; left of that line; right of it
        best, chosen = 0.05 * extent, number(-1)
        for k in range(points):
            d = along(row_point(found, k), -1.0, origin)
            d = along(d, -dot(d, n), n)
            aside = dot(n, cross(line, d))
            reach = norm(d) if role == 0 else (aside if role == 1 else -aside)
            known = False
            for r in range(count):
                known = known or names[r] == found_names[k]
            if reach > best + 1e-6 * extent and not known:
                best, chosen = reach, k
                extent = max(extent, reach)
        if chosen < 0:
            if role == 0:
                return count
            continue
        if role == 0:
            d = along(row_point(found, chosen), -1.0, origin)
            line = scaled(along(d, -dot(d, n), n), 1.0 / best)
        count = _take(found, found_names, chosen, gap, rows, names, count)
    return count


@compiled
def _take(
    found: Array, found_names: IntArray, chosen: int, gap: float, rows: Array, names: IntArray, count: int
) -> int:
    """Append a found point, with a gap no less than the pair's; returns the new count."""
    m = (found[chosen, 1], found[chosen, 2], found[chosen, 3])
    lift = max(gap - found[chosen, 0], 0.0)
    x = along(row_point(found, chosen), -0.5 * lift, m)
    return put(rows, names, count, int(found_names[chosen]), found[chosen, 0] + lift, m, x)


@compiled
def put_axial(
    first: Turned, second: Turned, n: Vector, gap: float, sine: float, cosine: float, found: Array,
    found_names: IntArray, rows: Array, names: IntArray,
) -> int:  # fmt: skip
    """Rows of two cylinders or segments, at most four; returns how many.

    Args:
        n, gap: of the pair, from the second into the first [m].
        sine: of the flat angle, 0 for the closest pair alone.
        cosine: of twice the flat angle.
        found, found_names: work buffers, shapes (MOST_FOUND, 7) and (MOST_FOUND,).
    """
    alone, x, feature = _closest(first, second, n, gap)
    points = number(0)
    if sine > 0.0:
        points = _lying(first, second, n, sine, cosine, found, found_names)
    if points == 0 and not alone:
        points = _lying(first, second, n, 10.0 * ALIGNED, 1.0 - ALIGNED, found, found_names)
    if alone or points == 0:
        count = put(rows, names, number(0), feature, gap, n, x)
        return _spread(found, found_names, points, n, gap, rows, names, count)
    if sine == 0.0:
        middle = (0.0, 0.0, 0.0)
        for k in range(points):
            middle = along(middle, 1.0 / points, row_point(found, k))
        return put(rows, names, number(0), feature, gap, n, middle)
    lowest, chosen = math.inf, number(0)
    for k in range(points):
        if found[k, 0] < lowest - 1e-9:
            lowest, chosen = found[k, 0], k
    count = _take(found, found_names, chosen, gap, rows, names, number(0))
    return _spread(found, found_names, points, n, gap, rows, names, count)
