"""Overlap of caps and sides of cylinders and segments that lie on each other: candidate points for a patch.

Seen along the pair's normal, the following points bound the overlap:

- material points of a rim, or ends of a side line, over a cap: measured along the cap's normal to its plane;    (1)
- ends of a side line beside another: along the shortest way to its axis, less both radii;                       (2)
- where a side line or rim passes a rim: along the normal of a cap.                                              (3)

The rates of (1) and (2) are exact. The point of (3) slides on both shapes; the error of its rate is tilt ×
sliding speed.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, norm, scaled, sign_of
from corekit_sdf.features import SIDE, end_feature
from corekit_sdf.rims import rim_direction, rim_feature
from corekit_sdf.witness import ALIGNED

__all__ = [
    "FACE",
    "MAX_OVERLAP_POINTS",
    "PASSAGE",
    "PosedAxial",
    "cap_on_cap",
    "line_on_cap",
    "line_on_line",
    "pair_feature",
]

PosedAxial: TypeAlias = tuple[Vector, Vector, Vector, Vector, float, float]
"""Centre, axes x, y, z (its own axis), half height and radius of a cylinder or segment in the work frame [m]."""

FACE: Final = 11  # a whole cap; features of one shape after the last RIM of `features`
PASSAGE: Final = 12  # 12 and 13: where something passes a rim
MAX_OVERLAP_POINTS: Final = 16
_PAIRED: Final = 32768
_REACH: Final = 1.0 + ALIGNED
"""How far a line or cap reaches, relative to its ends or rim: of two that end together rounding denies neither."""


@compiled
def pair_feature(first: int, second: int) -> int:
    """Return the feature of a contact from the features of both shapes, each below 16."""
    return _PAIRED + 16 * first + second


@compiled
def _add_overlap_point(
    rows: Array, feature_ids: IntArray, count: int, feature: int, other_feature: int, flip: float, gap: float,
    m: Vector, x: Vector,
) -> int:  # fmt: skip
    """Append a point if the buffer has space; flip = −1 if `feature` is of the second shape."""
    if count == len(rows):
        return count
    feature_ids[count] = (
        pair_feature(feature, other_feature) if flip > 0.0 else pair_feature(other_feature, feature)
    )
    rows[count, 0] = gap
    for k in range(3):
        rows[count, 1 + k] = flip * m[k]
        rows[count, 4 + k] = x[k] - 0.5 * gap * m[k]
    return count + 1


@compiled
def _cap(body: PosedAxial, d: Vector) -> tuple[Vector, Vector, float]:
    """Return centre and outward normal of the cap that faces d, and its end ±1."""
    end = sign_of(dot(body[3], d))
    return add_scaled(body[0], end * body[4], body[3]), scaled(body[3], end), end


@compiled
def _rim_over(
    body: PosedAxial, d: Vector, centre: Vector, m: Vector, R: float, flip: float, rows: Array,
    feature_ids: IntArray, count: int,
) -> int:  # fmt: skip
    """Append points (1): material points of the rim of `body` that faces d, over the cap of normal m."""
    middle, _, end = _cap(body, d)
    for k in range(4):
        x = add_scaled(middle, body[5], rim_direction(k, body[1], body[2]))
        off = add_scaled(x, -1.0, centre)
        gap = dot(off, m)
        if norm(add_scaled(off, -gap, m)) <= _REACH * R:
            count = _add_overlap_point(rows, feature_ids, count, rim_feature(k, end), FACE, flip, gap, m, x)
    return count


@compiled
def cap_on_cap(first: PosedAxial, second: PosedAxial, n: Vector, rows: Array, feature_ids: IntArray) -> int:
    """Write the overlap points of two caps; return their count."""
    a, m_a, _ = _cap(first, scaled(n, -1.0))
    b, m_b, _ = _cap(second, n)
    count = _rim_over(first, scaled(m_b, -1.0), b, m_b, second[5], 1.0, rows, feature_ids, 0)
    count = _rim_over(second, scaled(m_a, -1.0), a, m_a, first[5], -1.0, rows, feature_ids, count)
    d = add_scaled(a, -1.0, b)
    d = add_scaled(d, -dot(d, m_b), m_b)
    distance, R, S = norm(d), first[5], second[5]
    # of equal rims about one axis, but for rounding, the points that are material bound the overlap
    if max(abs(R - S), ALIGNED * (R + S)) < distance < R + S:
        towards = scaled(d, 1.0 / distance)
        offset = 0.5 * (distance + (S - R) * (S + R) / distance)
        aside = math.sqrt(max(S * S - offset * offset, 0.0))
        for k in range(2):
            x = add_scaled(add_scaled(b, offset, towards), aside if k else -aside, cross(m_b, towards))
            gap = dot(m_a, add_scaled(a, -1.0, x)) / dot(
                m_a, m_b
            )  # along m_b to the plane of the first's cap
            count = _add_overlap_point(
                rows, feature_ids, count, PASSAGE + k, PASSAGE + k, 1.0, gap, m_b, add_scaled(x, gap, m_b)
            )
    return count


@compiled
def line_on_cap(
    line: PosedAxial, cap: PosedAxial, n: Vector, flip: float, rows: Array, feature_ids: IntArray
) -> int:
    """Write the overlap points of a side line on a cap that faces n; flip = −1 if the line is the second shape's."""
    centre, m, _ = _cap(cap, n)
    u, h, R = line[3], line[4], cap[5]
    up = add_scaled(m, -dot(m, u), u)
    base = add_scaled(line[0], -line[5] / norm(up), up)
    off = add_scaled(base, -1.0, centre)
    count = 0
    for choice in range(2):
        end = -1.0 if choice else 1.0
        x = add_scaled(off, end * h, u)
        gap = dot(x, m)
        if norm(add_scaled(x, -gap, m)) <= _REACH * R:
            x = add_scaled(base, end * h, u)
            count = _add_overlap_point(rows, feature_ids, count, end_feature(end), FACE, flip, gap, m, x)
    d, level = add_scaled(off, -dot(off, m), m), add_scaled(u, -dot(u, m), m)
    a, b = dot(level, level), dot(level, d)
    root = b * b - a * (dot(d, d) - R * R)
    if root > 0.0 and a > 0.0:
        for choice in range(2):
            t = (-b + (math.sqrt(root) if choice else -math.sqrt(root))) / a
            if abs(t) < h:
                x = add_scaled(base, t, u)
                gap = dot(add_scaled(x, -1.0, centre), m)
                count = _add_overlap_point(rows, feature_ids, count, SIDE, PASSAGE + choice, flip, gap, m, x)
    return count


@compiled
def line_on_line(
    line: PosedAxial, other: PosedAxial, n: Vector, flip: float, rows: Array, feature_ids: IntArray,
    count: int,
) -> int:  # fmt: skip
    """Append points (2), ends of a side line beside another; flip = −1 if the line is the second shape's.

    n points from `other` into `line`. An end on the axis of the other has no shortest way to it: it goes along n.
    """
    for choice in range(2):
        end = -1.0 if choice else 1.0
        x = add_scaled(line[0], end * line[4], line[3])
        d = add_scaled(x, -1.0, other[0])
        t = dot(d, other[3])
        d = add_scaled(d, -t, other[3])
        distance = norm(d)
        if abs(t) <= _REACH * other[4]:
            m = add_scaled(n, -dot(n, other[3]), other[3])
            if distance > ALIGNED * other[4]:
                m = scaled(d, sign_of(dot(d, n)))
            m = scaled(m, 1.0 / norm(m))
            gap = dot(d, m) - line[5] - other[5]
            count = _add_overlap_point(
                rows, feature_ids, count, end_feature(end), SIDE, flip, gap, m, add_scaled(x, -line[5], m)
            )
    return count
