"""Three-vectors as tuples: compiled kernels keep tuples in registers, but not small arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import corekit.compiled
from corekit.data.arrays import Array

__all__ = [
    "Vector",
    "add_scaled",
    "compiled",
    "cross",
    "dot",
    "inlined",
    "norm",
    "row",
    "scale",
    "transport",
    "triple",
]

Vector: TypeAlias = tuple[float, float, float]
F = TypeVar("F", bound=Callable[..., Any])

compiled = corekit.compiled.compiled
inlined = corekit.compiled.compiled(forceinline=True)
"""The same for functions that only kernels call. No sums and products are fused: what is is up to the compiler, which
decides otherwise for a kernel that another one calls, and then steps without Python would differ in the last bit."""


@inlined
def triple(values: Array, first: int) -> Vector:
    """Return three entries of an array."""
    return (float(values[first]), float(values[first + 1]), float(values[first + 2]))


@inlined
def row(values: Array, i: int, first: int) -> Vector:
    """Return three entries of a row of a table."""
    return (values[i, first], values[i, first + 1], values[i, first + 2])


@inlined
def dot(a: Vector, b: Vector) -> float:
    """Return a·b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def cross(a: Vector, b: Vector) -> Vector:
    """Return a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inlined
def norm(a: Vector) -> float:
    """Return ‖a‖."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@inlined
def scale(s: float, a: Vector) -> Vector:
    """Return s·a."""
    return (s * a[0], s * a[1], s * a[2])


@inlined
def add_scaled(a: Vector, s: float, b: Vector) -> Vector:
    """Return a + s·b."""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2])


@inlined
def transport(a: Vector, b: Vector, v: Vector) -> Vector:
    """Rotate v by the smallest rotation from the unit tangent a to the unit tangent b.

        P(a, b)·v = (a·b)·v + c × v + c·(c·v)/(1 + a·b),   c = a × b                       (1)

    Smooth except at b = −a, where it is not finite.

    Source: Bergou et al. (2008), "Discrete elastic rods", section 4.2.2.
    """
    c = cross(a, b)
    cosine = dot(a, b)
    lift = dot(c, v) / (1.0 + cosine)
    turned = cross(c, v)
    return (
        cosine * v[0] + turned[0] + lift * c[0],
        cosine * v[1] + turned[1] + lift * c[1],
        cosine * v[2] + turned[2] + lift * c[2],
    )
