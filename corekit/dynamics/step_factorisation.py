"""A of all bodies factorised, and the increments of velocity that it gives.

    Δ_f = G·(r + extra),     G the inverse of A with constraints eliminated and prescribed velocities fixed    (1)

A is block diagonal over bodies. A contact potential adds low-rank terms that may couple them: they go into one matrix
of all bodies (`CoupledStepMatrix`), or beside eliminated constraints into a low-rank correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.dynamics.body_terms import BodyTerms
from corekit.dynamics.coupled_step_matrix import CoupledStepMatrix
from corekit.dynamics.potential_forces import PotentialForces
from corekit.roles.component import InternalState

__all__ = ["StepFactorisation"]


@final
class StepFactorisation:
    """Factorises the bodies' matrices as they are assembled, with a potential's terms.

    Args:
        bodies, slices: the bodies' terms, and where their velocities stand.
        forces: of a contact potential, or None.
        separate_bodies: whether bodies are factorised apart from a potential's terms in any case.

    Attributes:
        succeeded: whether the last factorisation did.
        number: counts factorisations.
        failed_body: index of the first body whose own matrix could not be factorised, −1 if all could.
        is_block_diagonal: whether the last one is of the bodies' own matrices alone.
    """

    def __init__(
        self,
        bodies: Sequence[BodyTerms],
        slices: Sequence[slice],
        forces: PotentialForces | None,
        *,
        separate_bodies: bool = False,
    ) -> None:
        self._bodies, self._slices, self._forces = tuple(bodies), tuple(slices), forces
        self._single = self._bodies[0] if len(self._bodies) == 1 else None
        self._has_constraints = any(body.rows is not None for body in bodies)
        # contact terms go into one matrix of all bodies, unless constraints are eliminated from each body's own
        self._coupled: CoupledStepMatrix | None = None
        if forces is not None and not self._has_constraints and not separate_bodies:
            self._coupled = CoupledStepMatrix(self._bodies, self._slices, forces)
        self._is_coupled = False
        self.succeeded = self.is_block_diagonal = True
        self.number, self.failed_body = 0, -1

    def internal_state(self) -> InternalState:
        """What the order of elimination depends on."""
        return {} if self._coupled is None else self._coupled.internal_state()

    def restore(self, internal_state: InternalState) -> None:
        """Restore what `internal_state` gave; empty: no contact was yet."""
        if self._coupled is not None:
            self._coupled.restore(internal_state)

    def refactor(self, damping: float = 0.0, stiffness: float = 0.0) -> bool:
        """Factorise, with a potential's D_c and K_c times these factors [s], [s²]; False if that failed."""
        self.number += 1
        self._is_coupled = False
        forces = self._forces
        if forces is not None:
            self.is_block_diagonal = not forces.count
            if self._coupled is not None and forces.count and (damping != 0.0 or stiffness != 0.0):
                self._is_coupled = True
                self.succeeded = self._coupled.refactor(damping, stiffness)
                return self.succeeded
        self.failed_body = -1
        for i, body in enumerate(self._bodies):
            if not body.refactor():
                self.failed_body = i
                break
        succeeded = self.failed_body < 0
        if succeeded and forces is not None:
            succeeded = forces.factorise(self._solve_columns_of_bodies, damping, stiffness)
        self.succeeded = succeeded
        return succeeded

    def solve(self, extra: Array | None, out: Array) -> None:
        """Write Δ_f of (1), with `extra` (nv,) added to r or not, and the constraints' impulses."""
        forces = self._forces
        if forces is None:
            self._solve_bodies(extra, out)
        elif self._is_coupled and self._coupled is not None:
            self._coupled.solve(extra, out)
        else:
            self._solve_bodies(extra, out)
            if self._has_constraints and forces.has_correction:
                # the constraints' impulses depend on the potential too
                reply = forces.woodbury_rhs(out)
                self._solve_bodies(reply if extra is None else extra + reply, out)
            else:
                forces.correct(out)

    def _solve_bodies(self, extra: Array | None, out: Array) -> None:
        if self._single is not None:
            self._single.solve(extra, out)
            return
        for body, where in zip(self._bodies, self._slices, strict=True):
            body.solve(None if extra is None else extra[where], out[where])

    def solve_columns(self, block: Array) -> None:
        """Overwrite `block` (nv, R), Fortran order, by G·block."""
        self._solve_columns_of_bodies(block)
        if self._forces is not None:
            self._forces.correct(block)

    def _solve_columns_of_bodies(self, block: Array) -> None:
        if self._single is not None:
            self._single.factor.solve_columns(block)
            return
        for body, where in zip(self._bodies, self._slices, strict=True):
            piece = np.array(block[where], order="F")
            body.factor.solve_columns(piece)
            block[where] = piece

    def solve_negative(self, residual: Array, out: Array) -> None:
        """Write −G·residual, both of shape (nv,); prescribed entries become 0."""
        if self._is_coupled and self._coupled is not None:
            np.negative(residual, out=out)
            self._coupled.correct(out)
            return
        for body, where in zip(self._bodies, self._slices, strict=True):
            body.factor.solve_negative(residual[where], out[where])
        if self._forces is not None:
            self._forces.correct(out[:, None])
