"""The Fischer–Burmeister equations of a linear complementarity problem and their generalised Jacobian.

F_i(z) = φ(z_i, w_i) = √(z_i² + w_i²) − z_i − w_i,   w = A·z + b,   Ψ = ½‖F‖²             (1)

V = D_a + D_b·A,   D_a = z_i/s_i − 1,   D_b = w_i/s_i − 1,   s_i = √(z_i² + w_i²)      (2)
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array

__all__ = ["compute_jacobian", "evaluate_equations"]


@compiled(fastmath={"reassoc", "contract"})  # reordered sums; nan and inf stay
def evaluate_equations(matrix: Array, vector: Array, z: Array, w: Array, values: Array) -> float:
    """Write w and F of (1); return Ψ."""
    n = z.size
    merit = 0.0
    for i in range(n):
        total = vector[i]
        for j in range(n):
            total += matrix[i, j] * z[j]
        w[i] = total
        sum_of_both = z[i] + total
        size = np.sqrt(z[i] * z[i] + total * total)
        # if both are positive, the difference cancels; −2·z·w/(s + z + w) is equal to it
        values[i] = -2.0 * z[i] * total / (size + sum_of_both) if sum_of_both > 0.0 else size - sum_of_both
        merit += 0.5 * values[i] * values[i]
    return merit


@compiled
def compute_jacobian(
    matrix: Array, z: Array, w: Array, values: Array, jacobian: Array, gradient: Array
) -> None:
    """Write V of (2) and ∇Ψ = Vᵀ·F."""
    n = z.size
    gradient[:] = 0.0
    for i in range(n):
        size = np.sqrt(z[i] * z[i] + w[i] * w[i])
        from_z, from_w = np.sqrt(0.5) - 1.0, np.sqrt(0.5) - 1.0
        if size > 0.0:
            from_z, from_w = z[i] / size - 1.0, w[i] / size - 1.0
        row = jacobian[i]
        for j in range(n):
            row[j] = from_w * matrix[i, j]
        row[i] += from_z
        for j in range(n):
            gradient[j] += row[j] * values[i]
