"""Semismooth Newton on Fischer–Burmeister equations, globalised by a shift that vanishes at the solution.

w = A·z + b, z ≥ 0, w ≥ 0, zᵀw = 0 are the n equations

    F_i(z) = φ(z_i, w_i) = √(z_i² + w_i²) − z_i − w_i = 0,     Ψ = ½‖F‖²                    (1)

φ is not differentiable at (0, 0) only, Ψ is everywhere: ∇Ψ = Vᵀ·F with the generalised Jacobian

    V = D_a + D_b·A,   D_a = z_i/s_i − 1,   D_b = w_i/s_i − 1,   s_i = √(z_i² + w_i²)      (2)

where at s_i = 0 the point (z_i, w_i)/s_i may be any of the unit circle; the code uses the diagonal, 1/√2. An
increment is Newton's with a shift,

    (V − μ·I)·d = −F,   μ = min(1, c·‖F‖)                                                  (3)

if it is a sufficient descent direction and a fraction of it lowers Ψ below the largest of the last five values
(Armijo):

    ∇Ψ·d ≤ −ρ·‖d‖^p,   ρ = 1e-8,  p = 2.1                                                  (4)

else μ grows tenfold. Where Ψ is small but V nearly singular, an increment that the last five values admit may raise
Ψ a million times, and whether the start comes back from there is a matter of rounding. So a start that ends without a
solution goes on from its best iterate with increments that lower Ψ in every iteration: a larger μ takes from d what it
has in the kernel of V, until it does.

As D_a and D_b are ≤ 0, the shift leads away from singularity: with A a P₀ matrix V − μ·I has an inverse for every
μ > 0. With redundant contacts V is singular at solutions; (3) then still converges, to a nearby one, and fast since μ
vanishes with F. From a guess, where ‖F‖ is small and V mostly singular, c = 1; else c = 1/100.
(3) is solved for the coupled variables alone (`newton_system`).

Two options take the place of the shift: the Levenberg–Marquardt increments of `trust_region`, and a line search along
Newton's own increments, μ = 0, which ends a start where that fails.

Source: De Luca, Facchinei, Kanzow (1996), "A semismooth equation approach to the solution of nonlinear
complementarity problems", Mathematical Programming 75; Facchinei, Pang (2003), chapter 9. The shift: Facchinei,
Kanzow (1999), "Beyond monotonicity in regularization methods for nonlinear complementarity problems", SIAM Journal on
Control and Optimization 37, there of A in place of V.
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
from corekit_complementarity.equations import compute_jacobian, evaluate_equations
from corekit_complementarity.newton_system import complete_increment, reduce_system
from corekit_complementarity.residual import natural_residual
from corekit_complementarity.trust_region import FIRST_DAMPING, search_trust_region

__all__ = ["SemismoothNewton"]

CONVERGED, LIMIT, STATIONARY, NON_FINITE = 0, 1, 2, 3
"""Outcomes of a start."""

LINE_SEARCH, SHIFTED, TRUST_REGION = 0, 1, 2
METHODS = "line-search", "shift", "trust-region"
"""Globalisations: their numbers in compiled code, and their names."""

MERIT_WINDOW, MONOTONE = 5, 1
"""Number of values of Ψ that the line search compares with: first, and from the best iterate of a failed start."""

STALL_WINDOW, STALL_RATIO = 20, 0.9
"""A start ends if Ψ is not below STALL_RATIO times its value STALL_WINDOW iterations earlier."""

SHIFT, WARM_SHIFT, SHIFT_FACTOR, SHIFTS = 1e-2, 1.0, 10.0, 7
"""c, also of a guess, by which μ grows, and how many are tried."""

PLAIN_FRACTIONS, SHIFTED_FRACTIONS = 8, 3
"""Fractions of an increment without and with shift, which a larger shift shortens too."""

GOLDEN = 0.6180339887498949


@compiled
def search_line(
    matrix: Array, vector: Array, z: Array, increment: Array, slope: float, bound: float, fractions: int,
    trial: Array, trial_w: Array, trial_values: Array,
) -> float:  # fmt: skip
    """Halve the increment until Ψ ≤ bound + 1e-4·t·∇Ψ·d; return Ψ there, or infinity if no fraction t has it.

    `trial`, `trial_w` and `trial_values` are z, w and F at the end.
    """
    length = 1.0
    for _ in range(fractions):
        for i in range(z.size):
            trial[i] = z[i] + length * increment[i]
        merit = evaluate_equations(matrix, vector, trial, trial_w, trial_values)
        if merit <= bound + 1e-4 * length * slope:
            return merit
        length *= 0.5
    return np.inf


@compiled
def search_shifts(
    matrix: Array, vector: Array, z: Array, values: Array, gradient: Array, shift: float, bound: float, k: int,
    reduced_matrix: Array, lu: Array, reduced_rhs: Array, order: IntArray, support: IntArray, increment: Array,
    trial: Array, trial_w: Array, trial_values: Array,
) -> float:  # fmt: skip
    """Raise μ of (3) until a fraction of its increment is accepted; return Ψ there, or infinity if none is.

    Args:
        shift: μ before its limit; 0: Newton's own increment alone.
        bound, trial, trial_w, trial_values: see `search_line`; the others as of `complete_increment`.
    """
    shifted, shift = shift > 0.0, min(1.0, shift)
    for _ in range(SHIFTS if shifted else 1):
        slope = complete_increment(
            values, gradient, k, reduced_matrix, shift, lu, reduced_rhs, order, support, increment
        )
        if slope < 0.0:
            merit = search_line(
                matrix, vector, z, increment, slope, bound, SHIFTED_FRACTIONS if shifted else PLAIN_FRACTIONS,
                trial, trial_w, trial_values,
            )  # fmt: skip
            if merit < np.inf:
                return merit
        shift *= SHIFT_FACTOR
    return np.inf


@compiled
def iterate_from(
    matrix: Array, vector: Array, row_scale: Array, column_scale: Array, tolerance: float,
    max_iterations: int, method: int, first_shift: float, window: int, floats: Array, integers: IntArray, z: Array,
) -> tuple[int, int, float]:  # fmt: skip
    """Iterate from z, in place; z ends at the iterate of least natural residual.

    Args:
        method: of the globalisation. first_shift: c of (3), if it is a shift.
        window: how many of the last values of Ψ a new one may reach; 1: it falls in every iteration.
        floats: workspace, length ≥ n·(3n + 10), and 2·n·(n + 2) more in a trust region.
        integers: workspace, length ≥ 2n.
    Returns:
        Outcome, iterations, the natural residual of z in physical units.
    """
    n = z.size
    lu, jacobian = floats[: n * n], floats[n * n : 2 * n * n].reshape(n, n)
    reduced_matrix, vectors = floats[2 * n * n : 3 * n * n], floats[3 * n * n :]
    w, values, gradient = vectors[:n], vectors[n : 2 * n], vectors[2 * n : 3 * n]
    increment, trial, best = vectors[3 * n : 4 * n], vectors[4 * n : 5 * n], vectors[5 * n : 6 * n]
    trial_w, trial_values, reduced_rhs = (
        vectors[6 * n : 7 * n],
        vectors[7 * n : 8 * n],
        vectors[8 * n : 10 * n],
    )
    order, support = integers[:n], integers[n : 2 * n]
    recent, earlier = np.empty(window), np.empty(STALL_WINDOW)
    earlier[:] = np.inf

    merit = evaluate_equations(matrix, vector, z, w, values)
    recent[:] = merit
    damping = min(FIRST_DAMPING, merit)
    copy_vector(z, best)
    best_residual = np.inf
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
        for i in range(1, window):
            bound = max(bound, recent[i])
        k = reduce_system(jacobian, z, w, values, support, reduced_rhs, reduced_matrix, increment)
        if method == TRUST_REGION:
            trial_merit, damping = search_trust_region(
                matrix, vector, z, values, jacobian, merit, damping, k, reduced_matrix, reduced_rhs, support,
                vectors[10 * n :], increment, trial, trial_w, trial_values,
            )  # fmt: skip
        else:
            trial_merit = search_shifts(
                matrix, vector, z, values, gradient, first_shift * np.sqrt(2.0 * merit), bound, k, reduced_matrix, lu,
                reduced_rhs, order, support, increment, trial, trial_w, trial_values,
            )  # fmt: skip
        if not trial_merit < np.inf:
            outcome = STATIONARY
            break
        merit = trial_merit
        copy_vector(trial, z)
        copy_vector(trial_w, w)
        copy_vector(trial_values, values)
        recent[iterations % window] = merit
    copy_vector(best, z)
    return outcome, iterations, best_residual


@compiled
def solve_from_starts(
    matrix: Array, vector: Array, row_scale: Array, column_scale: Array, tolerance: float,
    max_iterations: int, starts: int, interior: float, method: int, warm_start: bool, floats: Array,
    integers: IntArray, z: Array,
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
    has_guess = warm_start and 0.0 < largest < np.inf
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
        first_shift = (WARM_SHIFT if start == -1 else SHIFT) if method == SHIFTED else 0.0
        left = max_iterations
        for window in (MERIT_WINDOW, MONOTONE):
            outcome, iterations, residual = iterate_from(
                matrix, vector, row_scale, column_scale, tolerance, left, method, first_shift, window, workspace,
                integers, z,
            )  # fmt: skip
            left -= iterations
            if outcome != STATIONARY or method != SHIFTED:
                break
        total += max_iterations - left
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

    Starts at the guess, then at the guess shifted off the exact zeros, both unless `warm_start` is false, then cold
    from z = 0, then from a few scattered points. The status is CONVERGED only by the natural residual in physical
    units. A point where ∇Ψ = 0 without being a solution is INACCURATE: contact matrices are not P₀, so such exist.

    Args:
        config: limits, starts, globalisation.
        context: not needed.
    """

    def __init__(self, config: SemismoothNewtonConfig, context: BuildContext | None = None) -> None:
        self._config, self._method = config, METHODS.index(config.globalisation)
        self._floats = np.empty(0)
        self._integers = np.empty(0, dtype=np.int64)

    def solve(self, problem: LCPProblem, z: Array) -> SolveInfo:
        """Write the solution or the iterate of least residual; see `LCPSolver.solve`."""
        n, config = z.size, self._config
        if self._integers.size < 2 * n:
            self._floats = np.empty(n * (5 * n + 16 if self._method == TRUST_REGION else 3 * n + 12))
            self._integers = np.empty(2 * n, dtype=np.int64)
        outcome, iterations, residual = solve_from_starts(
            problem.matrix, problem.vector, problem.row_scale, problem.column_scale, problem.tolerance,
            config.max_iterations, config.starts, config.interior, self._method, config.warm_start, self._floats,
            self._integers, z,
        )  # fmt: skip
        return SolveInfo(_STATUS[outcome], iterations, Residuals(normal=residual))


_STATUS = {
    CONVERGED: Status.CONVERGED,
    LIMIT: Status.ITERATION_LIMIT,
    STATIONARY: Status.INACCURATE,
    NON_FINITE: Status.NON_FINITE,
}
