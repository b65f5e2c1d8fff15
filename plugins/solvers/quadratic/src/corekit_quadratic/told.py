"""What a general solver's answer is worth, measured in the program as it was given; and its last digits."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.problem import QPProblem
from corekit_quadratic.bands import band_of
from corekit_quadratic.certify import certify
from corekit_quadratic.whiten import lower_factor
from corekit_quadratic.workspace import Workspace

__all__ = ["Judge"]


@final
class Judge:
    """Measures answers, and polishes them: the rows found to act are solved as equalities, once, where that is better.

    Args:
        name: of the solver, for the report.
        polish: whether to.
    """

    def __init__(self, name: str, *, polish: bool) -> None:
        self._name, self._polish = name, polish
        self._exact = Workspace(1, 0, dual=False)
        self._work: Array = np.zeros(0)
        self._factor: Array = np.zeros((0, 0))

    def refused(self, problem: QPProblem, x: Array, multiplier: Array) -> SolveInfo | None:
        """SINGULAR and zeros where H is not positive definite, which these solvers would not say; else None."""
        h = band_of(problem.hessian)
        if self._factor.shape != h.shape:
            self._factor = np.zeros(h.shape)
        if lower_factor(h, self._factor):
            return None
        x[:] = 0.0
        multiplier[:] = 0.0
        unknown = Residuals(normal=np.inf, equation=np.inf)
        return SolveInfo(Status.SINGULAR, 0, unknown, self._name)

    def told(
        self, problem: QPProblem, x: Array, multiplier: Array, failed: Status | None, iterations: int
    ) -> SolveInfo:
        """The report: CONVERGED where the residuals meet the tolerance, whatever the solver said.

        Args:
            failed: why the solver gave up, None if it did not.
        """
        if not (np.isfinite(x).all() and np.isfinite(multiplier).all()):
            x[:] = 0.0
            multiplier[:] = 0.0
            failed = failed or Status.NON_FINITE
        found = self._residuals(problem, x, multiplier)
        if failed is not Status.INFEASIBLE and self._polish and found.worst > 0.0:
            exact_x, exact = x.copy(), self._acting(problem, x, multiplier)
            self._exact.run(problem, exact_x, exact)
            better = self._residuals(problem, exact_x, exact)
            if better.worst < found.worst:
                found = better
                x[:], multiplier[:] = exact_x, exact
        status = Status.CONVERGED if found.worst <= problem.tolerance else failed or Status.INACCURATE
        return SolveInfo(status, iterations, found, self._name)

    def _residuals(self, problem: QPProblem, x: Array, multiplier: Array) -> Residuals:
        if len(self._work) != len(x):
            self._work = np.zeros(len(x))
        h = band_of(problem.hessian)
        normal, equation = certify(
            h,
            h.shape[1],
            problem.gradient,
            problem.dofs,
            problem.values,
            problem.lower,
            problem.upper,
            problem.compliance,
            problem.least,
            problem.most,
            x,
            multiplier,
            self._work,
        )
        finite = normal < np.inf and equation < np.inf
        return Residuals(normal=normal, equation=equation) if finite else Residuals(normal=np.inf)

    def _acting(self, problem: QPProblem, x: Array, multiplier: Array) -> Array:
        """The multipliers, zero where the row is farther from its bound than its multiplier from zero, both scaled.

        Those of equalities likewise, at their bounds.
        """
        diagonal = np.diagonal(problem.hessian.dense())
        square = np.einsum("kw,kw->k", problem.values**2, 1.0 / diagonal[problem.dofs]) + problem.compliance
        value = np.einsum("kw,kw->k", problem.values, x[problem.dofs]) - problem.compliance * multiplier
        bound = np.where(multiplier > 0.0, problem.upper, problem.lower)
        away, equal = np.abs(value - bound), problem.lower == problem.upper
        guess = np.where((away > np.abs(multiplier) * square) & ~equal, 0.0, multiplier)
        for limit in (problem.least, problem.most):
            at_limit = equal & np.isfinite(limit) & (away > np.abs(multiplier - limit) * square)
            guess = np.where(at_limit, limit, guess)
        return guess
