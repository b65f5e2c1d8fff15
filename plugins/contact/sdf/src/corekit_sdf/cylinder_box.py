"""Signed distance of a cylinder and a box, exact for every pair of features, apart and inside."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.geometry.vectors import Vector, add_scaled, dot, norm, scaled, sign_of, unit_axis
from corekit_sdf.rim_edge import half_ellipse_normal
from corekit_sdf.separation import (
    CAP,
    RIM_EDGE,
    RIM_VERTEX,
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

__all__ = ["cylinder_box"]


@compiled
def cylinder_box(p: Vector, u: Vector, a: Vector, h: float, R: float) -> Separation:
    """Signed distance of a cylinder (centre p, axis u, half height h, radius R) and the box |xᵢ| ≤ aᵢ.

    With f of `separation` (2), the maximiser of f over unit directions is one of
    - points where f has a crease in two ways: n = ±e_k (face), ±u (cap), ±e_i × u (edge–side);       (1)
    - circle u·n = 0: f = n·(p − v)⊥ − R for a corner v, greatest for n along (p − v)⊥ (side–corner); (2)
    - open cells: f = n·m − R·‖n × u‖ with m = p − v ∓ h·u; a maximum has f > 0 and is the distance of a
      corner from a rim, n ∝ (‖m⊥‖ − R)·m⊥/‖m⊥‖ + (m·u)·u (rim–corner);                              (3)
    - circles nᵢ = 0: a point against half an ellipse, for each edge and rim (rim–edge);              (4)
    with ( )⊥ the component perpendicular to u. φ is the largest value of f over all of these; none can exceed
    it.
    If `face_is_best`, no other direction is needed.
    """
    separation = best_face(p, u, a, h, R)
    if face_is_best(separation, p, u, a, h, R):
        return separation
    best, n, stratum, which = separation
    cap = scaled(u, sign_of(dot(p, u)))
    f = separation_along(cap, p, u, a, h, R)
    if f > best + resolution(p, a, h, R):
        best, n, stratum = f, cap, CAP
    separation = best_edge_side((best, n, stratum, which), p, u, a, h, R)
    separation = _best_corner(separation, p, u, a, h, R)
    return _best_rim_edge(separation, p, u, a, h, R)


@compiled
def _best_corner(separation: Separation, p: Vector, u: Vector, a: Vector, h: float, R: float) -> Separation:
    """Return the given separation, or a better one of (2) and (3)."""
    best, n, stratum, which = separation
    tiny = resolution(p, a, h, R)
    for bits in range(8):
        v = box_corner(bits, a)
        d = (p[0] - v[0], p[1] - v[1], p[2] - v[2])
        height = dot(d, u)
        radial = add_scaled(d, -height, u)
        distance = norm(radial)
        if not distance > tiny:
            continue
        radial = scaled(radial, 1.0 / distance)
        if signs_fit(radial, v):  # (2)
            f = separation_along(radial, p, u, a, h, R)
            if f > best + tiny:
                best, n, stratum = f, radial, SIDE_VERTEX
        beyond_side, beyond_cap = distance - R, abs(height) - h
        if beyond_side > tiny and beyond_cap > tiny:  # (3)
            length = math.hypot(beyond_side, beyond_cap)
            d = add_scaled(scaled(radial, beyond_side / length), sign_of(height) * beyond_cap / length, u)
            if signs_fit(d, v):
                f = separation_along(d, p, u, a, h, R)
                if f > best + tiny:
                    best, n, stratum = f, d, RIM_VERTEX
    return best, n, stratum, which


@compiled
def _best_rim_edge(separation: Separation, p: Vector, u: Vector, a: Vector, h: float, R: float) -> Separation:
    """Return the given separation, or a better one of (4), seen along each axis e_i with w the axis u as seen there."""
    best, n, stratum, which = separation
    tiny = resolution(p, a, h, R)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        sine = math.hypot(u[j], u[k])
        if not sine > 1e-14:
            continue
        for choice in range(8):
            rim = -1.0 if choice & 4 else 1.0
            s_j, s_k = -1.0 if choice & 1 else 1.0, -1.0 if choice & 2 else 1.0
            w_j, w_k = rim * u[j] / sine, rim * u[k] / sine
            x_j = p[j] - s_j * a[j] - rim * h * u[j]
            x_k = p[k] - s_k * a[k] - rim * h * u[k]
            q_w, q_v = x_j * w_j + x_k * w_k, x_k * w_j - x_j * w_k
            if q_w < 0.0 and best > 0.0:  # a local maximum there lies inside
                continue
            # n lies between w and ±v and in the edge's quadrant: skip if the two do not intersect
            turn = sign_of(q_v)
            if (w_j - turn * w_k) * s_j + (w_k + turn * w_j) * s_k <= 0.0:
                continue
            exists, n_w, n_v = half_ellipse_normal(q_w, q_v, R, R * abs(u[i]), (R * sine) ** 2)
            n_j, n_k = n_w * w_j - n_v * w_k, n_w * w_k + n_v * w_j
            if exists and n_j * s_j > 0.0 and n_k * s_k > 0.0:
                d = add_scaled(unit_axis(j, n_j), n_k, unit_axis(k, 1.0))
                f = separation_along(d, p, u, a, h, R)
                if f > best + tiny:
                    best, n, stratum, which = f, d, RIM_EDGE, i
    return best, n, stratum, which
