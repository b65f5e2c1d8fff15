"""Three-vectors as tuples: inside compiled kernels they live in registers, where small arrays would not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import corekit.compiled
from corekit.data.arrays import Array

__all__ = [
    "Vector",
    "along",
    "compiled",
    "cross",
    "dot",
    "inlined",
    "norm",
    "row",
    "scaled",
    "transport",
    "triple",
]

Vector: TypeAlias = tuple[float, float, float]
F = TypeVar("F", bound=Callable[..., Any])

compiled = corekit.compiled.compiled(fastmath={"contract"})
"""As all kernels, but a product and a sum may become one instruction, rounded once: a fifth off the Hessian."""
inlined = corekit.compiled.compiled(forceinline=True, fastmath={"contract"})
"""The same for what only kernels call."""


@inlined
def triple(values: Array, first: int) -> Vector:
    """Three entries of an array."""
    return (float(values[first]), float(values[first + 1]), float(values[first + 2]))


@inlined
def row(values: Array, i: int, first: int) -> Vector:
    """Three entries of a row of a table."""
    return (values[i, first], values[i, first + 1], values[i, first + 2])


@inlined
def dot(a: Vector, b: Vector) -> float:
    """a·b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def cross(a: Vector, b: Vector) -> Vector:
    """a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inlined
def norm(a: Vector) -> float:
    """‖a‖."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@inlined
def scaled(s: float, a: Vector) -> Vector:
    """s·a."""
    return (s * a[0], s * a[1], s * a[2])


@inlined
def along(a: Vector, s: float, b: Vector) -> Vector:
    """a + s·b."""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2])


@inlined
def transport(a: Vector, b: Vector, v: Vector) -> Vector:
    """v carried from the unit tangent a to the unit tangent b by the smallest rotation.

        P(a, b)·v = (a·b)·v + c × v + c·(c·v)/(1 + a·b),   c = a × b                       (1)

    Smooth everywhere but at b = −a, where it is not finite.

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
