"""Projected Gauss–Seidel, on contacts where there are any, else on the rows of the LCP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext, Memory
from corekit.roles.problem import LCPProblem, LCPSolver
from corekit_complementarity.config import ProjectedGaussSeidelConfig
from corekit_complementarity.contact_sweeps import impulses_of, sweep, variables_of
from corekit_complementarity.residual import natural_residual
from corekit_complementarity.successive import relax

__all__ = ["ProjectedGaussSeidel"]


@compiled
def sweep_contacts(
    matrix: Array,
    vector: Array,
    row_scale: Array,
    column_scale: Array,
    delassus: Array,
    free: Array,
    friction: Array,
    directions: Array,
    lower: Array,
    upper: Array,
    tolerance: float,
    sweeps: int,
    check_every: int,
    relaxation: float,
    support: IntArray,
    z: Array,
) -> tuple[int, float]:
    """Sweep over contacts until the LCP's residual meets the tolerance; returns sweeps and residual."""
    rows = free.size
    impulse, velocity = np.empty(rows), np.empty(rows)
    share = np.zeros(directions.shape[2])
    impulses_of(z, column_scale, directions, lower, upper, impulse)
    for b in range(lower.size):
        row = rows - lower.size + b
        impulse[row] = min(max(impulse[row], lower[b]), upper[b])
    done = 0
    while True:
        for i in range(rows):
            velocity[i] = free[i]
            for j in range(rows):
                velocity[i] += delassus[i, j] * impulse[j]
        variables_of(impulse, velocity, column_scale, directions, lower, upper, share, z)
        residual = natural_residual(matrix, vector, row_scale, column_scale, z, support)
        if residual <= tolerance or not np.isfinite(residual) or done >= sweeps:
            break
        for _ in range(min(check_every, sweeps - done)):
            sweep(delassus, friction, directions, lower, upper, relaxation, share, impulse, velocity)
            done += 1
    return done, residual


@compiled
def sweep_rows(
    matrix: Array,
    vector: Array,
    row_scale: Array,
    column_scale: Array,
    tolerance: float,
    sweeps: int,
    check_every: int,
    relaxation: float,
    support: IntArray,
    z: Array,
) -> tuple[int, float]:
    """Sweep over rows until the residual meets the tolerance; returns sweeps and residual."""
    done = 0
    while True:
        residual = natural_residual(matrix, vector, row_scale, column_scale, z, support)
        if residual <= tolerance or not np.isfinite(residual) or done >= sweeps:
            break
        for _ in range(min(check_every, sweeps - done)):
            relax(matrix, vector, relaxation, z)
            done += 1
    return done, residual


@final
class ProjectedGaussSeidel(LCPSolver):
    """Sweeps over the contacts, each solved exactly with the others held.

    Works on the physical contacts behind the problem (`blocks`), never on the LCP's rows, whose friction
    slacks have a zero diagonal; the pyramid is that of the LCP, so the limit solves the same LCP.
    Converges linearly, slowly where many contacts share few degrees of freedom; always gives something.
    Warm starts from the guess. A problem without contacts is relaxed row by row if its diagonal is
    positive, and refused (SINGULAR) otherwise.

    Args:
        config: sweeps, relaxation.
        context: not needed.
    """

    def __init__(self, config: ProjectedGaussSeidelConfig, context: BuildContext | None = None) -> None:
        self._config = config

    def solve(self, problem: LCPProblem, z: Array) -> SolveInfo:
        """Write the best z found; see `LCPSolver.solve`."""
        config, blocks = self._config, problem.blocks
        support = np.empty(z.size, dtype=np.int64)
        scales = problem.row_scale, problem.column_scale
        np.maximum(z, 0.0, out=z)
        if blocks is not None:
            sweeps, residual = sweep_contacts(
                problem.matrix,
                problem.vector,
                *scales,
                blocks.delassus,
                blocks.free,
                blocks.friction,
                blocks.directions,
                blocks.lower,
                blocks.upper,
                problem.tolerance,
                config.max_iterations,
                config.check_every,
                config.relaxation,
                support,
                z,
            )
        elif np.all(np.diagonal(problem.matrix) > 0.0):
            sweeps, residual = sweep_rows(
                problem.matrix,
                problem.vector,
                *scales,
                problem.tolerance,
                config.max_iterations,
                config.check_every,
                config.relaxation,
                support,
                z,
            )
        else:
            residual = natural_residual(problem.matrix, problem.vector, *scales, z, support)
            return SolveInfo(Status.SINGULAR, 0, Residuals(normal=residual))
        if residual <= problem.tolerance:
            status = Status.CONVERGED
        else:
            status = Status.ITERATION_LIMIT if np.isfinite(residual) else Status.NON_FINITE
        return SolveInfo(status, sweeps, Residuals(normal=residual))

    def memory(self) -> Memory:
        """Nothing: the guess comes with the problem."""
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Nothing to take over."""
