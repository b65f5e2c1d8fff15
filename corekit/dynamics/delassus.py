"""The contact problem of a step, reduced to impulses: the Delassus matrix W, w₀, and the velocity they lead to.

    w = W·λ + w₀,   W = J·G·Jᵀ + diag(0, E_b),   w₀ = J·v_f + bias,   v⁺ = v_f + G·Jᵀ·λ                   (1)

J stacks the contact rows (`rows_per_contact` each) and the bounded constraints. Where every body's A = L·Lᵀ is at
hand, half of G·Jᵀ is enough:

    Y = L⁻¹·Jᵀ,   W = Yᵀ·Y,   G·Jᵀ·λ = L⁻ᵀ·(Y·λ)                                                        (2)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.dynamics.step_factorisation import StepFactorisation
from corekit.dynamics.world_terms import WorldTerms
from corekit.linalg.block_cholesky import add_impulse_response, forward_substitute
from corekit.linalg.factorisation import BlockFactorisation

__all__ = ["DelassusOperator", "ProductDelassus", "SquareRootDelassus", "delassus_operator"]

_FEW: Final = 12
"""Rows up to which W costs less than a call of BLAS."""


class DelassusOperator(ABC):
    """Reduces one step to its impulses; hides how G is applied."""

    @abstractmethod
    def assemble(self, rows: Array, velocity: Array, free: Array, delassus: Array) -> None:
        """Write W (R, R), and add J·v_f to `free` (R,).

        Args:
            rows: J, shape (R, nv).
            velocity: v_f, shape (nv,).
        """

    @abstractmethod
    def add_response(self, impulse: Array, velocity: Array) -> None:
        """Add G·Jᵀ·λ of the last J to `velocity`."""


def delassus_operator(world: WorldTerms) -> DelassusOperator:
    """The operator that suits the factorisations of a world's bodies."""
    factors = [terms.factor for terms in world.bodies if isinstance(terms.factor, BlockFactorisation)]
    if len(factors) == len(world.bodies) and world.forces is None:
        return SquareRootDelassus(list(zip(factors, world.slices, strict=True)))
    return ProductDelassus(world.factorisation)


@compiled
def _square(half: Array, delassus: Array) -> None:
    """Write W = Yᵀ·Y for Y (nv, R)."""
    n, count = half.shape
    for i in range(count):
        for j in range(i + 1):
            delassus[i, j] = 0.0
    for k in range(n):
        for i in range(count):
            factor = half[k, i]
            for j in range(i + 1):
                delassus[i, j] += factor * half[k, j]
    for i in range(count):
        for j in range(i):
            delassus[j, i] = delassus[i, j]


@final
class SquareRootDelassus(DelassusOperator):
    """(2), for small dense and diagonal matrices without eliminated constraints.

    Args:
        bodies: factorisation of every body, and where its velocities stand.
    """

    def __init__(self, bodies: Sequence[tuple[BlockFactorisation, slice]]) -> None:
        self._bodies = tuple(bodies)
        self._half = np.zeros((0, 0))

    def assemble(self, rows: Array, velocity: Array, free: Array, delassus: Array) -> None:
        self._half = half = np.empty((len(velocity), len(free)))
        for factor, where in self._bodies:
            forward_substitute(
                factor.lower_factor, factor.prescribed, rows, where.start, velocity[where], free, half
            )
        if len(free) <= _FEW:
            _square(half, delassus)
        else:
            np.dot(half.T, half, out=delassus)

    def add_response(self, impulse: Array, velocity: Array) -> None:
        for factor, where in self._bodies:
            add_impulse_response(
                factor.lower_factor, factor.prescribed, self._half, where.start, impulse, factor.scratch,
                velocity[where],
            )  # fmt: skip


@final
class ProductDelassus(DelassusOperator):
    """(1) by the product G·Jᵀ.

    Args:
        factorisation: of A of all bodies.
    """

    def __init__(self, factorisation: StepFactorisation) -> None:
        self._factorisation = factorisation
        self._response = np.zeros((0, 0))

    def assemble(self, rows: Array, velocity: Array, free: Array, delassus: Array) -> None:
        self._response = response = np.array(rows.T, order="F")
        self._factorisation.solve_columns(response)
        free += rows @ velocity
        np.dot(rows, response, out=delassus)

    def add_response(self, impulse: Array, velocity: Array) -> None:
        velocity += self._response @ impulse
