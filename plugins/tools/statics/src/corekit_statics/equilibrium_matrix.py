"""One body's matrix at rest, factorised, and whether it is definite on the kernel of the rows.

A = K − ∂(J_bᵀλ_b)/∂q + σ·M                                                          (1)

K and the rows' curvature are given, σ [1/s²] lifts an A that is not definite.
"""

from __future__ import annotations

from typing import final

from corekit.data.arrays import Array
from corekit.linalg.factorisation_choice import make_factorisation
from corekit.linalg.matrices import Dense, Matrix, symmetrise
from corekit.world.body_system import BodySystem
from corekit_statics.equilibrium_constraints import negatives, saddle_matrix

__all__ = ["EquilibriumMatrix"]

_JUDGED = 600
"""Largest saddle matrix whose inertia is looked at in every step; beyond, only singularity is noticed."""


@final
class EquilibriumMatrix:
    """(1) of one body.

    Args:
        part: whose M, K and A.
        symmetric: whether A must be symmetric, for an impulse solver.

    Attributes:
        curvature: ∂(J_bᵀλ_b)/∂q, or None without rows.
        symmetrised: whether K and the curvature are taken symmetric.
    """

    def __init__(self, part: BodySystem, symmetric: bool) -> None:
        self._part = part
        dense = isinstance(part.matrix, Dense)
        self.symmetrised = symmetric or not dense
        # of an unsymmetric A the symmetric part is judged
        judged = part.eliminated is None and not symmetric and dense
        self._test = make_factorisation(part.matrix, None, part.prescribed) if judged else None
        self._symmetric = Dense(part.body.nv) if judged else None
        self._factor = make_factorisation(part.matrix, part.eliminated, part.prescribed, self.symmetrised)
        self.curvature: Matrix | None = None
        if part.rows is not None:
            self.curvature = part.body.model.tangent_matrices()[0]

    def assemble(self, shift: float) -> None:
        """Write (1) with σ into the part's matrix."""
        part, matrix = self._part, self._part.matrix
        matrix.zero()
        assert part.stiffness is not None
        matrix.add(part.stiffness)
        if self.curvature is not None:
            matrix.add(self.curvature, -1.0)
        if shift:
            matrix.add(part.mass, shift)

    def refactor(self) -> bool:
        """Factorise; False if A is not positive definite on the kernel of the rows."""
        return self._is_definite() and self._factor.refactor(self._part.matrix, self._part.eliminated)

    def _is_definite(self) -> bool:
        """Whether A is positive definite on the kernel of the rows, as far as the factorisation does not tell."""
        part = self._part
        if part.eliminated is not None:
            size = part.body.nv + part.eliminated.count
            return size > _JUDGED or negatives(saddle_matrix(part)) == part.eliminated.count
        if self._test is None or self._symmetric is None:
            return True
        self._symmetric.data[:] = part.matrix.data
        symmetrise(self._symmetric)
        return self._test.refactor(self._symmetric, None)

    def columns(self, block: Array) -> None:
        """Overwrite `block` (nv, R), Fortran order, by G·block."""
        self._factor.solve_columns(block)

    def solve(self, extra: Array | None, x: Array) -> None:
        """Write A⁻¹·(b + `extra`), and the impulses of the rows into the part."""
        part = self._part
        right = part.right if extra is None else part.right + extra
        self._factor.solve(right, part.fixed, x, part.impulse)
        if part.rows is not None:
            part.row_impulse[~part.rows.bounded] = part.impulse
