"""Minkowski portal refinement: whether two cores overlap, and the part of D's surface with the way out.

From a point v₀ inside D = A − B the ray to the origin leaves D through its surface. A portal is a triangle of
support points that the ray passes. The support along its normal moves it outward until the origin is behind
it (overlap: the tetrahedron v₀, v₁, v₂, v₃ contains the origin) or beyond a support plane (apart).

The depth along that ray depends on v₀. It is where the search for the least depth starts (`expansion`), never
the result.

Source: Snethen (2008), "Complex collision made simple", Game Programming Gems 7.
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, cross, dot, norm, perpendicular, row, scaled, subtract, unit
from corekit_mpr.support import Pair, lowest_point

__all__ = ["find_portal", "set_corner"]

_MAX_ITERATIONS: Final = 32


@compiled
def set_corner(simplex: Array, index: int, w: Vector, a: Vector) -> None:
    """Write a corner of a simplex: w = a − b and a."""
    simplex[index, 0], simplex[index, 1], simplex[index, 2] = w
    simplex[index, 3], simplex[index, 4], simplex[index, 5] = a


@compiled
def _support_corner(pair: Pair, vertices: Array, direction: Vector, simplex: Array, index: int) -> Vector:
    """Write the support of D along a direction into the simplex and return it."""
    w, a = lowest_point(pair, vertices, scaled(direction, -1.0))
    set_corner(simplex, index, w, a)
    return w


@compiled
def _copy_corner(simplex: Array, source: int, target: int) -> None:
    for k in range(6):
        simplex[target, k] = simplex[source, k]


@compiled
def _swap_corners(simplex: Array, i: int, j: int) -> None:
    for k in range(6):
        simplex[i, k], simplex[j, k] = simplex[j, k], simplex[i, k]


@compiled
def _discover(pair: Pair, vertices: Array, v0: Vector, tiny: float, simplex: Array) -> bool:
    """Find a portal, rows 1–3; return False if a support plane shows that the origin is outside."""
    n = scaled(v0, -1.0)
    v1 = _support_corner(pair, vertices, n, simplex, 1)
    if dot(v1, n) <= 0.0:
        return False
    n = cross(v1, v0)
    if norm(n) <= tiny * tiny:  # the origin is on the line through v₀ and v₁
        n = perpendicular(unit(v0))
    v2 = _support_corner(pair, vertices, n, simplex, 2)
    if dot(v2, n) <= 0.0:
        return False
    n = cross(subtract(v1, v0), subtract(v2, v0))
    if dot(n, v0) > 0.0:
        _swap_corners(simplex, 1, 2)
        n = scaled(n, -1.0)
    for _ in range(_MAX_ITERATIONS):
        v3 = _support_corner(pair, vertices, n, simplex, 3)
        if dot(v3, n) <= 0.0:
            return False
        v1, v2 = row(simplex, 1), row(simplex, 2)
        if dot(cross(v1, v3), v0) < 0.0:
            _copy_corner(simplex, 3, 2)
            n = cross(subtract(v1, v0), subtract(v3, v0))
        elif dot(cross(v3, v2), v0) < 0.0:
            _copy_corner(simplex, 3, 1)
            n = cross(subtract(v3, v0), subtract(v2, v0))
        else:
            return True
    return True


@compiled
def find_portal(
    pair: Pair, vertices: Array, inside: Vector, size: float, simplex: Array
) -> tuple[bool, Vector]:
    """Return whether the cores overlap, and the portal's outward unit normal (or that of a plane between the cores).

    Args:
        inside: a point v₀ of D's interior, not the origin [m].
        size: extent of the pair [m], the scale of the zero tests.
        simplex: rows 0–3 become v₀ and the portal (w, then a), shape (≥ 5, 9) [m].
    """
    set_corner(simplex, 0, inside, pair[2])
    if not _discover(pair, vertices, inside, 1e-12 * size, simplex):
        return False, scaled(unit(inside), -1.0)
    is_overlap, n = False, inside
    for _ in range(_MAX_ITERATIONS):
        v1, v2, v3 = row(simplex, 1), row(simplex, 2), row(simplex, 3)
        n = cross(subtract(v2, v1), subtract(v3, v1))
        length = norm(n)
        if not length > 1e-24 * size * size:
            break
        n = scaled(n, 1.0 / length)
        if dot(n, inside) > dot(n, v1):  # degenerate: the normal points inward
            n = scaled(n, -1.0)
        if dot(n, v1) >= 0.0:
            is_overlap = True
        v4 = _support_corner(pair, vertices, n, simplex, 4)
        if dot(v4, n) < 0.0:
            return False, n
        if dot(v4, n) - dot(v1, n) < 1e-3 * size:
            break
        c = cross(v4, inside)
        if dot(v1, c) > 0.0:
            _copy_corner(simplex, 4, 1 if dot(v2, c) > 0.0 else 3)
        else:
            _copy_corner(simplex, 4, 2 if dot(v3, c) > 0.0 else 1)
    return is_overlap, n
