"""Three-vectors as tuples: they live in registers inside compiled kernels, where small arrays would not."""

from __future__ import annotations

import math
from typing import TypeAlias

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = [
    "Vector",
    "add",
    "add_scaled",
    "cross",
    "dot",
    "norm",
    "perpendicular",
    "row",
    "scaled",
    "sign_of",
    "subtract",
    "to_local",
    "to_world",
    "unit",
    "unit_axis",
]

Vector: TypeAlias = tuple[float, float, float]


@compiled
def dot(a: Vector, b: Vector) -> float:
    """a·b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def cross(a: Vector, b: Vector) -> Vector:
    """a × b; exactly zero for equal or opposite vectors."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@compiled
def norm(a: Vector) -> float:
    """‖a‖."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@compiled
def scaled(a: Vector, s: float) -> Vector:
    """s·a."""
    return (s * a[0], s * a[1], s * a[2])


@compiled
def add(a: Vector, b: Vector) -> Vector:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@compiled
def subtract(a: Vector, b: Vector) -> Vector:
    """a − b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@compiled
def add_scaled(a: Vector, s: float, b: Vector) -> Vector:
    """a + s·b."""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2])


@compiled
def sign_of(x: float) -> float:
    """+1 for x ≥ 0 (and for nan), else −1."""
    return -1.0 if x < 0.0 else 1.0


@compiled
def unit(a: Vector) -> Vector:
    """a/‖a‖; nan for the zero vector."""
    s = 1.0 / norm(a)
    return (s * a[0], s * a[1], s * a[2])


@compiled
def perpendicular(a: Vector) -> Vector:
    """A unit vector perpendicular to a unit vector."""
    x, y, z = abs(a[0]), abs(a[1]), abs(a[2])
    if x <= y and x <= z:
        return unit((0.0, a[2], -a[1]))
    if y <= z:
        return unit((-a[2], 0.0, a[0]))
    return unit((a[1], -a[0], 0.0))


@compiled
def row(values: Array, index: int) -> Vector:
    """The first three numbers of a row."""
    return (values[index, 0], values[index, 1], values[index, 2])


@compiled
def unit_axis(axis: int, sign: float) -> Vector:
    """sign·e_axis."""
    return (sign if axis == 0 else 0.0, sign if axis == 1 else 0.0, sign if axis == 2 else 0.0)


@compiled
def to_local(rotation: Array, a: Vector) -> Vector:
    """Rᵀ·a, rotation of shape (3, 3)."""
    return (
        rotation[0, 0] * a[0] + rotation[1, 0] * a[1] + rotation[2, 0] * a[2],
        rotation[0, 1] * a[0] + rotation[1, 1] * a[1] + rotation[2, 1] * a[2],
        rotation[0, 2] * a[0] + rotation[1, 2] * a[1] + rotation[2, 2] * a[2],
    )


@compiled
def to_world(rotation: Array, a: Vector) -> Vector:
    """R·a, rotation of shape (3, 3)."""
    return (
        rotation[0, 0] * a[0] + rotation[0, 1] * a[1] + rotation[0, 2] * a[2],
        rotation[1, 0] * a[0] + rotation[1, 1] * a[1] + rotation[1, 2] * a[2],
        rotation[2, 0] * a[0] + rotation[2, 1] * a[1] + rotation[2, 2] * a[2],
    )
