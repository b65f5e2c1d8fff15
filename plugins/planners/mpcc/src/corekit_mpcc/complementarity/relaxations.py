"""Relaxations of complementarity by name: replacements of G·H = 0.

G, H ≥ 0 are the sides of the pairs and a = s_G·G, b = s_H·H their scaled forms. ε is a parameter of
the nonlinear program, so one prepared solver is enough for every ε:

    scholtes            G·H ≤ ε, or Σ G·H ≤ ε per step if the family is lumped             (1)
    fischer-burmeister  a + b − √(a² + b² + 2·s_G·s_H·ε) = 0, which is a·b = s_G·s_H·ε     (2)
    exact-penalty       c + Σ a·b / ε in the cost; exact for some finite 1/ε               (3)

Source: Scholtes (2001), "Convergence properties of a regularization scheme for mathematical programs with
complementarity constraints"; Kanzow (1996) for the smoothed function (2); Ralph, Wright (2004), "Some properties of
regularization and penalization schemes for MPECs".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import casadi as ca
import numpy as np
from attrs import frozen

from corekit_mpcc.complementarity.problem import Expression, Family

__all__ = ["RELAXATIONS", "Relaxed"]


@frozen(eq=False)
class Relaxed:
    """Terms of a relaxation: a term of the cost, and scaled rows low ≤ rows ≤ 0."""

    cost: Expression
    rows: Expression
    low: float


def _scholtes(family: Family, epsilon: Expression) -> Relaxed:
    product = family.first * family.second
    if family.lumped:
        product = ca.sum1(product)
    return Relaxed(ca.SX(0), family.product_scale * (product - epsilon), -np.inf)


def _fischer_burmeister(family: Family, epsilon: Expression) -> Relaxed:
    a, b = family.first_scale * family.first, family.second_scale * family.second
    width = 2.0 * family.first_scale * family.second_scale * epsilon
    return Relaxed(ca.SX(0), a + b - ca.sqrt(a * a + b * b + width), 0.0)


def _exact_penalty(family: Family, epsilon: Expression) -> Relaxed:
    a, b = family.first_scale * family.first, family.second_scale * family.second
    return Relaxed(ca.dot(a, b) / epsilon, ca.SX(0, 1), 0.0)


RELAXATIONS: Mapping[str, Callable[[Family, Expression], Relaxed]] = {
    "scholtes": _scholtes,
    "fischer-burmeister": _fischer_burmeister,
    "exact-penalty": _exact_penalty,
}
"""Relaxations by name."""
