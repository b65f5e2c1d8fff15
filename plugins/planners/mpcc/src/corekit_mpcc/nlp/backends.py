"""Solvers of nonlinear programs by name: options, and what they say of how they ended.

`ipopt` serves everything and is given our own derivatives. `sqpmethod`, `fatrop` and `uno` come with CasADi as well:
`sqpmethod` takes our derivatives too, the others let CasADi differentiate the interpreted steps.

Source: Wächter, Biegler (2006); Vanroye et al. (2023), "FATROP"; Vanaret, Leyffer (2024), "Unifying nonlinearly
constrained nonconvex optimization" (Uno).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import casadi as ca
from attrs import frozen

from corekit.errors import ConfigError, Mistake

__all__ = ["BACKENDS", "Backend", "NlpOptions", "Outcome", "backend"]

Outcome = Literal["solved", "infeasible", "iterations", "stopped", "non-finite", "failed"]


@frozen(kw_only=True)
class NlpOptions:
    """What one solve of a nonlinear program may ask of any solver.

    Args:
        tolerance: scaled first-order conditions and feasibility.
        iterations: most iterations.
        objective_scale: factor on the cost; about 1 to 30 at the optimum is right for an interior point.
        barrier: first barrier parameter of an interior point, None for the solver's own.
        warm: whether the multipliers given are trusted.
    """

    tolerance: float = 1e-6
    iterations: int = 300
    objective_scale: float = 1.0
    barrier: float | None = None
    warm: bool = False


@frozen(eq=False)
class Backend:
    """One solver.

    Attributes:
        plugin: CasADi's name of it.
        derivatives: which of our functions it takes.
        watched: whether it calls back at every iteration.
        options: CasADi's options for ours.
        outcome: how it ended, from its statistics.
    """

    plugin: str
    derivatives: Literal["interior", "sequential", "none"]
    watched: bool
    options: Callable[[NlpOptions], dict[str, Any]]
    outcome: Callable[[Mapping[str, Any]], Outcome]


def _ipopt(asked: NlpOptions) -> dict[str, Any]:
    inner: dict[str, Any] = {
        "print_level": 0,
        "sb": "yes",
        "tol": asked.tolerance,
        "max_iter": asked.iterations,
        "linear_solver": "mumps",
        # KKT matrices of horizons: approximate minimum fill and no matching beforehand take a fifth less time, and
        # little room to spare (it grows when needed) a tenth, as untouched memory need not be handed out
        "mumps_pivot_order": 2,
        "mumps_permuting_scaling": 0,
        "mumps_mem_percent": 50,
        "nlp_scaling_method": "none",
        "obj_scaling_factor": asked.objective_scale,
    }
    if asked.barrier is not None:
        inner["mu_init"] = asked.barrier
    if asked.warm:
        push = 1e-8
        inner["warm_start_init_point"] = "yes"
        for name in ("bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac", "mult_bound_push"):
            inner[f"warm_start_{name}"] = push
    return {"ipopt": inner, "no_nlp_grad": True, "calc_lam_p": False, "print_time": False}


def _sqpmethod(asked: NlpOptions) -> dict[str, Any]:
    quiet = {"print_iter": False, "print_header": False, "print_info": False, "error_on_fail": False}
    return {
        "max_iter": asked.iterations,
        "tol_pr": asked.tolerance,
        "tol_du": asked.tolerance * max(1.0, asked.objective_scale),
        "qpsol": "qrqp",
        "qpsol_options": quiet,
        "convexify_strategy": "regularize",
        "print_header": False,
        "print_iteration": False,
        "print_status": False,
        "print_time": False,
        "no_nlp_grad": True,
        "calc_lam_p": False,
    }


def _fatrop(asked: NlpOptions) -> dict[str, Any]:
    inner: dict[str, Any] = {"print_level": 0, "tolerance": asked.tolerance, "max_iter": asked.iterations}
    if asked.barrier is not None:
        inner["mu_init"] = asked.barrier
    return {"fatrop": inner, "print_time": False, "calc_lam_p": False}


def _uno(asked: NlpOptions) -> dict[str, Any]:
    inner = {
        "logger": "SILENT",
        "primal_tolerance": asked.tolerance,
        "dual_tolerance": asked.tolerance,
        "max_iterations": asked.iterations,
    }
    return {"uno": inner, "print_time": False, "calc_lam_p": False}


_SAID: Mapping[str, Outcome] = {
    "Solve_Succeeded": "solved",
    "Solved_To_Acceptable_Level": "solved",
    "Feasible_Point_Found": "solved",
    "Infeasible_Problem_Detected": "infeasible",
    "Maximum_Iterations_Exceeded": "iterations",
    "User_Requested_Stop": "stopped",
    "Invalid_Number_Detected": "non-finite",
}


def _outcome(statistics: Mapping[str, Any]) -> Outcome:
    said = str(statistics.get("return_status", ""))
    if said in _SAID:
        return _SAID[said]
    if statistics.get("success"):
        return "solved"
    if "nfeasible" in said:
        return "infeasible"
    if "teration" in said or statistics.get("unified_return_status") == "SOLVER_RET_LIMITED":
        return "iterations"
    return "non-finite" if statistics.get("unified_return_status") == "SOLVER_RET_NAN" else "failed"


BACKENDS: Mapping[str, Backend] = {
    "ipopt": Backend("ipopt", "interior", watched=True, options=_ipopt, outcome=_outcome),
    "sqpmethod": Backend("sqpmethod", "sequential", watched=True, options=_sqpmethod, outcome=_outcome),
    "fatrop": Backend("fatrop", "none", watched=False, options=_fatrop, outcome=_outcome),
    "uno": Backend("uno", "none", watched=False, options=_uno, outcome=_outcome),
}
"""Solvers by name."""


def backend(name: str) -> Backend:
    """The solver of this name.

    Raises:
        ConfigError: there is none, or this CasADi comes without it.
    """
    if name not in BACKENDS:
        raise ConfigError([Mistake("backend", name, "one of " + ", ".join(BACKENDS))], "planner")
    if not ca.has_nlpsol(BACKENDS[name].plugin):
        raise ConfigError(
            [Mistake("backend", name, "a solver that the installed CasADi brings", "ipopt always is")],
            "planner",
        )
    return BACKENDS[name]
