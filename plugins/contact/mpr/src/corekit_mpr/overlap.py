"""Overlap of two features that lie on each other: candidate points for a patch.

Seen along the pair's normal, the overlap of two flats is bounded by corners of either over the other and by
crossings of their edges:

- a corner, rim point or end over a face is measured along the face's normal to its plane;       (1)
- two edges, or an edge and a line, along their common perpendicular if that is near the pair's
  normal and meets both, else not at all: where nearly parallel edges cross slides along both;   (2)
- an end of a line beside another, along the shortest way to that line, if that is near the pair's
  normal;                                                                                        (3)
- where an edge or rim passes a rim, along the normal of a cap.                                  (4)

The rates of (1), (2) and (3) are exact: a gap along the normal of its features does not change as the point slides on
them. The points (4) slide across that normal; the error of their rate is tilt × sliding speed.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, norm, row, scaled, sign_of, subtract
from corekit_mpr.features import BARREL, CROSSING, DISK, FACE, LINE, NOTHING, POLYGON, SIDE, Feature

__all__ = ["OverlapBuffers", "collect_overlap", "new_overlap_buffers"]

_PARALLEL: Final = 1e-9
_ON_EDGE: Final = 1e-9
"""How far outside of an edge or rim a point still lies on it, relative to its size: aligned faces share corners."""
_HALF: Final = 0.5 + _ON_EDGE
"""Half of an edge, relative to its length: what meets at a corner or ends with another, rounding does not deny."""


class OverlapBuffers(NamedTuple):
    """Corners of the two features (see `features.supporting_feature`), and the points of their overlap.

    A point is a row: gap [m], normal, point [m], and the ids of both features (whole numbers).
    """

    loop_a: Array
    loop_b: Array
    rows: Array


def new_overlap_buffers(corners: int) -> OverlapBuffers:
    """Allocate the buffers for faces of up to `corners` corners."""
    n = max(corners, 4) + 1
    return OverlapBuffers(np.zeros((n, 5)), np.zeros((n, 5)), np.zeros((8 * n, 9)))


@compiled
def _add_point(
    rows: Array, count: int, id_a: float, id_b: float, gap: float, normal: Vector, point: Vector
) -> int:
    """Append a point unless the buffer is full; return the new count."""
    if count == len(rows):
        return count
    rows[count, 0] = gap
    for k in range(3):
        rows[count, 1 + k] = normal[k]
        rows[count, 4 + k] = point[k]
    rows[count, 7], rows[count, 8] = id_a, id_b
    return count + 1


@compiled
def _over(feature: Feature, loop: Array, x: Vector) -> bool:
    """Whether x is over a face or cap."""
    kind, count, m, radius = feature
    if kind == DISK:
        d = subtract(x, row(loop, 4))
        return norm(add_scaled(d, -dot(d, m), m)) <= (1.0 + _ON_EDGE) * radius
    inside = True
    for c in range(count):
        base = row(loop, c)
        outward = cross(subtract(row(loop, (c + 1) % count), base), m)
        if dot(outward, subtract(row(loop, (c + 2) % count), base)) > 0.0:
            outward = scaled(outward, -1.0)
        inside = inside and dot(outward, subtract(x, base)) <= _ON_EDGE * dot(outward, outward)
    return inside


@compiled
def _to_surface(feature: Feature, m: Vector) -> Vector:
    """Return the vector from the line of a feature to its surface, down towards a face of normal m."""
    kind, _, u, radius = feature
    if kind == LINE:
        return scaled(m, -radius)
    if kind == BARREL:
        up = add_scaled(m, -dot(m, u), u)
        return scaled(up, -radius / norm(up))
    return (0.0, 0.0, 0.0)


@compiled
def _corners_over(
    feature: Feature, loop: Array, face: Feature, ground: Array, flip: float, rows: Array,
    count: int,
) -> int:  # fmt: skip
    """Append points (1): corners of a feature over a face; flip = −1 if the feature is B's."""
    m = face[2]
    off = _to_surface(feature, m)
    base = row(ground, 4 if face[0] == DISK else 0)
    for c in range(feature[1]):
        x = add_scaled(row(loop, c), 1.0, off)
        if _over(face, ground, x):
            gap = dot(m, subtract(x, base))
            id_a, id_b = (loop[c, 3], float(FACE)) if flip > 0.0 else (float(FACE), loop[c, 3])
            count = _add_point(rows, count, id_a, id_b, gap, scaled(m, flip), add_scaled(x, -0.5 * gap, m))
    return count


