"""Distance of two cores that are apart: the algorithm of Gilbert, Johnson and Keerthi, with a refined direction.

The simplex contains points of D, whose least norm is above the distance; its direction gives a support plane,
which is below. `refine_direction` raises the lower bound to the distance, and support points about its
direction lower the upper one to it. Where the bounds meet, the distance is proven.

Source: Gilbert, Johnson, Keerthi (1988), IEEE J. Robotics and Automation 4(2).
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import (
    Vector,
    add_scaled,
    cross,
    dot,
    norm,
    perpendicular,
    row,
    scaled,
    subtract,
)
from corekit_mpr.portal import set_corner
from corekit_mpr.refine_direction import refine_direction
from corekit_mpr.simplex import nearest_point
from corekit_mpr.support import Pair, lowest_point

__all__ = ["distance"]

_MAX_ITERATIONS: Final = 48


@compiled
def _has_corner(simplex: Array, count: int, w: Vector, tiny: float) -> bool:
    """Whether a support point is a corner of the simplex already."""
    has_corner = False
    for k in range(count):
        has_corner = has_corner or norm(subtract(row(simplex, k), w)) <= tiny
    return has_corner


@compiled
def _upper_bound(
    pair: Pair, vertices: Array, n: Vector, best: float, accuracy: float, scratch: Array
) -> float:
    """Return the least norm [m] of the points of D that lie lowest along n and along directions tilted by 1e-7 from it.

    Their height above the support plane is at most second order in the tilt, and they lie at both ends of a
    ruling of D.
    """
    w, a = lowest_point(pair, vertices, n)
    set_corner(scratch, 0, w, a)
    v, count = nearest_point(scratch, 1)
    x = perpendicular(n)
    y = cross(n, x)
    for k in range(4):
        if norm(v) - best <= accuracy:
            break
        w, a = lowest_point(pair, vertices, add_scaled(n, 1e-7 if k & 1 else -1e-7, y if k & 2 else x))
        if not _has_corner(scratch, count, w, 0.0):
            set_corner(scratch, count, w, a)
            v, count = nearest_point(scratch, count + 1)
            if count == 4:
                break
    return norm(v)


@compiled
def distance(
    pair: Pair, vertices: Array, start: Vector, size: float, simplex: Array, edges: Array
) -> tuple[float, Vector, float, int]:
    """Return a lower bound of the gap, its direction, an upper bound and the corner count of the simplex.

    Four corners mean that the origin is inside D.

    Args:
        start: unit direction of the first support point.
        size: extent of the pair [m].
        simplex, edges: workspaces, shapes (8, 9) and (MAX_EDGES, 3).
    """
    tiny, accuracy = 1e-14 * size, 1e-12 * size
    scratch = simplex[4:]
    w, a = lowest_point(pair, vertices, start)
    set_corner(simplex, 0, w, a)
    count, v = 1, w
    best, best_n, upper = dot(w, start), start, norm(w)
    for iteration in range(_MAX_ITERATIONS):
        length = norm(v)
        upper = min(upper, length)
        if not length > 1e-13 * size:
            break
        n = scaled(v, 1.0 / length)
        w, a = lowest_point(pair, vertices, n)
        f = dot(w, n)
        if f > best:
            best, best_n = f, n
            if length - f <= 1e-2 * length and iteration >= 1:
                f, refined = refine_direction(pair, vertices, n, simplex, count, tiny, edges)
                if f >= best - tiny:  # at equal values the refined direction is the better one
                    best, best_n = f, refined
                upper = min(upper, _upper_bound(pair, vertices, best_n, best, accuracy, scratch))
        if upper - best <= accuracy or _has_corner(simplex, count, w, tiny):
            break
        set_corner(simplex, count, w, a)
        v, count = nearest_point(simplex, count + 1)
        if count == 4:
            break
    return best, best_n, upper, count
