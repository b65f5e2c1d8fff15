"""Semismooth Newton on Fischer–Burmeister equations, inside a Levenberg–Marquardt trust region.

w = A·z + b, z ≥ 0, w ≥ 0, zᵀw = 0 are the n equations

    F_i(z) = φ(z_i, w_i) = √(z_i² + w_i²) − z_i − w_i = 0,     Ψ = ½‖F‖²                    (1)

φ is not differentiable at (0, 0) only, Ψ is everywhere: ∇Ψ = Vᵀ·F with the generalised Jacobian

    V = D_a + D_b·A,   D_a = z_i/s_i − 1,   D_b = w_i/s_i − 1,   s_i = √(z_i² + w_i²)      (2)

where at s_i = 0 the point (z_i, w_i)/s_i may be any of the unit circle; the code uses the diagonal, 1/√2. An
increment is Newton's, V·d = −F, if it is a sufficient descent direction,

    ∇Ψ·d ≤ −ρ·‖d‖^p,   ρ = 1e-8,  p = 2.1                                                  (3)

and a fraction of it lowers Ψ below the largest of the last five values (Armijo), else that of

    min ‖V·d + F‖² + λ·‖d‖²                                                                (4)

by Householder QR of [V; √λ·I], which does not square V's condition number. λ follows the ratio of the actual
to the predicted decrease: above ¾ it falls tenfold, below ¼ it grows fourfold, below 1e-4 the increment is
rejected. With redundant contacts V is singular at solutions; (4) then still converges, to a nearby one.
Newton's increment and (4) solve only for the coupled variables (`newton_system`).

Source: De Luca, Facchinei, Kanzow (1996), "A semismooth equation approach to the solution of nonlinear
complementarity problems", Mathematical Programming 75; Facchinei, Pang (2003), chapter 9.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.linalg.vectors import copy_vector
from corekit.roles.component import BuildContext
from corekit.roles.problem import LCPProblem, LCPSolver
from corekit_complementarity.config import SemismoothNewtonConfig
from corekit_complementarity.damped import compute_damped_increment
from corekit_complementarity.newton_system import complete_increment, reduce_system
from corekit_complementarity.residual import natural_residual

__all__ = ["SemismoothNewton"]

CONVERGED, LIMIT, STATIONARY, NON_FINITE = 0, 1, 2, 3
"""Outcomes of a start."""

MERIT_WINDOW = 5
"""Number of values of Ψ that the line search compares with."""

STALL_WINDOW, STALL_RATIO = 20, 0.9
"""A start ends if Ψ is not below STALL_RATIO times its value STALL_WINDOW iterations earlier."""

GOLDEN = 0.6180339887498949


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


@compiled
def search_line(
    matrix: Array, vector: Array, z: Array, increment: Array, slope: float, bound: float, trial: Array,
    trial_w: Array, trial_values: Array,
) -> float:  # fmt: skip
    """Halve Newton's increment until Ψ ≤ bound + 1e-4·t·∇Ψ·d; return Ψ there, or infinity after seven halvings.

    `trial`, `trial_w` and `trial_values` are z, w and F at the end, as in `search_trust_region`.
    """
    length = 1.0
    for _ in range(8):
        for i in range(z.size):
            trial[i] = z[i] + length * increment[i]
        merit = evaluate_equations(matrix, vector, trial, trial_w, trial_values)
        if merit <= bound + 1e-4 * length * slope:
            return merit
        length *= 0.5
    return np.inf


@compiled
def search_trust_region(
    matrix: Array, vector: Array, z: Array, values: Array, jacobian: Array, merit: float, damping: float,
    k: int, reduced_matrix: Array, reduced_rhs: Array, coupled: IntArray, stack: Array, increment: Array,
    trial: Array, trial_w: Array, trial_values: Array,
) -> tuple[float, float]:  # fmt: skip
    """Compute increment (4) of the reduced system, raising λ until it is accepted; return Ψ and the next λ.

    Ψ is infinite if no increment is accepted.
    """
    n = z.size
    reduced, workspace = reduced_matrix[: k * k].reshape(k, k), stack[: 2 * k * (k + 2)].reshape(k + 2, 2 * k)
    residuals, solution = reduced_rhs[n : n + k], trial[:k]
    for p in range(k):
        residuals[p] = -reduced_rhs[p]
    for _ in range(20):
        damping = max(damping, 1e-20)
        if not compute_damped_increment(reduced, residuals, damping, workspace, solution):
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


@compiled
def iterate_from(
    matrix: Array, vector: Array, row_scale: Array, column_scale: Array, tolerance: float,
    max_iterations: int, damped: bool, floats: Array, integers: IntArray, z: Array,
) -> tuple[int, int, float]:  # fmt: skip
    """Iterate from z, in place; z ends at the iterate of least natural residual.

    Args:
        damped: whether to try (4) if Newton's increment fails; else the start ends there.
        floats: workspace, length ≥ n·(4n + 14).
        integers: workspace, length ≥ 2n.
    Returns:
        Outcome, iterations, the natural residual of z in physical units.
    """
    n = z.size
    stack = floats[: 2 * n * (n + 2)]
    jacobian = floats[2 * n * (n + 2) : n * (3 * n + 4)].reshape(n, n)
    lu = floats[: n * n]  # Newton's and the damped increment never need their workspaces at once
    reduced_matrix, vectors = floats[n * (3 * n + 4) : n * (4 * n + 4)], floats[n * (4 * n + 4) :]
    w, values, gradient = vectors[:n], vectors[n : 2 * n], vectors[2 * n : 3 * n]
    increment, trial, best = vectors[3 * n : 4 * n], vectors[4 * n : 5 * n], vectors[5 * n : 6 * n]
    trial_w, trial_values, reduced_rhs = (
        vectors[6 * n : 7 * n],
        vectors[7 * n : 8 * n],
        vectors[8 * n : 10 * n],
    )
    order, support = integers[:n], integers[n : 2 * n]
    recent, earlier = np.empty(MERIT_WINDOW), np.empty(STALL_WINDOW)
    earlier[:] = np.inf

    merit = evaluate_equations(matrix, vector, z, w, values)
    recent[:] = merit
    copy_vector(z, best)
    best_residual = np.inf
    damping = min(1e-2, merit)
    outcome, iterations = LIMIT, 0
    while True:
        check_signals()
        for i in range(n):
            trial[i] = max(z[i], 0.0)
        residual = natural_residual(matrix, vector, row_scale, column_scale, trial, support)
        if residual < best_residual:
            best_residual = residual
            copy_vector(trial, best)
        if not merit < np.inf:
            outcome = NON_FINITE
            break
        if best_residual <= tolerance:
            outcome = CONVERGED
            break
        if iterations >= max_iterations:
            break
        if merit > STALL_RATIO * earlier[iterations % STALL_WINDOW]:
            outcome = STATIONARY
            break
        earlier[iterations % STALL_WINDOW] = merit
        iterations += 1
        compute_jacobian(matrix, z, w, values, jacobian, gradient)
        bound = recent[0]
        for i in range(1, MERIT_WINDOW):
            bound = max(bound, recent[i])
        k = reduce_system(jacobian, z, w, values, support, reduced_rhs, reduced_matrix, increment)
        slope = complete_increment(
            values, gradient, k, reduced_matrix, lu, reduced_rhs, order, support, increment
        )
        trial_merit = np.inf
        if slope < 0.0:
            trial_merit = search_line(
                matrix, vector, z, increment, slope, bound, trial, trial_w, trial_values
            )
        if not trial_merit < np.inf and damped:
            k = reduce_system(jacobian, z, w, values, support, reduced_rhs, reduced_matrix, increment)
            trial_merit, damping = search_trust_region(
                matrix, vector, z, values, jacobian, merit, damping, k, reduced_matrix, reduced_rhs, support,
                stack, increment, trial, trial_w, trial_values,
            )  # fmt: skip
        if not trial_merit < np.inf:
            outcome = STATIONARY
            break
        merit = trial_merit
        copy_vector(trial, z)
        copy_vector(trial_w, w)
        copy_vector(trial_values, values)
        recent[iterations % MERIT_WINDOW] = merit
    copy_vector(best, z)
    return outcome, iterations, best_residual


@compiled
def solve_from_starts(
    matrix: Array, vector: Array, row_scale: Array, column_scale: Array, tolerance: float,
    max_iterations: int, starts: int, interior: float, damped: bool, floats: Array, integers: IntArray, z: Array,
) -> tuple[int, int, float]:  # fmt: skip
    """Iterate from the guess, then from z = 0, then from scattered points, until one start converges.

    A guess with exact zeros and complements may lie where φ has no derivative. If Newton's increments fail
    there, the guess is shifted into the interior, z ← max(z, interior·max z). The scattered points are
    max(−b, ‖b‖∞·10⁻ᵏ)·frac(…).

    Returns:
        Outcome of the best start, iterations of all starts, the natural residual of z.
    """
    n = z.size
    guess, best = floats[:n], floats[n : 2 * n]
    workspace = floats[2 * n :]
    copy_vector(z, guess)
    largest, size = 0.0, 0.0
    for i in range(n):
        largest = max(largest, z[i])
        size = max(size, abs(vector[i]))
    has_guess = 0.0 < largest < np.inf
    best[:] = 0.0
    best_residual, best_outcome, total = np.inf, STATIONARY, 0
    for start in range(-1, 1 + starts) if has_guess else range(1, 1 + max(1, starts)):
        for i in range(n):
            if start == -1:
                z[i] = guess[i]
            elif start == 0:
                z[i] = max(guess[i], interior * largest)
            elif start == 1:
                z[i] = 0.0
            else:
                z[i] = size * (((i + 1) * start * GOLDEN) % 1.0) * 10.0 ** (2 - start)
        outcome, iterations, residual = iterate_from(
            matrix, vector, row_scale, column_scale, tolerance, max_iterations, damped and start >= 0,
            workspace, integers, z,
        )  # fmt: skip
        total += iterations
        if residual < best_residual or start <= 1:
            best_residual, best_outcome = min(residual, best_residual), outcome
            if residual <= best_residual:
                copy_vector(z, best)
        if best_residual <= tolerance:
            break
    copy_vector(best, z)
    return best_outcome, total, best_residual


@final
class SemismoothNewton(LCPSolver):
    """Newton's method on the Fischer–Burmeister equations, quadratic near a solution, globalised.

    Starts at the guess, then at the guess shifted off the exact zeros, then cold from z = 0, then from a few
    scattered points. The status is CONVERGED only by the natural residual in physical units. A point where ∇Ψ
    = 0 without being a solution is INACCURATE: contact matrices are not P₀, so such points exist.

    Args:
        config: limits, starts.
        context: not needed.
    """

    def __init__(self, config: SemismoothNewtonConfig, context: BuildContext | None = None) -> None:
        self._config = config
        self._floats = np.empty(0)
        self._integers = np.empty(0, dtype=np.int64)

    def solve(self, problem: LCPProblem, z: Array) -> SolveInfo:
        """Write the solution or the iterate of least residual; see `LCPSolver.solve`."""
        n, config = z.size, self._config
        if self._integers.size < 2 * n:
            self._floats = np.empty(n * (4 * n + 16))
            self._integers = np.empty(2 * n, dtype=np.int64)
        outcome, iterations, residual = solve_from_starts(
            problem.matrix, problem.vector, problem.row_scale, problem.column_scale, problem.tolerance,
            config.max_iterations, config.starts, config.interior, config.trust_region, self._floats,
            self._integers, z,
        )  # fmt: skip
        return SolveInfo(_STATUS[outcome], iterations, Residuals(normal=residual))


_STATUS = {
    CONVERGED: Status.CONVERGED,
    LIMIT: Status.ITERATION_LIMIT,
    STATIONARY: Status.INACCURATE,
    NON_FINITE: Status.NON_FINITE,
}
