"""Covariance of the parameters from the reduced Hessian at a solution.

The objective is −log likelihood, H the Hessian of the Lagrangian, and G the Jacobian of the active constraints and
bounds. To second order the covariance of the unknowns is the inverse of H restricted to the kernel of G. The block of
the parameters is

    [H  Gᵀ] [X]   [E]
    [G  0 ] [·] = [0],     Σ = Eᵀ·X,   E the identity's columns of the parameters                       (1)

Dependent constraints make (1) singular, though X is unique. Then a compliance in place of 0 makes the factors, and
iterative refinement removes what it does to X.

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

__all__ = ["compute_covariance"]

_ACTIVE = 1e-6
"""Least multiplier of an active bound."""
_RESIDUAL = 1e-6
"""Largest residual of (1), relative to its right-hand side of 1."""
_COMPLIANCES = (0.0, 1e-15, 1e-13, 1e-11)
"""Compliances, relative to the largest entry of G, that are tried in turn."""
_REFINEMENTS = 10


def compute_covariance(program: Program, at: Solution) -> Array:
    """Return Σ of the parameters' coordinates z, shape (p, p).

    It is nan for parameters at a bound, and for all parameters if (1) is singular.
    """
    hessian, jacobian = program.derivatives(at)
    near = np.minimum(at.x - program.low, program.high - at.x)
    active = (near <= 1e-7 * (1.0 + np.abs(at.x))) | ((np.abs(at.dual_x) > _ACTIVE) & (near < 1e-4))
    free = np.flatnonzero(~active)
    H, G = hessian[free][:, free], jacobian[:, free]
    index_of = {int(i): k for k, i in enumerate(free)}
    columns = [index_of.get(int(p), -1) for p in program.parameters]
    rhs = np.zeros((len(free) + G.shape[0], len(columns)))
    for k, column in enumerate(columns):
        if column >= 0:
            rhs[column, k] = 1.0
    covariance = np.full((len(columns), len(columns)), np.nan)
    solution = _solve(H, G, rhs)
    if solution is None:
        return covariance
    for i, row in enumerate(columns):
        for j, column in enumerate(columns):
            if row >= 0 and column >= 0:
                covariance[i, j] = solution[row, j]
    undetermined = ~(np.diag(covariance) > 0.0)
    covariance[undetermined, :] = covariance[:, undetermined] = np.nan
    return covariance


def _solve(H: Any, G: Any, rhs: Array) -> Array | None:
    """Return the solution of (1) to rounding, else that with the largest compliance; None if neither has one."""
    exact: Any = sparse.bmat([[H, G.T], [G, None]], format="csc")
    last: Array | None = None
    for relative in _COMPLIANCES:
        compliance = relative * abs(G).max() * sparse.identity(G.shape[0])
        matrix: Any = exact - sparse.block_diag([sparse.csc_matrix(H.shape), compliance], format="csc")
        try:
            # the default column order: elimination in time order amplifies errors like a shooting method
            factors = splu(matrix)
        except RuntimeError:
            continue
        solution = factors.solve(rhs)
        # splu may factorise a singular matrix without an error
        last = solution if np.abs(matrix @ solution - rhs).max(initial=0.0) < _RESIDUAL else None
        for _ in range(_REFINEMENTS):
            if np.abs(exact @ solution - rhs).max(initial=0.0) < _RESIDUAL:
                return solution
            solution = solution + factors.solve(rhs - exact @ solution)
    return last
