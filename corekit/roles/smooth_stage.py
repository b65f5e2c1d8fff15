"""Newton's method for one stage of the smooth dynamics, for integrators whose stages are solved one after the other.

The acceleration w of a stage is that of the state which it leads to,

    w = a(q(w), v(w), t),   ∂v/∂w = c_v,   ∂δ/∂w = c_q                                    (1)
    ((1 + σ)·M + c_v·D + c_q·K)·Δ = f + J_bᵀλ − M·w,   w ← w + Δ                           (2)

with δ the displacement by which q moves; c_v = γ·h and c_q = γ²·h² for the diagonal γ of a Runge–Kutta scheme. Where
the matrix of (2) is not positive definite, σ = 1, 4, 16, … makes it so.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.integrator import System
from corekit.roles.stage_solver import surface_speed
from corekit.roles.steps import DEFAULT_TOLERANCE

__all__ = ["solve_smooth_stage"]

_LARGEST_SHIFT = 1e12


def solve_smooth_stage(
    system: System,
    place: Callable[[Array, State], None],
    trial: State,
    acceleration: Array,
    damping_factor: float,
    stiffness_factor: float,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    max_iterations: int = 30,
) -> SolveInfo:
    """Solve (1) by (2): write w, and the state that it leads to.

    Args:
        place: writes q, v, aux and time of a state that an acceleration leads to.
        trial: where it writes.
        acceleration: a guess, which w replaces, shape (nv,).
        damping_factor, stiffness_factor: c_v [s], c_q [s²].
        tolerance: of the last change of v, relative to the speeds of the step (`System.error_bound`).
        max_iterations: linear solves.
    """
    increment, residual = np.zeros(system.nv), 0.0
    for iteration in range(1, max_iterations + 1):
        place(acceleration, trial)
        shift, found = 0.0, None
        while found is None and shift < _LARGEST_SHIFT:
            found = system.smooth.compute_acceleration_increment(
                trial, acceleration, damping_factor, stiffness_factor, increment, shift
            )
            shift = max(1.0, 4.0 * shift)
        if found is None:
            return SolveInfo(Status.SINGULAR, iteration, answered_by="factorisation")
        residual, change = found, damping_factor * surface_speed(system, increment)
        acceleration += increment
        if not np.isfinite(change):
            return SolveInfo(Status.NON_FINITE, iteration, answered_by="factorisation")
        if change <= system.error_bound(trial.v, tolerance):
            place(acceleration, trial)
            residuals = Residuals(equation=damping_factor * residual)
            return SolveInfo(Status.CONVERGED, iteration, residuals, "factorisation")
    residuals = Residuals(equation=damping_factor * residual)
    return SolveInfo(Status.ITERATION_LIMIT, max_iterations, residuals, "factorisation")
