"""Proof that a direction is the best one for two cylinders, without a search among all others.

The signed distance φ(A, B) = max_n f(n) of `axial` holds for every part of A too: for a point c of A

    f(n) ≤ n·c − max_{b∈B} n·b,   so   φ(A, B) ≤ φ(c, B),   and   φ(A, B) ≤ φ(A, c')  for c' in B.      (1)

φ(c, B) of a point and a cylinder is a formula. A direction whose f reaches it cannot be exceeded. The points tried
are those of A and of B that extend farthest along the direction; of a cap or a side line, which extend equally far,
the one nearest to the middle of the other's axis. (1) proves all contacts but those whose caps or sides overlap by
less than they are deep, and rims that cross.

Apart, projecting a point to and fro between both leads to the closest points, and their difference close to n.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

from corekit.compiled import compiled
from corekit.geometry.vectors import Vector, add_scaled, dot, norm, scaled, sign_of
from corekit_sdf.witness import ALIGNED

__all__ = ["Cylinder", "direction_between", "is_proven"]

Cylinder: TypeAlias = tuple[Vector, Vector, float, float]
"""Centre [m], axis, half height and radius [m]."""

_PROJECTIONS: Final = 12


@compiled
def _point_gap(x: Vector, body: Cylinder) -> float:
    """Return the signed distance of a point from a cylinder [m]."""
    centre, axis, h, R = body
    d = add_scaled(x, -1.0, centre)
    along = dot(d, axis)
    z, r = abs(along) - h, norm(add_scaled(d, -along, axis)) - R
    return math.hypot(z, r) if z > 0.0 and r > 0.0 else max(z, r)


@compiled
def _farthest(body: Cylinder, d: Vector, towards: Vector, axis: Vector) -> Vector:
    """Return a point farthest along d; of several the one nearest to the middle, or to the axis, of the other body."""
    centre, u, h, R = body
    lean = dot(u, d)
    rim = add_scaled(d, -lean, u)
    slope = norm(rim)
    if abs(lean) < ALIGNED:
        x = add_scaled(centre, R / slope, rim)
        off = add_scaled(x, -1.0, towards)
        off, level = add_scaled(off, -dot(off, axis), axis), add_scaled(u, -dot(u, axis), axis)
        square = dot(level, level)
        t = -dot(off, level) / square if square > 0.0 else 0.0
        return add_scaled(x, min(max(t, -h), h), u)
    x = add_scaled(centre, sign_of(lean) * h, u)
    if slope > ALIGNED:
        return add_scaled(x, R / slope, rim)
    off = add_scaled(towards, -1.0, x)
    off = add_scaled(off, -dot(off, u), u)
    distance = norm(off)
    return add_scaled(x, min(1.0, R / distance), off) if distance > 0.0 else x


@compiled
def is_proven(first: Cylinder, second: Cylinder, n: Vector, best: float, tiny: float) -> bool:
    """Whether no direction gives more than `best` + `tiny`, by (1); n points from the second into the first.

    False says nothing.
    """
    x = _farthest(first, scaled(n, -1.0), second[0], second[1])
    if _point_gap(x, second) <= best + tiny:
        return True
    return _point_gap(_farthest(second, n, first[0], first[1]), first) <= best + tiny


@compiled
def _projected(x: Vector, body: Cylinder) -> Vector:
    """Return the nearest point of a cylinder, x itself inside."""
    centre, axis, h, R = body
    d = add_scaled(x, -1.0, centre)
    along = dot(d, axis)
    out = add_scaled(d, -along, axis)
    distance = norm(out)
    foot = add_scaled(centre, min(max(along, -h), h), axis)
    return add_scaled(foot, min(1.0, R / distance), out) if distance > 0.0 else foot


@compiled
def direction_between(first: Cylinder, second: Cylinder, x: Vector) -> tuple[bool, Vector, Vector]:
    """Project a point to and fro some times.

    Returns whether this proves the cylinders apart, about their normal, and the last point.
    """
    a = x
    for _ in range(_PROJECTIONS):
        a = _projected(x, first)
        x = _projected(a, second)
    d = add_scaled(a, -1.0, x)
    distance = norm(d)
    apart = distance > ALIGNED * (first[3] + second[3])
    return apart, scaled(d, 1.0 / distance) if apart else (0.0, 0.0, 1.0), x
