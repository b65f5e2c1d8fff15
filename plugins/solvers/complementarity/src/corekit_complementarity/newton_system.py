"""Newton's system V·d = −F of complementarity equations, without the variables that are settled.

    V = D_a + D_b·A,   D_a = z_i/s_i − 1,   D_b = w_i/s_i − 1,   s_i = √(z_i² + w_i²)      (1)

Where z ≪ w, D_b vanishes and the row is that of z_i alone. Near a solution that leaves as many variables as carry.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_complementarity.basis import back_substitute, factor_in_place
from corekit_complementarity.copying import copy

__all__ = ["newton_step", "settle"]

SETTLED = 1e-15
"""Size of D_b below which a row of V is that of z_i alone."""


@compiled
def settle(
    slopes: Array, z: Array, w: Array, values: Array, rest: IntArray, right: Array, matrix: Array, step: Array
) -> int:
    """Take the steps of settled variables, and write what is left of V·d = −F for the others; returns their number k.

    Rows with |D_b| ≤ `SETTLED`, z ≪ w, give their d_i at once, d_i = −F_i/D_a: what is dropped, D_b·A, is below the
    rounding of the others. Near a solution few variables are left.

    Args:
        rest: the others, shape (n,), written. right, matrix: −F and V of them, lengths ≥ k and ≥ k², written.
        step: d of the settled ones, written; zero elsewhere.
    """
    n, k = values.size, 0
    for i in range(n):
        size = np.sqrt(z[i] * z[i] + w[i] * w[i])
        if size > 0.0 and 1.0 - w[i] / size <= SETTLED:
            step[i] = -values[i] / (z[i] / size - 1.0)
        else:
            rest[k] = i
            step[i] = 0.0
            k += 1
    for p in range(k):
        row = slopes[rest[p]]
        total = -values[rest[p]]
        for j in range(n):
            total -= row[j] * step[j]
        right[p] = total
        for q in range(k):
            matrix[p * k + q] = row[rest[q]]
    return k


@compiled
def newton_step(
    values: Array,
    gradient: Array,
    k: int,
    left: Array,
    lu: Array,
    right: Array,
    order: IntArray,
    rest: IntArray,
    step: Array,
) -> float:
    """Complete d of V·d = −F after `settle`; returns ∇Ψ·d, or 0 where d does not descend enough.

    Enough is ∇Ψ·d ≤ −ρ·‖d‖^p, ρ = 1e-8, p = 2.1.
    """
    n = values.size
    copy(left, lu[: k * k])
    reduced = lu[: k * k].reshape(k, k)
    if not factor_in_place(reduced, order[:k]):
        return 0.0
    solved = right[n : n + k]
    for p in range(k):
        solved[p] = right[order[p]]
    back_substitute(reduced, solved)
    for p in range(k):
        step[rest[p]] = solved[p]
    slope, square = 0.0, 0.0
    for i in range(n):
        slope += gradient[i] * step[i]
        square += step[i] * step[i]
    if square < np.inf and slope <= -1e-8 * square**1.05:
        return slope
    return 0.0
