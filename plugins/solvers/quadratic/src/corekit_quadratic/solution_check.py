"""Residuals and status of a general solver's solution, and an exact last solve."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.problem import QPProblem
from corekit_quadratic.bands import lower_band
from corekit_quadratic.residuals import compute_residuals
from corekit_quadratic.whiten import lower_factor
from corekit_quadratic.workspace import Workspace

__all__ = ["SolutionChecker"]


@final
class SolutionChecker:
    """Measures solutions in the unscaled program; an exact solve of the active rows refines them if that is better.

    Args:
        name: of the solver, for `SolveInfo`.
        polish: whether to refine.
    """

    def __init__(self, name: str, *, polish: bool) -> None:
        self._name, self._polish = name, polish
        self._exact_solver = Workspace(1, 0, polish=True)
        self._residual_workspace: Array = np.zeros(0)
        self._factor: Array = np.zeros((0, 0))

    def refuse(self, problem: QPProblem, x: Array, multiplier: Array) -> SolveInfo | None:
        """Return SINGULAR or NON_FINITE and write zeros, where H is not positive definite or a number is none.

        These solvers do not report the first, and some raise errors of their own at the second.
        """
        h = lower_band(problem.hessian)
        if self._factor.shape != h.shape:
            self._factor = np.zeros(h.shape)
        status = Status.NON_FINITE
        if not lower_factor(h, self._factor):
            status = Status.SINGULAR
        elif _is_finite(problem):
            return None
        x[:] = 0.0
        multiplier[:] = 0.0
        infinite = Residuals(normal=np.inf, equation=np.inf)
        return SolveInfo(status, 0, infinite, self._name)

    def to_solve_info(
        self, problem: QPProblem, x: Array, multiplier: Array, failure: Status | None, iterations: int
    ) -> SolveInfo:
        """Return the solve information: CONVERGED if the residuals meet the tolerance, independent of the solver.

        Args:
            failure: status of the solver if it failed, else None.
        """
        if not (np.isfinite(x).all() and np.isfinite(multiplier).all()):
            x[:] = 0.0
            multiplier[:] = 0.0
            failure = failure or Status.NON_FINITE
        residuals = self._residuals(problem, x, multiplier)
        if failure is not Status.INFEASIBLE and self._polish and residuals.worst > 0.0:
            exact_x, exact_multiplier = x.copy(), self._active_multipliers(problem, x, multiplier)
            self._exact_solver.solve(problem, exact_x, exact_multiplier)
            better = self._residuals(problem, exact_x, exact_multiplier)
            if better.worst < residuals.worst:
                residuals = better
                x[:], multiplier[:] = exact_x, exact_multiplier
        status = Status.CONVERGED if residuals.worst <= problem.tolerance else failure or Status.INACCURATE
        return SolveInfo(status, iterations, residuals, self._name)

    def _residuals(self, problem: QPProblem, x: Array, multiplier: Array) -> Residuals:
        if len(self._residual_workspace) != len(x):
            self._residual_workspace = np.zeros(len(x))
        h = lower_band(problem.hessian)
        normal, equation = compute_residuals(
            h, h.shape[1], problem.gradient, problem.dofs, problem.values, problem.lower, problem.upper,
            problem.compliance, problem.multiplier_lower, problem.multiplier_upper, x, multiplier,
            self._residual_workspace,
        )  # fmt: skip
        finite = normal < np.inf and equation < np.inf
        return Residuals(normal=normal, equation=equation) if finite else Residuals(normal=np.inf)

    def _active_multipliers(self, problem: QPProblem, x: Array, multiplier: Array) -> Array:
        """Return the multipliers, zero if the row is farther from its bound than its multiplier from zero, both scaled.

        Multipliers of equalities at their bounds are treated likewise.
        """
        diagonal = np.diagonal(problem.hessian.dense())
        row_compliance = (
            np.einsum("kw,kw->k", problem.values**2, 1.0 / diagonal[problem.dofs]) + problem.compliance
        )
        value = np.einsum("kw,kw->k", problem.values, x[problem.dofs]) - problem.compliance * multiplier
        bound = np.where(multiplier > 0.0, problem.upper, problem.lower)
        distance, equal = np.abs(value - bound), problem.lower == problem.upper
        guess = np.where((distance > np.abs(multiplier) * row_compliance) & ~equal, 0.0, multiplier)
        least, most = problem.multiplier_lower, problem.multiplier_upper
        limit = np.where(np.abs(multiplier - least) <= np.abs(multiplier - most), least, most)
        at_limit = equal & np.isfinite(limit) & (distance > np.abs(multiplier - limit) * row_compliance)
        return np.where(at_limit, limit, guess)


def _is_finite(problem: QPProblem) -> bool:
    """Whether g, C and E are finite, and bounds are numbers."""
    numbers = (problem.gradient, problem.values, problem.compliance)
    return all(np.isfinite(each).all() for each in numbers) and not (
        np.isnan(problem.lower).any() or np.isnan(problem.upper).any()
    )
