"""Contact points of two cylinders, disks or segments: the closest pair, and up to three more where they overlap.

Caps and side lines lie on each other if they are within the flat angle and the pair's normal is within twice
that of the cap's. The points of `axial_overlap` that spread the support are reported: the furthest from the
first, then the furthest on either side of the line to it. Ties keep the given order.

A point of the overlap may be the closest pair under another name, as where a line passes the lowest point of a rim,
and the overlap itself may be a point. None is therefore reported nearer to the first than a small part of the features.
A point deeper than the pair is measured along another normal. It is left out: with the pair's gap its rate would be
wrong.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, norm, scaled, sign_of
from corekit_sdf.axial_overlap import FACE, PosedAxial, cap_on_cap, line_on_cap, line_on_line, pair_feature
from corekit_sdf.features import SIDE, end_feature
from corekit_sdf.rows import add_row, row_point
from corekit_sdf.witness import ALIGNED

__all__ = ["add_axial_rows"]

_ROUNDING: Final = 1e-10
"""How far a point's gap may be below its pair's, relative to the features."""
_NEAR: Final = 0.05
"""Distance of points that count as one, relative to the features; aside of the line, to the furthest point."""


@compiled
def _collect_overlap(
    first: PosedAxial, second: PosedAxial, n: Vector, sine: float, cosine: float, rows: Array,
    feature_ids: IntArray,
) -> tuple[int, float]:  # fmt: skip
    """Write the overlap points of caps and lines that lie on each other; return their count and the lesser size [m].

    The size of a cap is its radius, that of a line half of its length.

    Args:
        sine: of the flat angle.
        cosine: of twice that.
    """
    u, v = first[3], second[3]
    between, lean = norm(cross(u, v)), abs(dot(u, v))
    on_second = second[5] > 0.0 and abs(dot(v, n)) > cosine
    on_first = first[5] > 0.0 and abs(dot(u, n)) > cosine
    if on_second and first[5] > 0.0 and between < sine:
        return cap_on_cap(first, second, n, rows, feature_ids), min(first[5], second[5])
    if on_second and lean < sine:
        return line_on_cap(first, second, n, 1.0, rows, feature_ids), min(first[4], second[5])
    if on_first and lean < sine:
        count = line_on_cap(second, first, scaled(n, -1.0), -1.0, rows, feature_ids)
        return count, min(first[5], second[4])
    if between < sine and not on_first and not on_second and abs(dot(u, n)) < sine:
        count = line_on_line(first, second, n, 1.0, rows, feature_ids, 0)
        count = line_on_line(second, first, scaled(n, -1.0), -1.0, rows, feature_ids, count)
        return count, min(first[4], second[4])
    return 0, 0.0


@compiled
def _furthest_point(body: PosedAxial, d: Vector) -> tuple[bool, Vector, int]:
    """Return whether the point furthest along d is unique, the point, and its feature."""
    centre, _, _, u, h, R = body
    lean = dot(u, d)
    rim = add_scaled(d, -lean, u)
    slope = norm(rim)
    if abs(lean) < ALIGNED:
        return False, add_scaled(centre, R / slope, rim), SIDE
    end = sign_of(lean)
    x = add_scaled(centre, end * h, u)
    if slope < ALIGNED and R > 0.0:
        return False, x, FACE
    if R > 0.0:
        x = add_scaled(x, R / slope, rim)
    return True, x, end_feature(end)


@compiled
def _nearest_to(centre: Vector, x: Vector, body: PosedAxial, n: Vector, feature: int) -> Vector:
    """Return the point nearest to a centre, seen along n, of the side line or cap of a body whose middle is x."""
    d = add_scaled(centre, -1.0, x)
    if feature == SIDE:
        return add_scaled(x, min(max(dot(d, body[3]), -body[4]), body[4]), body[3])
    d = add_scaled(d, -dot(d, n), n)
    distance = norm(d)
    return add_scaled(x, min(1.0, body[5] / distance), d) if distance > 0.0 else x


@compiled
def _closest_pair(first: PosedAxial, second: PosedAxial, n: Vector, gap: float) -> tuple[bool, Vector, int]:
    """Return whether the closest pair is unique, the point midway, and its feature.

    Of several it is one nearest to the centre of the other shape: where the overlap of both is a point, or less by
    rounding, it is there.
    """
    is_unique_a, a, feature_a = _furthest_point(first, scaled(n, -1.0))
    is_unique_b, b, feature_b = _furthest_point(second, n)
    feature = pair_feature(feature_a, feature_b)
    if is_unique_a:
        return True, add_scaled(a, -0.5 * gap, n), feature
    if is_unique_b:
        return True, add_scaled(b, 0.5 * gap, n), feature
    if feature_a == SIDE and feature_b == SIDE:
        area = dot(n, cross(first[3], second[3]))
        if abs(area) > ALIGNED:
            # nearly parallel lines meet where rounding of n says: the points are between the ends of both
            d, along = add_scaled(b, -1.0, a), dot(first[3], second[3])
            s = min(max(dot(n, cross(d, second[3])) / area, -first[4]), first[4])
            t = min(max(s * along - dot(d, second[3]), -second[4]), second[4])
            s = min(max(t * along + dot(d, first[3]), -first[4]), first[4])
            return True, add_scaled(add_scaled(a, s, first[3]), -0.5 * gap, n), feature
    if feature_a == FACE and feature_b == SIDE:
        return False, add_scaled(_nearest_to(first[0], b, second, n, feature_b), 0.5 * gap, n), feature
    return False, add_scaled(_nearest_to(second[0], a, first, n, feature_a), -0.5 * gap, n), feature


@compiled
def _add_spread_rows(
    overlap_rows: Array, overlap_ids: IntArray, overlap_count: int, size: float, n: Vector, gap: float, rows: Array,
    feature_ids: IntArray, count: int,
) -> int:  # fmt: skip
    """Append up to three overlap points that spread the support about the first row; return the new count.

    Args:
        size: lesser size of the features that lie on each other [m].
    """
    origin = row_point(rows, 0)
    line = (0.0, 0.0, 0.0)
    extent = 0.0
    for role in range(3):  # away from the first point; left of that line; right of it
        best, chosen = _NEAR * (size if role == 0 else extent), -1
        for k in range(overlap_count):
            if overlap_rows[k, 0] < gap - _ROUNDING * size:
                continue
            d = add_scaled(row_point(overlap_rows, k), -1.0, origin)
            d = add_scaled(d, -dot(d, n), n)
            aside = dot(n, cross(line, d))
            distance = norm(d) if role == 0 else (aside if role == 1 else -aside)
            is_reported = False
            for r in range(count):
                is_reported = is_reported or feature_ids[r] == overlap_ids[k]
            if distance > best + 1e-6 * extent and not is_reported:
                best, chosen = distance, k
                extent = max(extent, distance)
        if chosen < 0:
            if role == 0:
                return count
            continue
        if role == 0:
            d = add_scaled(row_point(overlap_rows, chosen), -1.0, origin)
            line = scaled(add_scaled(d, -dot(d, n), n), 1.0 / best)
        count = _add_overlap_row(overlap_rows, overlap_ids, chosen, gap, rows, feature_ids, count)
    return count


@compiled
def _add_overlap_row(
    overlap_rows: Array, overlap_ids: IntArray, chosen: int, gap: float, rows: Array, feature_ids: IntArray,
    count: int,
) -> int:  # fmt: skip
    """Append an overlap point, with a gap no less than the pair's to rounding; return the new count."""
    m = (overlap_rows[chosen, 1], overlap_rows[chosen, 2], overlap_rows[chosen, 3])
    lift = max(gap - overlap_rows[chosen, 0], 0.0)
    x = add_scaled(row_point(overlap_rows, chosen), -0.5 * lift, m)
    return add_row(rows, feature_ids, count, int(overlap_ids[chosen]), overlap_rows[chosen, 0] + lift, m, x)


