"""How well the data determine the parameters: the reduced Hessian at a solution.

With H the Hessian of the Lagrangian, G the Jacobian of the active constraints and bounds, and −log likelihood as
objective, the covariance of the unknowns is, to second order, H restricted to the kernel of G and inverted; of the
parameters its block

    [H  Gᵀ] [X]   [E]
    [G  0 ] [·] = [0],     Σ = Eᵀ·X,   E the parameters' columns of the identity                        (1)

Source: Nocedal, Wright (2006), section 16.2; Pirnay, López-Negrete, Biegler (2012), "Optimal sensitivity based on
IPOPT", Math. Program. Comput. 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from corekit.data.arrays import Array
from corekit_fit.program import Program, Solution

__all__ = ["covariance"]

_ACTIVE = 1e-6
"""A bound is active if its multiplier exceeds this."""
_RESIDUAL = 1e-6
"""Largest error with which (1) may be solved, its right side being 1."""
_SHIFT = 1e-11
"""Compliance that keeps dependent constraints from making (1) singular, of the largest entry of G."""


def covariance(program: Program, at: Solution) -> Array:
    """Σ of the parameters' coordinates z, shape (p, p).

    It is nan for those that a bound holds, and for all where (1) is singular: something is not determined at all.
    """
    hessian, jacobian = program.derivatives(at)
    near = np.minimum(at.x - program.low, program.high - at.x)
    held = (near <= 1e-7 * (1.0 + np.abs(at.x))) | ((np.abs(at.dual_x) > _ACTIVE) & (near < 1e-4))
    free = np.flatnonzero(~held)
    H, G = hessian[free][:, free], jacobian[:, free]
    shift = -_SHIFT * abs(G).max() * sparse.identity(G.shape[0])
    matrix: Any = sparse.bmat([[H, G.T], [G, shift]], format="csc")
    place = {int(i): k for k, i in enumerate(free)}
    columns = [place.get(int(p), -1) for p in program.parameters]
    right = np.zeros((matrix.shape[0], len(columns)))
    for k, column in enumerate(columns):
        if column >= 0:
            right[column, k] = 1.0
    found = np.full((len(columns), len(columns)), np.nan)
    try:
        # columns ordered for little fill: elimination in time order would amplify errors like a shooting method
        answer = splu(matrix).solve(right)
    except RuntimeError:
        return found
    # a factor of a singular matrix may come without complaint
    if not np.abs(matrix @ answer - right).max(initial=0.0) < _RESIDUAL:
        return found
    for i, row in enumerate(columns):
        for j, column in enumerate(columns):
            if row >= 0 and column >= 0:
                found[i, j] = answer[row, j]
    lost = ~(np.diag(found) > 0.0)
    found[lost, :] = found[:, lost] = np.nan
    return found
