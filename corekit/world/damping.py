"""How stiff the damping of a body is, from its own matrices and their factorisation.

    d = |λ|_max(M⁻¹·D) = lim ‖x_k‖_M/‖x_{k−1}‖_M,   x_k = G·D·x_{k−1}                          (1)

G is the inverse of M with the rigid rows held, so that what the rows hold damps nothing. The quotients of
symmetric matrices rise: a few iterations come within some percent of d from below. Any structure of M and D
will do, each iteration is one product and one solve.

Source: the power method, e.g. Golub and Van Loan (2013), Matrix Computations, section 8.2.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.data.state import State
from corekit.world.body_system import BodySystem

__all__ = ["damping_rate"]

_ITERATIONS = 6


def damping_rate(part: BodySystem, start: State) -> float:
    """Take a body's D at the start of a step, and tell d of (1) [1/s]; 0 without damping.

    Args:
        part: factorised with A = M.
        start: the body's state.
    """
    damping = part.take_damping(start)
    if damping is None:
        return 0.0
    # a start that is orthogonal to no mode in particular, as a force
    force, x = np.cos(np.arange(part.body.nv)), np.zeros((part.body.nv, 1), order="F")
    quotient = 0.0
    for iteration in range(_ITERATIONS + 1):
        x[:, 0] = force
        part.columns(x)
        quotient = math.sqrt(max(float(x[:, 0] @ force), 0.0))  # ‖x‖_M: M·x is the force that gave it
        if not 0.0 < quotient < math.inf:
            return 0.0
        if iteration < _ITERATIONS:
            x /= quotient
            damping.multiply(x[:, 0], force)
    return quotient
