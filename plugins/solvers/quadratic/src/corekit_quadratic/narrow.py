"""Bands of half-width `NARROW`, as rigid chains have them, factorised and solved in registers.

The storage and the numbers are those of `skyline` (1). The partial sums of the next columns stay in
registers, whereas a loop over memory would wait for the entries that the last column has just written.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["NARROW", "factorise_narrow", "solve_narrow"]

NARROW = 5
"""Half-bandwidth: pins, telescoping joints and a contact between them couple rows up to five apart."""


@compiled
def factorise_narrow(m: int, band: int, min_pivot: float, size: Array, factor: Array) -> int:
    """Turn S into L·D·Lᵀ; return the number of rows with D ≤ `min_pivot`·size, which depend on earlier ones.

    Args:
        band: half-bandwidth of the storage; its columns past the last are zero, five at least.
    """
    dependent, p = 0, band + 1
    a0, a1, a2, a3, a4, a5 = factor[0], factor[1], factor[2], factor[3], factor[4], factor[5]
    b0, b1, b2, b3, b4 = factor[p], factor[p + 1], factor[p + 2], factor[p + 3], factor[p + 4]
    c0, c1, c2, c3 = factor[2 * p], factor[2 * p + 1], factor[2 * p + 2], factor[2 * p + 3]
    d0, d1, d2 = factor[3 * p], factor[3 * p + 1], factor[3 * p + 2]
    e0, e1, f0 = factor[4 * p], factor[4 * p + 1], factor[5 * p]
    for j in range(m):
        base, inverse = j * p, 0.0
        if a0 > min_pivot * size[j]:
            inverse = 1.0 / a0
        else:
            dependent += 1
        l1, l2, l3, l4, l5 = a1 * inverse, a2 * inverse, a3 * inverse, a4 * inverse, a5 * inverse
        factor[base], factor[base + 1], factor[base + 2] = inverse, l1, l2
        factor[base + 3], factor[base + 4], factor[base + 5] = l3, l4, l5
        base += p
        # column j updates the next five columns; one more entry of each is loaded
        b0, b1, b2, b3, b4 = b0 - l1 * a1, b1 - l1 * a2, b2 - l1 * a3, b3 - l1 * a4, b4 - l1 * a5
        c0, c1, c2, c3 = c0 - l2 * a2, c1 - l2 * a3, c2 - l2 * a4, c3 - l2 * a5
        d0, d1, d2 = d0 - l3 * a3, d1 - l3 * a4, d2 - l3 * a5
        e0, e1, f0 = e0 - l4 * a4, e1 - l4 * a5, f0 - l5 * a5
        a0, a1, a2, a3, a4, a5 = b0, b1, b2, b3, b4, factor[base + 5]
        b0, b1, b2, b3, b4 = c0, c1, c2, c3, factor[base + p + 4]
        c0, c1, c2, c3 = d0, d1, d2, factor[base + 2 * p + 3]
        d0, d1, d2 = e0, e1, factor[base + 3 * p + 2]
        e0, e1, f0 = f0, factor[base + 4 * p + 1], factor[base + 5 * p]
    return dependent


@compiled
def solve_narrow(m: int, band: int, factor: Array, x: Array) -> None:
    """x[:m] ← S⁻¹·x[:m]; the next five entries must be zero."""
    p = band + 1
    a, x1, x2, x3, x4 = x[0], x[1], x[2], x[3], x[4]
    for j in range(m):
        base = j * p
        x[j] = a * factor[base]
        x5 = x[j + 5]
        a, x1, x2, x3, x4 = (
            x1 - factor[base + 1] * a, x2 - factor[base + 2] * a, x3 - factor[base + 3] * a,
            x4 - factor[base + 4] * a, x5 - factor[base + 5] * a,
        )  # fmt: skip
    x1, x2, x3, x4, x5 = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(m - 1, -1, -1):
        base = j * p
        # the most recent value comes last, so that the other products need not wait for it
        a = x[j] - factor[base + 5] * x5 - factor[base + 4] * x4 - factor[base + 3] * x3
        a = a - factor[base + 2] * x2 - factor[base + 1] * x1
        x[j] = a
        x1, x2, x3, x4, x5 = a, x1, x2, x3, x4
