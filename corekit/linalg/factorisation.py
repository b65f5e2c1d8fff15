"""What a factorisation answers: the saddle system of a step matrix, its bilateral rows and prescribed coordinates.

    A·x = b + J_bᵀ·λ,     J_b·x + E·λ = r,     x_p = fixed                                 (1)

and its homogeneous form with r = 0, fixed = 0, written x = G·b. A must be positive definite on the
kernel of J_b (apart from the prescribed coordinates); alone it may be singular.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.linalg.matrices import Matrix
from corekit.linalg.rows import spread

__all__ = ["Direct", "EliminatedRows", "Factor"]


class EliminatedRows:
    """Rows of (1): dofs (nb, k), values (nb, k), compliance E_b (nb,), right-hand side r (nb,)."""

    __slots__ = ("compliance", "dofs", "target", "values")

    def __init__(self, count: int, width: int) -> None:
        self.dofs: IntArray = np.zeros((count, width), dtype=np.int64)
        self.values: Array = np.zeros((count, width))
        self.compliance: Array = np.zeros(count)
        self.target: Array = np.zeros(count)

    @property
    def count(self) -> int:
        """Number of rows nb."""
        return len(self.target)

    def product(self, v: Array) -> Array:
        """J_b·v, shape (nb,)."""
        return np.einsum("rk,rk->r", self.values, v[self.dofs])

    def add_transpose(self, impulse: Array, out: Array) -> None:
        """out += J_bᵀ·impulse."""
        spread(self.dofs, self.values, impulse, out)


class Factor(ABC):
    """A reusable factorisation of (1); buffers are sized once."""

    @abstractmethod
    def refactor(self, matrix: Matrix, rows: EliminatedRows | None) -> bool:
        """Factorise; False if A is not positive definite or the saddle matrix is singular."""

    @abstractmethod
    def solve(self, b: Array, fixed: Array, x: Array, impulse: Array) -> None:
        """Write x (n,) and λ (nb,) of (1); `fixed` (p,) are the prescribed values; b is not changed."""

    @abstractmethod
    def columns(self, block: Array) -> None:
        """Overwrite `block`, shape (n, R), Fortran order, by G·block."""

    def correct(self, residual: Array, out: Array) -> None:
        """Write −G·residual, both of shape (n,), not aliased."""
        np.negative(residual, out=out)
        self.columns(out[:, None])


class Direct(Factor, ABC):
    """What the forms without rows share: prescribed rows become identity rows, their known part moves over."""

    def __init__(self, n: int, prescribed: IntArray) -> None:
        self._prescribed = prescribed
        self._known = np.zeros(n)
        self._moved = np.zeros(n)
        self._matrix: Matrix | None = None

    @abstractmethod
    def _back(self, block: Array) -> None:
        """Overwrite a Fortran block by A⁻¹·block."""

    def solve(self, b: Array, fixed: Array, x: Array, impulse: Array) -> None:
        x[:] = b
        if len(self._prescribed):
            if np.count_nonzero(fixed):
                assert self._matrix is not None
                self._known[self._prescribed] = fixed
                self._matrix.multiply(self._known, self._moved)
                x -= self._moved
            x[self._prescribed] = fixed
        self._back(x[:, None])

    def columns(self, block: Array) -> None:
        if len(self._prescribed):
            block[self._prescribed] = 0.0
        self._back(block)
