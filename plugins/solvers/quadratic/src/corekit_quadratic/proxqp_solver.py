"""The solver `proxqp`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, final

import numpy as np
from scipy.sparse import csc_matrix, eye_array, vstack

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo, Status
from corekit.roles.component import BuildContext, Memory
from corekit.roles.problem import QPProblem, QPSolver
from corekit_quadratic.config import ProxqpConfig
from corekit_quadratic.split_rows import SplitRows
from corekit_quadratic.standard_form import StandardForm
from corekit_quadratic.told import Judge

__all__ = ["ProxqpSolver"]

_HUGE = 1e20
"""What ProxQP takes for infinity."""


@final
class ProxqpSolver(QPSolver):
    """A proximal augmented Lagrangian method, warm-started from the guess; set up anew only for new rows.

    Source: Bambade, El-Kazdadi, Taylor, Carpentier (2022).
    """

    def __init__(self, config: ProxqpConfig, context: BuildContext | None = None) -> None:
        self._config = config
        self._form = StandardForm()
        self._judge = Judge("proxqp", polish=config.polish)
        self._solver: Any = None
        self._split: SplitRows | None = None

    def solve(self, problem: QPProblem, x: Array, multiplier: Array) -> SolveInfo:
        """Write x and y from a warm start."""
        if not len(x):
            return SolveInfo(answered_by="proxqp")
        refused = self._judge.refused(problem, x, multiplier)
        if refused is not None:
            return refused
        proxqp: Any = import_module("proxsuite").proxqp

        form = self._form
        form.take(problem, x, multiplier)
        if form.fresh or self._split is None:
            self._solver, self._split = None, SplitRows(form)
        parts, slacks = self._split.parts(form), len(form.slack_most)
        others, lower, upper = parts.other, parts.lower, parts.upper
        if slacks:
            own = eye_array(form.size, format="csr")[form.size - slacks :]
            others = csc_matrix(vstack([others, own]))
            lower = np.concatenate([lower, np.zeros(slacks)])
            upper = np.concatenate([upper, form.slack_most])
        lower, upper = np.maximum(lower, -_HUGE), np.minimum(upper, _HUGE)
        arguments = (parts.hessian, form.gradient, parts.equal, parts.target, others, lower, upper)
        if self._solver is None:
            solver: Any = proxqp.sparse.QP(form.size, parts.equal.shape[0], others.shape[0])
            settings = solver.settings
            settings.eps_abs, settings.eps_rel = self._config.tolerance, 0.0
            settings.max_iter, settings.verbose = self._config.max_iterations, False
            settings.initial_guess = proxqp.InitialGuess.WARM_START
            solver.init(*arguments)
            self._solver = solver
        else:
            solver = self._solver
            # its own scaling and penalties would otherwise go on from the last program, and no checkpoint keeps them
            begin = solver.settings
            solver.update(
                *arguments,
                update_preconditioner=True,
                rho=begin.default_rho,
                mu_eq=begin.default_mu_eq,
                mu_in=begin.default_mu_in,
            )
        equal = form.equal
        guess = np.concatenate([form.multiplier[~equal], np.zeros(slacks)])
        solver.solve(form.x, form.multiplier[equal], guess)
        results = solver.results
        dual = self._split.join(np.asarray(results.y), np.asarray(results.z)[: len(equal) - int(equal.sum())])
        form.give(np.asarray(results.x), dual, x, multiplier)
        said, kinds = results.info.status, proxqp.QPSolverOutput
        failed = None
        if said == kinds.PROXQP_PRIMAL_INFEASIBLE:
            failed = Status.INFEASIBLE
        elif said == kinds.PROXQP_MAX_ITER_REACHED:
            failed = Status.ITERATION_LIMIT
        return self._judge.told(problem, x, multiplier, failed, int(results.info.iter))

    def memory(self) -> Memory:
        """Nothing: the guess comes with the problem."""
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Forget the factorisation, so that a resumed run is the same as the one it resumes."""
        self._solver = None
        self._form = StandardForm()
