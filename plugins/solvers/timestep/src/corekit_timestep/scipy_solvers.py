"""SciPy's BDF, Radau and RK45 as objects that continue over steps, with a movable origin and a saved state.

Variables of a solver that its next steps depend on, beside t, y and the length h of the next step:

    BDF     differences D of the last six values, order, number of equal steps so far, J, LU of 1 − c·J
    Radau   f, last values and stages Z (which it extrapolates), last h and error, J, both LU
    RK45    f, last values and stages K, of the dense output

All of them are plain arrays, and `solver_state` returns them all: a solver restored from them repeats the
same steps bit for bit.

Source: the classes `BDF`, `Radau`, `RK45` of `scipy.integrate`; L. F. Shampine and M. W. Reichelt, SIAM J.
Sci. Comput. 18 (1997) 1–22; E. Hairer and G. Wanner, Solving Ordinary Differential Equations II (1996), IV.8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from attrs import frozen
from scipy.integrate import BDF, RK45, Radau

from corekit.data.arrays import Array
from corekit.roles.component import InternalState

__all__ = ["METHODS", "Method", "drop_rounding", "recentre", "restore_solver", "solver_state"]

Rate = Callable[[float, Array], Array]


@frozen
class Method:
    """One of SciPy's solvers.

    Args:
        make: its class.
        needs_jacobian: whether it uses a Jacobian.
        one_step: whether a new start loses only the length of the step.
        numbers, arrays, pairs: attributes that may be None, by their kind; a pair is an LU with its pivots.
    """

    make: Any
    needs_jacobian: bool
    one_step: bool
    numbers: tuple[str, ...]
    arrays: tuple[str, ...]
    pairs: tuple[str, ...] = ()


METHODS: Final[Mapping[str, Method]] = {
    "bdf": Method(BDF, True, False, ("order", "n_equal_steps"), ("D", "J"), ("LU",)),
    "radau": Method(
        Radau, True, True, ("h_abs_old", "error_norm_old", "current_jac"), ("f", "y_old", "Z", "J"),
        ("LU_real", "LU_complex"),
    ),
    "rk45": Method(RK45, False, True, ("h_previous",), ("f", "y_old", "K")),
}  # fmt: skip
_COMMON: Final = ("t", "t_old", "h_abs", "t_bound")
_INTEGERS: Final = ("order", "n_equal_steps")
_EPSILON: Final = float(np.finfo(float).eps)


def solver_state(method: Method, solver: Any) -> InternalState:
    """Return all attributes of a solver that its next steps depend on."""
    arrays: InternalState = {"y": solver.y.copy()}
    for name in (*_COMMON, *method.numbers):
        if getattr(solver, name) is not None:
            arrays[name] = np.array(float(getattr(solver, name)))
    for name in method.arrays:
        if getattr(solver, name) is not None:
            arrays[name] = getattr(solver, name).copy()
    for name in method.pairs:
        if getattr(solver, name) is not None:
            arrays[name], arrays[f"{name}.pivots"] = (part.copy() for part in getattr(solver, name))
    return arrays


def restore_solver(method: Method, solver: Any, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Set the attributes of a new solver to those that `solver_state` returned."""
    for name in (*_COMMON, *method.numbers):
        value: Any = float(memory[name]) if name in memory else None
        setattr(solver, name, int(value) if name in _INTEGERS else value)
    for name in ("y", *method.arrays):
        setattr(solver, name, memory[name].copy() if name in memory else None)
    for name in method.pairs:
        pair = (memory[name].copy(), memory[f"{name}.pivots"].copy()) if name in memory else None
        setattr(solver, name, pair)
    solver.status = "finished" if solver.t == solver.t_bound else "running"
    _update_dense_output(solver)


def drop_rounding(solver: Any) -> None:
    """Let updates of Newton's method that are rounding, within ε/`rtol` of the tolerance, count as none.

    SciPy's iteration ends where an update is zero or falls. Of two that are rounding the second may be the larger:
    it takes that for divergence, at every length of step. (Its own tolerance is never below ten times this.)
    """
    solve = solver.solve_lu

    def solve_lu(factors: Any, rhs: Array) -> Array:
        update: Array = solve(factors, rhs)
        scale = solver.atol + solver.rtol * np.abs(solver.y)
        square = float(np.mean(np.abs(update / scale) ** 2))
        return update if square > (_EPSILON / solver.rtol) ** 2 else np.zeros_like(update)

    solver.solve_lu = solve_lu


def recentre(solver: Any, n: int) -> None:
    """Reset the first n unknowns to zero, which the equations do not depend on."""
    offset = solver.y[:n].copy()
    solver.y = solver.y.copy()
    solver.y[:n] = 0.0
    if isinstance(solver, BDF):
        solver.D[0, :n] = 0.0
    elif solver.y_old is not None:
        solver.y_old = solver.y_old.copy()
        solver.y_old[:n] -= offset
    _update_dense_output(solver)


def _update_dense_output(solver: Any) -> None:
    """Recompute Radau's dense output, which contains the last values."""
    compute = getattr(solver, "_compute_dense_output", None)
    if compute is not None:
        solver.sol = None if solver.Z is None else compute()
