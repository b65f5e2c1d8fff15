"""Support functions: all that the search for the gap asks of a convex shape.

A shape is a core grown by a ball: a sphere is a point, a capsule a segment, both with their radius; the
others are their own core with radius 0. The gap of two shapes is that of their cores less both radii, so
only cores are searched, and round shapes in shallow contact are still apart there.

With A placed in the frame of B, D = A − B (Minkowski) and n a unit vector,

    f(n) = min_{a∈A} n·a − max_{b∈B} n·b = min_{w∈D} n·w,    φ = max_{‖n‖ = 1} f(n):           (1)

every direction gives a lower bound of the gap φ, and the best one is the normal from B into A.

Source: Gilbert, Johnson (1985), IEEE J. Robotics and Automation 1(1), for (1).
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, along, cross, dot, norm, scaled, side, subtract

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
    "lowest",
    "lowest_on_plane",
    "of_first",
    "support",
]

HALF_SPACE: Final = 0
POINT: Final = 1
SEGMENT: Final = 2
CYLINDER: Final = 3
BOX: Final = 4
HULL: Final = 5

Solid: TypeAlias = tuple[int, float, float, float, float, int, int, int, int]
"""A core: its kind, three sizes [m] (segment: half length; cylinder: radius, half height; box: half extents;
hull: unused), the radius it is grown by [m], and for a hull its corners' and its faces' ranges of rows in the
table of hulls (`solids.Hulls`)."""

Pair: TypeAlias = tuple[Solid, Solid, Vector, Vector, Vector, Vector]
"""Cores A and B, then origin [m] and axes of A in the frame of B."""


@compiled
def support(solid: Solid, vertices: Array, d: Vector) -> Vector:
    """A point of the core furthest in direction d, all in the core's own axes [m]."""
    kind, s0, s1, s2, _, first, last, _, _ = solid
    if kind == BOX:
        return (side(d[0]) * s0, side(d[1]) * s1, side(d[2]) * s2)
    if kind == CYLINDER:
        rho = math.sqrt(d[0] * d[0] + d[1] * d[1])
        c = s0 / rho if rho > 0.0 else 0.0
        return (c * d[0], c * d[1], side(d[2]) * s1)
    if kind == SEGMENT:
        return (0.0, 0.0, side(d[2]) * s0)
    if kind == POINT:
        return (0.0, 0.0, 0.0)
    best, chosen = -math.inf, first
    for k in range(first, last):
        reach = vertices[k, 0] * d[0] + vertices[k, 1] * d[1] + vertices[k, 2] * d[2]
        if reach > best:
            best, chosen = reach, k
    return (vertices[chosen, 0], vertices[chosen, 1], vertices[chosen, 2])


@compiled
def of_first(pair: Pair, d: Vector) -> Vector:
    """A direction of B's frame in A's axes."""
    return (dot(pair[3], d), dot(pair[4], d), dot(pair[5], d))


@compiled
def lowest(pair: Pair, vertices: Array, n: Vector) -> tuple[Vector, Vector]:
    """The point w = a − b of D lowest along n, and its a, in the frame of B [m]."""
    d = of_first(pair, n)
    own = support(pair[0], vertices, (-d[0], -d[1], -d[2]))
    a = along(along(along(pair[2], own[0], pair[3]), own[1], pair[4]), own[2], pair[5])
    return subtract(a, support(pair[1], vertices, n)), a


@compiled
def lowest_on_plane(pair: Pair, vertices: Array) -> float:
    """Height of A's core over the plane z = 0 of B's frame [m]: all that a half-space asks."""
    down = of_first(pair, (0.0, 0.0, -1.0))
    own = support(pair[0], vertices, down)
    return pair[2][2] - dot(down, own)


@compiled
def _rim(solid: Solid, axis: Vector, n: Vector) -> tuple[float, Vector]:
    """R/‖n × u‖ and the tangent of a cylinder's rim at its support along n; 0 for other cores."""
    if solid[0] != CYLINDER:
        return 0.0, n
    t = cross(n, axis)
    rho = norm(t)
    if not rho > 1e-9:
        return 0.0, n
    return solid[1] / rho, scaled(t, 1.0 / rho)


@compiled
def curvature(pair: Pair, n: Vector) -> tuple[float, Vector, float, Vector]:
    """What rims add to −∇²f: c_A·t_A·t_Aᵀ + c_B·t_B·t_Bᵀ, with tᵢ ⊥ n the tangents of the rims [m]."""
    c_a, t_a = _rim(pair[0], pair[5], n)
    c_b, t_b = _rim(pair[1], (0.0, 0.0, 1.0), n)
    return c_a, t_a, c_b, t_b
