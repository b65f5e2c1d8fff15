"""Quaternions (w, x, y, z) as CasADi expressions: product, exponential, distance.

    exp(a) = (C(u), ½·S(u)·a),   u = ¼·aᵀa,   C = Σ (−u)ᵏ/(2k)!,   S = Σ (−u)ᵏ/(2k+1)!       (1)

C and S are entire functions of u, so all derivatives are exact at a = 0; the norm is 1 to rounding for |a| ≤ π.

Source: Solà (2017), "Quaternion kinematics for the error-state Kalman filter"; CUSP, section IV-B (ii).
"""

from __future__ import annotations

import math
from typing import Any

import casadi as ca

__all__ = ["orientation_error", "quat_conjugate", "quat_exp", "quat_product", "rotation_of"]

_TERMS = 11


def _series(u: Any, odd: int) -> Any:
    """Return Σ (−u)ᵏ/(2k + odd)! by Horner's rule; exact to 1e-15 for u ≤ (π/2)²."""
    value = (-1.0) ** (_TERMS - 1) / math.factorial(2 * (_TERMS - 1) + odd)
    for k in range(_TERMS - 2, -1, -1):
        value = value * u + (-1.0) ** k / math.factorial(2 * k + odd)
    return value


def quat_exp(a: Any) -> Any:
    """Return the quaternion (4, 1) of the rotation vector `a` [rad] (3, 1) in world axes: equation (1)."""
    u = 0.25 * ca.dot(a, a)
    return ca.vertcat(_series(u, 0), 0.5 * _series(u, 1) * a)


def quat_product(a: Any, b: Any) -> Any:
    """Return a ⊗ b: first b, then a; shape (4, 1)."""
    vector = a[0] * b[1:4] + b[0] * a[1:4] + ca.cross(a[1:4], b[1:4])
    return ca.vertcat(a[0] * b[0] - ca.dot(a[1:4], b[1:4]), vector)


def quat_conjugate(a: Any) -> Any:
    """Return the inverse of a unit quaternion."""
    return ca.vertcat(a[0], -a[1:4])


def orientation_error(a: Any, b: Any) -> Any:
    """Return 1 − (aᵀb)² = sin²(½·angle between a and b), J_quat of CUSP (20); 1e-6 is 0.11°."""
    return 1.0 - ca.dot(a, b) ** 2


def rotation_of(quat: Any) -> Any:
    """Return the rotation matrix of a unit quaternion, shape (3, 3)."""
    w, v = quat[0], quat[1:4]
    return (w * w - ca.dot(v, v)) * ca.DM.eye(3) + 2.0 * (v @ v.T) + 2.0 * w * ca.skew(v)
