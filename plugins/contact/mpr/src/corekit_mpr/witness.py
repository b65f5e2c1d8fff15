"""The closest pair of points once the direction is known, and the features it lies on.

The points of A lowest along n and those of B highest are a corner, a line or a flat each. If either is one
point, it is the place; two lines that are not parallel meet at one; otherwise the pair is not unique.
"""

from __future__ import annotations

from typing import Final

from corekit.data.arrays import Array, IntArray
from corekit_mpr.compiled import compiled
from corekit_mpr.features import (
    BARREL,
    CORNER,
    FACE,
    LINE,
    NOTHING,
    Feature,
    Placed,
    end_name,
    facing,
)
from corekit_mpr.overlap import Pool
from corekit_mpr.solids import Solids
from corekit_mpr.support import BOX, CYLINDER, HALF_SPACE, HULL, SEGMENT, Solid, support
from corekit_mpr.vectors import Vector, along, cross, dot, norm, row, scaled, subtract

__all__ = ["ALIGNED", "closest", "solid"]

ALIGNED: Final = 1e-9
"""Sine below which directions count as parallel or perpendicular, in choosing points, never gaps."""


@compiled
def solid(solids: Solids, i: int) -> Solid:
    """The core of shape i."""
    return (
        solids.kind[i],
        solids.size[i, 0],
        solids.size[i, 1],
        solids.size[i, 2],
        solids.vertex[i],
        solids.vertex[i + 1],
    )


@compiled
def _point(solids: Solids, placed: Placed, d: Vector) -> tuple[Vector, int]:
    """The point of a shape's core furthest along d, in the work frame, and its name."""
    i = placed[0]
    own = (dot(placed[2], d), dot(placed[3], d), dot(placed[4], d))
    x = support(solid(solids, i), solids.vertices, own)
    name = FACE
    if solids.kind[i] in (CYLINDER, SEGMENT):
        name = end_name(own[2])
    elif solids.kind[i] == BOX:
        bits = (1 if own[0] < 0.0 else 0) + (2 if own[1] < 0.0 else 0) + (4 if own[2] < 0.0 else 0)
        name = CORNER + bits
    elif solids.kind[i] == HULL:
        first = solids.vertex[i]
        for v in range(first, solids.vertex[i + 1]):
            if norm(subtract(row(solids.vertices, v), x)) == 0.0:
                name = CORNER + v - first
    return along(along(along(placed[1], x[0], placed[2]), x[1], placed[3]), x[2], placed[4]), name


@compiled
def _named(solids: Solids, placed: Placed, d: Vector, feature: Feature, names: IntArray) -> int:
    """The name of the feature that faces d exactly."""
    if feature[0] == NOTHING:
        return _point(solids, placed, d)[1]
    return names[0, 1] if feature[0] in (LINE, BARREL) else FACE


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
    solids: Solids, first: Placed, second: Placed, n: Vector, gap: float, pool: Pool
) -> tuple[bool, int, int, Vector]:
    """Whether the closest pair is unique, its features' names, and the point midway [m]; fills the pool's loops.

    Args:
        n: unit normal from the second shape into the first.
        gap: of the pair [m].
    """
    down = scaled(n, -1.0)
    a = facing(solids, first, down, ALIGNED, pool.loop_a, pool.names_a)
    flat = solids.kind[second[0]] == HALF_SPACE
    b: Feature = (NOTHING, 0, n, 0.0)
    if not flat:
        b = facing(solids, second, n, ALIGNED, pool.loop_b, pool.names_b)
    name_a = _named(solids, first, down, a, pool.names_a)
    name_b = FACE if flat else _named(solids, second, n, b, pool.names_b)
    if a[0] == NOTHING:
        x, _ = _point(solids, first, down)
        return True, name_a, name_b, along(x, -solids.radius[first[0]] - 0.5 * gap, n)
    if b[0] == NOTHING and not flat:
        x, _ = _point(solids, second, n)
        return True, name_a, name_b, along(x, solids.radius[second[0]] + 0.5 * gap, n)
    unique, x = False, row(pool.loop_a, 0)
    if a[0] in (LINE, BARREL) and b[0] in (LINE, BARREL):
        unique, x = _lines_meet(pool.loop_a, pool.loop_b, n)
        x = along(x, -a[3] - 0.5 * gap, n)
    return unique, name_a, name_b, x
