"""Three-vectors as tuples, the kernel's and places in arrays; 3 × 3 matrices as nine numbers in a row of an array."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, add, cross, dot

__all__ = [
    "Vector", "add", "apply", "apply_transposed", "combine", "compiled", "cross", "dot", "get", "inner", "multiply",
    "put",
]  # fmt: skip

inner = compiled(no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""For functions that only compiled ones call: without a door to Python they compile faster."""


@inner
def get(a: Array, i: int) -> Vector:
    """Three entries from place i."""
    return (a[i], a[i + 1], a[i + 2])


@inner
def put(a: Array, i: int, x: Vector) -> None:
    """Write three entries at place i."""
    a[i] = x[0]
    a[i + 1] = x[1]
    a[i + 2] = x[2]


@inner
def combine(x: float, a: Vector, y: float, b: Vector) -> Vector:
    """x·a + y·b."""
    return (x * a[0] + y * b[0], x * a[1] + y * b[1], x * a[2] + y * b[2])


@inner
def apply(m: Array, i: int, x: Vector) -> Vector:
    """The matrix of nine entries from place i times x."""
    return (
        m[i] * x[0] + m[i + 1] * x[1] + m[i + 2] * x[2],
        m[i + 3] * x[0] + m[i + 4] * x[1] + m[i + 5] * x[2],
        m[i + 6] * x[0] + m[i + 7] * x[1] + m[i + 8] * x[2],
    )


@inner
def apply_transposed(m: Array, i: int, x: Vector) -> Vector:
    """Its transpose times x."""
    return (
        m[i] * x[0] + m[i + 3] * x[1] + m[i + 6] * x[2],
        m[i + 1] * x[0] + m[i + 4] * x[1] + m[i + 7] * x[2],
        m[i + 2] * x[0] + m[i + 5] * x[1] + m[i + 8] * x[2],
    )


@inner
def multiply(a: Array, i: int, b: Array, j: int, out: Array, o: int) -> None:
    """Write the product of two matrices of nine entries."""
    for r in range(3):
        for c in range(3):
            out[o + 3 * r + c] = (
                a[i + 3 * r] * b[j + c] + a[i + 3 * r + 1] * b[j + 3 + c] + a[i + 3 * r + 2] * b[j + 6 + c]
            )