@compiled
def add_axial_rows(
    first: PosedAxial, second: PosedAxial, n: Vector, gap: float, sine: float, cosine: float,
    overlap_rows: Array, overlap_ids: IntArray, rows: Array, feature_ids: IntArray,
) -> int:  # fmt: skip
    """Write the rows of two cylinders or segments, at most four; return their count.

    Args:
        n, gap: of the pair, from the second into the first [m].
        sine: of the flat angle, 0 for the closest pair alone.
        cosine: of twice the flat angle.
        overlap_rows, overlap_ids: workspaces, shapes (MAX_OVERLAP_POINTS, 7) and (MAX_OVERLAP_POINTS,).
    """
    is_unique, x, feature = _closest_pair(first, second, n, gap)
    overlap_count, size = 0, 0.0
    if sine > 0.0:
        overlap_count, size = _collect_overlap(first, second, n, sine, cosine, overlap_rows, overlap_ids)
    if overlap_count == 0 and not is_unique:
        overlap_count, size = _collect_overlap(
            first, second, n, 10.0 * ALIGNED, 1.0 - ALIGNED, overlap_rows, overlap_ids
        )
    if is_unique or overlap_count == 0:
        count = add_row(rows, feature_ids, 0, feature, gap, n, x)
        return _add_spread_rows(
            overlap_rows, overlap_ids, overlap_count, size, n, gap, rows, feature_ids, count
        )
    if sine == 0.0:
        middle = (0.0, 0.0, 0.0)
        for k in range(overlap_count):
            middle = add_scaled(middle, 1.0 / overlap_count, row_point(overlap_rows, k))
        return add_row(rows, feature_ids, 0, feature, gap, n, middle)
    least, chosen = math.inf, 0
    for k in range(overlap_count):
        difference = abs(overlap_rows[k, 0] - gap)
        if difference < least - ALIGNED * size:
            least, chosen = difference, k
    count = _add_overlap_row(overlap_rows, overlap_ids, chosen, gap, rows, feature_ids, 0)
    return _add_spread_rows(overlap_rows, overlap_ids, overlap_count, size, n, gap, rows, feature_ids, count)
