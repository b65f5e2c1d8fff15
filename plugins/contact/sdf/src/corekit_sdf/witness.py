"""Closest, or deepest, pair of points of two shapes for a known direction."""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.geometry.vectors import Vector, add_scaled, cross, dot, norm, sign_of
from corekit_sdf.separation import CAP, EDGE_SIDE, END, FACE, RIM_VERTEX, SIDE_VERTEX, Separation

__all__ = ["ALIGNED", "midpoint"]

ALIGNED: Final = 1e-9
"""Sine below which two directions count as parallel or perpendicular; it selects points, never gaps."""


@compiled
def midpoint(separation: Separation, p: Vector, u: Vector, a: Vector, h: float, R: float) -> Vector:
    """Return the point [m] midway between a closest (or deepest) pair, on the cylinder (R = 0: segment) and the box.

    Usually one of the two supports along n is a single point x; the other is φ·n from it. If both are lines
    or flats, x is the middle of their overlap.
    """
    f, n, stratum, which = separation
    un = dot(u, n)
    lateral = stratum in (EDGE_SIDE, SIDE_VERTEX) or (stratum == FACE and abs(un) < ALIGNED)
    if lateral:
        x = add_scaled(add_scaled(p, _axis_parameter(separation, p, u, a, h, R), u), -R, n)
        return add_scaled(x, -0.5 * f, n)
    end = add_scaled(p, -h * sign_of(un), u)
    if stratum == END:
        end = add_scaled(p, h if which == 1 else -h, u)
    if R == 0.0:
        return add_scaled(end, -0.5 * f, n)
    slope = norm(cross(n, u))
    corner = stratum == RIM_VERTEX and min(abs(n[0]), abs(n[1]), abs(n[2])) > ALIGNED
    if slope > ALIGNED and stratum != CAP and not corner:
        rim = add_scaled(end, -R / slope, add_scaled(n, -un, u))
        return add_scaled(rim, -0.5 * f, n)
    # the point of the box's support along n that is nearest to the cap's centre
    x = (
        sign_of(n[0]) * a[0] if abs(n[0]) > ALIGNED else min(max(end[0], -a[0]), a[0]),
        sign_of(n[1]) * a[1] if abs(n[1]) > ALIGNED else min(max(end[1], -a[1]), a[1]),
        sign_of(n[2]) * a[2] if abs(n[2]) > ALIGNED else min(max(end[2], -a[2]), a[2]),
    )
    return add_scaled(x, 0.5 * f, n)


@compiled
def _axis_parameter(separation: Separation, p: Vector, u: Vector, a: Vector, h: float, R: float) -> float:
    """Return t [m] of the point p + t·u − R·n on the lateral line that meets the box's support along n.

    The axes i in which the support has one coordinate, side(nᵢ)·aᵢ, give t by least squares. If u has no
    component along them, line and support overlap over a range; t is its middle. Where the ranges of two axes do not
    meet, the line runs beside an edge by rounding: that of the steeper axis tells how far.
    """
    f, n, stratum, _ = separation
    t = weight = 0.0
    low, high = -h, h
    steepest = 0
    for i in range(1, 3):
        if abs(u[i]) > abs(u[steepest]):
            steepest = i
    for step in range(3):
        i = (steepest + step) % 3
        if abs(n[i]) > ALIGNED:
            if stratum != FACE:
                t += u[i] * (sign_of(n[i]) * a[i] + (f + R) * n[i] - p[i])
                weight += u[i] * u[i]
        elif abs(u[i]) > ALIGNED:
            t0, t1 = (-a[i] - p[i]) / u[i], (a[i] - p[i]) / u[i]
            start, stop = max(low, min(t0, t1)), min(high, max(t0, t1))
            low, high = min(start, high), max(stop, low)
    if weight > ALIGNED * ALIGNED:
        return min(max(t / weight, -h), h)
    return 0.5 * (low + high)