@compiled
def _sides(feature: Feature) -> int:
    """Return the number of edges of a feature."""
    kind, count, _, _ = feature
    if kind == POLYGON:
        return count
    return 1 if kind in (LINE, BARREL) else 0


@compiled
def _edges_crossing(
    a: Feature, loop_a: Array, b: Feature, loop_b: Array, n: Vector, cosine: float, rows: Array, count: int
) -> int:
    """Append points (2): edges of A that cross edges of B, each within the angle and its own ends."""
    thick_a = a[3] if a[0] in (LINE, BARREL) else 0.0
    thick_b = b[3] if b[0] in (LINE, BARREL) else 0.0
    for i in range(_sides(a)):
        p = row(loop_a, i)
        e = subtract(row(loop_a, (i + 1) % a[1]), p)
        for j in range(_sides(b)):
            q = row(loop_b, j)
            g = subtract(row(loop_b, (j + 1) % b[1]), q)
            c, d = cross(e, g), subtract(q, p)
            if not norm(c) > _PARALLEL * norm(e) * norm(g):
                continue
            c = scaled(c, sign_of(dot(n, c)) / norm(c))
            own = dot(c, cross(e, g))
            s, t = dot(c, cross(d, g)) / own, dot(c, cross(d, e)) / own
            if not (dot(n, c) > cosine and abs(s - 0.5) < _HALF and abs(t - 0.5) < _HALF):
                continue
            gap = dot(c, add_scaled(add_scaled(scaled(d, -1.0), s, e), -t, g))
            gap -= thick_a + thick_b
            x = add_scaled(add_scaled(p, s, e), -thick_a - 0.5 * gap, c)
            count = _add_point(rows, count, loop_a[i, 4], loop_b[j, 4], gap, c, x)
    return count


@compiled
def _ends_beside(
    line: Feature, loop: Array, other: Feature, base: Array, n: Vector, cosine: float, flip: float,
    rows: Array, count: int,
) -> int:  # fmt: skip
    """Append points (3): ends of a line beside another; flip = −1 if the line is B's.

    An end on the other line has no shortest way to it: it goes along n.
    """
    start = row(base, 0)
    e = subtract(row(base, 1), start)
    square = dot(e, e)
    for c in range(2):
        x = row(loop, c)
        t = dot(subtract(x, start), e) / square
        if abs(t - 0.5) < _HALF:
            d = subtract(x, add_scaled(start, t, e))
            m = scaled(add_scaled(n, -dot(n, e) / square, e), flip)
            if dot(d, d) > _PARALLEL * _PARALLEL * square:
                m = scaled(d, sign_of(flip * dot(d, n)))
            m = scaled(m, 1.0 / norm(m))
            if not flip * dot(m, n) > cosine:
                continue
            gap = dot(d, m) - line[3] - other[3]
            id_a, id_b = (loop[c, 3], float(SIDE)) if flip > 0.0 else (float(SIDE), loop[c, 3])
            count = _add_point(
                rows, count, id_a, id_b, gap, scaled(m, flip), add_scaled(x, -line[3] - 0.5 * gap, m)
            )
    return count


