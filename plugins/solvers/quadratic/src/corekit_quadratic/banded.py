"""The solver `banded`: an active set on the structure that the rows have themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext, Memory
from corekit.roles.problem import QPProblem, QPSolver
from corekit_quadratic.config import BandedConfig
from corekit_quadratic.sides import ANSWERED, CONTRADICTORY, NOT_DEFINITE, TOO_LONG
from corekit_quadratic.workspace import Workspace

__all__ = ["BandedSolver"]

_CONVERGED = Status.CONVERGED


@final
class BandedSolver(QPSolver):
    """Solves the program on whatever structure its Hessian and rows have, in one compiled call.

    Rows are taken in the order of the chain (by the first velocity they touch), contact rows where they belong; the
    matrix C·H⁻¹·Cᵀ + E of those that hold is factorised inside its envelope. For a chain of n bodies that is linear
    in n whatever the number of contacts; dense programs are solved likewise, as one wide band.

    Raises nothing: a Hessian that is not positive definite is SINGULAR, rows that contradict each other INFEASIBLE.
    """

    def __init__(self, config: BandedConfig, context: BuildContext | None = None) -> None:
        self._work = Workspace(config.max_iterations, config.patience, dual=True)

    def solve(self, problem: QPProblem, x: Array, multiplier: Array) -> SolveInfo:
        """Write x and y; the multipliers' signs say which rows to begin with, the guessed x is not used."""
        ended = self._work.run(problem, x, multiplier)
        rounds, normal, equation = self._work.report.tolist()
        if ended == ANSWERED and normal <= problem.tolerance and equation < np.inf:
            return SolveInfo(_CONVERGED, int(rounds), Residuals(normal, 0.0, 0.0, equation), "banded")
        if ended == NOT_DEFINITE or not (normal < np.inf and equation < np.inf):
            x[:] = 0.0
            multiplier[:] = 0.0
            status = Status.SINGULAR if ended == NOT_DEFINITE else Status.NON_FINITE
            return SolveInfo(status, int(rounds), Residuals(normal=np.inf, equation=np.inf), "banded")
        status = Status.INACCURATE
        if ended == CONTRADICTORY:
            status = Status.INFEASIBLE
        elif ended == TOO_LONG:
            status = Status.ITERATION_LIMIT
        return SolveInfo(status, int(rounds), Residuals(normal=normal, equation=equation), "banded")

    def memory(self) -> Memory:
        """Nothing: the guess comes with the problem."""
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Nothing to take over."""
