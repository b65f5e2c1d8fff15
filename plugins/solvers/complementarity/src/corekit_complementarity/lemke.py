"""Lemke's method with refinement, as an LCP solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext, Memory
from corekit.roles.problem import LCPProblem, LCPSolver
from corekit_complementarity.basis import basic_solution
from corekit_complementarity.config import LemkeConfig
from corekit_complementarity.copying import copy
from corekit_complementarity.pivoting import LIMIT, RAY, lemke_path
from corekit_complementarity.residual import natural_residual

__all__ = ["Lemke"]

GOLDEN = 0.6180339887498949

EXACT = 1e-3
"""Share of the tolerance below which the path's own end is as good as one recomputed from A."""

FRICTION_COVER = 10.0
"""Entries of the first covering vector for the rows of friction, beside 1 for the others."""


@compiled
def solve_by_pivoting(
    matrix: Array,
    vector: Array,
    row_scale: Array,
    column_scale: Array,
    tolerance: float,
    numbers: Array,
    indices: IntArray,
    max_pivots: int,
    attempts: int,
    pivot_tolerance: float,
    tie_tolerance: float,
    contacts: int,
    directions: int,
    z: Array,
) -> tuple[int, int, float]:
    """Lemke's path, its end recomputed from A, tried with several covering vectors.

    The first covering vector is all ones, but for the friction rows of contacts: the larger it is there, the more
    of the path goes by with normal impulses alone, and friction sets in at its end, which takes a quarter fewer
    pivots. Later ones vary over a factor of two in a fixed irregular pattern, 1 + frac(i·attempt·golden ratio):
    another path, for the cases where rounding lost the first.

    Args:
        contacts, directions: the first variables are of so many contacts, (λ_n, β₁…β_r, γ) each.
        numbers: work, length ≥ 4·(n + 1)·(n + 4).
        indices: work, length ≥ 9n + 4.
        z: written: the best answer of all attempts, by residual.
    Returns:
        How the last attempt ended, pivots of all attempts, natural residual of z in physical units.
    """
    n = vector.size
    ends = n * (n + 1), (2 * n + 1) * (n + 1), (4 * n + 1) * (n + 1)
    transposed = numbers[: ends[0]].reshape(n + 1, n)
    inverse = numbers[ends[0] : ends[1]].reshape(n + 1, n + 1)
    square, rest = numbers[ends[1] : ends[2]], numbers[ends[2] :]
    covering, trial, work, numbers_of_path = rest[:n], rest[n : 2 * n], rest[2 * n : 3 * n], rest[3 * n :]
    order, support, indices_of_path = indices[:n], indices[n : 2 * n], indices[2 * n :]

    z[:] = 0.0
    best = natural_residual(matrix, vector, row_scale, column_scale, z, support)
    ending, pivots = LIMIT, 0
    for attempt in range(attempts):
        for i in range(n):
            covering[i] = 1.0 + ((i + 1) * attempt * GOLDEN) % 1.0
        for c in range(contacts if attempt == 0 else 0):
            first = c * (directions + 2) + 1
            covering[first : first + directions] = FRICTION_COVER
        ending, count, basics = lemke_path(
            matrix,
            vector,
            covering,
            transposed,
            inverse,
            square,
            numbers_of_path,
            indices_of_path,
            max_pivots,
            pivot_tolerance,
            tie_tolerance,
            trial,
        )
        pivots += count
        error = natural_residual(matrix, vector, row_scale, column_scale, trial, support)
        if error < best:
            best = error
            copy(trial, z)
        if ending != RAY and error > EXACT * tolerance:
            active, k = indices_of_path, 0
            for p in range(basics):
                if active[p] < n:
                    active[k] = active[p]
                    k += 1
            lu = square[: k * k].reshape(k, k)
            if basic_solution(matrix, vector, active[:k], lu, order[:k], work[:k], 1, trial):
                error = natural_residual(matrix, vector, row_scale, column_scale, trial, support)
                if error < best:
                    best = error
                    copy(trial, z)
        if best <= tolerance:
            break
    for i in range(n if not best <= tolerance else 0):
        for j in range(n):
            if not abs(matrix[i, j]) < np.inf:
                best = np.inf
    return ending, pivots, best


@final
class Lemke(LCPSolver):
    """Lemke's complementary pivoting with lexicographic ties, then one exact solve of the basis found.

    Solves every problem with a copositive-plus or P matrix that has a solution; frictional contact
    problems are of the first kind. Exact to rounding; a guess cannot be used. On a ray z is the best
    almost complementary point met, and the status says that it is no solution.

    Args:
        config: pivot limit, attempts, tolerances.
        context: not needed.
    """

    def __init__(self, config: LemkeConfig, context: BuildContext | None = None) -> None:
        self._config = config
        self._numbers = np.empty(0)
        self._indices = np.empty(0, dtype=np.int64)

    def solve(self, problem: LCPProblem, z: Array) -> SolveInfo:
        """Write the solution; see `LCPSolver.solve`."""
        n = z.size
        if self._indices.size < 9 * n + 4:
            self._numbers = np.empty(4 * (n + 1) * (n + 4))
            self._indices = np.empty(9 * n + 4, dtype=np.int64)
        config, blocks = self._config, problem.blocks
        ending, pivots, residual = solve_by_pivoting(
            problem.matrix,
            problem.vector,
            problem.row_scale,
            problem.column_scale,
            problem.tolerance,
            self._numbers,
            self._indices,
            config.max_iterations,
            config.attempts,
            config.pivot_tolerance,
            config.tie_tolerance,
            0 if blocks is None else blocks.friction.size,
            0 if blocks is None else blocks.directions.shape[2],
            z,
        )
        return SolveInfo(_status(ending, residual, problem.tolerance), pivots, Residuals(normal=residual))

    def memory(self) -> Memory:
        """Nothing: every solve starts from scratch."""
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Nothing to take over."""


def _status(ending: int, residual: float, tolerance: float) -> Status:
    if residual <= tolerance:
        return Status.CONVERGED
    if not np.isfinite(residual):
        return Status.NON_FINITE
    if ending == RAY:
        return Status.RAY
    return Status.ITERATION_LIMIT if ending == LIMIT else Status.INACCURATE
