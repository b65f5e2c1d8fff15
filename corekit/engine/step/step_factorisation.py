"""A of all bodies factorised, and the increments of velocity that it gives.

    Δ_f = G·(r + extra),     G the inverse of A with constraints eliminated and prescribed velocities fixed    (1)

A is block diagonal over bodies. The terms of a contact potential couple them: then it is one `CoupledStepMatrix`.
Joints are eliminated from either by the Schur complement of their rows. With G₀ the inverse without joints,
Δ = G₀·(r + Jᵀ·λ) and J·Δ = r_j give

    S·λ = r_j − J·G₀·r,     S = J·G₀·Jᵀ,     G = G₀ − G₀·Jᵀ·S⁻¹·J·G₀                                    (2)

so that a world with joints costs one more solve and a few columns, and keeps the structure of every body. Where a loop
of joints holds something twice S is singular. Then the pseudo-inverse of D·S·D stands for its inverse, D² = 1/diag(S),
with as many singular values as J has independent rows: what holds it shares the load.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs

from corekit.data.arrays import Array
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.joints import JointRows
from corekit.engine.potentials.coupled_step_matrix import CoupledStepMatrix
from corekit.engine.potentials.potential_forces import PotentialForces

__all__ = ["JointElimination", "StepFactorisation"]

_REPEATED = 1e-9
"""Largest singular value of what repeats, relative: of a loop that no longer does, by 3e-5 of its rows, it is more."""


@final
class JointElimination:
    """Factorises S and applies (2), with J as it was then.

    Args:
        rows: of the joints.
    """

    def __init__(self, rows: JointRows) -> None:
        self._rows = rows
        self._jacobian = rows.jacobian.copy()
        self._response = np.zeros(rows.jacobian.T.shape, order="F")
        self._factor, self._pivots = np.eye(rows.count), np.zeros(rows.count, dtype=np.int32)
        self._is_loop = False

    def refactor(self, apply_inverse: Callable[[Array], None]) -> bool:
        """Factorise S of the rows as they are; False where joints contradict or repeat each other.

        Args:
            apply_inverse: overwrites a block (nv, R), Fortran order, by G₀·block.
        """
        self._jacobian[:] = self._rows.jacobian
        self._response[:] = self._jacobian.T
        apply_inverse(self._response)
        complement = self._jacobian @ self._response
        if not np.isfinite(complement).all():
            return False
        rank = self._rows.rank
        self._is_loop = rank < self._rows.count
        if self._is_loop:
            scale = 1.0 / np.sqrt(np.maximum(np.abs(complement.diagonal()), np.finfo(float).tiny))
            left, size, right = np.linalg.svd(scale[:, None] * complement * scale)
            inverse = (right[:rank].T / size[:rank]) @ left[:, :rank].T
            self._factor = scale[:, None] * inverse * scale
            return bool(size[rank] <= _REPEATED * size[0])
        self._factor, self._pivots, info = dgetrf(complement)
        return bool(info == 0)

    def _solve(self, rhs: Array) -> Array:
        if self._is_loop:
            return np.asarray(self._factor @ rhs)
        return np.asarray(dgetrs(self._factor, self._pivots, rhs)[0])

    def reaction(self, free: Array) -> Array:
        """Write λ to the rows and return Jᵀ·λ, shape (nv,), for Δ = `free` without joints."""
        self._rows.impulse[:] = self._solve(self._rows.target - self._jacobian @ free)
        return self._jacobian.T @ self._rows.impulse

    def project(self, block: Array) -> None:
        """Overwrite G₀·block by G·block, shape (nv,) or (nv, R)."""
        block -= self._response @ self._solve(self._jacobian @ block)

    def unit_responses(self) -> Array:
        """G₀·Jᵀ·S⁻¹, shape (nv, rows): Δ for a unit of r_j."""
        return self._response @ self._solve(np.eye(self._rows.count))


@final
class StepFactorisation:
    """Factorises the bodies' matrices as they are assembled, with a potential's terms.

    Args:
        bodies, slices: the bodies' terms, and where their velocities stand.
        forces: of a contact potential, or None.
        joints: rows between bodies, or None.
        judges_bodies: whether bodies are factorised apart from a potential's terms too, so that `failed_body` is known.

    Attributes:
        succeeded: whether the last factorisation did.
        number: counts factorisations.
        failed_body: index of the first body whose own matrix could not be factorised, −1 if all could.
        is_block_diagonal: whether the last one is of the bodies' own matrices alone.
        bodies: the bodies' terms, each with where its velocities stand.
        coupled: with a potential's terms, or None without a potential.
        joined: the elimination of the joints, or None without joints.
    """

    def __init__(
        self,
        bodies: Sequence[BodyTerms],
        slices: Sequence[slice],
        forces: PotentialForces | None,
        joints: JointRows | None = None,
        *,
        judges_bodies: bool = False,
    ) -> None:
        self.bodies = list(zip(bodies, slices, strict=True))
        self._forces, self._judges_bodies = forces, judges_bodies
        self.coupled = None if forces is None else CoupledStepMatrix(bodies, slices, forces)
        self.joined = None if joints is None else JointElimination(joints)
        self._is_coupled = False
        self.succeeded, self.is_block_diagonal = False, True
        self.number, self.failed_body = 0, -1

    def refactor(self, damping: float = 0.0, stiffness: float = 0.0) -> bool:
        """Factorise, with a potential's D_c and K_c times these factors [s], [s²]; False if that failed."""
        self.number += 1
        touches = self._forces is not None and self._forces.count > 0
        self.is_block_diagonal, self.failed_body = not touches, -1
        self._is_coupled = touches and (damping != 0.0 or stiffness != 0.0)
        if not self._is_coupled or self._judges_bodies:
            for i, (body, _) in enumerate(self.bodies):
                if not body.refactor():
                    self.failed_body = i
                    break
        self.succeeded = self.failed_body < 0
        if self.succeeded and self._is_coupled and self.coupled is not None:
            self.succeeded = self.coupled.refactor(damping, stiffness)
        if self.succeeded and self.joined is not None:
            self.succeeded = self.joined.refactor(self._apply_bodies)
        return self.succeeded

    def forget(self) -> None:
        """Count the matrix that the bodies factorise next as no step's."""
        self.number += 1

    def solve(self, extra: Array | None, out: Array) -> None:
        """Write Δ_f of (1), with `extra` (nv,) added to r or not, and the impulses of constraints and joints."""
        self._solve_bodies(extra, out)
        if self.joined is not None:
            reaction = self.joined.reaction(out)
            self._solve_bodies(reaction if extra is None else reaction + extra, out)

    def _solve_bodies(self, extra: Array | None, out: Array) -> None:
        """Solve as `solve` does, without joints."""
        if self._is_coupled and self.coupled is not None:
            self.coupled.solve(extra, out)
            return
        for body, where in self.bodies:
            body.solve(None if extra is None else extra[where], out[where])

    def solve_columns(self, block: Array) -> None:
        """Overwrite `block` (nv, R), Fortran order, by G·block; a potential's terms are left out."""
        self._apply_body_blocks(block)
        if self.joined is not None:
            self.joined.project(block)

    def _apply_bodies(self, block: Array) -> None:
        """Overwrite `block` by G·block without joints."""
        if self._is_coupled and self.coupled is not None and self.coupled.factor is not None:
            self.coupled.factor.solve_columns(block)
        else:
            self._apply_body_blocks(block)

    def _apply_body_blocks(self, block: Array) -> None:
        if len(self.bodies) == 1:
            self.bodies[0][0].factor.solve_columns(block)
            return
        for body, where in self.bodies:
            piece = np.array(block[where], order="F")
            body.factor.solve_columns(piece)
            block[where] = piece

    def solve_negative(self, residual: Array, out: Array) -> None:
        """Write −G·residual, both of shape (nv,); prescribed entries become 0."""
        np.negative(residual, out=out)
        self._apply_bodies(out[:, None])
        if self.joined is not None:
            self.joined.project(out)
