"""The solver `piqp`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo, Status
from corekit.roles.component import BuildContext, Memory
from corekit.roles.problem import QPProblem, QPSolver
from corekit_quadratic.config import PiqpConfig
from corekit_quadratic.split_rows import SplitRows
from corekit_quadratic.standard_form import StandardForm
from corekit_quadratic.told import Judge

__all__ = ["PiqpSolver"]


@final
class PiqpSolver(QPSolver):
    """A proximal interior point method; its symbolic analysis is kept while no new rows come. It uses no guess.

    Source: Schwan, Jiang, Kuhn, Jones (2023).
    """

    def __init__(self, config: PiqpConfig, context: BuildContext | None = None) -> None:
        self._config = config
        self._form = StandardForm()
        self._judge = Judge("piqp", polish=config.polish)
        self._solver: Any = None
        self._split: SplitRows | None = None

    def solve(self, problem: QPProblem, x: Array, multiplier: Array) -> SolveInfo:
        """Write x and y."""
        if not len(x):
            return SolveInfo(answered_by="piqp")
        refused = self._judge.refused(problem, x, multiplier)
        if refused is not None:
            return refused
        form = self._form
        form.take(problem, x, multiplier)
        if form.fresh or self._split is None:
            self._solver, self._split = None, SplitRows(form)
        parts = self._split.parts(form)
        low = np.full(form.size, -np.inf)
        high = np.full(form.size, np.inf)
        if len(form.slack_most):
            low[-len(form.slack_most) :], high[-len(form.slack_most) :] = 0.0, form.slack_most
        arguments = (parts.hessian, form.gradient, parts.equal, parts.target, parts.other, parts.lower)
        if self._solver is None:
            solver: Any = _module().SparseSolver()
            settings = solver.settings
            settings.eps_abs, settings.eps_rel = self._config.tolerance, 0.0
            settings.check_duality_gap = False
            settings.max_iter, settings.verbose = self._config.max_iterations, False
            solver.setup(*arguments, parts.upper, low, high)
            self._solver = solver
        else:
            solver = self._solver
            solver.update(*arguments, parts.upper, low, high)
        said = solver.solve()
        result = solver.result
        dual = self._split.join(np.asarray(result.y), np.asarray(result.z_u) - np.asarray(result.z_l))
        form.give(np.asarray(result.x), dual, x, multiplier)
        failed = None
        if said == _module().PIQP_PRIMAL_INFEASIBLE:
            failed = Status.INFEASIBLE
        elif said == _module().PIQP_MAX_ITER_REACHED:
            failed = Status.ITERATION_LIMIT
        return self._judge.told(problem, x, multiplier, failed, int(result.info.iter))

    def memory(self) -> Memory:
        """Nothing: no guess is used."""
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Forget the analysis, so that a resumed run is the same as the one it resumes."""
        self._solver = None
        self._form = StandardForm()


def _module() -> Any:
    return import_module("piqp")
