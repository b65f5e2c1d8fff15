"""Jets: Taylor coefficients in t along the straight line q + t·v, up to order 2.

    x(t) = x[0] + x[1]·t + x[2]·t² + …;    x[1] is the rate at constant v, 2·x[2] the acceleration     (1)

Along that line d/dt is the directional derivative in q, so jets give J̇ and J̈ exactly, at the cost of
Cauchy products instead of products.

Scalar jets are the rows of one array (rows, ORDERS), vector jets those of one array (rows, ORDERS, 3), and
functions have row numbers as arguments: in compiled loops of this size, views would cost more than the arithmetic.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["ORDERS", "compose", "copy", "cross", "product", "rotate", "write"]

ORDERS = 3
"""Jets carry the orders 0, 1, 2."""


@compiled(forceinline=True)
def product(scalars: Array, x: int, y: int, order: int, out: int) -> None:
    """Row `out` becomes row x times row y; it is neither of them."""
    scalars[out, 0] = scalars[x, 0] * scalars[y, 0]
    if order > 0:
        scalars[out, 1] = scalars[x, 0] * scalars[y, 1] + scalars[x, 1] * scalars[y, 0]
    if order > 1:
        scalars[out, 2] = (
            scalars[x, 0] * scalars[y, 2] + scalars[x, 1] * scalars[y, 1] + scalars[x, 2] * scalars[y, 0]
        )


@compiled(forceinline=True)
def compose(table: Array, m: int, n: int, scalars: Array, u: int, order: int, out: int) -> None:
    """Row `out` becomes f(row u) for f = dᵐS_n/duᵐ; table[m + j, n] holds its j-th derivative."""
    scalars[out, 0] = table[m, n]
    if order > 0:
        scalars[out, 1] = table[m + 1, n] * scalars[u, 1]
    if order > 1:
        square = scalars[u, 1] * scalars[u, 1]
        scalars[out, 2] = table[m + 1, n] * scalars[u, 2] + 0.5 * table[m + 2, n] * square


@compiled(forceinline=True)
def write(vectors: Array, row: int, k: int, x: float, y: float, z: float) -> None:
    """Coefficient k of a row becomes (x, y, z)."""
    vectors[row, k, 0], vectors[row, k, 1], vectors[row, k, 2] = x, y, z


@compiled(forceinline=True)
def copy(vectors: Array, row: int, order: int, out: int) -> None:
    """Row `out` becomes the given row."""
    for k in range(order + 1):
        write(vectors, out, k, vectors[row, k, 0], vectors[row, k, 1], vectors[row, k, 2])


@compiled(forceinline=True)
def rotate(vectors: Array, axes: int, row: int, order: int, out: int) -> None:
    """Row `out` becomes R·(row), the columns of R standing in the rows axes … axes + 2; not in place."""
    if order == 0:  # the common case, without loops
        x, y, z = vectors[row, 0, 0], vectors[row, 0, 1], vectors[row, 0, 2]
        write(
            vectors,
            out,
            0,
            vectors[axes, 0, 0] * x + vectors[axes + 1, 0, 0] * y + vectors[axes + 2, 0, 0] * z,
            vectors[axes, 0, 1] * x + vectors[axes + 1, 0, 1] * y + vectors[axes + 2, 0, 1] * z,
            vectors[axes, 0, 2] * x + vectors[axes + 1, 0, 2] * y + vectors[axes + 2, 0, 2] * z,
        )
        return
    for k in range(order + 1):
        a = b = c = 0.0
        for j in range(k + 1):
            for axis in range(3):
                x = vectors[row, k - j, axis]
                a += vectors[axes + axis, j, 0] * x
                b += vectors[axes + axis, j, 1] * x
                c += vectors[axes + axis, j, 2] * x
        write(vectors, out, k, a, b, c)


@compiled(forceinline=True)
def cross(vectors: Array, x: int, y: int, order: int, factor: float, out: int) -> None:
    """Add factor·(row x) × (row y) to row `out`, which is neither of them."""
    if order == 0:
        a, b, c = vectors[x, 0, 0], vectors[x, 0, 1], vectors[x, 0, 2]
        d, e, f = vectors[y, 0, 0], vectors[y, 0, 1], vectors[y, 0, 2]
        vectors[out, 0, 0] += factor * (b * f - c * e)
        vectors[out, 0, 1] += factor * (c * d - a * f)
        vectors[out, 0, 2] += factor * (a * e - b * d)
        return
    for k in range(order + 1):
        for j in range(k + 1):
            a, b, c = vectors[x, j, 0], vectors[x, j, 1], vectors[x, j, 2]
            d, e, f = vectors[y, k - j, 0], vectors[y, k - j, 1], vectors[y, k - j, 2]
            vectors[out, k, 0] += factor * (b * f - c * e)
            vectors[out, k, 1] += factor * (c * d - a * f)
            vectors[out, k, 2] += factor * (a * e - b * d)
