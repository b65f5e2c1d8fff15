"""One body's matrix at rest, and whether it is definite on the kernel of the rows.

A = K − ∂(J_bᵀλ_b)/∂q + σ·M                                                          (1)

K and the rows' curvature are given, σ [1/s²] lifts an A that is not definite.
"""

from __future__ import annotations

from typing import final

from corekit.dynamics.body_terms import BodyTerms
from corekit.linalg.factorisation_choice import make_factorisation
from corekit.linalg.matrices import Dense, Matrix, symmetrise
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

    def __init__(self, part: BodyTerms, symmetric: bool) -> None:
        self._part = part
        dense = isinstance(part.matrix, Dense)
        self.symmetrised = symmetric or not dense
        # of an unsymmetric A the symmetric part is judged
        judged = part.eliminated is None and not symmetric and dense
        self._test = make_factorisation(part.matrix, None, part.prescribed) if judged else None
        self._symmetric = Dense(part.body.nv) if judged else None
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

    def is_definite(self) -> bool:
        """Whether A is positive definite on the kernel of the rows, as far as the factorisation does not tell."""
        part = self._part
        if part.constraints is not None:
            part.constraints.eliminate()
        if part.eliminated is not None:
            size = part.body.nv + part.eliminated.count
            return size > _JUDGED or negatives(saddle_matrix(part)) == part.eliminated.count
        if self._test is None or self._symmetric is None:
            return True
        self._symmetric.data[:] = part.matrix.data
        symmetrise(self._symmetric)
        return self._test.refactor(self._symmetric, None)
