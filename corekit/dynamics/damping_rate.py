"""How stiff the damping of a world is, from the bodies' own matrices and their factorisation.

    d = |λ|_max(M⁻¹·D) = lim ‖x_k‖_M/‖x_{k−1}‖_M,   x_k = G·D·x_{k−1}                          (1)

G is the inverse of M with the rigid rows held, so that what the rows hold damps nothing. A contact potential's
drag counts: D is then that of all bodies with Pᵀ·D_c·P. The quotients of symmetric matrices rise: a few
iterations come within some percent of d from below.

Source: the power method, e.g. Golub and Van Loan (2013), Matrix Computations, section 8.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.dynamics.world_terms import WorldTerms

__all__ = ["max_damping_rate"]

_ITERATIONS = 6


def max_damping_rate(world: WorldTerms, start: State) -> float:
    """Evaluate every body's D at the start of a step; d of (1) [1/s], 0 without damping.

    Args:
        world: factorised with A = M, a potential evaluated at the same start.
    """
    dampings = [terms.update_damping(own) for terms, own in zip(world.bodies, start.body_states, strict=True)]
    forces = world.forces
    if forces is None or not forces.count:
        return max(
            0.0 if damping is None else _largest(terms.body.nv, terms.factor.solve_columns, damping.multiply)
            for terms, damping in zip(world.bodies, dampings, strict=True)
        )

    def multiply(x: Array, out: Array) -> None:
        out[:] = forces.damping_force(x)
        for damping, where in zip(dampings, world.slices, strict=True):
            if damping is not None:
                own = np.empty(where.stop - where.start)
                damping.multiply(x[where], own)
                out[where] += own

    return _largest(world.nv, world.factorisation.solve_columns, multiply)


def _largest(n: int, solve: Callable[[Array], None], multiply: Callable[[Array, Array], None]) -> float:
    """d of (1); `solve` applies G in place, `multiply` writes D·x."""
    # a start that is orthogonal to no mode in particular, as a force
    force, x = np.cos(np.arange(n)), np.zeros((n, 1), order="F")
    quotient = 0.0
    for iteration in range(_ITERATIONS + 1):
        x[:, 0] = force
        solve(x)
        quotient = math.sqrt(max(float(x[:, 0] @ force), 0.0))  # ‖x‖_M: M·x is the force that gave it
        if not 0.0 < quotient < math.inf:
            return 0.0
        if iteration < _ITERATIONS:
            x /= quotient
            multiply(x[:, 0], force)
    return quotient
