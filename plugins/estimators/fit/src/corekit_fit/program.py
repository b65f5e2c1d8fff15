"""Fit as one sparse nonlinear program, solved by IPOPT.

    min  ½·Σ ‖(p̂ − p(q))/σ_p‖² + ½·Σ (‖ρ‖² + ‖ς‖²) + ½·Σ ((z − z̄)/s)²                            (1)
    s.t. the steps (1) of `motion`, the rows and Φ(q) = 0 at every instant, ν ≥ 0,

over q, v at every instant, λ, ν, ρ, ς at every step, of all runs, and the coordinates z of the parameters. (1) is −log
of likelihood and prior up to a constant. Nothing is eliminated: unknowns of an instant couple only with neighbouring
instants, so Jacobian and Hessian are banded. A step, an instant and a set of markers are one small function each,
mapped over time by `mapped_program`.

Source: Jitosho et al. (2021), equation (16); with multipliers as unknowns the Hessian stays sparse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit_fit.config import IpoptFitConfig
from corekit_fit.mapped_program import Problem, Rows, make_solver
from corekit_fit.motion import Motion
from corekit_fit.observed_motion import ObservedMotion
from corekit_fit.unknowns import Unknown, bounds

__all__ = ["Program", "Solution"]

_EXACT_BELOW = 300_000
"""Operations of a step's Jacobian below which the Hessian is exact unless the options say otherwise."""


_PRECISE = 1e-4
"""Deviation of markers [m] below which IPOPT's tolerance grows with 1/σ_p²."""


@frozen(eq=False)
class Solution:
    """A point of the program.

    Args:
        x: unknowns.
        dual_x, dual_g: multipliers of bounds and constraints, with CasADi's signs.
        objective: (1).
        status: return status of IPOPT.
        iterations: count of iterations.
        violation: largest violation of a constraint, in its unit in the program (m, N, …).
    """

    x: Array
    dual_x: Array
    dual_g: Array
    objective: float
    status: str
    iterations: int
    violation: float

    @property
    def solved(self) -> bool:
        """Whether IPOPT converged to its tolerance."""
        return self.status in {"Solve_Succeeded", "Solved_To_Acceptable_Level"}


@final
class Program:
    """Program of the observed motions.

    Args:
        config: options of the fit.
        unknowns: the fitted parameters, whose z are the first unknowns.
        runs: the observed motions, numbered one after the other.
        progress: called with what is being done and with the numbers of the search.

    Attributes:
        size: count of unknowns.
        low, high: their bounds; a caller may change those of a parameter between solves.
        parameters: indices of z.
        exact: whether the Hessian is exact.
    """

    def __init__(
        self,
        config: IpoptFitConfig,
        unknowns: Sequence[Unknown],
        runs: Sequence[ObservedMotion],
        progress: Callable[[Mapping[str, float | str]], None],
    ) -> None:
        self.unknowns, self.runs = tuple(unknowns), tuple(runs)
        self.parameters: IntArray = np.arange(len(unknowns))
        self.size = size = runs[-1].end
        progress({"phase": "assembling the program of all steps"})
        self.exact = config.hessian == "exact" or (
            config.hessian == "auto" and all(_operations(run.motion) < _EXACT_BELOW for run in runs)
        )
        rows = Rows()
        constraints = [block for run in runs for block in run.constraints(self.parameters, size, rows)]
        weight, centre = self._quadratic()
        problem = Problem(constraints, [run.misfit(size) for run in runs], rows.matrix(size), weight, centre)
        self.low, self.high = np.full(size, -math.inf), np.full(size, math.inf)
        self.low[self.parameters], self.high[self.parameters] = bounds(unknowns)
        for run in runs:
            run.set_bounds(self.low, self.high)
        self._watch = _Watch(size, rows.count, progress)
        # rounding errors of the gradient of (1) go with 1/σ_p²
        tolerance = config.tolerance * max(1.0, (_PRECISE / min(run.deviation for run in runs)) ** 2)
        ipopt = {
            "print_level": 0, "sb": "yes", "max_iter": config.max_iterations, "tol": tolerance,
            "fixed_variable_treatment": "make_parameter",
        }  # fmt: skip
        options = {"print_time": False, "ipopt": ipopt, "iteration_callback": self._watch}
        self._solver, self._hessian, self._jacobian = make_solver(problem, options, exact=self.exact)

    def _quadratic(self) -> tuple[Array, Array]:
        """Return weights and centres of the second and third sum of (1)."""
        weight, centre = np.zeros(self.size), np.zeros(self.size)
        for run in self.runs:
            for index in (run.unmodelled_forces, run.shifts):
                weight[index] = 1.0
        for i, each in zip(self.parameters, self.unknowns, strict=True):
            if math.isfinite(each.prior):
                deviation = each.deviation if each.log else each.deviation / each.scale
                weight[i], centre[i] = 1.0 / deviation**2, each.coordinate(each.prior)
        return weight, centre

    def solve(self, guess: Array) -> Solution:
        """Solve from a guess with the present bounds."""
        self._watch.failure = None
        solution = self._solver(
            x0=np.clip(guess, self.low, self.high), lbx=self.low, ubx=self.high, lbg=0.0, ubg=0.0
        )
        if self._watch.failure is not None:
            raise self._watch.failure
        statistics = self._solver.stats()
        return Solution(
            x=np.array(solution["x"]).ravel(),
            dual_x=np.array(solution["lam_x"]).ravel(),
            dual_g=np.array(solution["lam_g"]).ravel(),
            objective=float(solution["f"]),
            status=str(statistics["return_status"]),
            iterations=int(statistics["iter_count"]),
            violation=float(np.abs(np.array(solution["g"])).max(initial=0.0)),
        )

    def derivatives(self, at: Solution) -> tuple[Any, Any]:
        """Return the Hessian of the Lagrangian and the Jacobian of the constraints, as SciPy CSC matrices."""
        from scipy import sparse

        upper = self._hessian(at.x, [], 1.0, at.dual_g).sparse()
        full = upper + sparse.triu(upper, 1).T
        return sparse.csc_matrix(full), sparse.csc_matrix(self._jacobian(at.x, [])[1].sparse())

    def values(self, x: Array) -> Array:
        """Return θ of a point."""
        return np.array(
            [float(each.value(float(x[p]))) for p, each in zip(self.parameters, self.unknowns, strict=True)]
        )


def _operations(motion: Motion) -> int:
    """Return the operations of a step's Jacobian."""
    if motion.step_jacobian is not None:
        return int(motion.step_jacobian.n_instructions())
    return int(motion.step.jacobian().n_instructions())


class _Watch(ca.Callback):
    """Reports the iterations of IPOPT, and stops it where a report raises an error.

    Attributes:
        failure: what was raised.
    """

    def __init__(
        self, unknowns: int, rows: int, progress: Callable[[Mapping[str, float | str]], None]
    ) -> None:
        ca.Callback.__init__(self)
        self._sizes = {"x": unknowns, "f": 1, "g": rows, "lam_x": unknowns, "lam_g": rows}
        self._progress = progress
        self._count = 0
        self.failure: BaseException | None = None
        self.construct("watch", {})

    def get_n_in(self) -> int:
        return ca.nlpsol_n_out()

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self._sizes.get(ca.nlpsol_out(i), 0), 1)

    def eval(self, arg: Sequence[Any]) -> list[float]:
        self._count += 1
        try:
            self._progress({"phase": "solving", "iteration": float(self._count), "objective": float(arg[1])})
        except BaseException as failure:  # noqa: BLE001  CasADi would drop it: raised after the solver returned
            self.failure = failure
        return [float(self.failure is not None)]
