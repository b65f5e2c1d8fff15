"""Solvers of nonlinear programs by name: options and outcomes.

CasADi provides all of them. `ipopt` and `sqpmethod` use our own derivatives. For `fatrop` and `uno`, CasADi
differentiates the interpreted steps.

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
    """Options of one solve, for all solvers.

    Args:
        tolerance: tolerance of scaled first-order conditions and feasibility.
        iterations: largest count of iterations.
        objective_scale: factor on the cost; for an interior point the optimum should be about 1 to 30.
        barrier: first barrier parameter of an interior point, None for the solver's default.
        warm: whether to use the multipliers.
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
        plugin: CasADi's name of the solver.
        derivatives: kind of our derivative functions that it uses.
        watched: whether it calls back at every iteration.
        options: CasADi's options for our options.
        outcome: outcome from the solver's statistics.
    """

    plugin: str
    derivatives: Literal["interior", "sequential", "none"]
    watched: bool
    options: Callable[[NlpOptions], dict[str, Any]]
    outcome: Callable[[Mapping[str, Any]], Outcome]


def _ipopt(settings: NlpOptions) -> dict[str, Any]:
    inner: dict[str, Any] = {
        "print_level": 0,
        "sb": "yes",
        "tol": settings.tolerance,
        "max_iter": settings.iterations,
        "linear_solver": "mumps",
        # for KKT matrices of horizons, approximate minimum fill without matching saves a fifth of the time, and
        # little spare memory (it grows on demand) a tenth
        "mumps_pivot_order": 2,
        "mumps_permuting_scaling": 0,
        "mumps_mem_percent": 50,
        "nlp_scaling_method": "none",
        "obj_scaling_factor": settings.objective_scale,
    }
    if settings.barrier is not None:
        inner["mu_init"] = settings.barrier
    if settings.warm:
        margin = 1e-8
        inner["warm_start_init_point"] = "yes"
        for name in ("bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac", "mult_bound_push"):
            inner[f"warm_start_{name}"] = margin
    return {"ipopt": inner, "no_nlp_grad": True, "calc_lam_p": False, "print_time": False}


def _sqpmethod(settings: NlpOptions) -> dict[str, Any]:
    quiet = {"print_iter": False, "print_header": False, "print_info": False, "error_on_fail": False}
    return {
        "max_iter": settings.iterations,
        "tol_pr": settings.tolerance,
        "tol_du": settings.tolerance * max(1.0, settings.objective_scale),
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


def _fatrop(settings: NlpOptions) -> dict[str, Any]:
    inner: dict[str, Any] = {
        "print_level": 0,
        "tolerance": settings.tolerance,
        "max_iter": settings.iterations,
    }
    if settings.barrier is not None:
        inner["mu_init"] = settings.barrier
    return {"fatrop": inner, "print_time": False, "calc_lam_p": False}


def _uno(settings: NlpOptions) -> dict[str, Any]:
    inner = {
        "logger": "SILENT",
        "primal_tolerance": settings.tolerance,
        "dual_tolerance": settings.tolerance,
        "max_iterations": settings.iterations,
    }
    return {"uno": inner, "print_time": False, "calc_lam_p": False}


_OUTCOMES: Mapping[str, Outcome] = {
    "Solve_Succeeded": "solved",
    "Solved_To_Acceptable_Level": "solved",
    "Feasible_Point_Found": "solved",
    "Infeasible_Problem_Detected": "infeasible",
    "Maximum_Iterations_Exceeded": "iterations",
    "User_Requested_Stop": "stopped",
    "Invalid_Number_Detected": "non-finite",
}


def _outcome(statistics: Mapping[str, Any]) -> Outcome:
    status = str(statistics.get("return_status", ""))
    if status in _OUTCOMES:
        return _OUTCOMES[status]
    if statistics.get("success"):
        return "solved"
    if "nfeasible" in status:
        return "infeasible"
    if "teration" in status or statistics.get("unified_return_status") == "SOLVER_RET_LIMITED":
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
    """Return the solver of this name.

    Raises:
        ConfigError: an unknown name, or a solver that the installed CasADi lacks.
    """
    if name not in BACKENDS:
        raise ConfigError([Mistake("backend", name, "one of " + ", ".join(BACKENDS))], "planner")
    if not ca.has_nlpsol(BACKENDS[name].plugin):
        raise ConfigError(
            [
                Mistake(
                    "backend",
                    name,
                    "the installed CasADi lacks this solver",
                    "use ipopt, which is always present",
                )
            ],
            "planner",
        )
    return BACKENDS[name]
