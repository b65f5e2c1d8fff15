"""The points reported of one pair: the closest, and up to three more where flats or lines lie on each other.

A flat counts as lying on another when they are within the flat angle and the pair's normal within twice that
of the face's. Of the points of their overlap (`overlap`) those are taken that spread the support: the
furthest from the first, then the furthest on either side of the line to it. Points that tie are taken in
their given order, so that a flat at rest keeps its contacts.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, along, cross, dot, norm, scaled, subtract
from corekit_mpr.features import DISK, NOTHING, POLYGON, Placed, face_towards, facing
from corekit_mpr.literals import number
from corekit_mpr.overlap import Pool, overlap
from corekit_mpr.solids import Hulls
from corekit_mpr.witness import ALIGNED, closest

__all__ = ["MAX_POINTS", "put_points"]

MAX_POINTS: Final = 4
"""Points reported for one pair at most."""
_NEAR: Final = 0.05


@compiled
def _lying(
    hulls: Hulls, first: Placed, second: Placed, n: Vector, sine: float, cosine: float, pool: Pool
) -> int:
    """Fill the pool with the overlap of what lies on each other; returns how many points.

    Args:
        sine: of the flat angle.
        cosine: of twice that.
    """
    down = scaled(n, -1.0)
    b = face_towards(hulls, second, n, cosine, pool.loop_b)
    count = 0
    if b[0] != NOTHING:
        a = facing(hulls, first, scaled(b[2], -1.0), sine, pool.loop_a)
        count = overlap(a, b, n, pool)
    if count == 0:
        a = face_towards(hulls, first, down, cosine, pool.loop_a)
        if a[0] in (POLYGON, DISK):
            b = facing(hulls, second, scaled(a[2], -1.0), sine, pool.loop_b)
            count = overlap(a, b, n, pool)
    if count == 0 and b[0] == NOTHING:
        a = facing(hulls, first, down, sine, pool.loop_a)
        b = facing(hulls, second, n, sine, pool.loop_b)
        parallel = norm(cross(a[2], b[2])) < sine
        if a[0] not in (POLYGON, DISK) and b[0] not in (POLYGON, DISK) and parallel:
            count = overlap(a, b, n, pool)
    return count


@compiled
def _place(rows: Array, index: int) -> Vector:
    return (rows[index, 4], rows[index, 5], rows[index, 6])


@compiled
def _take(found: Array, chosen: int, gap: float, rows: Array, count: int) -> int:
    """Append a found point, with a gap no less than the pair's; returns the new count."""
    for k in range(9):
        rows[count, k] = found[chosen, k]
    lift = max(gap - rows[count, 0], 0.0)
    rows[count, 0] += lift
    for k in range(3):
        rows[count, 4 + k] -= 0.5 * lift * rows[count, 1 + k]
    return count + 1


@compiled
def _taken(found: Array, k: int, rows: Array, count: int) -> bool:
    taken = False
    for r in range(count):
        taken = taken or (rows[r, 7] == found[k, 7] and rows[r, 8] == found[k, 8])
    return taken


@compiled
def _spread(found: Array, number_found: int, n: Vector, gap: float, rows: Array, count: int) -> int:
    """Add up to three found points that spread the support about the first row."""
    origin = _place(rows, 0)
    line = (0.0, 0.0, 0.0)
    extent = 0.0
    for role in range(3):  # away from the first point; left of that line; right of it
        best, chosen = _NEAR * extent, number(-1)
        for k in range(number_found):
            d = subtract(_place(found, k), origin)
            d = along(d, -dot(d, n), n)
            aside = dot(n, cross(line, d))
            reach = norm(d) if role == 0 else (aside if role == 1 else -aside)
            if reach > best + 1e-6 * extent and not _taken(found, k, rows, count):
                best, chosen = reach, k
                extent = max(extent, reach)
        if chosen < 0:
            if role == 0:
                return count
            continue
        if role == 0:
            d = subtract(_place(found, chosen), origin)
            line = scaled(along(d, -dot(d, n), n), 1.0 / best)
        count = _take(found, chosen, gap, rows, count)
    return count


@compiled
def _middle(found: Array, number_found: int, gap: float, n: Vector, rows: Array) -> None:
    """The middle of the found points as the one row."""
    rows[0, 0] = gap
    for k in range(3):
        rows[0, 1 + k] = n[k]
        rows[0, 4 + k] = 0.0
        for r in range(number_found):
            rows[0, 4 + k] += found[r, 4 + k] / number_found


@compiled
def put_points(
    hulls: Hulls, first: Placed, second: Placed, n: Vector, gap: float, sine: float, cosine: float,
    pool: Pool, rows: Array,
) -> int:  # fmt: skip
    """Rows of the points of a pair (see `overlap.Pool`), at most MAX_POINTS; returns how many.

    Args:
        n, gap: of the pair; from the second shape into the first [m].
        sine: of the flat angle, 0 for the closest pair alone.
        cosine: of twice the flat angle.
    """
    unique, name_a, name_b, x = closest(hulls, first, second, n, gap, pool)
    rows[0, 0], rows[0, 7], rows[0, 8] = gap, name_a, name_b
    for k in range(3):
        rows[0, 1 + k] = n[k]
        rows[0, 4 + k] = x[k]
    points = number(0)
    if sine > 0.0:
        points = _lying(hulls, first, second, n, sine, cosine, pool)
    if points == 0 and not unique:
        points = _lying(hulls, first, second, n, 10.0 * ALIGNED, 1.0 - ALIGNED, pool)
    if points == 0:
        return 1
    if unique:
        return _spread(pool.rows, points, n, gap, rows, number(1))
    if sine == 0.0:
        _middle(pool.rows, points, gap, n, rows)
        return 1
    lowest, chosen = math.inf, number(0)
    for k in range(points):
        if pool.rows[k, 0] < lowest - 1e-9:
            lowest, chosen = pool.rows[k, 0], k
    count = _take(pool.rows, chosen, gap, rows, number(0))
    return _spread(pool.rows, points, n, gap, rows, count)
