"""Signed distance of a segment and a box: the core of a capsule against a box."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.geometry.vectors import Vector, add_scaled, dot, norm, scaled
from corekit_sdf.separation import (
    END,
    SIDE_VERTEX,
    Separation,
    best_edge_side,
    best_face,
    box_corner,
    face_is_best,
    resolution,
    separation_along,
    signs_fit,
)

__all__ = ["segment_box"]


@compiled
def _from_box(x: Vector, a: Vector) -> Vector:
    """Return the way from the nearest point of the box to x [m], zero inside."""
    return (
        x[0] - min(max(x[0], -a[0]), a[0]),
        x[1] - min(max(x[1], -a[1]), a[1]),
        x[2] - min(max(x[2], -a[2]), a[2]),
    )


@compiled
def segment_box(p: Vector, u: Vector, a: Vector, h: float) -> Separation:
    """Signed distance of the segment p ± h·u and the box |xᵢ| ≤ aᵢ, exact apart and inside.

    If `face_is_best`, no other direction is needed. Sixteen directions contain the maximiser of f(n) = n·p −
    Σᵢ aᵢ|nᵢ| − h·|u·n|:
    - n = ±e_k and n = ±e_i × u, the facets of the Minkowski difference: sufficient inside;          (1)
    - from the box to either end: an end against face, edge or corner, apart;                        (2)
    - n ⊥ u from a corner to the line: the interior of the segment against a corner, apart.          (3)
    (Interior against edge is in (1); interior against face occurs only with an end on the face too.)
    """
    tiny = resolution(p, a, h, 0.0)
    separation = best_face(p, u, a, h, 0.0)
    if face_is_best(separation, p, u, a, h, 0.0):
        return separation
    best, n, stratum, which = best_edge_side(separation, p, u, a, h, 0.0)

    # the nearer end alone: along the direction of the other f may be the same to rounding, but the end is not
    d, other = _from_box(add_scaled(p, -h, u), a), _from_box(add_scaled(p, h, u), a)
    nearer = 0
    if norm(other) < norm(d) - tiny:
        d, nearer = other, 1
    length = norm(d)
    if length > tiny:
        d = scaled(d, 1.0 / length)
        f = separation_along(d, p, u, a, h, 0.0)
        if f > best + tiny:
            best, n, stratum, which = f, d, END, nearer

    for bits in range(8):
        v = box_corner(bits, a)
        d = (p[0] - v[0], p[1] - v[1], p[2] - v[2])
        d = add_scaled(d, -dot(d, u), u)
        length = norm(d)
        if length > tiny and signs_fit(d, v):
            d = scaled(d, 1.0 / length)
            f = separation_along(d, p, u, a, h, 0.0)
            if f > best + tiny:
                best, n, stratum, which = f, d, SIDE_VERTEX, 0
    return best, n, stratum, which
