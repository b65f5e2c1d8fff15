"""Nonlinear programs for repeated solves with other parameters, bounds and initial guesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit_mpcc.nlp.backends import NlpOptions, Outcome, backend
from corekit_mpcc.nlp.horizon_program import HorizonProgram

__all__ = ["NlpSolution", "NonlinearProgram"]


@frozen(eq=False)
class NlpSolution:
    """Solution of a nonlinear program.

    Attributes:
        x: scaled variables, shape (nx,).
        lambda_x, lambda_g: multipliers of bounds and rows, of the unscaled cost.
        outcome: common name of the outcome.
        return_status: outcome in the words of the solver.
        iterations: count of iterations.
    """

    x: Array
    lambda_x: Array
    lambda_g: Array
    outcome: Outcome
    return_status: str
    iterations: int


class _IterateCallback(ca.Callback):
    """Callback of every iterate; True from `on_iterate` stops the solver."""

    def __init__(self, variables: int, rows: int, parameters: int) -> None:
        ca.Callback.__init__(self)
        self._sizes = (variables, 1, rows, variables, rows, parameters)
        self.on_iterate: Callable[[Array], bool] | None = None
        self.failure: BaseException | None = None
        self.construct("watch", {})

    def get_n_in(self) -> int:
        return ca.nlpsol_n_out()

    def get_n_out(self) -> int:
        return 1

    def get_name_in(self, i: int) -> str:
        return ca.nlpsol_out(i)

    def get_name_out(self, i: int) -> str:
        return "ret"

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self._sizes[i], 1)

    def eval(self, arg: Any) -> list[int]:
        if self.on_iterate is None or self.failure is not None:
            return [int(self.failure is not None)]
        try:
            return [int(self.on_iterate(np.asarray(arg[0], dtype=float).reshape(-1)))]
        except BaseException as failure:  # noqa: BLE001  raised after the solver returned
            self.failure = failure
            return [1]


@final
class NonlinearProgram:
    """One nonlinear program and its solvers, one per set of options.

    Args:
        horizon: the program with derivatives for `ipopt` and `sqpmethod`.
        differentiable: factory of the same program with interpreted steps, for solvers that use CasADi's derivatives.
    """

    def __init__(self, horizon: HorizonProgram, differentiable: Callable[[], HorizonProgram]) -> None:
        self.horizon = horizon
        self._differentiable = differentiable
        self._solvers: dict[tuple[str, NlpOptions], tuple[ca.Function, _IterateCallback | None]] = {}

    def solve(
        self,
        name: str,
        options: NlpOptions,
        start: tuple[Array, Array, Array],
        parameters: Array,
        bounds: tuple[Array, Array, Array, Array],
        on_iterate: Callable[[Array], bool],
    ) -> NlpSolution:
        """Solve from (x, λ_x, λ_g) within (low x, high x, low g, high g).

        Solvers with a callback call `on_iterate` for every iterate; True stops them. Its exceptions are raised here.
        """
        solver_type = backend(name)
        key = (name, options)
        if key not in self._solvers:
            self._solvers[key] = self._new_solver(name, options)
        solver, callback = self._solvers[key]
        if callback is not None:
            callback.on_iterate, callback.failure = on_iterate, None
        try:
            result = solver(
                x0=start[0],
                lam_x0=start[1],
                lam_g0=start[2],
                p=parameters,
                lbx=bounds[0],
                ubx=bounds[1],
                lbg=bounds[2],
                ubg=bounds[3],
            )
        except RuntimeError as error:
            if callback is not None and callback.failure is not None:
                raise callback.failure from None
            return NlpSolution(start[0], start[1], start[2], "failed", str(error).splitlines()[-1], 0)
        if callback is not None and callback.failure is not None:
            raise callback.failure
        statistics = solver.stats()
        return NlpSolution(
            x=_flat(result["x"]),
            lambda_x=_flat(result["lam_x"]),
            lambda_g=_flat(result["lam_g"]),
            outcome=solver_type.outcome(statistics),
            return_status=str(statistics.get("return_status", "")),
            iterations=int(statistics.get("iter_count", 0)),
        )

    def _new_solver(self, name: str, options: NlpOptions) -> tuple[ca.Function, _IterateCallback | None]:
        solver_type = backend(name)
        settings = solver_type.options(options)
        program = self.horizon if solver_type.derivatives != "none" else self._differentiable()
        x, p, g = program.nlp["x"], program.nlp["p"], program.nlp["g"]
        if solver_type.derivatives == "interior":
            settings |= {"grad_f": program.gradient, "jac_g": program.jacobian, "hess_lag": program.hessian}
        elif solver_type.derivatives == "sequential":
            lambda_f, lambda_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", g.numel())
            full = ca.triu2symm(program.hessian(x, p, lambda_f, lambda_g))
            settings |= {
                "jac_fg": ca.Function(
                    "nlp_jac_fg", [x, p], [*program.gradient(x, p), *program.jacobian(x, p)]
                ),
                "hess_lag": ca.Function("nlp_hess_l", [x, p, lambda_f, lambda_g], [full]),
            }
        callback = _IterateCallback(x.numel(), g.numel(), p.numel()) if solver_type.watched else None
        if callback is not None:
            settings["iteration_callback"] = callback
        return ca.nlpsol("solver", solver_type.plugin, program.nlp, settings), callback


def _flat(value: Any) -> Array:
    return np.asarray(value, dtype=float).reshape(-1)
