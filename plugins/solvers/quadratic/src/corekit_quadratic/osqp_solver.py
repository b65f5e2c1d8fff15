"""The solver `osqp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo, Status
from corekit.roles.component import BuildContext, InternalState, Stateful
from corekit.roles.problem import QPProblem, QPSolver
from corekit_quadratic.config import OsqpConfig
from corekit_quadratic.patterns import Pattern
from corekit_quadratic.solution_check import SolutionChecker
from corekit_quadratic.standard_form import StandardForm

__all__ = ["OsqpSolver"]


@final
class OsqpSolver(QPSolver, Stateful):
    """Operator splitting, warm-started from the guess, with an exact last solve; set up again only for new rows.

    Its own tolerance is that of the scaled program. CONVERGED still means that the residuals, measured in the
    unscaled program, meet the program's tolerance, which usually requires the exact last solve.

    Source: Stellato, Banjac, Goulart, Bemporad, Boyd (2020).
    """

    def __init__(self, config: OsqpConfig, context: BuildContext | None = None) -> None:
        self._config = config
        self._form = StandardForm()
        self._checker = SolutionChecker("osqp", polish=config.polish)
        self._solver: Any = None
        self._hessian: Pattern | None = None
        self._rows: Pattern | None = None

    def solve(self, problem: QPProblem, x: Array, multiplier: Array) -> SolveInfo:
        """Write x and y from a warm start."""
        if not len(x):
            return SolveInfo(answered_by="osqp")
        refusal = self._checker.refuse(problem, x, multiplier)
        if refusal is not None:
            return refusal
        form = self._form
        form.set_problem(problem, x, multiplier)
        slacks = len(form.slack_upper)
        lower = np.concatenate([form.lower, np.zeros(slacks)])
        upper = np.concatenate([form.upper, form.slack_upper])
        values = np.concatenate([form.rows, np.ones(slacks)])
        # OSQP reads the upper triangle alone
        triangle = form.hessian_index[0] <= form.hessian_index[1]
        if self._solver is None or form.has_new_pattern or self._hessian is None or self._rows is None:
            row_count = form.row_count + slacks
            slack_index = np.arange(slacks)
            i = np.concatenate([form.rows_index[0], form.row_count + slack_index])
            j = np.concatenate([form.rows_index[1], form.size - slacks + slack_index])
            self._hessian = Pattern(
                form.hessian_index[0][triangle], form.hessian_index[1][triangle], (form.size, form.size)
            )
            self._rows = Pattern(i, j, (row_count, form.size))
            solver = self._set_up(
                self._hessian.fill(form.hessian[triangle]), self._rows.fill(values), lower, upper
            )
        else:
            solver = self._solver
            solver.update(
                q=form.gradient,
                l=lower,
                u=upper,
                Px=self._hessian.fill(form.hessian[triangle]).data,
                Ax=self._rows.fill(values).data,
            )
        solver.warm_start(x=form.x, y=np.concatenate([form.multiplier, np.zeros(slacks)]))
        result = solver.solve(raise_error=False)
        form.write_solution(np.asarray(result.x), np.asarray(result.y), x, multiplier)
        status_text = str(result.info.status)
        failure = None
        if "infeasible" in status_text:
            failure = Status.INFEASIBLE
        elif "maximum" in status_text:
            failure = Status.ITERATION_LIMIT
        return self._checker.to_solve_info(problem, x, multiplier, failure, int(result.info.iter))

    def _set_up(self, hessian: Any, rows: Any, lower: Array, upper: Array) -> Any:
        import osqp

        config = self._config
        solver: Any = osqp.OSQP()
        solver.setup(
            P=hessian, q=self._form.gradient, A=rows, l=lower, u=upper, verbose=False,
            max_iter=config.max_iterations, eps_abs=config.tolerance, eps_rel=0.0, polishing=False,
            adaptive_rho_interval=50,
        )  # fmt: skip
        self._solver = solver
        return solver

    def internal_state(self) -> InternalState:
        """Return an empty state: the caller supplies the guess."""
        return {}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Discard the factorisation and its step sizes, so that a resumed run equals an uninterrupted one."""
        self._solver = None
        self._form = StandardForm()
