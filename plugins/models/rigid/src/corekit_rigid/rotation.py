"""Rotations by unit quaternions (w, x, y, z) that turn body axes to world axes."""

from __future__ import annotations

import math
from typing import TypeAlias

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, dot

__all__ = ["Rotation", "into_body", "into_world", "matvec", "rotation_of", "turned"]

Rotation: TypeAlias = tuple[Vector, Vector, Vector]


@compiled
def matvec(matrix: Array, a: Vector) -> Vector:
    """A·a, A of shape (3, 3)."""
    return (
        matrix[0, 0] * a[0] + matrix[0, 1] * a[1] + matrix[0, 2] * a[2],
        matrix[1, 0] * a[0] + matrix[1, 1] * a[1] + matrix[1, 2] * a[2],
        matrix[2, 0] * a[0] + matrix[2, 1] * a[1] + matrix[2, 2] * a[2],
    )


@compiled
def rotation_of(q: Array, at: int) -> Rotation:
    """Rows of R from q[at : at + 4]; its length does not matter."""
    w, x, y, z = q[at], q[at + 1], q[at + 2], q[at + 3]
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        (1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)),
        (s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)),
        (s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)),
    )


@compiled
def into_world(R: Rotation, a: Vector) -> Vector:
    """R·a."""
    return (dot(R[0], a), dot(R[1], a), dot(R[2], a))


@compiled
def into_body(R: Rotation, a: Vector) -> Vector:
    """Rᵀ·a."""
    return (
        R[0][0] * a[0] + R[1][0] * a[1] + R[2][0] * a[2],
        R[0][1] * a[0] + R[1][1] * a[1] + R[2][1] * a[2],
        R[0][2] * a[0] + R[1][2] * a[1] + R[2][2] * a[2],
    )


@compiled
def turned(q: Array, at: int, angle: Vector, out: Array) -> None:
    """Write the quaternion turned about a vector in body axes [rad]: exact for any constant angular velocity.

        q⁺ = q ∘ (cos φ/2, sin(φ/2)/φ · angle),   φ = ‖angle‖                                    (1)

    Both factors have length 1, so the product has; dividing by its length keeps rounding from piling up.
    `out` may be `q`.
    """
    w, x, y, z = q[at], q[at + 1], q[at + 2], q[at + 3]
    half = 0.5 * math.sqrt(dot(angle, angle))
    # the series' next term, half⁴/120, is below rounding here
    sine = math.sin(half) / half if half > 1e-4 else 1.0 - half * half / 6.0
    c, s = math.cos(half), 0.5 * sine
    a, b, d = s * angle[0], s * angle[1], s * angle[2]
    new_w = c * w - a * x - b * y - d * z
    new_x = c * x + a * w + d * y - b * z
    new_y = c * y + b * w + a * z - d * x
    new_z = c * z + d * w + b * x - a * y
    shrink = 1.0 / math.sqrt(new_w * new_w + new_x * new_x + new_y * new_y + new_z * new_z)
    out[at], out[at + 1] = shrink * new_w, shrink * new_x
    out[at + 2], out[at + 3] = shrink * new_y, shrink * new_z
