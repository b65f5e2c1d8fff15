"""The solver `osqp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo, Status
from corekit.roles.component import BuildContext, Memory
from corekit.roles.problem import QPProblem, QPSolver
from corekit_quadratic.config import OsqpConfig
from corekit_quadratic.patterns import Pattern
from corekit_quadratic.standard_form import StandardForm
from corekit_quadratic.told import Judge

__all__ = ["OsqpSolver"]


@final
class OsqpSolver(QPSolver):
    """Operator splitting, warm-started from the guess, polished; set up anew only for new rows.

    Its own tolerance is that of the scaled program; CONVERGED still means that the residuals, measured in the program
    as given, meet the program's tolerance, which takes a successful polish as a rule.

    Source: Stellato, Banjac, Goulart, Bemporad, Boyd (2020).
    """

    def __init__(self, config: OsqpConfig, context: BuildContext | None = None) -> None:
        self._config = config
        self._form = StandardForm()
        self._judge = Judge("osqp", polish=config.polish)
        self._solver: Any = None
        self._hessian: Pattern | None = None
        self._rows: Pattern | None = None

    def solve(self, problem: QPProblem, x: Array, multiplier: Array) -> SolveInfo:
        """Write x and y from a warm start."""
        if not len(x):
            return SolveInfo(answered_by="osqp")
        refused = self._judge.refused(problem, x, multiplier)
        if refused is not None:
            return refused
        form = self._form
        form.take(problem, x, multiplier)
        slacks = len(form.slack_most)
        lower = np.concatenate([form.lower, np.zeros(slacks)])
        upper = np.concatenate([form.upper, form.slack_most])
        values = np.concatenate([form.rows, np.ones(slacks)])
        # the upper triangle alone
        triangle = form.hessian_at[0] <= form.hessian_at[1]
        if self._solver is None or form.fresh or self._hessian is None or self._rows is None:
            places = form.places + slacks
            own = np.arange(slacks)
            i = np.concatenate([form.rows_at[0], form.places + own])
            j = np.concatenate([form.rows_at[1], form.size - slacks + own])
            self._hessian = Pattern(
                form.hessian_at[0][triangle], form.hessian_at[1][triangle], (form.size, form.size)
            )
            self._rows = Pattern(i, j, (places, form.size))
            solver = self._new(
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
        found = solver.solve(raise_error=False)
        form.give(np.asarray(found.x), np.asarray(found.y), x, multiplier)
        said = str(found.info.status)
        failed = None
        if "infeasible" in said:
            failed = Status.INFEASIBLE
        elif "maximum" in said:
            failed = Status.ITERATION_LIMIT
        return self._judge.told(problem, x, multiplier, failed, int(found.info.iter))

    def _new(self, hessian: Any, rows: Any, lower: Array, upper: Array) -> Any:
        import osqp

        config = self._config
        solver: Any = osqp.OSQP()
        solver.setup(
            P=hessian,
            q=self._form.gradient,
            A=rows,
            l=lower,
            u=upper,
            verbose=False,
            max_iter=config.max_iterations,
            eps_abs=config.tolerance,
            eps_rel=0.0,
            polishing=False,
            adaptive_rho_interval=50,
        )
        self._solver = solver
        return solver

    def memory(self) -> Memory:
        """Nothing: the guess comes with the problem."""
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Forget the factorisation and its step sizes, so that a resumed run is the same as the one it resumes."""
        self._solver = None
        self._form = StandardForm()
