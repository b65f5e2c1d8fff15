"""Contact points of one pair: the closest, and up to three more where flats or lines lie on each other.

A flat lies on another if they are within the flat angle and the pair's normal is within twice that of the
face's. The points of the overlap (`overlap`) that spread the support are reported: the furthest from the
first, then the furthest on either side of the line to it. Ties keep the given order, so that a resting flat
keeps its contacts. A point of the overlap may be the closest pair under another name, as where a corner is on
an edge, and the overlap itself may be a point: none is reported nearer to the first than a small part of the
features. A point deeper than the pair is measured along another normal, near the closest pair. It is left out:
with the pair's gap its rate would be wrong.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, norm, row, scaled, subtract
from corekit_mpr.features import DISK, NOTHING, POLYGON, Feature, PosedShape, face_towards, supporting_feature
from corekit_mpr.outside import is_beside
from corekit_mpr.overlap import OverlapBuffers, collect_overlap
from corekit_mpr.solids import Hulls
from corekit_mpr.support import HALF_SPACE
from corekit_mpr.witness import ALIGNED, closest, nearest_of_aligned

__all__ = ["MAX_POINTS", "add_pair_rows"]

MAX_POINTS: Final = 4
"""Largest number of points that report one pair."""
_NEAR: Final = 0.05
"""Distance aside of the line at which a point counts as on it, relative to the furthest point."""
_SAME: Final = 1e-3
"""Distance of points that are one, relative to the features: of two as near the loads are undetermined, within 1e-6."""
_ROUNDING: Final = 1e-12
"""How far a point's gap may be below its pair's, relative to the coordinates: far above the rounding of a gap."""
_TILT: Final = 10.0 * ALIGNED
"""Largest tilt of features that count as lying exactly: their points' gaps differ by as much of their extent."""
_LEAN: Final = 1e-4
"""Tilt up to which features are sought that a closest pair beside one of the shapes lies on, without a patch."""
_OFF: Final = 1e-5
"""How far a closest point may be outside of its shape, and a gap from the pair's, relative to the smaller shape."""


@compiled
def _size(feature: Feature, loop: Array) -> float:
    """Return the radius of a cap, half of a line or of the shortest edge of a face, infinity of a plane [m]."""
    kind, count, _, radius = feature
    if kind == DISK:
        return radius
    shortest = math.inf
    for c in range(count):
        shortest = min(shortest, norm(subtract(row(loop, (c + 1) % count), row(loop, c))))
    return 0.5 * shortest


@compiled
def _collect_lying(
    hulls: Hulls, first: PosedShape, second: PosedShape, n: Vector, sine: float, cosine: float,
    buffers: OverlapBuffers,
) -> tuple[int, float]:  # fmt: skip
    """Collect the overlap of features that lie on each other; return the number of points and the lesser size [m].

    Args:
        sine: of the flat angle.
        cosine: of twice that.
    """
    down = scaled(n, -1.0)
    a: Feature = (NOTHING, 0, down, 0.0)
    b = face_towards(hulls, second, n, cosine, buffers.loop_b)
    count = 0
    if b[0] != NOTHING:
        a = supporting_feature(hulls, first, scaled(b[2], -1.0), sine, buffers.loop_a)
        count = collect_overlap(a, b, n, cosine, buffers)
    if count == 0:
        a = face_towards(hulls, first, down, cosine, buffers.loop_a)
        if a[0] in (POLYGON, DISK):
            b = supporting_feature(hulls, second, scaled(a[2], -1.0), sine, buffers.loop_b)
            count = collect_overlap(a, b, n, cosine, buffers)
    if count == 0 and b[0] == NOTHING:
        a = supporting_feature(hulls, first, down, sine, buffers.loop_a)
        b = supporting_feature(hulls, second, n, sine, buffers.loop_b)
        parallel = norm(cross(a[2], b[2])) < sine
        if a[0] not in (POLYGON, DISK) and b[0] not in (POLYGON, DISK) and parallel:
            count = collect_overlap(a, b, n, cosine, buffers)
    return count, min(_size(a, buffers.loop_a), _size(b, buffers.loop_b)) if count > 0 else 0.0


@compiled
def _row_point(rows: Array, index: int) -> Vector:
    return (rows[index, 4], rows[index, 5], rows[index, 6])


@compiled
def _add_overlap_row(overlap_rows: Array, chosen: int, gap: float, rows: Array, count: int) -> int:
    """Append an overlap point, with a gap no less than the pair's to rounding; return the new count."""
    for k in range(9):
        rows[count, k] = overlap_rows[chosen, k]
    lift = max(gap - rows[count, 0], 0.0)
    rows[count, 0] += lift
    for k in range(3):
        rows[count, 4 + k] -= 0.5 * lift * rows[count, 1 + k]
    return count + 1


@compiled
def _is_reported(overlap_rows: Array, k: int, rows: Array, count: int) -> bool:
    """Whether a row already has the features of overlap point k."""
    is_reported = False
    for r in range(count):
        is_reported = is_reported or (rows[r, 7] == overlap_rows[k, 7] and rows[r, 8] == overlap_rows[k, 8])
    return is_reported


