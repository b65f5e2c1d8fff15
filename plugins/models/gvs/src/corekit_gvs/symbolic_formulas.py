"""Formulas of users as CasADi expressions, and elastic laws by them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import casadi as ca

if TYPE_CHECKING:
    from corekit_gvs.elastic_law import ElasticLaw

__all__ = ["FUNCTIONS", "law_at"]

Expression = Any

FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "sin": ca.sin, "cos": ca.cos, "tan": ca.tan, "asin": ca.asin, "acos": ca.acos, "atan": ca.atan,
        "atan2": ca.atan2, "sinh": ca.sinh, "cosh": ca.cosh, "tanh": ca.tanh, "asinh": ca.asinh, "acosh": ca.acosh,
        "atanh": ca.atanh, "exp": ca.exp, "log": ca.log, "sqrt": ca.sqrt, "Abs": ca.fabs, "sign": ca.sign,
        "Min": lambda *each: reduce(ca.fmin, each), "Max": lambda *each: reduce(ca.fmax, each),
        "Piecewise": ca.if_else,
    }
)  # fmt: skip
"""By their SymPy names."""


def law_at(
    laws: Mapping[int, tuple[ElasticLaw, int]], i: int, away: Expression, rigidity: Expression
) -> tuple[Expression, Expression]:
    """W and ∂W/∂e (6, 1) at a quadrature point.

    Args:
        laws: of users, with the number of the point among their own; elsewhere it is Hooke's.
        i: the point.
        away: e, (6, 1).
        rigidity: Hooke's diagonal there, (6, 1).
    """
    if i not in laws:
        return 0.5 * ca.dot(rigidity * away, away), rigidity * away
    law, k = laws[i]
    strain = ca.SX.sym("strain", 6)
    energy = law.energy_of(k, ca.vertsplit(strain), [rigidity[r] for r in range(6)], FUNCTIONS)
    both = ca.substitute([energy, ca.gradient(energy, strain)], [strain], [away])
    return both[0], both[1]
