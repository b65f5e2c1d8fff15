"""A of all bodies factorised, and the increments of velocity that it gives.

    Δ_f = G·(r + extra),     G the inverse of A with constraints eliminated and prescribed velocities fixed    (1)

A is block diagonal over bodies. The terms of a contact potential couple them: then it is one `CoupledStepMatrix`.
Joints are eliminated from either by the Schur complements of their rows (`clusters`), so that a world with joints costs
one more solve and a few columns, and keeps the structure of every body.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, final

import numpy as np

from corekit.data.arrays import Array
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.step.clusters import Cluster, Elimination

if TYPE_CHECKING:
    from corekit.engine.potentials.coupled_step_matrix import CoupledStepMatrix

__all__ = ["StepFactorisation"]


@final
class StepFactorisation:
    """Factorises the bodies' matrices as they are assembled, with a potential's terms.

    Args:
        bodies, slices: the bodies' terms, and where their velocities stand.
        clusters: of the world, each with the elimination of what joins its bodies.
        coupled: the matrix with a potential's terms, or None without a potential.
        coupled_joints: the elimination of all joints from that, or None without joints.
        judges_bodies: whether bodies are factorised apart from a potential's terms too, so that `failed_body` is known.

    Attributes:
        succeeded: whether the last factorisation did.
        number: counts factorisations.
        failed_body: index of the first body whose own matrix could not be factorised, −1 if all could.
        is_block_diagonal: whether the last one is of the bodies' own matrices alone. Else it may be of the coupled one.
        bodies: the bodies' terms, each with where its velocities stand.
    """

    def __init__(
        self,
        bodies: Sequence[BodyTerms],
        slices: Sequence[slice],
        clusters: Sequence[Cluster],
        coupled: CoupledStepMatrix | None = None,
        coupled_joints: Elimination | None = None,
        *,
        judges_bodies: bool = False,
    ) -> None:
        self.bodies = list(zip(bodies, slices, strict=True))
        self.clusters, self.coupled, self._judges_bodies = tuple(clusters), coupled, judges_bodies
        # a potential couples clusters, so that joints are eliminated from all of the matrix
        self._coupled_joints = coupled_joints
        self._has_joints = any(cluster.elimination is not None for cluster in clusters)
        self._coupled: CoupledStepMatrix | None = None
        self.succeeded, self.is_block_diagonal = False, True
        self.number, self.failed_body = 0, -1

    def refactor(self, damping: float = 0.0, stiffness: float = 0.0) -> bool:
        """Factorise, with a potential's D_c and K_c times these factors [s], [s²]; False if that failed."""
        self.number += 1
        touching = self.coupled if self.coupled is not None and self.coupled.touches else None
        self.is_block_diagonal, self.failed_body = touching is None, -1
        self._coupled = touching if damping != 0.0 or stiffness != 0.0 else None
        if self._coupled is None or self._judges_bodies:
            for i, (body, _) in enumerate(self.bodies):
                if not body.refactor():
                    self.failed_body = i
                    break
        self.succeeded = self.failed_body < 0
        if self.succeeded and self._coupled is not None:
            self.succeeded = self._coupled.refactor(damping, stiffness)
        if self.succeeded and self._has_joints:
            self.succeeded = self._refactor_joints()
        return self.succeeded

    def _refactor_joints(self) -> bool:
        """Factorise the Schur complements of the joints."""
        if self._coupled is not None and self._coupled_joints is not None:
            return self._coupled_joints.refactor(self._apply_bodies)
        return all(
            cluster.elimination.refactor(partial(self._apply_cluster, cluster))
            for cluster in self.clusters
            if cluster.elimination is not None
        )

    def _eliminations(self) -> list[Elimination]:
        """Those that the last factorisation made."""
        if self._coupled is not None and self._coupled_joints is not None:
            return [self._coupled_joints]
        return [each.elimination for each in self.clusters if each.elimination is not None]

    def add_joint_responses(self, out: Array) -> None:
        """Add G₀·Jᵀ·S⁻¹·J to `out` (nv, nv), by which joints answer errors of their rows."""
        for each in self._eliminations():
            each.add_unit_responses(out)

    def forget(self) -> None:
        """Count the matrix that the bodies factorise next as no step's."""
        self.number += 1

    def solve(self, extra: Array | None, out: Array) -> None:
        """Write Δ_f of (1), with `extra` (nv,) added to r or not, and the impulses of constraints and joints."""
        self._solve_bodies(extra, out)
        if self._has_joints:
            reaction = np.zeros(len(out))
            for each in self._eliminations():
                each.add_reaction(out, reaction)
            self._solve_bodies(reaction if extra is None else reaction + extra, out)

    def _solve_bodies(self, extra: Array | None, out: Array) -> None:
        """Solve as `solve` does, without joints."""
        if self._coupled is not None:
            self._coupled.solve(extra, out)
            return
        for body, where in self.bodies:
            body.solve(None if extra is None else extra[where], out[where])

    def solve_columns(self, block: Array) -> None:
        """Overwrite `block` (nv, R), Fortran order, by G·block; a potential's terms are left out."""
        self._apply_body_blocks(block)
        if self._has_joints:
            self._project(block)

    def solve_cluster_columns(self, cluster: Cluster, block: Array) -> None:
        """Overwrite `block` (n, R) of a cluster's velocities, Fortran order, by G·block without a potential's terms."""
        self._apply_cluster(cluster, block)
        if cluster.elimination is not None:
            cluster.elimination.project(block)

    def _apply_cluster(self, cluster: Cluster, block: Array) -> None:
        """The same without joints."""
        if len(cluster.bodies) == 1:
            self.bodies[cluster.bodies[0]][0].factor.solve_columns(block)
            return
        for b, first, where in zip(cluster.bodies, cluster.firsts, cluster.slices, strict=True):
            own = slice(first, first + where.stop - where.start)
            piece = np.array(block[own], order="F")
            self.bodies[b][0].factor.solve_columns(piece)
            block[own] = piece

    def _project(self, block: Array) -> None:
        for each in self._eliminations():
            each.project_world(block)

    def _apply_bodies(self, block: Array) -> None:
        """Overwrite `block` by G·block without joints."""
        if self._coupled is not None and self._coupled.factor is not None:
            self._coupled.factor.solve_columns(block)
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
        if self._has_joints:
            self._project(out)
