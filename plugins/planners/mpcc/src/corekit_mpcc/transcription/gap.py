"""Smooth distances from a point to a shape in its own axes, with two continuous derivatives.

    sabs(s) = √(s² + ε),   smax(s, t) = ½·(s + t + √((s − t)² + ε)),   smin(s, t) = −smax(−s, −t)     (1)

For a capped cylinder (radius R, half height H, axis z) and a point x in its axes, with ρ = √(x₁² + x₂² + ε):

    a = ρ − R,   b = sabs(x₃) − H
    sd(x) = smin(smax(a, b), 0) + √(smax(a, 0)² + smax(b, 0)² + ε)                                    (2)

ε rounds the rim by √ε: 0.1 mm at 1e-8. Elsewhere it changes sd by at most √ε/2.

Source: CUSP, section IV-B (i).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import casadi as ca

__all__ = ["SUPPORTED_SHAPES", "signed_distance", "touching_centre"]


def _smooth_max(s: Any, t: Any, epsilon: Any) -> Any:
    return 0.5 * (s + t + ca.sqrt((s - t) ** 2 + epsilon))


def _cylinder(x: Any, size: tuple[float, ...], epsilon: Any) -> Any:
    radius, half_height = size
    a = ca.sqrt(x[0] ** 2 + x[1] ** 2 + epsilon) - radius
    b = ca.sqrt(x[2] ** 2 + epsilon) - half_height
    outside = ca.sqrt(_smooth_max(a, 0.0, epsilon) ** 2 + _smooth_max(b, 0.0, epsilon) ** 2 + epsilon)
    return -_smooth_max(-_smooth_max(a, b, epsilon), 0.0, epsilon) + outside


def _sphere(x: Any, size: tuple[float, ...], epsilon: Any) -> Any:
    return ca.sqrt(ca.dot(x, x) + epsilon) - size[0]


def _capsule(x: Any, size: tuple[float, ...], epsilon: Any) -> Any:
    radius, half_length = size
    excess = _smooth_max(ca.sqrt(x[2] ** 2 + epsilon) - half_length, 0.0, epsilon)
    return ca.sqrt(x[0] ** 2 + x[1] ** 2 + excess**2 + epsilon) - radius


def _half_space(x: Any, _size: tuple[float, ...], _epsilon: Any) -> Any:
    return x[2]


SUPPORTED_SHAPES: Mapping[str, Callable[[Any, tuple[float, ...], Any], Any]] = MappingProxyType(
    {"cylinder": _cylinder, "sphere": _sphere, "capsule": _capsule, "half-space": _half_space}
)
"""Signed distance by kind of shape."""


def signed_distance(kind: str, size: tuple[float, ...], x: Any, epsilon: Any) -> Any:
    """Return sd(x) [m] of a point x (3, 1) [m] in the shape's axes, > 0 outside; ε [m²] as in (1)."""
    return SUPPORTED_SHAPES[kind](x, size, epsilon)


def touching_centre(kind: str, size: tuple[float, ...], radius: float) -> tuple[float, float, float]:
    """Return the centre [m] of a ball that touches the shape's end in +z."""
    height = {"cylinder": size[-1], "capsule": sum(size), "sphere": sum(size), "half-space": 0.0}[kind]
    return 0.0, 0.0, height + radius
