"""Contacts at equilibrium: 0 ≤ λ_n ⊥ φ(q) ≥ 0 with friction, or the force of a contact potential."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.engine.contact.contact_impulses import ContactImpulses
from corekit.engine.contact.contact_record import contact_record, joined_record
from corekit.engine.step.contact_problem import ReducedStep
from corekit.engine.world.world_terms import WorldTerms
from corekit.roles.contact import ImpulseSolver

__all__ = ["EquilibriumContacts"]

_PRESSES = 1e-6
"""Normal force from which a contact counts as pressing, relative to the largest one."""


@final
class EquilibriumContacts:
    """The contacts of a world and their forces; a step of 1 s has impulses of the same value.

    Args:
        world: terms of bodies and contacts.
        step: h of the scenario [s], which a contact potential is given.

    Attributes:
        count: contacts at the last state.
        impulses: forces of contacts and constraints.
        potential: terms of a contact potential, or None.
    """

    def __init__(self, world: WorldTerms, step: float) -> None:
        self._world, self._pipeline, self._step = world, world.pipeline, step
        self._solver = world.solver if isinstance(world.solver, ImpulseSolver) else None
        has_contact = world.pipeline is not None
        self.impulses = ContactImpulses(world.bodies, world.jacobian.width, has_contact=has_contact)
        self._reduced = None if self._solver is None else ReducedStep(world, self._solver, self.impulses)
        self.potential = world.forces
        self._zero = np.zeros(world.nv)
        self.count = 0

    @property
    def exist(self) -> bool:
        """Whether contacts are detected at all."""
        return self._pipeline is not None

    @property
    def width(self) -> int:
        """Rows per contact."""
        return self._world.jacobian.width

    @property
    def _solved_count(self) -> int:
        """Contacts whose forces the impulse solver finds."""
        return self.count if self._solver is not None else 0

    def evaluate(self, state: State, margin: float) -> None:
        """Find the contacts with a gap below `margin` [m] at a state, and their forces as far as they are known."""
        pipeline, potential, self.count = self._pipeline, self.potential, 0
        if pipeline is None:
            self.impulses.match(None)
            return
        if potential is not None:
            margin += potential.potential.activation_distance
        self.count = pipeline.detect_anew(state, margin)
        if self.count:
            pipeline.build_jacobian(state, self._world.jacobian)
        if self._solver is not None:
            self.impulses.match(pipeline.contacts)
        elif potential is not None:
            potential.clear()
            if self.count:
                potential.evaluate(self._zero, self._step, None)

    def force(self) -> Array:
        """J_cᵀ·λ_c or the potential's force, shape (nv,) [N or N·m]."""
        if not self.count:
            return np.zeros(self._world.nv)
        if self.potential is not None:
            return self.potential.generalised()
        return self._world.jacobian.multiply_transposed(self.impulses.of_contacts)

    def solve(self, out: Array) -> SolveInfo:
        """Write the step δ with the bodies' matrices as they are factorised, and the forces of all contacts."""
        world, impulses = self._world, self.impulses
        extra = self.force() if self.potential is not None else None
        world.factorisation.solve(extra, out)
        count = self._solved_count
        if self._reduced is None or not count + impulses.bounded:
            return SolveInfo(answered_by="factorisation")
        gap = np.zeros((count, self.width))
        if self._pipeline is not None:
            gap[:, 0] = self._pipeline.contacts.gap[:count]
        return self._reduced.solve(count, gap, self._zero, 1.0, extra, out)[0]

    def gap_error(self) -> float:
        """Largest |φ| of contacts that press, and penetration of the others [m]; 0 with a potential."""
        if not self._solved_count or self._pipeline is None:
            return 0.0
        gap = self._pipeline.contacts.gap[: self.count]
        normal = self.impulses.of_contacts[:: self.width]
        presses = normal > _PRESSES * max(float(np.max(normal)), 1e-12)
        return float(np.max(np.where(presses, np.abs(gap), np.maximum(-gap, 0.0))))

    def accept(self) -> None:
        """Keep the tangents of the contacts."""
        if self._pipeline is not None:
            self._pipeline.accept()

    def jacobian(self) -> Array:
        """J_c of the contacts, shape (m·width, nv)."""
        return self._world.jacobian.to_dense()

    def friction_use(self, record: ContactRecord) -> Array:
        """The share of its admissible friction that each contact uses, shape (m,); 1 without friction."""
        assert self._pipeline is not None
        contacts, law = self._pipeline.contacts, self._pipeline.friction.law
        numbers = contacts.friction_record if law.record_width else contacts.friction[:, None]
        rows = zip(numbers[: record.count], record.tangential_impulse, strict=True)
        needed = [law.gauge(row, *impulse) for row, impulse in rows]
        use = np.array(needed) / np.maximum(record.normal_impulse, np.finfo(float).tiny)
        return np.where(contacts.friction[: len(use)] > 0.0, use, 1.0)

    def record(self, *, by_point: bool = False) -> ContactRecord:
        """What every contact carries, or, by point, the points that stand for areas, as impulses over 1 s."""
        if self._pipeline is None or not self.count:
            return ContactRecord(step_size=1.0)
        contacts, n, width = self._pipeline.contacts, self.count, self.width
        slip = np.zeros((n, width - 1))
        if self.potential is not None:
            terms = self.potential.terms
            tangential = terms.tangential_force[:, : width - 1]
            return contact_record(contacts, 1.0, terms.normal_force, tangential, slip, np.zeros(n))
        force = self.impulses.of_contacts.reshape(n, -1)
        residual = np.abs(np.minimum(force[:, 0], contacts.gap[:n]))
        found = contact_record(contacts, 1.0, force[:, 0], force[:, 1:], slip, residual)
        return found if by_point else joined_record(found, self._pipeline)
