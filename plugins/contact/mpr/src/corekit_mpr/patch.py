"""The points reported of one pair: the closest, and up to three more where flats or lines lie on each other.

A flat counts as lying on another when they are within the flat angle and the pair's normal within twice that
of the face's. Of the points of their overlap (`overlap`) those are taken that spread the support: the
furthest from the first, then the furthest on either side of the line to it. Points that tie are taken in
their given order, so that a flat at rest keeps its contacts.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.data.arrays import Array, IntArray
from corekit_mpr.compiled import compiled
from corekit_mpr.features import DISK, NOTHING, POLYGON, Placed, face_towards, facing
from corekit_mpr.overlap import Pool, overlap
from corekit_mpr.solids import Solids
from corekit_mpr.vectors import Vector, along, cross, dot, norm, scaled, subtract
from corekit_mpr.witness import ALIGNED, closest

__all__ = ["MAX_POINTS", "put_points"]

MAX_POINTS: Final = 4
"""Points reported for one pair at most."""
_NEAR: Final = 0.05


@compiled
def _lying(
    solids: Solids, first: Placed, second: Placed, n: Vector, sine: float, cosine: float, pool: Pool
) -> int:
    """Fill the pool with the overlap of what lies on each other; returns how many points.

    Args:
        sine: of the flat angle.
        cosine: of twice that.
    """
    down = scaled(n, -1.0)
    b = face_towards(solids, second, n, cosine, pool.loop_b, pool.names_b)
    count = 0
    if b[0] != NOTHING:
        a = facing(solids, first, scaled(b[2], -1.0), sine, pool.loop_a, pool.names_a)
        count = overlap(a, b, n, pool)
    if count == 0:
        a = face_towards(solids, first, down, cosine, pool.loop_a, pool.names_a)
        if a[0] in (POLYGON, DISK):
            b = facing(solids, second, scaled(a[2], -1.0), sine, pool.loop_b, pool.names_b)
            count = overlap(a, b, n, pool)
    if count == 0 and b[0] == NOTHING:
        a = facing(solids, first, down, sine, pool.loop_a, pool.names_a)
        b = facing(solids, second, n, sine, pool.loop_b, pool.names_b)
        parallel = norm(cross(a[2], b[2])) < sine
        if a[0] not in (POLYGON, DISK) and b[0] not in (POLYGON, DISK) and parallel:
            count = overlap(a, b, n, pool)
    return count


@compiled
def _row(rows: Array, index: int) -> Vector:
    return (rows[index, 4], rows[index, 5], rows[index, 6])


@compiled
def _take(pool: Pool, chosen: int, gap: float, rows: Array, names: IntArray, count: int) -> int:
    """Append a point of the pool, with a gap no less than the pair's; returns the new count."""
    for k in range(7):
        rows[count, k] = pool.rows[chosen, k]
    lift = max(gap - rows[count, 0], 0.0)
    rows[count, 0] += lift
    for k in range(3):
        rows[count, 4 + k] -= 0.5 * lift * rows[count, 1 + k]
    names[count, 0], names[count, 1] = pool.names[chosen, 0], pool.names[chosen, 1]
    return count + 1


@compiled
def _taken(pool: Pool, k: int, names: IntArray, count: int) -> bool:
    found = False
    for r in range(count):
        found = found or (names[r, 0] == pool.names[k, 0] and names[r, 1] == pool.names[k, 1])
    return found


@compiled
def _spread(pool: Pool, found: int, n: Vector, gap: float, rows: Array, names: IntArray, count: int) -> int:
    """Add up to three points of the pool that spread the support about the first row."""
    origin = _row(rows, 0)
    line = (0.0, 0.0, 0.0)
    extent = 0.0
    for role in range(3):  # away from the first point; left of that line; right of it
        best, chosen = max(_NEAR * extent, 0.0), -1
        for k in range(found):
            d = subtract(_row(pool.rows, k), origin)
            d = along(d, -dot(d, n), n)
            aside = dot(n, cross(line, d))
            reach = norm(d) if role == 0 else (aside if role == 1 else -aside)
            if reach > best + 1e-6 * extent and not _taken(pool, k, names, count):
                best, chosen = reach, k
                extent = max(extent, reach)
        if chosen < 0:
            if role == 0:
                return count
            continue
        if role == 0:
            d = subtract(_row(pool.rows, chosen), origin)
            line = scaled(along(d, -dot(d, n), n), 1.0 / best)
        count = _take(pool, chosen, gap, rows, names, count)
    return count


@compiled
def _middle(pool: Pool, found: int, gap: float, n: Vector, rows: Array) -> None:
    """The middle of the pool's points as the one row."""
    rows[0, 0] = gap
    for k in range(3):
        rows[0, 1 + k] = n[k]
        rows[0, 4 + k] = 0.0
        for r in range(found):
            rows[0, 4 + k] += pool.rows[r, 4 + k] / found


@compiled
def put_points(
    solids: Solids, first: Placed, second: Placed, n: Vector, gap: float, sine: float, cosine: float,
    pool: Pool, rows: Array, names: IntArray,
) -> int:  # fmt: skip
    """Rows gap, normal, point and names of the points of a pair, at most MAX_POINTS; returns how many.

    Args:
        n, gap: of the pair; from the second shape into the first [m].
        sine: of the flat angle, 0 for the closest pair alone.
        cosine: of twice the flat angle.
    """
    unique, names[0, 0], names[0, 1], x = closest(solids, first, second, n, gap, pool)
    rows[0, 0] = gap
    for k in range(3):
        rows[0, 1 + k] = n[k]
        rows[0, 4 + k] = x[k]
    if unique and sine == 0.0:
        return 1
    found = 0
    if sine > 0.0:
        found = _lying(solids, first, second, n, sine, cosine, pool)
    if found == 0 and not unique:
        found = _lying(solids, first, second, n, 10.0 * ALIGNED, 1.0 - ALIGNED, pool)
    if unique or found == 0:
        return _spread(pool, found, n, gap, rows, names, 1)
    if sine == 0.0:
        _middle(pool, found, gap, n, rows)
        return 1
    lowest, chosen = math.inf, 0
    for k in range(found):
        if pool.rows[k, 0] < lowest - 1e-9:
            lowest, chosen = pool.rows[k, 0], k
    count = _take(pool, chosen, gap, rows, names, 0)
    return _spread(pool, found, n, gap, rows, names, count)
