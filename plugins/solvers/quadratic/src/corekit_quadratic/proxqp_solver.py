"""The solver `proxqp`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, final

import numpy as np
from scipy.sparse import csc_matrix, eye_array, vstack

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo, Status
from corekit.roles.component import BuildContext, InternalState, Stateful
from corekit.roles.problem import QPProblem, QPSolver
from corekit_quadratic.config import ProxqpConfig
from corekit_quadratic.solution_check import SolutionChecker
from corekit_quadratic.split_rows import SplitRows
from corekit_quadratic.standard_form import StandardForm

__all__ = ["ProxqpSolver"]

_HUGE = 1e20
"""ProxQP's infinity."""


@final
class ProxqpSolver(QPSolver, Stateful):
    """Proximal augmented Lagrangian method, warm-started from the guess; set up again only for new rows.

    Source: Bambade, El-Kazdadi, Taylor, Carpentier (2022).
    """

    def __init__(self, config: ProxqpConfig, context: BuildContext | None = None) -> None:
        self._config = config
        self._form = StandardForm()
        self._checker = SolutionChecker("proxqp", polish=config.polish)
        self._solver: Any = None
        self._split: SplitRows | None = None

    def solve(self, problem: QPProblem, x: Array, multiplier: Array) -> SolveInfo:
        """Write x and y from a warm start."""
        if not len(x):
            return SolveInfo(answered_by="proxqp")
        refusal = self._checker.refuse(problem, x, multiplier)
        if refusal is not None:
            return refusal
        proxqp: Any = import_module("proxsuite").proxqp

        form = self._form
        form.set_problem(problem, x, multiplier)
        if form.has_new_pattern or self._split is None:
            self._solver, self._split = None, SplitRows(form)
        program, slacks = self._split.split(form), len(form.slack_upper)
        others, lower, upper = program.other, program.lower, program.upper
        if slacks:
            slack_rows = eye_array(form.size, format="csr")[form.size - slacks :]
            others = csc_matrix(vstack([others, slack_rows]))
            lower = np.concatenate([lower, np.zeros(slacks)])
            upper = np.concatenate([upper, form.slack_upper])
        lower, upper = np.maximum(lower, -_HUGE), np.minimum(upper, _HUGE)
        arguments = (program.hessian, form.gradient, program.equal, program.target, others, lower, upper)
        if self._solver is None:
            solver: Any = proxqp.sparse.QP(form.size, program.equal.shape[0], others.shape[0])
            settings = solver.settings
            settings.eps_abs, settings.eps_rel = self._config.tolerance, 0.0
            settings.max_iter, settings.verbose = self._config.max_iterations, False
            settings.initial_guess = proxqp.InitialGuess.WARM_START
            solver.init(*arguments)
            self._solver = solver
        else:
            solver = self._solver
            # otherwise the scaling and penalties would continue from the last program, and no checkpoint contains them
            settings = solver.settings
            solver.update(
                *arguments,
                update_preconditioner=True,
                rho=settings.default_rho,
                mu_eq=settings.default_mu_eq,
                mu_in=settings.default_mu_in,
            )
        equal = form.equal
        guess = np.concatenate([form.multiplier[~equal], np.zeros(slacks)])
        solver.solve(form.x, form.multiplier[equal], guess)
        results = solver.results
        dual = self._split.join(np.asarray(results.y), np.asarray(results.z)[: len(equal) - int(equal.sum())])
        form.write_solution(np.asarray(results.x), dual, x, multiplier)
        outcome, kinds = results.info.status, proxqp.QPSolverOutput
        failure = None
        if outcome == kinds.PROXQP_PRIMAL_INFEASIBLE:
            failure = Status.INFEASIBLE
        elif outcome == kinds.PROXQP_MAX_ITER_REACHED:
            failure = Status.ITERATION_LIMIT
        return self._checker.to_solve_info(problem, x, multiplier, failure, int(results.info.iter))

    def internal_state(self) -> InternalState:
        """Return an empty state: the caller supplies the guess."""
        return {}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Discard the factorisation, so that a resumed run equals an uninterrupted one."""
        self._solver = None
        self._form = StandardForm()
