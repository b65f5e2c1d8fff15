"""Rotations and poses: conversions between matrices, quaternions and roll-pitch-yaw angles."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array

__all__ = ["Pose", "quat_wxyz_from_rotation", "rotation_from_quat_wxyz", "rotation_from_rpy"]


def rotation_from_rpy(rpy: Sequence[float] | Array) -> Array:
    """Rotation matrix R = R_z(yaw)·R_y(pitch)·R_x(roll), angles [rad] about fixed axes; shape (3, 3)."""
    roll, pitch, yaw = (float(angle) for angle in rpy)
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def quat_wxyz_from_rotation(rotation: Array) -> Array:
    """Unit quaternions (w, x, y, z), w ≥ 0, of rotation matrices of shape (..., 3, 3); shape (..., 4).

    Shepperd's method: the largest of w², x², y², z² is the pivot, so no digits are lost.

    Source: Shepperd (1978), "Quaternion from rotation matrix", J. Guidance and Control 1(3).
    """
    r = np.asarray(rotation, dtype=float)
    xx, yy, zz = r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]
    # rows of 4·q·qᵀ; each, normalised, is ±q where its pivot is not small
    a = r[..., 2, 1] - r[..., 1, 2]
    b = r[..., 0, 2] - r[..., 2, 0]
    c = r[..., 1, 0] - r[..., 0, 1]
    d = r[..., 1, 0] + r[..., 0, 1]
    e = r[..., 0, 2] + r[..., 2, 0]
    f = r[..., 2, 1] + r[..., 1, 2]
    rows = np.stack(
        [
            np.stack([1 + xx + yy + zz, a, b, c], axis=-1),
            np.stack([a, 1 + xx - yy - zz, d, e], axis=-1),
            np.stack([b, d, 1 - xx + yy - zz, f], axis=-1),
            np.stack([c, e, f, 1 - xx - yy + zz], axis=-1),
        ],
        axis=-2,
    )
    pivot = np.argmax(np.diagonal(rows, axis1=-2, axis2=-1), axis=-1)
    best = np.take_along_axis(rows, pivot[..., None, None], axis=-2)[..., 0, :]
    quat = best / np.linalg.norm(best, axis=-1, keepdims=True)
    return np.where(quat[..., :1] < 0, -quat, quat)


def rotation_from_quat_wxyz(quat: Array) -> Array:
    """Rotation matrices, shape (..., 3, 3), of quaternions (w, x, y, z), shape (..., 4), normalised here."""
    q = np.asarray(quat, dtype=float)
    w, x, y, z = np.moveaxis(q / np.linalg.norm(q, axis=-1, keepdims=True), -1, 0)
    return np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=-1),
            np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=-1),
            np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1),
        ],
        axis=-2,
    )


@frozen(eq=False)
class Pose:
    """A placement in the world: x_world = rotation · x_local + position.

    Args:
        position: origin [m], shape (3,).
        rotation: orthonormal, shape (3, 3).
    """

    position: Array = field(factory=lambda: np.zeros(3))
    rotation: Array = field(factory=lambda: np.eye(3))
