"""A pose as coordinates: a position and a unit quaternion w x y z, moved by a twist in world axes."""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import add_scaled, cross, dot, scaled

__all__ = ["move_pose", "read_pose"]


@compiled
def read_pose(q: Array, position: Array, rotation: Array) -> None:
    """Write position (3,) and rotation (3, 3) of q[:7]; a quaternion of any length but 0 is normalised."""
    w, x, y, z = q[3], q[4], q[5], q[6]
    s = 2.0 / (w * w + x * x + y * y + z * z)
    rotation[0, 0], rotation[0, 1], rotation[0, 2] = (
        1.0 - s * (y * y + z * z),
        s * (x * y - w * z),
        s * (x * z + w * y),
    )
    rotation[1, 0], rotation[1, 1], rotation[1, 2] = (
        s * (x * y + w * z),
        1.0 - s * (x * x + z * z),
        s * (y * z - w * x),
    )
    rotation[2, 0], rotation[2, 1], rotation[2, 2] = (
        s * (x * z - w * y),
        s * (y * z + w * x),
        1.0 - s * (x * x + y * y),
    )
    for i in range(3):
        position[i] = q[i]


@compiled
def move_pose(q: Array, v: Array, step: float, out: Array) -> None:
    """Write x + h·V and exp(h·ω) ∘ quaternion into out[:7], of length 1 and the sign of q's."""
    for x in range(3):
        out[x] = q[x] + step * v[x]
    spin = (step * v[3], step * v[4], step * v[5])
    angle = math.sqrt(dot(spin, spin))
    w, share = math.cos(0.5 * angle), 0.5
    if angle > 1e-8:
        share = math.sin(0.5 * angle) / angle
    turn, axis = scaled(spin, share), (q[4], q[5], q[6])
    real = w * q[3] - dot(turn, axis)
    rest = add_scaled(add_scaled(cross(turn, axis), w, axis), q[3], turn)
    size = math.sqrt(real * real + dot(rest, rest))
    out[3] = real / size
    for x in range(3):
        out[4 + x] = rest[x] / size
