"""The balance of forces at rest: terms of bodies and contacts apart from those of steps, solved as a step of 1 s is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.contact.contact_impulses import ContactImpulses
from corekit.engine.contact.contact_pipeline import ContactPipeline
from corekit.engine.contact.contact_record import contact_record, joined_record
from corekit.engine.potentials.potential_forces import PotentialForces
from corekit.engine.step.reduced_step import ReducedStep
from corekit.engine.world.assembly import assemble_terms
from corekit.roles.body import Body
from corekit.roles.component import InternalState
from corekit.roles.contact import ContactSolver, ImpulseSolver

__all__ = ["EquilibriumTerms"]


@final
class EquilibriumTerms:
    """Implements `corekit.roles.world_terms.EquilibriumTerms`.

    Args:
        bodies: without joints.
        pipeline: contact detection, or None.
        solver: of contacts, or None.
    """

    def __init__(
        self, bodies: Sequence[Body], pipeline: ContactPipeline | None, solver: ContactSolver | None
    ) -> None:
        self._world = world = assemble_terms(bodies, pipeline, solver, judges_bodies=True)
        self._pipeline = pipeline
        self._impulses = ContactImpulses(world.bodies, world.jacobian.width, has_contact=pipeline is not None)
        self._reduced = (
            ReducedStep(world, solver, self._impulses) if isinstance(solver, ImpulseSolver) else None
        )
        self._zero, self.count = np.zeros(world.nv), 0

    @property
    def bodies(self) -> tuple[BodyTerms, ...]:
        """The bodies' terms."""
        return self._world.bodies

    @property
    def forces(self) -> PotentialForces | None:
        """Of a contact potential, or None."""
        return self._world.forces

    @property
    def failed_body(self) -> int:
        """Index of the first body whose own matrix could not be factorised, −1 if all could."""
        return self._world.factorisation.failed_body

    @property
    def contact_forces(self) -> Array:
        """Forces of contacts that were solved for, shape (m·width,), a view [N or N·m]."""
        return self._impulses.of_contacts

    def new_state(self) -> State:
        """A buffer for a state of the world."""
        return self._world.new_state()

    def find_contacts(self, state: State, margin: float, step: float) -> None:
        """Find the contacts with a gap below `margin` [m] at a state, with the forces so far; a potential's for h."""
        pipeline, potential, self.count = self._pipeline, self.forces, 0
        if pipeline is None:
            self._impulses.match(None)
            return
        if potential is not None:
            margin += potential.potential.activation_distance
        self.count = pipeline.detect_anew(state, margin)
        if self.count:
            pipeline.build_jacobian(pipeline.contacts, state, self._world.jacobian)
        if self._reduced is not None:
            self._impulses.match(pipeline.contacts)
        elif potential is not None:
            potential.clear()
            if self.count:
                potential.evaluate(pipeline.contacts, self._zero, step, None)

    def force(self) -> Array:
        """J_cᵀ·λ_c or the potential's force, shape (nv,) [N or N·m]."""
        if not self.count:
            return np.zeros(self._world.nv)
        if self.forces is not None:
            return self.forces.generalised()
        return self._world.jacobian.multiply_transposed(self.contact_forces)

    def solve(self, out: Array) -> SolveInfo | None:
        """Factorise A, write the displacement δ and the forces of all rows; None where a matrix is singular."""
        factorisation = self._world.factorisation
        if not factorisation.refactor(0.0, 1.0):
            return None
        extra = self.force() if self.forces is not None else None
        factorisation.solve(extra, out)
        count = 0 if self._reduced is None else self.count
        if self._reduced is None or not count + self._impulses.bounded:
            return SolveInfo(answered_by="factorisation")
        gap = np.zeros((count, self._world.jacobian.width))
        if self._pipeline is not None:
            gap[:, 0] = self._pipeline.contacts.gap[:count]
        return self._reduced.solve(count, gap, self._zero, 1.0, extra, out)[0]

    def rows(self) -> Array:
        """J_c of the contacts, shape (m·width, nv)."""
        return self._world.jacobian.to_dense()

    def accept(self) -> None:
        """Keep the tangents of the contacts."""
        if self._pipeline is not None:
            self._pipeline.accept()

    def record(self, *, by_point: bool = False) -> ContactRecord:
        """What every contact carries, as impulses over 1 s, or, by point, the points that stand for areas."""
        if self._pipeline is None or not self.count:
            return ContactRecord(step_size=1.0)
        contacts, n = self._pipeline.contacts, self.count
        slip = np.zeros((n, self._pipeline.width - 1))
        if self.forces is not None:
            terms = self.forces.terms
            tangential = terms.tangential_force[:, : slip.shape[1]]
            return contact_record(contacts, 1.0, terms.normal_force, tangential, slip, np.zeros(n))
        force = self.contact_forces.reshape(n, -1)
        residual = np.abs(np.minimum(force[:, 0], contacts.gap[:n]))
        record = contact_record(contacts, 1.0, force[:, 0], force[:, 1:], slip, residual)
        return record if by_point else joined_record(record, self._pipeline)

    def internal_state(self) -> InternalState:
        """The forces known, as named arrays."""
        self._impulses.accept()
        return self._impulses.internal_state()

    def restore(self, internal_state: InternalState) -> None:
        """Restore what `internal_state` gave."""
        self._impulses.restore(internal_state)
