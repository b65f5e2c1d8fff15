"""A sphere against a sphere, capsule, cylinder or box: the signed distance of its centre, less its radius.

A ball of radius r adds r·‖n‖ to a support function, so for any convex set S

    φ(S, sphere) = φ(S, centre) − r,                                                        (1)

apart and inside. Each function returns φ of a point x in the shape's frame and the unit outward direction
there. Where that direction is not unique (a centre, an axis) the function returns a fixed one.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.geometry.vectors import Vector, norm, scaled, sign_of, unit_axis

__all__ = ["point_box", "point_capsule", "point_cylinder", "point_sphere"]


@compiled
def point_sphere(x: Vector, radius: float) -> tuple[float, Vector]:
    """φ = ‖x‖ − radius; the direction at the centre is e_z."""
    length = norm(x)
    if length == 0.0:
        return -radius, (0.0, 0.0, 1.0)
    return length - radius, scaled(x, 1.0 / length)


@compiled
def point_capsule(x: Vector, radius: float, h: float) -> tuple[float, Vector]:
    """Distance to the segment (0, 0, ±h), less the radius; the direction on the segment is e_x."""
    d = (x[0], x[1], x[2] - min(max(x[2], -h), h))
    length = norm(d)
    if length == 0.0:
        return -radius, (1.0, 0.0, 0.0)
    return length - radius, scaled(d, 1.0 / length)


@compiled
def point_cylinder(x: Vector, R: float, h: float) -> tuple[float, Vector]:
    """Distance to the rim, side or caps of a cylinder; inside, to the nearer of side and caps.

    With ρ = ‖(x, y)‖:  φ = ‖(ρ − R, |z| − h)‖ beyond both, else max(ρ − R, |z| − h).          (2)
    """
    rho = math.hypot(x[0], x[1])
    c, s = (x[0] / rho, x[1] / rho) if rho > 0.0 else (1.0, 0.0)
    up = sign_of(x[2])
    beyond_side, beyond_cap = rho - R, abs(x[2]) - h
    if beyond_side > 0.0 and beyond_cap > 0.0:
        length = math.hypot(beyond_side, beyond_cap)
        radial = beyond_side / length
        return length, (c * radial, s * radial, up * beyond_cap / length)
    if beyond_side > beyond_cap:
        return beyond_side, (c, s, 0.0)
    return beyond_cap, (0.0, 0.0, up)


@compiled
def point_box(x: Vector, a: Vector) -> tuple[float, Vector]:
    """Distance to a box of half extents a; inside, to its nearest face."""
    d = (
        x[0] - min(max(x[0], -a[0]), a[0]),
        x[1] - min(max(x[1], -a[1]), a[1]),
        x[2] - min(max(x[2], -a[2]), a[2]),
    )
    length = norm(d)
    if length > 0.0:
        return length, scaled(d, 1.0 / length)
    face = 0
    for k in range(1, 3):
        if abs(x[k]) - a[k] > abs(x[face]) - a[face]:
            face = k
    return abs(x[face]) - a[face], unit_axis(face, sign_of(x[face]))
