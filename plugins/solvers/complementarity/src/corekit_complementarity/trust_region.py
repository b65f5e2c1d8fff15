"""Levenberg–Marquardt increments of Fischer–Burmeister equations, in a trust region.

    d = argmin ‖V·d + F‖² + λ·‖d‖²                                                          (1)

is the least-squares increment within a radius, of which λ is the multiplier. λ follows the ratio of the actual to the
predicted decrease of Ψ: above ¾ it falls tenfold, below ¼ it grows fourfold, and below 1e-4 the increment is rejected
and λ grows eightfold. Where V is singular, as at solutions with redundant contacts, (1) still has an answer, at the
cost of a QR of twice the rows for each λ that is tried.

Source: section V-A of the CUSP paper, which names it; Moré (1978), "The Levenberg–Marquardt algorithm: implementation
and theory", Lecture Notes in Mathematics 630.
"""

from __future__ import annotations

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_complementarity.damped import compute_damped_increment
from corekit_complementarity.equations import evaluate_equations

__all__ = ["FIRST_DAMPING", "search_trust_region"]

FIRST_DAMPING, LEAST_DAMPING, TRIALS = 1e-2, 1e-20, 20
"""λ of a start, if Ψ is not less, the least one, and how many are tried in an iteration."""


@compiled
def search_trust_region(
    matrix: Array, vector: Array, z: Array, values: Array, jacobian: Array, merit: float, damping: float, k: int,
    reduced_matrix: Array, reduced_rhs: Array, coupled: IntArray, workspace: Array, increment: Array, trial: Array,
    trial_w: Array, trial_values: Array,
) -> tuple[float, float]:  # fmt: skip
    """Raise λ until (1) of the reduced system is accepted; return Ψ there, infinite if none is, and the next λ.

    Args:
        values, jacobian, merit, damping: F and V at z, Ψ, λ.
        k, reduced_matrix, reduced_rhs, coupled, increment: as of `reduce_system`; d is completed.
        workspace: length ≥ 2·k·(k + 2).
        trial, trial_w, trial_values: z, w and F at the end, shape (n,), written.
    """
    n = z.size
    reduced, columns = (
        reduced_matrix[: k * k].reshape(k, k),
        workspace[: 2 * k * (k + 2)].reshape(k + 2, 2 * k),
    )
    residuals, solution = reduced_rhs[n : n + k], trial[:k]
    for p in range(k):
        residuals[p] = -reduced_rhs[p]
    for _ in range(TRIALS):
        damping = max(damping, LEAST_DAMPING)
        if not compute_damped_increment(reduced, residuals, damping, columns, solution):
            damping *= 8.0
            continue
        for p in range(k):
            increment[coupled[p]] = solution[p]
        predicted = 0.0
        for i in range(n):
            linear = values[i]
            for j in range(n):
                linear += jacobian[i, j] * increment[j]
            predicted += 0.5 * (values[i] * values[i] - linear * linear)
            trial[i] = z[i] + increment[i]
        trial_merit = evaluate_equations(matrix, vector, trial, trial_w, trial_values)
        ratio = (merit - trial_merit) / predicted if predicted > 0.0 else -1.0
        if ratio > 0.75:
            return trial_merit, 0.1 * damping
        if ratio >= 0.25:
            return trial_merit, damping
        if ratio >= 1e-4:
            return trial_merit, 4.0 * damping
        damping *= 8.0
    return np.inf, damping
