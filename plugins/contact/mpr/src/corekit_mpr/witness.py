"""The closest pair of points once the direction is known, and the features it lies on.

The points of A lowest along n and those of B highest are a corner, a line or a flat each. If either is one
point, it is the place; two lines that are not parallel meet at one; otherwise the pair is not unique.
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, along, cross, dot, norm, row, scaled, subtract
from corekit_mpr.features import (
    BARREL,
    CORNER,
    DISK,
    FACE,
    LINE,
    NOTHING,
    POLYGON,
    Feature,
    Placed,
    end_name,
    facing,
)
from corekit_mpr.overlap import Pool
from corekit_mpr.solids import Hulls
from corekit_mpr.support import BOX, CYLINDER, HALF_SPACE, HULL, SEGMENT, support

__all__ = ["ALIGNED", "closest"]

ALIGNED: Final = 1e-9
"""Sine below which directions count as parallel or perpendicular, in choosing points, never gaps."""


@compiled
def _point(hulls: Hulls, placed: Placed, d: Vector) -> tuple[Vector, int]:
    """The point of a shape's core furthest along d, in the work frame, and its name."""
    core = placed[0]
    own = (dot(placed[2], d), dot(placed[3], d), dot(placed[4], d))
    x = support(core, hulls.table, own)
    name = FACE
    if core[0] == CYLINDER or core[0] == SEGMENT:
        name = end_name(own[2])
    elif core[0] == BOX:
        bits = (1 if own[0] < 0.0 else 0) + (2 if own[1] < 0.0 else 0) + (4 if own[2] < 0.0 else 0)
        name = CORNER + bits
    elif core[0] == HULL:
        for v in range(core[5], core[6]):
            if norm(subtract(row(hulls.table, v), x)) == 0.0:
                name = CORNER + v - core[5]
    return along(along(along(placed[1], x[0], placed[2]), x[1], placed[3]), x[2], placed[4]), name


@compiled
def _lines_meet(a: Array, b: Array, n: Vector) -> tuple[bool, Vector]:
    """The point of line A at which it is closest to line B, seen along n; whether they are not parallel."""
    p, q = row(a, 0), row(b, 0)
    e, g = subtract(row(a, 1), p), subtract(row(b, 1), q)
    area = dot(n, cross(e, g))
    if not abs(area) > ALIGNED * norm(e) * norm(g):
        return False, p
    s = dot(n, cross(subtract(q, p), g)) / area
    return True, along(p, min(max(s, 0.0), 1.0), e)


@compiled
def closest(
    hulls: Hulls, first: Placed, second: Placed, n: Vector, gap: float, pool: Pool
) -> tuple[bool, int, int, Vector]:
    """Whether the closest pair is unique, its features' names, and the point midway [m]; fills the pool's loops.

    Args:
        n: unit normal from the second shape into the first.
        gap: of the pair [m].
    """
    down = scaled(n, -1.0)
    a = facing(hulls, first, down, ALIGNED, pool.loop_a)
    b: Feature = (POLYGON, 0, n, 0.0)
    name_a, name_b = int(pool.loop_a[0, 4]), FACE
    x_a = x_b = n
    if a[0] == NOTHING:
        x_a, name_a = _point(hulls, first, down)
    elif a[0] in (POLYGON, DISK):
        name_a = FACE
    if second[0][0] != HALF_SPACE:
        b = facing(hulls, second, n, ALIGNED, pool.loop_b)
        if b[0] == NOTHING:
            x_b, name_b = _point(hulls, second, n)
        elif b[0] in (LINE, BARREL):
            name_b = int(pool.loop_b[0, 4])
    if a[0] == NOTHING:
        return True, name_a, name_b, along(x_a, -first[0][4] - 0.5 * gap, n)
    if b[0] == NOTHING:
        return True, name_a, name_b, along(x_b, second[0][4] + 0.5 * gap, n)
    unique, x = False, row(pool.loop_a, 0)
    if a[0] in (LINE, BARREL) and b[0] in (LINE, BARREL):
        unique, x = _lines_meet(pool.loop_a, pool.loop_b, n)
        x = along(x, -a[3] - 0.5 * gap, n)
    return unique, name_a, name_b, x
