"""The compiled loop over pairs of a planar shape and a sphere or capsule."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.geometry.vectors import Vector, into_frame, norm
from corekit.linalg.array_table import block, indices, matrix
from corekit_sdf.features import CIRCLE, PLANAR_PAIR, PLUS, POLYGON, RING, SPHERE, family
from corekit_sdf.polygon import capsule_on_polygon, sphere_on_polygon
from corekit_sdf.round_planar import capsule_in_ring, capsule_on_circle, sphere_in_ring, sphere_on_circle
from corekit_sdf.rows import MAX_POINTS, put
from corekit_sdf.segments import capsule_on_segments, sphere_on_segments
from corekit_sdf.write import write_rows

__all__ = ["measure_planar_pairs"]


@compiled
def _on_planar(
    first: int, second: int, sizes: Array, R: float, corners: Array, p: Vector, u: Vector, flat_sine: float,
    rows: Array, names: IntArray,
) -> int:  # fmt: skip
    """Sphere or capsule against a circle, ring, polygon or segments of radius R, in the latter's frame."""
    r, h = sizes[0], sizes[1]
    room = MAX_POINTS if flat_sine > 0.0 else 1
    if first == SPHERE:
        if second == CIRCLE:
            return sphere_on_circle(p, r, R, rows, names)
        if second == RING:
            return sphere_in_ring(p, r, R, rows, names)
        if second == POLYGON:
            return sphere_on_polygon(corners, p, r, room, rows, names)
        return sphere_on_segments(corners, p, r, R, room, rows, names)
    if second == CIRCLE:
        return capsule_on_circle(p, u, r, h, R, rows, names)
    if second == RING:
        return capsule_in_ring(p, u, r, h, R, room, rows, names)
    if second == POLYGON:
        return capsule_on_polygon(corners, p, u, r, h, flat_sine, room, rows, names)
    return capsule_on_segments(corners, p, u, r, h, R, flat_sine, room, rows, names)


@compiled
def measure_planar_pairs(
    pairs: IntArray, number: int, shapes: IntArray, poses: IntArray, margin: float, flat_sine: float, rows: Array,
    names: IntArray, count: int, contacts: IntArray,
) -> int:  # fmt: skip
    """Append the contacts of the planar ones of the first `number` pairs with gap < margin; returns the new count.

    A pair is worked in the frame of the planar shape; the pair's first shape stays first in the answer.
    Tables are those of `measure_half_space`.
    """
    kind, size = indices(shapes, 0), matrix(shapes, 1)
    position, rotation = matrix(poses, 0), block(poses, 1)
    corners, corner_start = matrix(shapes, 3), indices(shapes, 4)
    for row in range(number):
        i, j = pairs[row, 0], pairs[row, 1]
        if family(int(kind[i]), int(kind[j])) != PLANAR_PAIR:
            continue
        a, b = (j, i) if kind[i] >= CIRCLE else (i, j)
        turn, other = rotation[b], rotation[a]
        p = into_frame(
            turn,
            (
                position[a, 0] - position[b, 0],
                position[a, 1] - position[b, 1],
                position[a, 2] - position[b, 2],
            ),
        )
        axis = into_frame(turn, (other[0, 2], other[1, 2], other[2, 2]))
        own = corners[corner_start[b] : corner_start[b + 1]]
        found = _on_planar(
            int(kind[a]), int(kind[b]), size[a], size[b, 0], own, p, axis, flat_sine, rows, names
        )
        if not math.isfinite(norm(p) + norm(axis)):  # no comparison finds anything there
            found = put(rows, names, 0, PLUS, math.nan, (math.nan, math.nan, math.nan), p)
        count = write_rows(
            rows, names, found, i, j, 1.0 if a == i else -1.0, turn, position[b],
            shapes, poses, margin, count, contacts,
        )  # fmt: skip
    return count
