"""Joints eliminated from the step equation: the Schur complement of their rows.

With G the bodies' inverse, Δ = G·(r + Jᵀ·λ) and J·Δ = r_j give

    S·λ = r_j − J·G·r,     S = J·G·Jᵀ,     G_joined = G − G·Jᵀ·S⁻¹·J·G                                  (1)

so that a world with joints costs one more solve and a few columns, and keeps the structure of every body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from corekit.data.arrays import Array
from corekit.dynamics.joint_rows import JointRows

__all__ = ["JointElimination"]


@final
class JointElimination:
    """Factorises S and applies (1), with J as it was then.

    Args:
        rows: of the joints.
    """

    def __init__(self, rows: JointRows) -> None:
        self._rows = rows
        self._jacobian = rows.jacobian.copy()
        self._response = np.zeros(rows.jacobian.T.shape, order="F")
        self._factor, self._pivots = np.eye(rows.count), np.zeros(rows.count, dtype=np.int32)

    def refactor(self, apply_inverse: Callable[[Array], None]) -> bool:
        """Factorise S of the rows as they are; False where joints contradict or repeat each other.

        Args:
            apply_inverse: overwrites a block (nv, R), Fortran order, by G·block.
        """
        self._jacobian[:] = self._rows.jacobian
        self._response[:] = self._jacobian.T
        apply_inverse(self._response)
        complement = self._jacobian @ self._response
        if not np.isfinite(complement).all():
            return False
        self._factor, self._pivots, info = dgetrf(complement)
        return bool(info == 0)

    def _solve(self, rhs: Array) -> Array:
        return np.asarray(dgetrs(self._factor, self._pivots, rhs)[0])

    def reaction(self, free: Array) -> Array:
        """Write λ to the rows and return Jᵀ·λ, shape (nv,), for Δ = `free` without joints."""
        self._rows.impulse[:] = self._solve(self._rows.target - self._jacobian @ free)
        return self._jacobian.T @ self._rows.impulse

    def project(self, block: Array) -> None:
        """Overwrite G·block by G_joined·block, shape (nv,) or (nv, R)."""
        block -= self._response @ self._solve(self._jacobian @ block)

    def unit_responses(self) -> Array:
        """G·Jᵀ·S⁻¹, shape (nv, rows): Δ for a unit of r_j."""
        return self._response @ self._solve(np.eye(self._rows.count))
