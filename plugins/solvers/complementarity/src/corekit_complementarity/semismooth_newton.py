"""Semismooth Newton on Fischer–Burmeister equations, inside a Levenberg–Marquardt trust region.

w = A·z + b, z ≥ 0, w ≥ 0, zᵀw = 0 are the n equations

    F_i(z) = φ(z_i, w_i) = √(z_i² + w_i²) − z_i − w_i = 0,     Ψ = ½‖F‖²                    (1)

φ is not differentiable at (0, 0) only, Ψ is everywhere: ∇Ψ = Vᵀ·F with the generalised Jacobian

    V = D_a + D_b·A,   D_a = z_i/s_i − 1,   D_b = w_i/s_i − 1,   s_i = √(z_i² + w_i²)      (2)

where at s_i = 0 the point (z_i, w_i)/s_i may be any of the unit circle; the diagonal, 1/√2, is taken.
A step is Newton's, V·d = −F, where it is a descent direction worth the name,

    ∇Ψ·d ≤ −ρ·‖d‖^p,   ρ = 1e-8,  p = 2.1                                                  (3)

and a fraction of it lowers Ψ below the largest of the last five values (Armijo), else that of

    min ‖V·d + F‖² + λ·‖d‖²                                                                (4)

by Householder QR of [V; √λ·I], so that V's condition number is not squared. λ follows the ratio of the
actual to the predicted decrease: above ¾ it falls tenfold, below ¼ it grows fourfold, below 1e-4 the step is
refused. With redundant contacts V is singular at solutions; (4) then still converges, to a nearby one.
Newton's step and (4) are of the variables alone that are not settled (`newton_system`).

Source: De Luca, Facchinei, Kanzow (1996), "A semismooth equation approach to the solution of nonlinear
complementarity problems", Mathematical Programming 75; Facchinei, Pang (2003), chapter 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext, Memory
from corekit.roles.problem import LCPProblem, LCPSolver
from corekit_complementarity.config import SemismoothNewtonConfig
from corekit_complementarity.copying import copy
from corekit_complementarity.damped import damped_step
from corekit_complementarity.newton_system import newton_step, settle
from corekit_complementarity.residual import natural_residual

__all__ = ["SemismoothNewton"]

CONVERGED, LIMIT, STATIONARY, NON_FINITE = 0, 1, 2, 3
"""How a start ended."""

MEMORY = 5
"""Values of Ψ the line search compares with."""

PATIENCE, HOPE = 20, 0.9
"""A start is given up when Ψ is not below HOPE times what it was PATIENCE iterations ago."""

GOLDEN = 0.6180339887498949


@compiled(fastmath={"reassoc", "contract"})  # sums in any order, nan and inf kept
def equations(matrix: Array, vector: Array, z: Array, w: Array, values: Array) -> float:
    """Write w and F of (1); returns Ψ."""
    n = z.size
    merit = 0.0
    for i in range(n):
        total = vector[i]
        for j in range(n):
            total += matrix[i, j] * z[j]
        w[i] = total
        sum_of_both = z[i] + total
        size = np.sqrt(z[i] * z[i] + total * total)
        # where both are positive the difference cancels: −2·z·w/(s + z + w) is the same
        values[i] = -2.0 * z[i] * total / (size + sum_of_both) if sum_of_both > 0.0 else size - sum_of_both
        merit += 0.5 * values[i] * values[i]
    return merit


@compiled
def jacobian(matrix: Array, z: Array, w: Array, values: Array, jacobian_out: Array, gradient: Array) -> None:
    """Write V of (2) and ∇Ψ = Vᵀ·F."""
    n = z.size
    gradient[:] = 0.0
    for i in range(n):
        size = np.sqrt(z[i] * z[i] + w[i] * w[i])
        from_z, from_w = np.sqrt(0.5) - 1.0, np.sqrt(0.5) - 1.0
        if size > 0.0:
            from_z, from_w = z[i] / size - 1.0, w[i] / size - 1.0
        row = jacobian_out[i]
        for j in range(n):
            row[j] = from_w * matrix[i, j]
        row[i] += from_z
        for j in range(n):
            gradient[j] += row[j] * values[i]


@compiled
def line_search(
    matrix: Array,
    vector: Array,
    z: Array,
    step: Array,
    slope: float,
    bound: float,
    trial: Array,
    trial_w: Array,
    trial_values: Array,
) -> float:
    """Halve Newton's step until Ψ ≤ bound + 1e-4·t·∇Ψ·d; returns Ψ there, or infinity after seven halvings.

    `trial`, `trial_w` and `trial_values` are z, w and F at the end, as in `trust_region`.
    """
    length = 1.0
    for _ in range(8):
        for i in range(z.size):
            trial[i] = z[i] + length * step[i]
        merit = equations(matrix, vector, trial, trial_w, trial_values)
        if merit <= bound + 1e-4 * length * slope:
            return merit
        length *= 0.5
    return np.inf


@compiled
def trust_region(
    matrix: Array,
    vector: Array,
    z: Array,
    values: Array,
    slopes: Array,
    merit: float,
    damping: float,
    k: int,
    left: Array,
    right: Array,
    rest: IntArray,
    stack: Array,
    step: Array,
    trial: Array,
    trial_w: Array,
    trial_values: Array,
) -> tuple[float, float]:
    """Step (4) of what `settle` left, with λ raised until it is accepted; returns Ψ there and the next λ.

    Ψ is infinite if none is.
    """
    n = z.size
    reduced, work = left[: k * k].reshape(k, k), stack[: 2 * k * (k + 2)].reshape(k + 2, 2 * k)
    lacks, found = right[n : n + k], trial[:k]
    for p in range(k):
        lacks[p] = -right[p]
    for _ in range(20):
        damping = max(damping, 1e-20)
        if not damped_step(reduced, lacks, damping, work, found):
            damping *= 8.0
            continue
        for p in range(k):
            step[rest[p]] = found[p]
        predicted = 0.0
        for i in range(n):
            linear = values[i]
            for j in range(n):
                linear += slopes[i, j] * step[j]
            predicted += 0.5 * (values[i] * values[i] - linear * linear)
            trial[i] = z[i] + step[i]
        lower = equations(matrix, vector, trial, trial_w, trial_values)
        ratio = (merit - lower) / predicted if predicted > 0.0 else -1.0
        if ratio > 0.75:
            return lower, 0.1 * damping
        if ratio >= 0.25:
            return lower, damping
        if ratio >= 1e-4:
            return lower, 4.0 * damping
        damping *= 8.0
    return np.inf, damping


@compiled
def from_start(
    matrix: Array,
    vector: Array,
    row_scale: Array,
    column_scale: Array,
    tolerance: float,
    max_iterations: int,
    damped: bool,
    numbers: Array,
    indices: IntArray,
    z: Array,
) -> tuple[int, int, float]:
    """Iterate from z, in place; z ends at the point of least natural residual that was met.

    Args:
        damped: whether (4) is tried where Newton's step is of no use; else the start ends there.
        numbers: work, length ≥ n·(4n + 14).
        indices: work, length ≥ 2n.
    Returns:
        How it ended, iterations, the natural residual of z in physical units.
    """
    n = z.size
    stack = numbers[: 2 * n * (n + 2)]
    slope_matrix = numbers[2 * n * (n + 2) : n * (3 * n + 4)].reshape(n, n)
    lu = numbers[: n * n]  # Newton's and the damped step never need their work at once
    left, rest = numbers[n * (3 * n + 4) : n * (4 * n + 4)], numbers[n * (4 * n + 4) :]
    w, values, gradient = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n]
    step, trial, best = rest[3 * n : 4 * n], rest[4 * n : 5 * n], rest[5 * n : 6 * n]
    trial_w, trial_values, right = rest[6 * n : 7 * n], rest[7 * n : 8 * n], rest[8 * n : 10 * n]
    order, support = indices[:n], indices[n : 2 * n]
    recent, earlier = np.empty(MEMORY), np.empty(PATIENCE)
    earlier[:] = np.inf

    merit = equations(matrix, vector, z, w, values)
    recent[:] = merit
    copy(z, best)
    best_residual = np.inf
    damping = min(1e-2, merit)
    ending, iterations = LIMIT, 0
    while True:
        for i in range(n):
            trial[i] = max(z[i], 0.0)
        residual = natural_residual(matrix, vector, row_scale, column_scale, trial, support)
        if residual < best_residual:
            best_residual = residual
            copy(trial, best)
        if not merit < np.inf:
            ending = NON_FINITE
            break
        if best_residual <= tolerance:
            ending = CONVERGED
            break
        if iterations >= max_iterations:
            break
        if merit > HOPE * earlier[iterations % PATIENCE]:
            ending = STATIONARY
            break
        earlier[iterations % PATIENCE] = merit
        iterations += 1
        jacobian(matrix, z, w, values, slope_matrix, gradient)
        bound = recent[0]
        for i in range(1, MEMORY):
            bound = max(bound, recent[i])
        k = settle(slope_matrix, z, w, values, support, right, left, step)
        slope = newton_step(values, gradient, k, left, lu, right, order, support, step)
        lower = np.inf
        if slope < 0.0:
            lower = line_search(matrix, vector, z, step, slope, bound, trial, trial_w, trial_values)
        if not lower < np.inf and damped:
            k = settle(slope_matrix, z, w, values, support, right, left, step)
            lower, damping = trust_region(
                matrix,
                vector,
                z,
                values,
                slope_matrix,
                merit,
                damping,
                k,
                left,
                right,
                support,
                stack,
                step,
                trial,
                trial_w,
                trial_values,
            )
        if not lower < np.inf:
            ending = STATIONARY
            break
        merit = lower
        copy(trial, z)
        copy(trial_w, w)
        copy(trial_values, values)
        recent[iterations % MEMORY] = merit
    copy(best, z)
    return ending, iterations, best_residual


@compiled
def solve_from_starts(
    matrix: Array,
    vector: Array,
    row_scale: Array,
    column_scale: Array,
    tolerance: float,
    max_iterations: int,
    starts: int,
    interior: float,
    numbers: Array,
    indices: IntArray,
    z: Array,
) -> tuple[int, int, float]:
    """Iterate from the guess, then from z = 0, then from scattered points, until one start converges.

    A guess of exact zeros and complements may lie on the points where φ has no derivative. Where Newton's steps from
    there are of no use it is pushed into the interior, z ← max(z, interior·max z). The scattered points are
    max(−b, ‖b‖∞·10⁻ᵏ)·frac(…).

    Returns:
        How the best start ended, iterations of all, the natural residual of z.
    """
    n = z.size
    guess, best = numbers[:n], numbers[n : 2 * n]
    work = numbers[2 * n :]
    copy(z, guess)
    largest, size = 0.0, 0.0
    for i in range(n):
        largest = max(largest, z[i])
        size = max(size, abs(vector[i]))
    warm = 0.0 < largest < np.inf
    best[:] = 0.0
    best_residual, best_ending, total = np.inf, STATIONARY, 0
    for start in range(-1 if warm else 1, 1 + starts):
        for i in range(n):
            if start == -1:
                z[i] = guess[i]
            elif start == 0:
                z[i] = max(guess[i], interior * largest)
            elif start == 1:
                z[i] = 0.0
            else:
                z[i] = size * (((i + 1) * start * GOLDEN) % 1.0) * 10.0 ** (2 - start)
        ending, iterations, residual = from_start(
            matrix, vector, row_scale, column_scale, tolerance, max_iterations, start >= 0, work, indices, z
        )
        total += iterations
        if residual < best_residual or start <= 1:
            best_residual, best_ending = min(residual, best_residual), ending
            if residual <= best_residual:
                copy(z, best)
        if best_residual <= tolerance:
            break
    copy(best, z)
    return best_ending, total, best_residual


@final
class SemismoothNewton(LCPSolver):
    """Newton's method on the Fischer–Burmeister equations, quadratic near a solution, globalised.

    Starts at the guess, then at the guess moved off the exact zeros, then cold from z = 0, then from a few
    scattered points. Says CONVERGED by the natural residual in physical units alone. A point where ∇Ψ = 0
    without being a solution is INACCURATE: contact matrices are not P₀, such points exist.

    Args:
        config: limits, starts.
        context: not needed.
    """

    def __init__(self, config: SemismoothNewtonConfig, context: BuildContext | None = None) -> None:
        self._config = config
        self._numbers = np.empty(0)
        self._indices = np.empty(0, dtype=np.int64)

    def solve(self, problem: LCPProblem, z: Array) -> SolveInfo:
        """Write the solution or the best point met; see `LCPSolver.solve`."""
        n, config = z.size, self._config
        if self._indices.size < 2 * n:
            self._numbers = np.empty(n * (4 * n + 16))
            self._indices = np.empty(2 * n, dtype=np.int64)
        ending, iterations, residual = solve_from_starts(
            problem.matrix,
            problem.vector,
            problem.row_scale,
            problem.column_scale,
            problem.tolerance,
            config.max_iterations,
            config.starts,
            config.interior,
            self._numbers,
            self._indices,
            z,
        )
        return SolveInfo(_STATUS[ending], iterations, Residuals(normal=residual))

    def memory(self) -> Memory:
        """Nothing: the guess comes with the problem."""
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Nothing to take over."""


_STATUS = {
    CONVERGED: Status.CONVERGED,
    LIMIT: Status.ITERATION_LIMIT,
    STATIONARY: Status.INACCURATE,
    NON_FINITE: Status.NON_FINITE,
}
