"""Factorisations of a step matrix, with constraints and prescribed velocities eliminated.

    A·x = b + J_bᵀ·λ,     J_b·x + E·λ = r,     x_p = prescribed values                      (1)

and its homogeneous form with r = 0 and x_p = 0, written x = G·b. A must be positive definite on the kernel of J_b
(apart from the prescribed velocities); alone it may be singular. G is symmetric if A is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.linalg.constraint_rows import EliminatedConstraints
from corekit.linalg.matrices import Matrix

__all__ = ["Factorisation", "UnconstrainedFactorisation"]


class Factorisation(ABC):
    """A reusable factorisation of (1); its buffers are sized once."""

    @abstractmethod
    def refactor(self, matrix: Matrix, rows: EliminatedConstraints | None) -> bool:
        """Factorise; False if A is not positive definite or the saddle-point matrix is singular."""

    @abstractmethod
    def solve(self, b: Array, prescribed_values: Array, x: Array, impulse: Array) -> None:
        """Write x (n,) and λ (nb,) of (1); b is not changed, there are p prescribed values."""

    @abstractmethod
    def solve_transposed(self, b: Array, rhs: Array, x: Array, impulse: Array) -> None:
        """Write x (n,) and λ (nb,) of (1) with Aᵀ in place of A, r = `rhs` and x_p = 0; b is not changed.

        This is the adjoint of `solve`: where x̄ and λ̄ are the derivatives of a scalar by x and λ, b = x̄ and
        r = −λ̄ give its derivatives x by b and −λ by r.
        """

    @abstractmethod
    def solve_columns(self, block: Array) -> None:
        """Overwrite `block`, shape (n, R), Fortran order, by G·block."""

    def solve_negative(self, residual: Array, out: Array) -> None:
        """Write −G·residual, both of shape (n,), not aliased."""
        np.negative(residual, out=out)
        self.solve_columns(out[:, None])


class UnconstrainedFactorisation(Factorisation, ABC):
    """What factorisations without constraints share: prescribed velocities get identity rows, with x_p on the right."""

    def __init__(self, n: int, prescribed: IntArray) -> None:
        self._prescribed = prescribed
        self._known = np.zeros(n)
        self._known_part = np.zeros(n)
        self._matrix: Matrix | None = None

    @abstractmethod
    def _substitute(self, block: Array, *, transposed: bool = False) -> None:
        """Overwrite a Fortran block by A⁻¹·block, or by A⁻ᵀ·block."""

    def solve(self, b: Array, prescribed_values: Array, x: Array, impulse: Array) -> None:
        x[:] = b
        if len(self._prescribed):
            if np.count_nonzero(prescribed_values):
                assert self._matrix is not None
                self._known[self._prescribed] = prescribed_values
                self._matrix.multiply(self._known, self._known_part)
                x -= self._known_part
            x[self._prescribed] = prescribed_values
        self._substitute(x[:, None])

    def solve_transposed(self, b: Array, rhs: Array, x: Array, impulse: Array) -> None:
        x[:] = b
        x[self._prescribed] = 0.0
        self._substitute(x[:, None], transposed=True)

    def solve_columns(self, block: Array) -> None:
        if len(self._prescribed):
            block[self._prescribed] = 0.0
        self._substitute(block)
