"""Support functions, the only description of a convex shape that the search for the gap needs.

A shape is a core grown by a ball: a sphere is a point, a capsule a segment, both with their radius; the
others are their own core with radius 0. The gap of two shapes is that of their cores less both radii. Only
cores are searched, and the cores of round shapes in shallow contact are still apart.

With the pose of A in the frame of B, D = A − B (Minkowski) and n a unit vector,

    f(n) = min_{a∈A} n·a − max_{b∈B} n·b = min_{w∈D} n·w,    φ = max_{‖n‖ = 1} f(n):           (1)

every direction gives a lower bound of the gap φ, and the best one is the normal from B into A.

Source: Gilbert, Johnson (1985), IEEE J. Robotics and Automation 1(1), for (1).
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, norm, scaled, sign_of, subtract

__all__ = [
    "BOX",
    "CYLINDER",
    "HALF_SPACE",
    "HULL",
    "POINT",
    "SEGMENT",
    "Pair",
    "Solid",
    "curvature",
    "height_over_plane",
    "lowest_point",
    "support",
    "to_first_axes",
]

HALF_SPACE: Final = 0
POINT: Final = 1
SEGMENT: Final = 2
CYLINDER: Final = 3
BOX: Final = 4
HULL: Final = 5

Solid: TypeAlias = tuple[int, float, float, float, float, int, int, int, int]
"""A core: its kind, three sizes [m], radius of the ball that grows it [m], and ranges of rows in `solids.Hulls.table`.

The sizes are: segment: half length; cylinder: radius, half height; box: half extents; hull: unused. The ranges are
those of a hull's corners and of its faces."""

Pair: TypeAlias = tuple[Solid, Solid, Vector, Vector, Vector, Vector]
"""Cores A and B, then origin [m] and axes of A in the frame of B."""


@compiled
def support(solid: Solid, vertices: Array, d: Vector) -> Vector:
    """Return a point of the core furthest in direction d, in the core's own axes [m]."""
    kind, s0, s1, s2, _, first, last, _, _ = solid
    if kind == BOX:
        return (sign_of(d[0]) * s0, sign_of(d[1]) * s1, sign_of(d[2]) * s2)
    if kind == CYLINDER:
        rho = math.sqrt(d[0] * d[0] + d[1] * d[1])
        c = s0 / rho if rho > 0.0 else 0.0
        return (c * d[0], c * d[1], sign_of(d[2]) * s1)
    if kind == SEGMENT:
        return (0.0, 0.0, sign_of(d[2]) * s0)
    if kind == POINT:
        return (0.0, 0.0, 0.0)
    best, chosen = -math.inf, first
    for k in range(first, last):
        projection = vertices[k, 0] * d[0] + vertices[k, 1] * d[1] + vertices[k, 2] * d[2]
        if projection > best:
            best, chosen = projection, k
    return (vertices[chosen, 0], vertices[chosen, 1], vertices[chosen, 2])


@compiled
def to_first_axes(pair: Pair, d: Vector) -> Vector:
    """Return a direction of B's frame in A's axes."""
    return (dot(pair[3], d), dot(pair[4], d), dot(pair[5], d))


@compiled
def lowest_point(pair: Pair, vertices: Array, n: Vector) -> tuple[Vector, Vector]:
    """Return the point w = a − b of D lowest along n, and its a, in the frame of B [m]."""
    d = to_first_axes(pair, n)
    local = support(pair[0], vertices, (-d[0], -d[1], -d[2]))
    a = add_scaled(add_scaled(add_scaled(pair[2], local[0], pair[3]), local[1], pair[4]), local[2], pair[5])
    return subtract(a, support(pair[1], vertices, n)), a


@compiled
def height_over_plane(pair: Pair, vertices: Array) -> float:
    """Return the height of A's core over the plane z = 0 of B's frame [m], its gap to a half-space."""
    down = to_first_axes(pair, (0.0, 0.0, -1.0))
    local = support(pair[0], vertices, down)
    return pair[2][2] - dot(down, local)


@compiled
def _rim(solid: Solid, axis: Vector, n: Vector) -> tuple[float, Vector]:
    """Return R/‖n × u‖ and the tangent of a cylinder's rim at its support along n; 0 for other cores."""
    if solid[0] != CYLINDER:
        return 0.0, n
    t = cross(n, axis)
    rho = norm(t)
    if not rho > 1e-9:
        return 0.0, n
    return solid[1] / rho, scaled(t, 1.0 / rho)


@compiled
def curvature(pair: Pair, n: Vector) -> tuple[float, Vector, float, Vector]:
    """Return the rims' part of −∇²f: c_A·t_A·t_Aᵀ + c_B·t_B·t_Bᵀ, with tᵢ ⊥ n the tangents of the rims [m]."""
    c_a, t_a = _rim(pair[0], pair[5], n)
    c_b, t_b = _rim(pair[1], (0.0, 0.0, 1.0), n)
    return c_a, t_a, c_b, t_b
