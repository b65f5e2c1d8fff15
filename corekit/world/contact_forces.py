"""A contact potential's share of the step equation: low-rank terms in the space of the carriers.

With P the rows of all carriers (12 numbers a contact), f_c, K_c, D_c block diagonal over contacts:

    ρ ← ρ − h·Pᵀf_c,      A ← A + Pᵀ·C·P,     C = θh·D_c + θ²h²·K_c                            (1)

and with G the inverse of A before (1), y = P·x,   x = G·b  solved without the term,

    (A + PᵀCP)⁻¹·b = x − G·Pᵀ·(I + C·P·G·Pᵀ)⁻¹·C·y                                          (2)

Source for (2): Woodbury (1950); written so that C may be singular and unsymmetric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs
from scipy.sparse import csr_array

from corekit.data.arrays import Array
from corekit.data.contacts import MAX_CARRIERS, ContactSet
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.roles.contact import ContactPotential, PotentialTerms
from corekit.world.bodies import Body
from corekit.world.contact_stage import ContactStage

__all__ = ["ContactForces"]

_SPACE = 3 * MAX_CARRIERS


def _empty_terms(m: int) -> PotentialTerms:
    return PotentialTerms(
        energy=np.zeros(m),
        force=np.zeros((m, _SPACE)),
        stiffness=np.zeros((m, _SPACE, _SPACE)),
        damping=np.zeros((m, _SPACE, _SPACE)),
        normal_force=np.zeros(m),
        tangential_force=np.zeros((m, 2)),
    )


class ContactForces:
    """Evaluates a potential on the current contacts and carries (1)–(2).

    Attributes:
        potential: who computes the force.
        terms: of the contacts at the last evaluation.
        obstacle_velocity: at the contacts, as it was given to the last evaluation, or None.
        info: what the potential reported.
    """

    def __init__(self, potential: ContactPotential, bodies: Sequence[Body], stage: ContactStage) -> None:
        self.potential = potential
        self._bodies = tuple(bodies)
        self._stage = stage
        self.terms = self._nothing = _empty_terms(0)
        self.info = SolveInfo()
        self._rows: Array | csr_array = np.zeros((0, 0))
        self._inverse_rows = np.zeros((0, 0))
        self._coefficient = np.zeros((0, 0))
        self.obstacle_velocity: Array | None = None
        self._moving: Array | None = None
        self._used = np.zeros((0, 0))
        self._lu: tuple[Array, Array] | None = None

    def clear(self) -> None:
        """Forget the last evaluation; what `factorise` prepared stays until the next one."""
        self.terms = self._nothing

    def evaluate(self, trial: State, velocity: Array, step: float, obstacle_velocity: Array | None) -> None:
        """Forces and derivatives of the stage's current contacts at a trial state with velocity v̄."""
        contacts, m = self._stage.contacts, self._stage.contacts.count
        self.terms = _empty_terms(m)
        self._rows = self._stage.rows.carriers_matrix(trial, contacts)
        position = self._positions(contacts)
        rate = (self._rows @ velocity).reshape(m, MAX_CARRIERS, 3)
        self.obstacle_velocity, self._moving = obstacle_velocity, None
        if obstacle_velocity is not None:
            along = np.einsum("mwi,mw->mi", self._stage.rows.basis(contacts), obstacle_velocity)
            moving = along[:, None, :] * (contacts.frame[:m] >= 0)[:, :, None]
            self._moving = moving
            rate -= moving
        self.info = self.potential.evaluate(contacts, position, rate, step, self.terms)

    def _positions(self, contacts: ContactSet) -> Array:
        m, poses = contacts.count, self._stage.scene.poses
        frame = np.maximum(contacts.frame[:m], 0)
        turned = np.einsum("mcij,mcj->mci", poses.frame_rotation[frame], contacts.local[:m])
        position = poses.frame_position[frame] + turned
        return np.where((contacts.frame[:m] >= 0)[:, :, None], position, 0.0)

    def generalised(self) -> Array:
        """Pᵀ·f_c, shape (nv,) [N or N·m]."""
        return self._rows.T @ self.terms.force.ravel()

    def damping_force(self, velocity: Array) -> Array:
        """Pᵀ·D_c·P·v, shape (nv,)."""
        rate = (self._rows @ velocity).reshape(-1, _SPACE)
        return self._rows.T @ np.einsum("mij,mj->mi", self.terms.damping, rate).ravel()

    def obstacle_stiffness_force(self) -> Array | float:
        """Pᵀ·K_c·(velocity of the obstacle), shape (nv,): what its motion adds to −Pᵀ·K_c·P·v."""
        if self._moving is None:
            return 0.0
        rate = self._moving.reshape(-1, _SPACE)
        return self._rows.T @ np.einsum("mij,mj->mi", self.terms.stiffness, rate).ravel()

    def tangent_product(self, velocity: Array, damping: float, stiffness: float) -> Array:
        """Pᵀ·(damping·D_c + stiffness·K_c)·P·v, shape (nv,)."""
        rate = (self._rows @ velocity).reshape(-1, _SPACE)
        block = damping * self.terms.damping + stiffness * self.terms.stiffness
        return self._rows.T @ np.einsum("mij,mj->mi", block, rate).ravel()

    def factorise(self, columns: Callable[[Array], None], damping: float, stiffness: float) -> bool:
        """Prepare (2) for C = damping·D_c + stiffness·K_c; `columns` applies G in place."""
        m = len(self.terms.energy)
        if not m:
            self._lu = None
            return True
        rows = self._rows if isinstance(self._rows, np.ndarray) else self._rows.toarray()
        used = np.flatnonzero(np.any(rows != 0, axis=1))
        rows = rows[used]
        self._used = rows
        block = damping * self.terms.damping + stiffness * self.terms.stiffness
        full = np.zeros((m * _SPACE, m * _SPACE))
        for c in range(m):
            full[c * _SPACE : (c + 1) * _SPACE, c * _SPACE : (c + 1) * _SPACE] = block[c]
        self._coefficient = full[np.ix_(used, used)]
        inverse = np.array(rows.T, order="F")
        columns(inverse)
        self._inverse_rows = inverse
        small = self._coefficient @ (rows @ inverse)
        small[np.diag_indices_from(small)] += 1.0
        lu, pivots, info = dgetrf(small)
        self._lu = (lu, pivots)
        return info == 0

    def reply(self, x: Array) -> Array:
        """−Pᵀ·C·P·x' of the solution x' of the full matrix, given x = G·b: what to add to b for G to give x'."""
        if self._lu is None:
            return np.zeros_like(x)
        answer, _ = dgetrs(*self._lu, self._coefficient @ (self._used @ x))
        return -(self._used.T @ answer)

    def correct(self, block: Array) -> None:
        """Turn x = G·b, shape (nv,) or (nv, R), into the solution of the full matrix by (2), in place."""
        if self._lu is None:
            return
        seen = self._coefficient @ (self._used @ block)
        answer, _ = dgetrs(*self._lu, seen)
        block -= self._inverse_rows @ answer.reshape(seen.shape)
