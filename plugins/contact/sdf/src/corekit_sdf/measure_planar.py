"""Compiled loop over pairs of a planar shape and a sphere or capsule."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, norm
from corekit_sdf.features import CIRCLE, PLANAR_PAIR, PLUS, POLYGON, RING, SPHERE, family
from corekit_sdf.pair_frame import relative_axes, relative_position
from corekit_sdf.polygon import capsule_on_polygon, sphere_on_polygon
from corekit_sdf.round_planar import capsule_in_ring, capsule_on_circle, sphere_in_ring, sphere_on_circle
from corekit_sdf.rows import MAX_POINTS, add_row
from corekit_sdf.segments import capsule_on_segments, sphere_on_segments
from corekit_sdf.write import place_rows

__all__ = ["measure_planar_pairs"]


@compiled
def _on_planar(
    first: int, second: int, sizes: Array, R: float, corners: Array, p: Vector, u: Vector, flat_sine: float,
    rows: Array, feature_ids: IntArray,
) -> int:  # fmt: skip
    """Add the rows of a sphere or capsule on a circle, ring, polygon or segments of radius R, in the latter's frame."""
    r, h = sizes[0], sizes[1]
    max_rows = MAX_POINTS if flat_sine > 0.0 else 1
    if first == SPHERE:
        if second == CIRCLE:
            return sphere_on_circle(p, r, R, rows, feature_ids)
        if second == RING:
            return sphere_in_ring(p, r, R, rows, feature_ids)
        if second == POLYGON:
            return sphere_on_polygon(corners, p, r, max_rows, rows, feature_ids)
        return sphere_on_segments(corners, p, r, R, max_rows, rows, feature_ids)
    if second == CIRCLE:
        return capsule_on_circle(p, u, r, h, R, rows, feature_ids)
    if second == RING:
        return capsule_in_ring(p, u, r, h, R, max_rows, rows, feature_ids)
    if second == POLYGON:
        return capsule_on_polygon(corners, p, u, r, h, flat_sine, max_rows, rows, feature_ids)
    return capsule_on_segments(corners, p, u, r, h, R, flat_sine, max_rows, rows, feature_ids)


@compiled
def measure_planar_pairs(
    pairs: IntArray, pair_count: int, kind: IntArray, size: Array, position: Array, rotation: Array, margin: float,
    corners: Array, corner_start: IntArray, flat_sine: float, count: int, rows: Array, ids: IntArray, shape: IntArray,
) -> int:  # fmt: skip
    """Append the rows of the planar pairs among the first `pair_count` with gap < margin; return the new count.

    The frame of the planar shape is the work frame; a contact keeps the order of its pair. Arguments are those
    of `measure_half_space`.
    """
    for row in range(pair_count):
        i, j = pairs[row, 0], pairs[row, 1]
        if family(int(kind[i]), int(kind[j])) != PLANAR_PAIR:
            continue
        a, b = (j, i) if kind[i] >= CIRCLE else (i, j)
        turn = rotation[b]
        p = relative_position(position, turn, a, b)
        _, _, axis = relative_axes(turn, rotation[a])
        shape_corners = corners[corner_start[b] : corner_start[b + 1]]
        own, own_ids = rows[count:], ids[count:]
        row_count = _on_planar(
            int(kind[a]), int(kind[b]), size[a], size[b, 0], shape_corners, p, axis, flat_sine, own, own_ids
        )
        if not math.isfinite(norm(p) + norm(axis)):  # comparisons with nan find no minimum
            row_count = add_row(own, own_ids, 0, PLUS, math.nan, (math.nan, math.nan, math.nan), p)
        count = place_rows(
            row_count,
            i,
            j,
            1.0 if a == i else -1.0,
            turn,
            position[b],
            margin,
            len(kind),
            count,
            rows,
            ids,
            shape,
        )
    return count
