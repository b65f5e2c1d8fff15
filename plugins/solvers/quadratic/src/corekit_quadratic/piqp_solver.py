"""The solver `piqp`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo, Status
from corekit.roles.component import BuildContext, InternalState, Stateful
from corekit.roles.problem import QPProblem, QPSolver
from corekit_quadratic.config import PiqpConfig
from corekit_quadratic.solution_check import SolutionChecker
from corekit_quadratic.split_rows import SplitRows
from corekit_quadratic.standard_form import StandardForm

__all__ = ["PiqpSolver"]


@final
class PiqpSolver(QPSolver, Stateful):
    """Proximal interior point method without a guess; its symbolic analysis is reused until a row needs a new position.

    Source: Schwan, Jiang, Kuhn, Jones (2023).
    """

    def __init__(self, config: PiqpConfig, context: BuildContext | None = None) -> None:
        self._config = config
        self._form = StandardForm()
        self._checker = SolutionChecker("piqp", polish=config.polish)
        self._solver: Any = None
        self._split: SplitRows | None = None

    def solve(self, problem: QPProblem, x: Array, multiplier: Array) -> SolveInfo:
        """Write x and y."""
        if not len(x):
            return SolveInfo(answered_by="piqp")
        refusal = self._checker.refuse(problem, x, multiplier)
        if refusal is not None:
            return refusal
        form = self._form
        form.set_problem(problem, x, multiplier)
        if form.has_new_pattern or self._split is None:
            self._solver, self._split = None, SplitRows(form)
        program = self._split.split(form)
        low = np.full(form.size, -np.inf)
        high = np.full(form.size, np.inf)
        if len(form.slack_upper):
            low[-len(form.slack_upper) :], high[-len(form.slack_upper) :] = 0.0, form.slack_upper
        arguments = (
            program.hessian,
            form.gradient,
            program.equal,
            program.target,
            program.other,
            program.lower,
        )
        if self._solver is None:
            solver: Any = _module().SparseSolver()
            settings = solver.settings
            settings.eps_abs, settings.eps_rel = self._config.tolerance, 0.0
            settings.check_duality_gap = False
            settings.max_iter, settings.verbose = self._config.max_iterations, False
            solver.setup(*arguments, program.upper, low, high)
            self._solver = solver
        else:
            solver = self._solver
            solver.update(*arguments, program.upper, low, high)
        outcome = solver.solve()
        result = solver.result
        dual = self._split.join(np.asarray(result.y), np.asarray(result.z_u) - np.asarray(result.z_l))
        form.write_solution(np.asarray(result.x), dual, x, multiplier)
        failure = None
        if outcome == _module().PIQP_PRIMAL_INFEASIBLE:
            failure = Status.INFEASIBLE
        elif outcome == _module().PIQP_MAX_ITER_REACHED:
            failure = Status.ITERATION_LIMIT
        return self._checker.to_solve_info(problem, x, multiplier, failure, int(result.info.iter))

    def internal_state(self) -> InternalState:
        """Return an empty state: the solver uses no guess."""
        return {}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Discard the analysis, so that a resumed run equals an uninterrupted one."""
        self._solver = None
        self._form = StandardForm()


def _module() -> Any:
    return import_module("piqp")
