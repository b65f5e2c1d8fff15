"""Covariance of the parameters from the reduced Hessian at a solution.

The objective is −log likelihood, H the Hessian of the Lagrangian, and G the Jacobian of the active constraints and
bounds. To second order the covariance of the unknowns is the inverse of H restricted to the kernel of G. The block of
the parameters is

    [H  Gᵀ] [X]   [E]
    [G  0 ] [·] = [0],     Σ = Eᵀ·X,   E the identity's columns of the parameters                       (1)

Dependent constraints make (1) singular, though X is unique. So do unknowns of which the markers say nothing, as the
start of a coordinate that no marker sees: the columns of parameters that do not move with them are unique all the same.
Then a compliance in place of 0, and a small multiple of 1 beside H, make the factors, and iterative refinement removes
what they do to X. A column that does not solve (1) is of a parameter that the markers do not determine.

Source: Nocedal, Wright (2006), section 16.2; Pirnay, López-Negrete, Biegler (2012), "Optimal sensitivity based on
IPOPT", Math. Program. Comput. 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from corekit.data.arrays import Array, BoolArray
from corekit_fit.program import Program, Solution

__all__ = ["compute_covariance"]

_ACTIVE = 1e-6
"""Least multiplier of an active bound."""
_RESIDUAL = 1e-6
"""Largest residual of (1), relative to its right-hand side of 1."""
_TRIED = ((1e-15, 1e-12), (1e-13, 1e-12), (1e-11, 1e-12), (1e-11, 1e-9))
"""Compliances, relative to the largest entry of G, and multiples of 1 beside H, relative to its, tried in turn.

SuperLU has ended the process at singular matrices, so there is always some of both.
"""
_REFINEMENTS = 20
_SETTLED = 1e-7
"""Largest change of a variance by refinement, relative to it, where it has settled."""


def compute_covariance(program: Program, at: Solution) -> Array:
    """Return Σ of the parameters' coordinates z, shape (p, p).

    It is nan for parameters at a bound, and for those that (1) does not determine.
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
    for i, row in enumerate(columns):
        for j, column in enumerate(columns):
            if row >= 0 and column >= 0:
                covariance[i, j] = solution[row, j]
    undetermined = ~(np.diag(covariance) > 0.0)
    covariance[undetermined, :] = covariance[:, undetermined] = np.nan
    return covariance


def _solve(H: Any, G: Any, rhs: Array) -> Array:
    """Return the solution of (1) to rounding, else that with the largest compliance; nan in columns without one."""
    exact: Any = sparse.bmat([[H, G.T], [G, None]], format="csc")
    found, compliant = np.full((2, *rhs.shape), np.nan)
    own = rhs.argmax(axis=0), np.arange(rhs.shape[1])
    for compliance, beside in _TRIED:
        softened = sparse.block_diag(
            [sparse.csc_matrix(H.shape), compliance * abs(G).max() * sparse.identity(G.shape[0])],
            format="csc",
        )
        added = [
            beside * abs(H).max() * sparse.identity(H.shape[0]),
            sparse.csc_matrix((len(rhs) - H.shape[0],) * 2),
        ]
        soft: Any = exact - softened
        try:
            # the default column order: elimination in time order amplifies errors like a shooting method
            factors = splu(soft + sparse.block_diag(added, format="csc"))
        except RuntimeError:
            continue
        solution = factors.solve(rhs)
        compliant = np.where(_solved(soft, solution, rhs), solution, np.nan)
        for _ in range(_REFINEMENTS):
            change = factors.solve(rhs - exact @ solution)
            settled = np.abs(change[own]) <= _SETTLED * np.abs(solution[own])
            solution = solution + change
            found = np.where(settled & _solved(exact, solution, rhs) & np.isnan(found[0]), solution, found)
            if not np.isnan(found[0]).any():
                return found
    return np.where(np.isnan(found[0]), compliant, found)


def _solved(matrix: Any, solution: Array, rhs: Array) -> BoolArray:
    """Which columns solve a system."""
    left: BoolArray = np.abs(matrix @ solution - rhs).max(axis=0, initial=0.0) < _RESIDUAL
    return left
