"""Newton's system V·d = −F of complementarity equations, without the variables that decouple.

    V = D_a + D_b·A,   D_a = z_i/s_i − 1,   D_b = w_i/s_i − 1,   s_i = √(z_i² + w_i²)      (1)

If z ≪ w, D_b vanishes and row i contains z_i alone. Near a solution the system keeps only the variables with
z_i > 0.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.linalg.small_lu import back_substitute, factorise_in_place
from corekit.linalg.vectors import copy_vector

__all__ = ["complete_increment", "reduce_system"]

DECOUPLED = 1e-15
"""Magnitude of D_b below which row i of V contains z_i alone."""


@compiled
def reduce_system(
    slopes: Array, z: Array, w: Array, values: Array, coupled: IntArray, reduced_rhs: Array, matrix: Array,
    increment: Array,
) -> int:  # fmt: skip
    """Compute d_i of the variables that decouple, and the reduced system V·d = −F of the others; return their number k.

    Rows with |D_b| ≤ `DECOUPLED`, z ≪ w, determine d_i = −F_i/D_a alone: the omitted term D_b·A is below the
    rounding of the others. Near a solution few variables stay coupled.

    Args:
        coupled: indices of the others, shape (n,), out.
        reduced_rhs, matrix: −F and V of them, lengths ≥ k and ≥ k², out.
        increment: d of the decoupled ones, out; zero elsewhere.
    """
    n, k = values.size, 0
    for i in range(n):
        size = np.sqrt(z[i] * z[i] + w[i] * w[i])
        if size > 0.0 and 1.0 - w[i] / size <= DECOUPLED:
            increment[i] = -values[i] / (z[i] / size - 1.0)
        else:
            coupled[k] = i
            increment[i] = 0.0
            k += 1
    for p in range(k):
        row = slopes[coupled[p]]
        total = -values[coupled[p]]
        for j in range(n):
            total -= row[j] * increment[j]
        reduced_rhs[p] = total
        for q in range(k):
            matrix[p * k + q] = row[coupled[q]]
    return k


@compiled
def complete_increment(
    values: Array, gradient: Array, k: int, reduced_matrix: Array, shift: float, lu: Array, reduced_rhs: Array,
    order: IntArray, coupled: IntArray, increment: Array,
) -> float:  # fmt: skip
    """Complete d of (V − μ·I)·d = −F after `reduce_system`; return ∇Ψ·d, or 0 if d does not descend enough.

    Enough is ∇Ψ·d ≤ −ρ·‖d‖^p, ρ = 1e-8, p = 2.1.

    Args:
        shift: μ, of the coupled variables; those that decouple have D_a = −1 already.
    """
    n = values.size
    copy_vector(reduced_matrix, lu[: k * k])
    reduced = lu[: k * k].reshape(k, k)
    for p in range(k):
        reduced[p, p] -= shift
    if not factorise_in_place(reduced, order[:k]):
        return 0.0
    solution = reduced_rhs[n : n + k]
    for p in range(k):
        solution[p] = reduced_rhs[order[p]]
    back_substitute(reduced, solution)
    for p in range(k):
        increment[coupled[p]] = solution[p]
    slope, square = 0.0, 0.0
    for i in range(n):
        slope += gradient[i] * increment[i]
        square += increment[i] * increment[i]
    if square < np.inf and slope <= -1e-8 * square**1.05:
        return slope
    return 0.0
