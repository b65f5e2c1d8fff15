"""Signed distance of convex sets as a maximum over directions, and functions for every pair with a box.

The signed distance of convex sets A and B (> 0 apart, minus the penetration inside) is

    φ = max_{‖n‖ = 1} f(n),   f(n) = min_{a∈A} n·a − max_{b∈B} n·b,                     (1)

and its maximiser is the contact normal, from B into A: apart f is concave and its maximum is the distance
(duality), inside −f(n) is the shift along n that separates the sets. Every n gives a lower bound of φ, so a
finite family of directions that contains the maximiser gives φ exactly. No test of which features face each
other is needed: an unsuitable direction merely loses.

For a cylinder of centre p, axis u, half height h, radius R, in the frame of a box of half extents a,

    f(n) = n·p − Σᵢ aᵢ|nᵢ| − h·|u·n| − R·‖n × u‖.                                       (2)

R = 0 is a segment; a capsule is a segment with its radius subtracted from φ. f is smooth except where nᵢ = 0,
u·n = 0 or n = ±u. These circles and points cut the sphere into strata. The maximiser is a local maximum of f
on its stratum. `segment_box` and `cylinder_box` derive the families stratum by stratum.

Source: Gilbert, Johnson (1985), IEEE J. Robotics and Automation 1(1), for (1); (2) are support functions.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from corekit.compiled import compiled
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, norm, scaled, sign_of, unit_axis

__all__ = [
    "CAP",
    "EDGE_SIDE",
    "END",
    "FACE",
    "RIM_EDGE",
    "RIM_VERTEX",
    "SIDE_VERTEX",
    "Separation",
    "best_edge_side",
    "best_face",
    "box_corner",
    "face_is_best",
    "resolution",
    "separation_along",
    "signs_fit",
]

# strata: which feature of the box or of the round shape the direction belongs to
FACE: Final = 0  # n = ±e_k, a face of the box
CAP: Final = 1  # n = ±u, a cap of the cylinder
EDGE_SIDE: Final = 2  # n = ±e_i × u, an edge against the lateral surface or segment
SIDE_VERTEX: Final = 3  # n ⊥ u, a corner against the lateral surface or segment
RIM_VERTEX: Final = 4  # a corner against a rim
RIM_EDGE: Final = 5  # n ⊥ e_i, an edge against a rim
END: Final = 6  # an end of the segment against the nearest point of the box

_ACROSS: Final = 1e-9
"""Component of a direction that counts as none: what rounding leaves of it is far below, and f tells what it costs."""

Separation: TypeAlias = tuple[float, Vector, int, int]
"""φ [m], its normal from the box into the other shape, its stratum, and the index within that
stratum: the axis of the edge (EDGE_SIDE, RIM_EDGE), the end 0 or 1 at −h or h (END), else 0."""


@compiled
def separation_along(n: Vector, p: Vector, u: Vector, a: Vector, h: float, R: float) -> float:
    """Return f(n) of equation (2) [m]."""
    extent = a[0] * abs(n[0]) + a[1] * abs(n[1]) + a[2] * abs(n[2])
    return dot(n, p) - extent - h * abs(dot(u, n)) - R * norm(cross(n, u))


@compiled
def resolution(p: Vector, a: Vector, h: float, R: float) -> float:
    """Return the least gain [m] of a stratum that replaces an earlier one: rounding must not select the feature."""
    return 1e-14 * (abs(p[0]) + abs(p[1]) + abs(p[2]) + a[0] + a[1] + a[2] + h + R)


@compiled
def signs_fit(n: Vector, vertex: Vector) -> bool:
    """Whether `vertex` is the box's furthest in direction n; if not, another vertex gives a better direction.

    Of the two ends of an edge across n rounding may deny each: a component within it fits both.
    """
    return (
        n[0] * vertex[0] >= -_ACROSS * abs(vertex[0])
        and n[1] * vertex[1] >= -_ACROSS * abs(vertex[1])
        and n[2] * vertex[2] >= -_ACROSS * abs(vertex[2])
    )


@compiled
def box_corner(bits: int, a: Vector) -> Vector:
    """Return a corner of the box |xᵢ| ≤ aᵢ; a set bit is a negative coordinate."""
    return (-a[0] if bits & 1 else a[0], -a[1] if bits & 2 else a[1], -a[2] if bits & 4 else a[2])


@compiled
def best_face(p: Vector, u: Vector, a: Vector, h: float, R: float) -> Separation:
    """Return the best of the six face directions, nan if the pose is not finite."""
    n = unit_axis(0, sign_of(p[0]))
    best = separation_along(n, p, u, a, h, R)
    tiny = resolution(p, a, h, R)
    for k in range(1, 3):
        face = unit_axis(k, sign_of(p[k]))
        f = separation_along(face, p, u, a, h, R)
        if f > best + tiny:
            best, n = f, face
    return best, n, FACE, 0


@compiled
def face_is_best(separation: Separation, p: Vector, u: Vector, a: Vector, h: float, R: float) -> bool:
    """Whether no direction at all is better than the face that `best_face` returned.

    With c the point of the other shape that extends farthest against the face's normal e_k, and dⱼ = aⱼ −
    |cⱼ|,

        f(n) ≤ n·c − Σᵢ aᵢ|nᵢ| ≤ |n_k|·φ − Σ_{j≠k} |nⱼ|·dⱼ ≤ φ   if   dⱼ ≥ max(−φ, 0), j ≠ k           (3)

    for φ < 0, as Σ|nᵢ| ≥ 1 and c_k is on the face's side; for φ ≥ 0 it is the distance of c from its foot on
    the face.
    """
    phi, n, _, _ = separation
    un = dot(u, n)
    c = add_scaled(p, -h * sign_of(un), u)
    slope = norm(cross(n, u))
    if R > 0.0 and slope > 1e-14:
        c = add_scaled(c, -R / slope, add_scaled(n, -un, u))
    if not dot(n, c) >= 0.0:
        return False
    least = max(-phi, 0.0)
    inside = True
    for j in range(3):
        inside = inside and (n[j] != 0.0 or a[j] - abs(c[j]) >= least)
    return inside


@compiled
def best_edge_side(separation: Separation, p: Vector, u: Vector, a: Vector, h: float, R: float) -> Separation:
    """Return the given separation, or a better one among ±e_i × u."""
    best, n, stratum, which = separation
    tiny = resolution(p, a, h, R)
    for i in range(3):
        c = cross(unit_axis(i, 1.0), u)
        length = norm(c)
        if length > 1e-12:
            c = scaled(c, sign_of(dot(c, p)) / length)
            f = separation_along(c, p, u, a, h, R)
            if f > best + tiny:
                best, n, stratum, which = f, c, EDGE_SIDE, i
    return best, n, stratum, which
