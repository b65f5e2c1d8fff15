"""Distance of two cores that are apart: the algorithm of Gilbert, Johnson and Keerthi, polished at its end.

The simplex gives points of D, whose least norm is above the distance; its direction gives a support plane,
which is below. Polishing (`polish`) lifts the lower bound to the answer, the support points there bring
the upper one down to it. Where they meet the answer is proven.

Source: Gilbert, Johnson, Keerthi (1988), IEEE J. Robotics and Automation 4(2).
"""

from __future__ import annotations

from typing import Final

from corekit.data.arrays import Array
from corekit_mpr.compiled import compiled
from corekit_mpr.polish import polish
from corekit_mpr.portal import put
from corekit_mpr.simplex import nearest
from corekit_mpr.support import Pair, lowest
from corekit_mpr.vectors import Vector, dot, norm, row, scaled, subtract

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
def distance(
    pair: Pair, vertices: Array, start: Vector, size: float, simplex: Array, edges: Array
) -> tuple[float, Vector, float, int]:
    """Lower bound of the gap, its direction, upper bound, corners of the simplex (4: the origin is inside D).

    Args:
        start: a unit direction to begin with.
        size: extent of the pair [m].
        simplex, edges: work buffers, shapes (≥ 4, 9) and (MAX_EDGES, 3).
    """
    tiny = 1e-14 * size
    w, a = lowest(pair, vertices, start)
    put(simplex, 0, w, a)
    count, v = 1, w
    best, found = dot(w, start), start
    for sweep in range(_SWEEPS):
        length = norm(v)
        if not length > 1e-13 * size:
            break
        n = scaled(v, 1.0 / length)
        w, a = lowest(pair, vertices, n)
        f = dot(w, n)
        if f > best:
            best, found = f, n
        if length - best <= 1e-3 * length and sweep >= 1:
            f, polished = polish(pair, vertices, found, simplex, count, tiny, edges)
            if f > best:
                best, found = f, polished
                if length - best > 10.0 * tiny and not _known(simplex, count, w, tiny):
                    put(simplex, count, w, a)
                    v, count = nearest(simplex, count + 1)
                    if count == 4:
                        break
                    length = norm(v)
                w, a = lowest(pair, vertices, polished)
        if length - best <= 10.0 * tiny or _known(simplex, count, w, tiny):
            break
        put(simplex, count, w, a)
        v, count = nearest(simplex, count + 1)
        if count == 4:
            break
    return best, found, norm(v), count
