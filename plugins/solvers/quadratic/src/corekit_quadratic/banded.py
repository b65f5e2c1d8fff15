"""The solver `banded`: an active set on the structure of the rows."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.compiled_form import CompiledForm
from corekit.roles.component import BuildContext
from corekit.roles.problem import QPProblem, QPSolver
from corekit_quadratic.active_set import CONTRADICTORY, ITERATION_LIMIT, NOT_DEFINITE
from corekit_quadratic.compiled_form import form_of
from corekit_quadratic.config import BandedConfig
from corekit_quadratic.workspace import Workspace

__all__ = ["BandedSolver"]

_CONVERGED = Status.CONVERGED


@final
class BandedSolver(QPSolver):
    """Solves the program on the structure of its Hessian and rows, in one compiled call.

    Rows are in the order of the chain (by the first velocity they touch), contact rows among them; the matrix
    C·H⁻¹·Cᵀ + E of the active ones is factorised inside its envelope. For a chain of n bodies the cost is
    linear in n for any number of contacts. Dense programs are solved likewise, as one wide band.

    Raises nothing: a Hessian that is not positive definite is SINGULAR, contradictory rows are INFEASIBLE.
    """

    def __init__(self, config: BandedConfig, context: BuildContext | None = None) -> None:
        self._limits = config.max_iterations, config.patience
        self._workspace = Workspace(*self._limits, polish=False)

    def compiled_form(self) -> CompiledForm:
        """The entry of `compiled_form`."""
        return form_of(*self._limits)

    def solve(self, problem: QPProblem, x: Array, multiplier: Array) -> SolveInfo:
        """Write x and y; the signs of the guessed multipliers select the first active rows, the guessed x is unused."""
        outcome = self._workspace.solve(problem, x, multiplier)
        iterations, normal, equation = self._workspace.report.tolist()
        # a search that ends at its limit, or at rows that contradict each other but for rounding, may have arrived
        if outcome != NOT_DEFINITE and normal <= problem.tolerance and equation < np.inf:
            return SolveInfo(_CONVERGED, int(iterations), Residuals(normal, 0.0, 0.0, equation), "banded")
        if outcome == NOT_DEFINITE or not (normal < np.inf and equation < np.inf):
            x[:] = 0.0
            multiplier[:] = 0.0
            status = Status.SINGULAR if outcome == NOT_DEFINITE else Status.NON_FINITE
            return SolveInfo(status, int(iterations), Residuals(normal=np.inf, equation=np.inf), "banded")
        status = Status.INACCURATE
        if outcome == CONTRADICTORY:
            status = Status.INFEASIBLE
        elif outcome == ITERATION_LIMIT:
            status = Status.ITERATION_LIMIT
        return SolveInfo(status, int(iterations), Residuals(normal=normal, equation=equation), "banded")