@compiled
def _edges_past_rim(
    cap: Feature, centre: Vector, feature: Feature, loop: Array, flip: float, rows: Array,
    count: int,
) -> int:  # fmt: skip
    """Append points (4) where edges of a feature pass the rim of a cap; flip = −1 if the cap is A's."""
    m, R = cap[2], cap[3]
    for i in range(_sides(feature)):
        p = row(loop, i)
        e = subtract(row(loop, (i + 1) % feature[1]), p)
        d = subtract(p, centre)
        d, level = add_scaled(d, -dot(d, m), m), add_scaled(e, -dot(e, m), m)
        a, b = dot(level, level), dot(level, d)
        root = b * b - a * (dot(d, d) - R * R)
        if not (root > -_ON_EDGE * a * R * R and a > 0.0):
            continue
        root = math.sqrt(max(root, 0.0))
        for upper in range(2):
            t = (-b + (root if upper else -root)) / a
            if abs(t - 0.5) < _HALF:
                x = add_scaled(add_scaled(p, t, e), 1.0, _to_surface(feature, m))
                gap = dot(m, subtract(x, centre))
                id_a, id_b = loop[i, 4], float(CROSSING + upper)
                if flip < 0.0:
                    id_a, id_b = id_b, id_a
                count = _add_point(
                    rows, count, id_a, id_b, gap, scaled(m, flip), add_scaled(x, -0.5 * gap, m)
                )
    return count


@compiled
def _rims_crossing(
    a: Feature, centre_a: Vector, b: Feature, centre_b: Vector, rows: Array, count: int
) -> int:
    """Append points (4) where the rim of A passes that of B, seen along B's axis."""
    m = b[2]
    d = subtract(centre_a, centre_b)
    height = dot(d, m)
    d = add_scaled(d, -height, m)
    distance = norm(d)
    if not (abs(a[3] - b[3]) < distance < (1.0 + _ON_EDGE) * (a[3] + b[3])):
        return count
    towards = scaled(d, 1.0 / distance)
    offset = (distance * distance + b[3] * b[3] - a[3] * a[3]) / (2.0 * distance)
    aside = math.sqrt(max(b[3] * b[3] - offset * offset, 0.0))
    for k in range(2):
        x = add_scaled(centre_b, offset, towards)
        x = add_scaled(x, aside if k else -aside, cross(m, towards))
        # along m to the plane of A's cap
        gap = dot(a[2], subtract(centre_a, x)) / dot(a[2], m)
        count = _add_point(
            rows, count, float(CROSSING + k), float(CROSSING + k), gap, m, add_scaled(x, 0.5 * gap, m)
        )
    return count


@compiled
def _flat(feature: Feature) -> bool:
    return feature[0] in (POLYGON, DISK)


@compiled
def collect_overlap(a: Feature, b: Feature, n: Vector, cosine: float, buffers: OverlapBuffers) -> int:
    """Collect the overlap points of two features whose corners are in the loops of `buffers`; return their count.

    Args:
        n: unit normal of the pair, from B into A.
        cosine: of the largest angle between n and the normal of a point.
    """
    loop_a, loop_b, rows = buffers.loop_a, buffers.loop_b, buffers.rows
    count = 0
    if a[0] == NOTHING or b[0] == NOTHING:
        return count
    if _flat(b):
        count = _corners_over(a, loop_a, b, loop_b, 1.0, rows, count)
    if _flat(a):
        count = _corners_over(b, loop_b, a, loop_a, -1.0, rows, count)
    if not _flat(a) and not _flat(b):
        count = _ends_beside(a, loop_a, b, loop_b, n, cosine, 1.0, rows, count)
        return _ends_beside(b, loop_b, a, loop_a, n, cosine, -1.0, rows, count)
    if a[0] == DISK and b[0] == DISK:
        return _rims_crossing(a, row(loop_a, 4), b, row(loop_b, 4), rows, count)
    if b[0] == DISK:
        return _edges_past_rim(b, row(loop_b, 4), a, loop_a, 1.0, rows, count)
    if a[0] == DISK:
        return _edges_past_rim(a, row(loop_a, 4), b, loop_b, -1.0, rows, count)
    return _edges_crossing(a, loop_a, b, loop_b, n, cosine, rows, count)
