"""Projected Gauss–Seidel over the contacts of an LCP, or over its rows if it has no contacts."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext
from corekit.roles.problem import LCPProblem, LCPSolver
from corekit_complementarity.config import ProjectedGaussSeidelConfig
from corekit_complementarity.contact_sweeps import compute_impulses, compute_variables, sweep
from corekit_complementarity.residual import natural_residual

__all__ = ["ProjectedGaussSeidel"]


@compiled
def sweep_contacts(
    matrix: Array, vector: Array, row_scale: Array, column_scale: Array, delassus: Array,
    free_velocity: Array, friction: Array, directions: Array, lower: Array, upper: Array, tolerance: float,
    sweeps: int, check_every: int, relaxation: float, support: IntArray, z: Array,
) -> tuple[int, float]:  # fmt: skip
    """Sweep over contacts until the LCP's residual meets the tolerance; return sweep count and residual."""
    rows = free_velocity.size
    impulse, velocity = np.empty(rows), np.empty(rows)
    coefficients = np.zeros(directions.shape[2])
    compute_impulses(z, column_scale, directions, lower, upper, impulse)
    for b in range(lower.size):
        row = rows - lower.size + b
        impulse[row] = min(max(impulse[row], lower[b]), upper[b])
    sweep_count = 0
    while True:
        for i in range(rows):
            velocity[i] = free_velocity[i]
            for j in range(rows):
                velocity[i] += delassus[i, j] * impulse[j]
        compute_variables(impulse, velocity, column_scale, directions, lower, upper, coefficients, z)
        residual = natural_residual(matrix, vector, row_scale, column_scale, z, support)
        if residual <= tolerance or not np.isfinite(residual) or sweep_count >= sweeps:
            break
        for _ in range(min(check_every, sweeps - sweep_count)):
            check_signals()
            sweep(delassus, friction, directions, lower, upper, relaxation, coefficients, impulse, velocity)
            sweep_count += 1
    return sweep_count, residual


@compiled
def relax(matrix: Array, vector: Array, relaxation: float, z: Array) -> None:
    """One sweep  z_i ← max(0, z_i − ω·(A·z + b)_i/A_ii),  in place (projected successive over-relaxation).

    The diagonal must be positive, otherwise a row alone has no solution. Converges for symmetric positive
    definite A with 0 < ω < 2, and for diagonally dominant A.
    Source: Cottle, Pang, Stone (2009), "The Linear Complementarity Problem", section 5.2.
    """
    n = z.size
    for i in range(n):
        w = vector[i]
        for j in range(n):
            w += matrix[i, j] * z[j]
        z[i] = max(0.0, z[i] - relaxation * w / matrix[i, i])


@compiled
def sweep_rows(
    matrix: Array, vector: Array, row_scale: Array, column_scale: Array, tolerance: float, sweeps: int,
    check_every: int, relaxation: float, support: IntArray, z: Array,
) -> tuple[int, float]:  # fmt: skip
    """Sweep over rows until the residual meets the tolerance; return sweep count and residual."""
    sweep_count = 0
    while True:
        residual = natural_residual(matrix, vector, row_scale, column_scale, z, support)
        if residual <= tolerance or not np.isfinite(residual) or sweep_count >= sweeps:
            break
        for _ in range(min(check_every, sweeps - sweep_count)):
            check_signals()
            relax(matrix, vector, relaxation, z)
            sweep_count += 1
    return sweep_count, residual


@final
class ProjectedGaussSeidel(LCPSolver):
    """Sweeps over the contacts, each solved exactly with the others fixed.

    Works on the physical contacts behind the problem (`blocks`), never on the LCP's rows, whose friction
    slacks have a zero diagonal. The pyramid is that of the LCP, so the limit solves the same LCP. Converges
    linearly, slowly if many contacts constrain few degrees of freedom; always returns an approximation. Warm
    starts from the guess. Without contacts it relaxes row by row if the diagonal is positive; otherwise the
    status is SINGULAR.

    Args:
        config: sweeps, relaxation.
        context: not needed.
    """

    def __init__(self, config: ProjectedGaussSeidelConfig, context: BuildContext | None = None) -> None:
        self._config = config

    def solve(self, problem: LCPProblem, z: Array) -> SolveInfo:
        """Write the z of the last sweep; see `LCPSolver.solve`."""
        config, blocks = self._config, problem.contact_problem
        support = np.empty(z.size, dtype=np.int64)
        scales = problem.row_scale, problem.column_scale
        np.maximum(z, 0.0, out=z)
        if blocks is not None:
            sweeps, residual = sweep_contacts(
                problem.matrix, problem.vector, *scales, blocks.delassus, blocks.free, blocks.friction,
                blocks.directions, blocks.lower, blocks.upper, problem.tolerance, config.max_iterations,
                config.check_every, config.relaxation, support, z,
            )  # fmt: skip
        elif np.all(np.diagonal(problem.matrix) > 0.0):
            sweeps, residual = sweep_rows(
                problem.matrix, problem.vector, *scales, problem.tolerance, config.max_iterations,
                config.check_every, config.relaxation, support, z,
            )  # fmt: skip
        else:
            residual = natural_residual(problem.matrix, problem.vector, *scales, z, support)
            return SolveInfo(Status.SINGULAR, 0, Residuals(normal=residual))
        if residual <= problem.tolerance:
            status = Status.CONVERGED
        else:
            status = Status.ITERATION_LIMIT if np.isfinite(residual) else Status.NON_FINITE
        return SolveInfo(status, sweeps, Residuals(normal=residual))