@compiled
def _add_spread_rows(
    overlap_rows: Array, overlap_count: int, size: float, rounding: float, n: Vector, gap: float, rows: Array,
    count: int,
) -> int:  # fmt: skip
    """Append up to three overlap points that spread the support about the first row; return the new count.

    Args:
        size: lesser size of the features that lie on each other [m].
        rounding: how far a point's gap may be below the pair's [m].
    """
    origin = _row_point(rows, 0)
    line = (0.0, 0.0, 0.0)
    extent = 0.0
    for role in range(3):  # away from the first point; left of that line; right of it
        best, chosen = _NEAR * extent if role > 0 else _SAME * size, -1
        for k in range(overlap_count):
            if overlap_rows[k, 0] < gap - rounding:
                continue
            d = subtract(_row_point(overlap_rows, k), origin)
            d = add_scaled(d, -dot(d, n), n)
            aside = dot(n, cross(line, d))
            distance = norm(d) if role == 0 else (aside if role == 1 else -aside)
            if distance > best + 1e-6 * extent and not _is_reported(overlap_rows, k, rows, count):
                best, chosen = distance, k
                extent = max(extent, distance)
        if chosen < 0:
            if role == 0:
                return count
            continue
        if role == 0:
            d = subtract(_row_point(overlap_rows, chosen), origin)
            line = scaled(add_scaled(d, -dot(d, n), n), 1.0 / best)
        count = _add_overlap_row(overlap_rows, chosen, gap, rows, count)
    return count


@compiled
def _set_middle_row(overlap_rows: Array, overlap_count: int, gap: float, n: Vector, rows: Array) -> None:
    """Write the middle of the overlap points as the only row."""
    rows[0, 0] = gap
    for k in range(3):
        rows[0, 1 + k] = n[k]
        rows[0, 4 + k] = 0.0
        for r in range(overlap_count):
            rows[0, 4 + k] += overlap_rows[r, 4 + k] / overlap_count


@compiled
def _is_named(overlap_rows: Array, overlap_count: int, rows: Array) -> bool:
    """Whether a point of the overlap has the features of the first row: then both shapes have it."""
    is_named = False
    for k in range(overlap_count):
        is_named = is_named or (overlap_rows[k, 7] == rows[0, 7] and overlap_rows[k, 8] == rows[0, 8])
    return is_named


@compiled
def _nearest_row(overlap_rows: Array, overlap_count: int, gap: float, alike: float) -> int:
    """Return the overlap point whose gap is nearest to the pair's, the first of those that are alike."""
    least, chosen = math.inf, 0
    for k in range(overlap_count):
        difference = abs(overlap_rows[k, 0] - gap)
        if difference < least - alike:
            least, chosen = difference, k
    return chosen


@compiled
def add_pair_rows(
    hulls: Hulls, first: PosedShape, second: PosedShape, n: Vector, gap: float, lesser: float, reach: float,
    sine: float, cosine: float, buffers: OverlapBuffers, rows: Array,
) -> int:  # fmt: skip
    """Write the rows of a pair (see `overlap.OverlapBuffers`), at most MAX_POINTS; return their count.

    Args:
        n, gap: of the pair; from the second shape into the first [m].
        lesser: bounding radius of the smaller shape, which no overlap exceeds [m].
        reach: largest coordinate of the pair, the scale of rounding [m].
        sine: of the flat angle, 0 for the closest pair alone.
        cosine: of twice the flat angle.
    """
    is_unique, id_a, id_b, x = closest(hulls, first, second, n, gap, buffers)
    rows[0, 0], rows[0, 7], rows[0, 8] = gap, id_a, id_b
    for k in range(3):
        rows[0, 1 + k] = n[k]
        rows[0, 4 + k] = x[k]
    overlap_count, size = 0, 0.0
    if sine > 0.0:
        overlap_count, size = _collect_lying(hulls, first, second, n, sine, cosine, buffers)
    is_off = False
    if is_unique and (
        sine == 0.0 or (overlap_count > 0 and not _is_named(buffers.rows, overlap_count, rows))
    ):
        is_off = is_beside(hulls, first, second, n, gap, x, _OFF * lesser)
    if overlap_count == 0 and (is_off or not is_unique):
        tilt = _LEAN if is_off else _TILT
        overlap_count, size = _collect_lying(
            hulls, first, second, n, tilt, 1.0 - tilt * tilt - ALIGNED, buffers
        )
    if overlap_count == 0:
        if not is_unique and second[0][0] != HALF_SPACE:
            x = nearest_of_aligned(hulls, first, second, n, gap, buffers)
            for k in range(3):
                rows[0, 4 + k] = x[k]
        return 1
    rounding = _ROUNDING * reach
    chosen = 0
    if is_off or not is_unique:
        chosen = _nearest_row(buffers.rows, overlap_count, gap, _TILT * lesser + rounding)
        is_off = is_off and abs(buffers.rows[chosen, 0] - gap) <= _OFF * lesser
    if is_unique and not is_off:
        return _add_spread_rows(buffers.rows, overlap_count, size, rounding, n, gap, rows, 1)
    if sine == 0.0 and not is_off:
        _set_middle_row(buffers.rows, overlap_count, gap, n, rows)
        return 1
    if is_off:  # the pair's gap is the better one
        for k in range(3):
            buffers.rows[chosen, 4 + k] += 0.5 * (buffers.rows[chosen, 0] - gap) * buffers.rows[chosen, 1 + k]
        buffers.rows[chosen, 0] = gap
    count = _add_overlap_row(buffers.rows, chosen, gap, rows, 0)
    if sine == 0.0:
        return count
    return _add_spread_rows(buffers.rows, overlap_count, size, rounding, n, gap, rows, count)
