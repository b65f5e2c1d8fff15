"""Point of a segment, triangle or tetrahedron nearest to the origin, and the corners that span it.

Source: Ericson (2005), "Real-Time Collision Detection", sections 5.1.2–5.1.6.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, add, add_scaled, cross, dot, row, scaled, subtract

__all__ = ["nearest_point"]


@compiled
def _on_segment(a: Vector, b: Vector) -> tuple[Vector, int]:
    """Return the nearest point, and a mask of the corners that span it (1: a, 2: b)."""
    e = subtract(b, a)
    square = dot(e, e)
    t = -dot(a, e)
    if t <= 0.0 or not square > 0.0:
        return a, 1
    if t >= square:
        return b, 2
    return add_scaled(a, t / square, e), 3


@compiled
def _on_triangle(a: Vector, b: Vector, c: Vector) -> tuple[Vector, int]:
    """Return the nearest point, and a mask of the corners that span it (1: a, 2: b, 4: c)."""
    ab, ac = subtract(b, a), subtract(c, a)
    n = cross(ab, ac)
    square = dot(n, n)
    inside = square > 0.0
    if inside:
        # the origin's foot is inside if it is on the inner side of all three edges
        inside = (
            dot(cross(ab, n), a) >= 0.0
            and dot(cross(subtract(c, b), n), b) >= 0.0
            and dot(cross(subtract(a, c), n), c) >= 0.0
        )
    if inside:
        return scaled(n, dot(n, a) / square), 7
    best, mask = _on_segment(a, b)
    other, used = _on_segment(b, c)
    if dot(other, other) < dot(best, best):
        best, mask = other, 2 * used
    other, used = _on_segment(a, c)
    if dot(other, other) < dot(best, best):
        best, mask = other, (used & 1) + 2 * (used & 2)
    return best, mask


@compiled
def _face(corners: Array, i: int, j: int, k: int, apex: int) -> tuple[bool, Vector, int]:
    """Return whether the origin is beyond a face of a tetrahedron, the face's nearest point and its corner mask."""
    a, b, c, d = row(corners, i), row(corners, j), row(corners, k), row(corners, apex)
    n = cross(subtract(b, a), subtract(c, a))
    height, origin = dot(n, subtract(d, a)), -dot(n, a)
    if origin * height > 0.0:
        return False, a, 0
    point, used = _on_triangle(a, b, c)
    mask = (1 << i if used & 1 else 0) + (1 << j if used & 2 else 0) + (1 << k if used & 4 else 0)
    return True, point, mask


@compiled
def nearest_point(simplex: Array, count: int) -> tuple[Vector, int]:
    """Return the simplex's point nearest to the origin; move the corners that span it to the first rows.

    Returns:
        point [m], and the number of these corners: 4 if the origin is inside a tetrahedron.
    """
    mask = 1
    point = row(simplex, 0)
    if count == 2:
        point, mask = _on_segment(row(simplex, 0), row(simplex, 1))
    elif count == 3:
        point, mask = _on_triangle(row(simplex, 0), row(simplex, 1), row(simplex, 2))
    elif count == 4:
        mask, least = 15, math.inf
        for apex in range(4):
            beyond, x, used = _face(simplex, (apex + 1) & 3, (apex + 2) & 3, (apex + 3) & 3, apex)
            if beyond and dot(x, x) < least:
                least, point, mask = dot(x, x), x, used
        if mask == 15:
            return add(point, scaled(point, -1.0)), 4
    corner_count = 0
    for k in range(count):
        if mask >> k & 1:
            for column in range(6):
                simplex[corner_count, column] = simplex[k, column]
            corner_count += 1
    return point, corner_count
