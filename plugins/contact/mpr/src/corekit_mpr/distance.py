"""Distance of two cores that are apart: the algorithm of Gilbert, Johnson and Keerthi, polished at its end.

The simplex gives points of D, whose least norm is above the distance; its direction gives a support plane,
which is below. Polishing (`polish`) lifts the lower bound to the answer, support points about it bring the
upper one down to it. Where they meet the answer is proven.

Source: Gilbert, Johnson, Keerthi (1988), IEEE J. Robotics and Automation 4(2).
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, across, along, cross, dot, norm, row, scaled, subtract
from corekit_mpr.literals import number
from corekit_mpr.polish import polish
from corekit_mpr.portal import put
from corekit_mpr.simplex import nearest
from corekit_mpr.support import Pair, lowest

__all__ = ["distance"]

_SWEEPS: Final = 48


@compiled
def _known(simplex: Array, count: int, w: Vector, tiny: float) -> bool:
    """Whether a support point is a corner already."""
    known = False
    for k in range(count):
        known = known or norm(subtract(row(simplex, k), w)) <= tiny
    return known


@compiled
def _proven(pair: Pair, vertices: Array, n: Vector, best: float, enough: float, scratch: Array) -> float:
    """Least norm [m] of the points of D that lie lowest along n, and along directions tilted by 1e-7 from it.

    They are at most second order in the tilt above the support plane, and at both ends of a ruling of D.
    """
    w, a = lowest(pair, vertices, n)
    put(scratch, 0, w, a)
    v, count = nearest(scratch, number(1))
    x = across(n)
    y = cross(n, x)
    for k in range(4):
        if norm(v) - best <= enough:
            break
        w, a = lowest(pair, vertices, along(n, 1e-7 if k & 1 else -1e-7, y if k & 2 else x))
        if not _known(scratch, count, w, 0.0):
            put(scratch, count, w, a)
            v, count = nearest(scratch, count + 1)
            if count == 4:
                break
    return norm(v)


@compiled
def distance(
    pair: Pair, vertices: Array, start: Vector, size: float, simplex: Array, edges: Array
) -> tuple[float, Vector, float, int]:
    """Lower bound of the gap, its direction, upper bound, corners of the simplex (4: the origin is inside D).

    Args:
        start: a unit direction to begin with.
        size: extent of the pair [m].
        simplex, edges: work buffers, shapes (8, 9) and (MAX_EDGES, 3).
    """
    tiny, enough = 1e-14 * size, 1e-12 * size
    scratch = simplex[4:]
    w, a = lowest(pair, vertices, start)
    put(simplex, 0, w, a)
    count, v = number(1), w
    best, found, upper = dot(w, start), start, norm(w)
    for sweep in range(_SWEEPS):
        length = norm(v)
        upper = min(upper, length)
        if not length > 1e-13 * size:
            break
        n = scaled(v, 1.0 / length)
        w, a = lowest(pair, vertices, n)
        f = dot(w, n)
        if f > best:
            best, found = f, n
            if length - f <= 1e-2 * length and sweep >= 1:
                f, polished = polish(pair, vertices, n, simplex, count, tiny, edges)
                if f >= best - tiny:  # the polished direction is the better one where the values are level
                    best, found = f, polished
                upper = min(upper, _proven(pair, vertices, found, best, enough, scratch))
        if upper - best <= enough or _known(simplex, count, w, tiny):
            break
        put(simplex, count, w, a)
        v, count = nearest(simplex, count + 1)
        if count == 4:
            break
    return best, found, upper, count
