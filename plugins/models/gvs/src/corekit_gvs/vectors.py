"""Three-vectors as tuples, the kernel's and places in arrays; 3 × 3 matrices as nine numbers in a row of an array."""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.geometry.vectors import Vector, add, cross, dot

__all__ = [
    "Vector", "add", "add_crossed", "add_rows", "apply", "apply_transposed", "combine", "compiled", "cross", "dot",
    "get", "inner", "multiply", "store", "subtract_crossed", "subtract_skew",
]  # fmt: skip

inner = compiled(no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""For functions that only compiled ones call: without a door to Python they compile faster."""


@inner
def get(a: Array, i: int) -> Vector:
    """Three entries from place i."""
    return (a[i], a[i + 1], a[i + 2])


@inner
def store(a: Array, i: int, x: Vector) -> None:
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


@inner
def add_crossed(x: Vector, source: Array, at: int, out: Array, to: int) -> None:
    """out += x̃·X for a matrix X of nine numbers."""
    for c in range(3):
        a, b, d = source[at + c], source[at + 3 + c], source[at + 6 + c]
        out[to + c] += x[1] * d - x[2] * b
        out[to + 3 + c] += x[2] * a - x[0] * d
        out[to + 6 + c] += x[0] * b - x[1] * a


@inner
def subtract_crossed(x: Vector, source: Array, at: int, out: Array, to: int) -> None:
    """out −= x̃·X for a matrix X of nine numbers."""
    for c in range(3):
        a, b, d = source[at + c], source[at + 3 + c], source[at + 6 + c]
        out[to + c] -= x[1] * d - x[2] * b
        out[to + 3 + c] -= x[2] * a - x[0] * d
        out[to + 6 + c] -= x[0] * b - x[1] * a


@inner
def subtract_skew(out: Array, to: int, x: Vector) -> None:
    """out −= x̃."""
    out[to + 1] += x[2]
    out[to + 2] -= x[1]
    out[to + 3] -= x[2]
    out[to + 5] += x[0]
    out[to + 6] += x[1]
    out[to + 7] -= x[0]


@inner
def add_rows(factor: float, X: Array, at: int, x: Array, i: int, out: Array, to: int) -> None:
    """out[to:to + 3] += factor·X·x[i:i + 3], column by column, for a matrix X of nine numbers."""
    for r in range(3):
        a, b, c = factor * X[at + 3 * r], factor * X[at + 3 * r + 1], factor * X[at + 3 * r + 2]
        for k in range(x.shape[1]):
            out[to + r, k] += a * x[i, k] + b * x[i + 1, k] + c * x[i + 2, k]
