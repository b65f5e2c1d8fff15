"""SciPy's BDF, Radau and RK45 as objects that are kept over steps, moved to a new origin, saved and made again.

What a solver carries from one of its steps to the next, beside t, y and the length h of the next step:

    BDF     differences D of the last six values, order, steps of equal length so far, J, LU of 1 − c·J
    Radau   f, last values and stages Z (of which it extrapolates), last h and error, J, both LU
    RK45    f, last values and stages K, of the dense output

All of it is plain arrays, and these are all that `memory` names: a solver made again from them takes the same
steps bit for bit.

Source: the classes `BDF`, `Radau`, `RK45` of `scipy.integrate`; L. F. Shampine and M. W. Reichelt, SIAM J. Sci.
Comput. 18 (1997) 1–22; E. Hairer and G. Wanner, Solving Ordinary Differential Equations II (1996), IV.8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from attrs import frozen
from scipy.integrate import BDF, RK45, Radau

from corekit.data.arrays import Array
from corekit.roles.component import Memory

__all__ = ["METHODS", "Method", "recentre", "revive", "saved"]

Rate = Callable[[float, Array], Array]


@frozen
class Method:
    """One of SciPy's solvers.

    Args:
        make: its class.
        needs_jacobian: whether it takes one.
        one_step: whether a fresh start costs it nothing but its length.
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
_WHOLE: Final = ("order", "n_equal_steps")


def saved(method: Method, solver: Any) -> Memory:
    """Everything of a solver that its next steps depend on."""
    kept: Memory = {"y": solver.y.copy()}
    for name in (*_COMMON, *method.numbers):
        if getattr(solver, name) is not None:
            kept[name] = np.array(float(getattr(solver, name)))
    for name in method.arrays:
        if getattr(solver, name) is not None:
            kept[name] = getattr(solver, name).copy()
    for name in method.pairs:
        if getattr(solver, name) is not None:
            kept[name], kept[f"{name}.pivots"] = (part.copy() for part in getattr(solver, name))
    return kept


def revive(method: Method, blank: Any, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Make a fresh solver the one that `saved` saw."""
    for name in (*_COMMON, *method.numbers):
        value: Any = float(memory[name]) if name in memory else None
        setattr(blank, name, int(value) if name in _WHOLE else value)
    for name in ("y", *method.arrays):
        setattr(blank, name, memory[name].copy() if name in memory else None)
    for name in method.pairs:
        found = (memory[name].copy(), memory[f"{name}.pivots"].copy()) if name in memory else None
        setattr(blank, name, found)
    blank.status = "finished" if blank.t == blank.t_bound else "running"
    _renew_output(blank)


def recentre(solver: Any, n: int) -> None:
    """Let the first n unknowns count from their present values, which the equations do not depend on."""
    moved = solver.y[:n].copy()
    solver.y = solver.y.copy()
    solver.y[:n] = 0.0
    if isinstance(solver, BDF):
        solver.D[0, :n] = 0.0
    elif solver.y_old is not None:
        solver.y_old = solver.y_old.copy()
        solver.y_old[:n] -= moved
    _renew_output(solver)


def _renew_output(solver: Any) -> None:
    """Radau keeps its dense output, which holds the last values."""
    renew = getattr(solver, "_compute_dense_output", None)
    if renew is not None:
        solver.sol = None if solver.Z is None else renew()
