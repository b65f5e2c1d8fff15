"""Closest pair of points for a known direction, and the features that it lies on.

The points of A lowest along n and those of B highest are a corner, a line or a flat each. If either is a
single point, it defines the pair; two lines that are not parallel meet at one point; otherwise the pair is
not unique.
"""

from __future__ import annotations

import math
from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, norm, row, scaled, subtract
from corekit_mpr.features import (
    BARREL,
    CORNER,
    DISK,
    FACE,
    LINE,
    NOTHING,
    POLYGON,
    Feature,
    PosedShape,
    end_feature_id,
    supporting_feature,
)
from corekit_mpr.overlap import OverlapBuffers
from corekit_mpr.solids import Hulls
from corekit_mpr.support import BOX, CYLINDER, HALF_SPACE, HULL, SEGMENT, support

__all__ = ["ALIGNED", "closest", "nearest_of_aligned"]

ALIGNED: Final = 1e-9
"""Sine below which directions count as parallel or perpendicular; it selects points, never gaps."""
_PROJECTIONS: Final = 8


@compiled
def _furthest_point(hulls: Hulls, shape: PosedShape, d: Vector) -> tuple[Vector, int]:
    """Return the point of a shape's core furthest along d, in the work frame, and its feature id."""
    core = shape[0]
    local = (dot(shape[2], d), dot(shape[3], d), dot(shape[4], d))
    x = support(core, hulls.table, local)
    feature_id = FACE
    if core[0] == CYLINDER or core[0] == SEGMENT:
        feature_id = end_feature_id(local[2])
    elif core[0] == BOX:
        bits = (1 if local[0] < 0.0 else 0) + (2 if local[1] < 0.0 else 0) + (4 if local[2] < 0.0 else 0)
        feature_id = CORNER + bits
    elif core[0] == HULL:
        for v in range(core[5], core[6]):
            if norm(subtract(row(hulls.table, v), x)) == 0.0:
                feature_id = CORNER + v - core[5]
    return add_scaled(
        add_scaled(add_scaled(shape[1], x[0], shape[2]), x[1], shape[3]), x[2], shape[4]
    ), feature_id


@compiled
def _lines_meet(a: Array, b: Array, n: Vector) -> tuple[bool, Vector]:
    """Return whether lines A and B are not parallel, and the point of A closest to B, seen along n.

    Lines that are nearly parallel meet where rounding of n says; their closest points are between the ends of both.
    """
    p, q = row(a, 0), row(b, 0)
    e, g = subtract(row(a, 1), p), subtract(row(b, 1), q)
    area = dot(n, cross(e, g))
    if not abs(area) > ALIGNED * norm(e) * norm(g):
        return False, p
    d = subtract(q, p)
    s = dot(n, cross(d, g)) / area
    t = dot(subtract(scaled(e, min(max(s, 0.0), 1.0)), d), g) / dot(g, g)
    s = dot(add_scaled(d, min(max(t, 0.0), 1.0), g), e) / dot(e, e)
    return True, add_scaled(p, min(max(s, 0.0), 1.0), e)


@compiled
def _nearest_on(feature: Feature, loop: Array, x: Vector) -> Vector:
    """Return the point of a face, cap or line nearest to x."""
    kind, count, m, radius = feature
    if kind == DISK:
        d = subtract(x, row(loop, 4))
        d = add_scaled(d, -dot(d, m), m)
        distance = norm(d)
        return add_scaled(row(loop, 4), min(1.0, radius / distance) if distance > 0.0 else 1.0, d)
    is_over, nearest, least = kind == POLYGON, x, math.inf
    for c in range(count if kind == POLYGON else 1):
        base = row(loop, c)
        e = subtract(row(loop, (c + 1) % count), base)
        d = subtract(x, base)
        if dot(cross(m, e), d) * dot(cross(m, e), subtract(row(loop, (c + 2) % count), base)) < 0.0:
            is_over = False
        on = add_scaled(base, min(max(dot(d, e) / dot(e, e), 0.0), 1.0), e)
        if norm(subtract(x, on)) < least:
            nearest, least = on, norm(subtract(x, on))
    if is_over:
        return add_scaled(x, -dot(subtract(x, row(loop, 0)), m), m)
    return nearest


@compiled
def nearest_of_aligned(
    hulls: Hulls, first: PosedShape, second: PosedShape, n: Vector, gap: float, buffers: OverlapBuffers
) -> Vector:
    """Return the midpoint of features that lie on each other with an overlap that rounding denies.

    Of two faces, caps or lines that meet at a point, as a line that ends over the corner where a face begins, none may
    be over the other. Projected to and fro a point comes to where they meet.
    """
    a = supporting_feature(hulls, first, scaled(n, -1.0), ALIGNED, buffers.loop_a)
    b = supporting_feature(hulls, second, n, ALIGNED, buffers.loop_b)
    x = first[1]
    for _ in range(_PROJECTIONS):
        x = _nearest_on(a, buffers.loop_a, _nearest_on(b, buffers.loop_b, x))
    radius = a[3] if a[0] in (LINE, BARREL) else 0.0
    return add_scaled(x, -radius - 0.5 * gap, n)


@compiled
def closest(
    hulls: Hulls, first: PosedShape, second: PosedShape, n: Vector, gap: float, buffers: OverlapBuffers
) -> tuple[bool, int, int, Vector]:
    """Return whether the closest pair is unique, its feature ids, and the midpoint [m]; write the loops of `buffers`.

    Args:
        n: unit normal from the second shape into the first.
        gap: of the pair [m].
    """
    down = scaled(n, -1.0)
    a = supporting_feature(hulls, first, down, ALIGNED, buffers.loop_a)
    b: Feature = (POLYGON, 0, n, 0.0)
    id_a, id_b = int(buffers.loop_a[0, 4]), FACE
    x_a = x_b = n
    if a[0] == NOTHING:
        x_a, id_a = _furthest_point(hulls, first, down)
    elif a[0] in (POLYGON, DISK):
        id_a = FACE
    if second[0][0] != HALF_SPACE:
        b = supporting_feature(hulls, second, n, ALIGNED, buffers.loop_b)
        if b[0] == NOTHING:
            x_b, id_b = _furthest_point(hulls, second, n)
        elif b[0] in (LINE, BARREL):
            id_b = int(buffers.loop_b[0, 4])
    if a[0] == NOTHING:
        return True, id_a, id_b, add_scaled(x_a, -first[0][4] - 0.5 * gap, n)
    if b[0] == NOTHING:
        return True, id_a, id_b, add_scaled(x_b, second[0][4] + 0.5 * gap, n)
    unique, x = False, row(buffers.loop_a, 0)
    if a[0] in (LINE, BARREL) and b[0] in (LINE, BARREL):
        unique, x = _lines_meet(buffers.loop_a, buffers.loop_b, n)
        x = add_scaled(x, -a[3] - 0.5 * gap, n)
    return unique, id_a, id_b, x
