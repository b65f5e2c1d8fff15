"""Nonlinear programs ready to be solved again and again with other parameters, bounds and starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit_mpcc.nlp.backends import NlpOptions, Outcome, backend
from corekit_mpcc.nlp.horizon import Horizon

__all__ = ["NlpAnswer", "Program"]


@frozen(eq=False)
class NlpAnswer:
    """Where a solver ended.

    Attributes:
        x: scaled variables, shape (nx,).
        lambda_x, lambda_g: multipliers of bounds and rows, of the unscaled cost.
        outcome: how it ended, as the solver says; `said` in its own words.
        iterations: how many it took.
    """

    x: Array
    lambda_x: Array
    lambda_g: Array
    outcome: Outcome
    said: str
    iterations: int


class _Watch(ca.Callback):
    """Hands every iterate on; a True from `look` stops the solver."""

    def __init__(self, variables: int, rows: int, parameters: int) -> None:
        ca.Callback.__init__(self)
        self._sizes = (variables, 1, rows, variables, rows, parameters)
        self.look: Callable[[Array], bool] | None = None
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
        if self.look is None or self.failure is not None:
            return [int(self.failure is not None)]
        try:
            return [int(self.look(np.asarray(arg[0], dtype=float).reshape(-1)))]
        except BaseException as failure:  # noqa: BLE001  handed on after the solver has returned
            self.failure = failure
            return [1]


@final
class Program:
    """One nonlinear program and its solvers, each set up once per set of options.

    Args:
        horizon: with the derivatives that `ipopt` and `sqpmethod` take.
        differentiable: the same program of interpreted steps, made when a solver asks CasADi to differentiate.
    """

    def __init__(self, horizon: Horizon, differentiable: Callable[[], Horizon]) -> None:
        self.horizon = horizon
        self._differentiable = differentiable
        self._solvers: dict[tuple[str, NlpOptions], tuple[ca.Function, _Watch | None]] = {}

    def solve(
        self,
        name: str,
        options: NlpOptions,
        start: tuple[Array, Array, Array],
        parameters: Array,
        bounds: tuple[Array, Array, Array, Array],
        look: Callable[[Array], bool],
    ) -> NlpAnswer:
        """Solve from (x, λ_x, λ_g) within (low x, high x, low g, high g).

        `look` is told every iterate where the solver can; True stops it. What `look` raises is raised again here.
        """
        which = backend(name)
        key = (name, options)
        if key not in self._solvers:
            self._solvers[key] = self._new(name, options)
        solver, watch = self._solvers[key]
        if watch is not None:
            watch.look, watch.failure = look, None
        try:
            found = solver(
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
            if watch is not None and watch.failure is not None:
                raise watch.failure from None
            return NlpAnswer(start[0], start[1], start[2], "failed", str(error).splitlines()[-1], 0)
        if watch is not None and watch.failure is not None:
            raise watch.failure
        statistics = solver.stats()
        return NlpAnswer(
            x=_flat(found["x"]),
            lambda_x=_flat(found["lam_x"]),
            lambda_g=_flat(found["lam_g"]),
            outcome=which.outcome(statistics),
            said=str(statistics.get("return_status", "")),
            iterations=int(statistics.get("iter_count", 0)),
        )

    def _new(self, name: str, options: NlpOptions) -> tuple[ca.Function, _Watch | None]:
        which = backend(name)
        asked = which.options(options)
        whole = self.horizon if which.derivatives != "none" else self._differentiable()
        x, p, g = whole.nlp["x"], whole.nlp["p"], whole.nlp["g"]
        if which.derivatives == "interior":
            asked |= {"grad_f": whole.gradient, "jac_g": whole.jacobian, "hess_lag": whole.hessian}
        elif which.derivatives == "sequential":
            lambda_f, lambda_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", g.numel())
            full = ca.triu2symm(whole.hessian(x, p, lambda_f, lambda_g))
            asked |= {
                "jac_fg": ca.Function("nlp_jac_fg", [x, p], [*whole.gradient(x, p), *whole.jacobian(x, p)]),
                "hess_lag": ca.Function("nlp_hess_l", [x, p, lambda_f, lambda_g], [full]),
            }
        watch = _Watch(x.numel(), g.numel(), p.numel()) if which.watched else None
        if watch is not None:
            asked["iteration_callback"] = watch
        return ca.nlpsol("solver", which.plugin, whole.nlp, asked), watch


def _flat(value: Any) -> Array:
    return np.asarray(value, dtype=float).reshape(-1)
