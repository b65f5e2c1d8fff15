"""How stiff the damping of a world is, from the bodies' own matrices and their factorisation.

    d = |λ|_max(M⁻¹·D) = lim ‖x_k‖_M/‖x_{k−1}‖_M,   x_k = G·D·x_{k−1}                          (1)

G is the inverse of M with the rigid rows held, so that what the rows hold damps nothing. A contact potential's
drag counts: D is then that of all bodies with Pᵀ·D_c·P. The quotients of symmetric matrices rise: a few
iterations come within some percent of d from below. Any structure of M and D will do, each iteration is one
product and one solve.

Source: the power method, e.g. Golub and Van Loan (2013), Matrix Computations, section 8.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State

if TYPE_CHECKING:
    from corekit.world.step_problem import StepSystem

__all__ = ["damping_rate"]

_ITERATIONS = 6


def damping_rate(system: StepSystem, start: State) -> float:
    """Take every body's D at the start of a step, and tell d of (1) [1/s]; 0 without damping.

    Args:
        system: factorised with A = M, a potential evaluated at the same start.
    """
    taken = [part.take_damping(own) for part, own in zip(system.parts, start.parts, strict=True)]
    forces = system.forces
    if forces is None or not forces.count:
        return max(
            0.0 if damping is None else _largest(part.body.nv, part.columns, damping.multiply)
            for part, damping in zip(system.parts, taken, strict=True)
        )

    def product(x: Array, out: Array) -> None:
        out[:] = forces.damping_force(x)
        for damping, where in zip(taken, system.slices, strict=True):
            if damping is not None:
                own = np.empty(where.stop - where.start)
                damping.multiply(x[where], own)
                out[where] += own

    return _largest(system.nv, system.factor.columns, product)


def _largest(n: int, columns: Callable[[Array], None], product: Callable[[Array, Array], None]) -> float:
    """d of (1); `columns` applies G in place, `product` writes D·x."""
    # a start that is orthogonal to no mode in particular, as a force
    force, x = np.cos(np.arange(n)), np.zeros((n, 1), order="F")
    quotient = 0.0
    for iteration in range(_ITERATIONS + 1):
        x[:, 0] = force
        columns(x)
        quotient = math.sqrt(max(float(x[:, 0] @ force), 0.0))  # ‖x‖_M: M·x is the force that gave it
        if not 0.0 < quotient < math.inf:
            return 0.0
        if iteration < _ITERATIONS:
            x /= quotient
            product(x[:, 0], force)
    return quotient
