"""Lemke's method with refinement, as an LCP solver."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.linalg.vectors import copy_vector
from corekit.roles.component import BuildContext
from corekit.roles.problem import LCPProblem, LCPSolver
from corekit_complementarity.basis import basic_solution
from corekit_complementarity.config import LemkeConfig
from corekit_complementarity.pivoting import LIMIT, RAY, lemke_path
from corekit_complementarity.residual import natural_residual

__all__ = ["Lemke"]

GOLDEN = 0.6180339887498949

REFINEMENT_THRESHOLD = 1e-3
"""Residual, relative to the tolerance, below which the end of the path needs no recomputation from A."""

FRICTION_COVER = 10.0
"""Entries of the first covering vector for the rows of friction; the others are 1."""


@compiled
def solve_by_pivoting(
    matrix: Array, vector: Array, row_scale: Array, column_scale: Array, tolerance: float, floats: Array,
    integers: IntArray, max_pivots: int, attempts: int, pivot_tolerance: float, tie_tolerance: float,
    contacts: int, directions: int, z: Array,
) -> tuple[int, int, float]:  # fmt: skip
    """Follow Lemke's path for several covering vectors, and recompute its end from A.

    The first covering vector is 1 but for the friction rows of contacts. Large entries there make normal
    impulses alone determine most of the path; friction enters at its end, which saves a quarter of the
    pivots. Later vectors vary over a factor of two in a fixed irregular pattern, 1 + frac(i·attempt·golden
    ratio), and give another path if rounding spoiled the first.

    Args:
        contacts, directions: the first variables are those of the contacts, (λ_n, β₁…β_r, γ) each.
        floats: workspace, length ≥ 4·(n + 1)·(n + 4).
        integers: workspace, length ≥ 9n + 4.
        z: out: the z of smallest residual of all attempts.
    Returns:
        Outcome of the last attempt, pivots of all attempts, natural residual of z in physical units.
    """
    n = vector.size
    ends = n * (n + 1), (2 * n + 1) * (n + 1), (4 * n + 1) * (n + 1)
    transposed = floats[: ends[0]].reshape(n + 1, n)
    inverse = floats[ends[0] : ends[1]].reshape(n + 1, n + 1)
    square, remainder = floats[ends[1] : ends[2]], floats[ends[2] :]
    covering, trial, workspace, path_floats = (
        remainder[:n],
        remainder[n : 2 * n],
        remainder[2 * n : 3 * n],
        remainder[3 * n :],
    )
    order, support, path_integers = integers[:n], integers[n : 2 * n], integers[2 * n :]

    z[:] = 0.0
    best = natural_residual(matrix, vector, row_scale, column_scale, z, support)
    outcome, pivots = LIMIT, 0
    for attempt in range(attempts):
        for i in range(n):
            covering[i] = 1.0 + ((i + 1) * attempt * GOLDEN) % 1.0
        for c in range(contacts if attempt == 0 else 0):
            first = c * (directions + 2) + 1
            covering[first : first + directions] = FRICTION_COVER
        outcome, pivot_count, basic_count = lemke_path(
            matrix, vector, covering, transposed, inverse, square, path_floats, path_integers, max_pivots,
            pivot_tolerance, tie_tolerance, trial,
        )  # fmt: skip
        pivots += pivot_count
        error = natural_residual(matrix, vector, row_scale, column_scale, trial, support)
        if error < best:
            best = error
            copy_vector(trial, z)
        if outcome != RAY and error > REFINEMENT_THRESHOLD * tolerance:
            active, k = path_integers, 0
            for p in range(basic_count):
                if active[p] < n:
                    active[k] = active[p]
                    k += 1
            lu = square[: k * k].reshape(k, k)
            if basic_solution(matrix, vector, active[:k], lu, order[:k], workspace[:k], 1, trial):
                error = natural_residual(matrix, vector, row_scale, column_scale, trial, support)
                if error < best:
                    best = error
                    copy_vector(trial, z)
        if best <= tolerance:
            break
    for i in range(n if not best <= tolerance else 0):
        for j in range(n):
            if not abs(matrix[i, j]) < np.inf:
                best = np.inf
    return outcome, pivots, best


@final
class Lemke(LCPSolver):
    """Lemke's complementary pivoting with lexicographic ties, then one exact solve of the final basis.

    Solves every problem with a copositive-plus or P matrix that has a solution; frictional contact problems
    are of the first kind. Exact to rounding; it cannot use a guess. On a ray z is the almost complementary
    point of smallest residual, and the status is RAY.

    Args:
        config: pivot limit, attempts, tolerances.
        context: not needed.
    """

    def __init__(self, config: LemkeConfig, context: BuildContext | None = None) -> None:
        self._config = config
        self._floats = np.empty(0)
        self._integers = np.empty(0, dtype=np.int64)

    def solve(self, problem: LCPProblem, z: Array) -> SolveInfo:
        """Write the solution; see `LCPSolver.solve`."""
        n = z.size
        if self._integers.size < 9 * n + 4:
            self._floats = np.empty(4 * (n + 1) * (n + 4))
            self._integers = np.empty(9 * n + 4, dtype=np.int64)
        config, blocks = self._config, problem.contact_problem
        outcome, pivots, residual = solve_by_pivoting(
            problem.matrix,
            problem.vector,
            problem.row_scale,
            problem.column_scale,
            problem.tolerance,
            self._floats,
            self._integers,
            config.max_iterations,
            config.attempts,
            config.pivot_tolerance,
            config.tie_tolerance,
            0 if blocks is None else blocks.friction.size,
            0 if blocks is None else blocks.directions.shape[2],
            z,
        )
        return SolveInfo(_status(outcome, residual, problem.tolerance), pivots, Residuals(normal=residual))


def _status(outcome: int, residual: float, tolerance: float) -> Status:
    if residual <= tolerance:
        return Status.CONVERGED
    if not np.isfinite(residual):
        return Status.NON_FINITE
    if outcome == RAY:
        return Status.RAY
    return Status.ITERATION_LIMIT if outcome == LIMIT else Status.INACCURATE
