"""Signed distance of a point to a solid in the solid's own axes, and its gradient.

    sphere          |x| − r
    cylinder, box   outside: distance to the closest surface point; inside: −(depth to the nearest face)    (1)

Each is convex in x outside, so its least value along a segment is where its slope changes sign.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, norm, scaled

__all__ = ["BOX", "CAPSULE", "CYLINDER", "EDGE", "HALF_SPACE", "KIND_CODES", "SPHERE", "solid_distance"]

EDGE, CAPSULE, HALF_SPACE, SPHERE, CYLINDER, BOX = 0, 1, 2, 3, 4, 5

KIND_CODES = {
    "edge": EDGE,
    "half-space": HALF_SPACE,
    "sphere": SPHERE,
    "capsule": CAPSULE,
    "cylinder": CYLINDER,
    "box": BOX,
}
"""Shape kind → code in compiled functions; the first two are segments with a radius."""


@compiled
def _unit(x: Vector, length: float) -> Vector:
    """Return x/length; e_z if the length vanishes."""
    return scaled(x, 1.0 / length) if length > 0.0 else (0.0, 0.0, 1.0)


@compiled
def solid_distance(kind: int, size: Array, x: Vector) -> tuple[float, Vector]:
    """Return the distance [m] of a point to a solid, and the unit gradient.

    Args:
        kind: SPHERE, CYLINDER or BOX.
        size: in the order of the kind's `ShapeSpec`, padded, shape (3,) [m].
        x: point in the solid's axes [m].
    """
    if kind == SPHERE:
        length = norm(x)
        return length - size[0], _unit(x, length)
    if kind == CYLINDER:
        radial = math.sqrt(x[0] * x[0] + x[1] * x[1])
        side = (x[0] / radial, x[1] / radial) if radial > 0.0 else (1.0, 0.0)
        out, up = radial - size[0], abs(x[2]) - size[1]
        end = 1.0 if x[2] >= 0.0 else -1.0
        if out > 0.0 and up > 0.0:
            length = math.sqrt(out * out + up * up)
            return length, (side[0] * out / length, side[1] * out / length, end * up / length)
        if out >= up:
            return out, (side[0], side[1], 0.0)
        return up, (0.0, 0.0, end)
    q = (abs(x[0]) - size[0], abs(x[1]) - size[1], abs(x[2]) - size[2])
    sign = (1.0 if x[0] >= 0.0 else -1.0, 1.0 if x[1] >= 0.0 else -1.0, 1.0 if x[2] >= 0.0 else -1.0)
    outside = (max(q[0], 0.0), max(q[1], 0.0), max(q[2], 0.0))
    length = norm(outside)
    if length > 0.0:
        return length, (
            sign[0] * outside[0] / length,
            sign[1] * outside[1] / length,
            sign[2] * outside[2] / length,
        )
    if q[0] >= q[1] and q[0] >= q[2]:
        return q[0], (sign[0], 0.0, 0.0)
    if q[1] >= q[2]:
        return q[1], (0.0, sign[1], 0.0)
    return q[2], (0.0, 0.0, sign[2])
