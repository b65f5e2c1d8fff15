"""The terms of all bodies and their contacts, which every form of the step equation is made of."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.contact.contact_jacobian import ContactJacobian
from corekit.roles.contact import ContactSolver

if TYPE_CHECKING:
    from corekit.engine.contact.contact_pipeline import ContactPipeline
    from corekit.engine.joints import JointRows
    from corekit.engine.look_ahead import LookAhead
    from corekit.engine.potentials.potential_forces import PotentialForces
    from corekit.engine.potentials.potential_stage import PotentialStage
    from corekit.engine.step.bounded_rows import BoundedRows
    from corekit.engine.step.dense_rows import ReducedRows
    from corekit.engine.step.linearisation import LinearisationPoint
    from corekit.engine.step.step_factorisation import StepFactorisation

__all__ = ["WorldTerms"]


@final
class WorldTerms:
    """Bodies, contact pipeline, potential and factorisation of one world, which `corekit.engine.world.assembly` joins.

    Args:
        bodies: the bodies' terms. slices: where their velocities stand.
        pipeline: contact detection, or None without contact.
        solver: contact solver, or None without contact.
        jacobian: of the current contacts.
        factorisation: of A of all bodies.
        joints: rows of the joints, or None without any.
        forces: of a contact potential, or None.

    Attributes:
        nq, nv: lengths of q and v.
        has_constraints: whether any body has constraints, or there are joints.
        has_bounded, has_prescribed: whether any body has constraints with bounds, prescribed motion.
        potential_is_smooth: whether a contact potential is part of the smooth dynamics in this step.
        islands: divides contacts into islands. many_contacts: from how many on it does.
        look_ahead: at what the velocities of a start lead to, or None without contact.
        stage: solves a single step in which a potential acts, or None without one.
    """

    def __init__(
        self,
        bodies: Sequence[BodyTerms],
        slices: Sequence[slice],
        pipeline: ContactPipeline | None,
        solver: ContactSolver | None,
        jacobian: ContactJacobian,
        factorisation: StepFactorisation,
        joints: JointRows | None,
        forces: PotentialForces | None,
    ) -> None:
        self.bodies, self.slices = tuple(bodies), tuple(slices)
        self.pipeline, self.solver, self.jacobian = pipeline, solver, jacobian
        self.factorisation, self.joints, self.forces = factorisation, joints, forces
        self.nq, self.nv = sum(each.body.nq for each in bodies), sum(each.body.nv for each in bodies)
        self.has_constraints = joints is not None or any(each.rows is not None for each in self.bodies)
        self._driven = [i for i, body in enumerate(self.bodies) if body.motion.exists]
        self.has_prescribed = bool(self._driven)
        self.has_bounded = any(len(body.bounded) > 0 for body in self.bodies)
        self.potential_is_smooth = True
        self._forces_apart: tuple[PotentialForces, ContactJacobian] | None = None
        self.islands: Callable[[WorldTerms, int, BoundedRows | None], ReducedRows] | None = None
        self.many_contacts = sys.maxsize
        self.look_ahead: LookAhead | None = None
        self.stage: PotentialStage | None = None

    def has_many_contacts(self, count: int) -> bool:
        """Whether so many contacts are solved island by island."""
        return count >= self.many_contacts

    def new_state(self) -> State:
        """A buffer for a state of the world."""
        return State.stacked([terms.body.sizes for terms in self.bodies])

    def of_bodies(self, point: LinearisationPoint) -> list[tuple[BodyTerms, LinearisationPoint]]:
        """Every body's terms with its part of a linearisation point; the state of a single body is the world's."""
        if len(self.bodies) == 1:
            return [(self.bodies[0], point)]
        return [(terms, point.of_body(i, self.slices[i])) for i, terms in enumerate(self.bodies)]

    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        """Write q ⊕ h·v̄, aux and time of `out`, prescribed coordinates at p; `previous` is an iterate nearby."""
        for i, terms in enumerate(self.bodies):
            terms.body.model.integrate(
                start.body_states[i],
                velocity[self.slices[i]],
                step,
                previous.body_states[i],
                out.body_states[i],
            )
        out.time = start.time + step
        if self._driven:
            self.set_prescribed_coordinates(out)

    def set_prescribed_coordinates(self, state: State) -> None:
        """Set the prescribed coordinates of a state to p at its time."""
        for i in self._driven:
            self.bodies[i].motion.set_coordinates(state.body_states[i], state.time)

    def set_prescribed_rates(self, state: State) -> None:
        """Set the prescribed velocities of a state to ṗ at its time."""
        for i in self._driven:
            self.bodies[i].motion.set_rates(state.body_states[i], state.time)

    def set_prescribed_velocities(self, velocity: Array, time: float) -> None:
        """Set the prescribed entries of a stacked velocity to ṗ(time)."""
        for i in self._driven:
            terms = self.bodies[i]
            velocity[self.slices[i]][terms.prescribed] = terms.motion.values_at(time)[1]

    def evaluate_potential(self, state: State, step: float) -> Array | None:
        """A contact potential's force on all bodies at a state of the smooth dynamics after a step h [s], shape (nv,).

        None where nothing touches, or where the potential is no part of the smooth dynamics.
        """
        forces = self.forces
        if forces is None or not self.potential_is_smooth or not forces.update(state, state.v, step, None):
            return None
        return forces.generalised()

    def contact_energy(self, state: State, step: float) -> float:
        """Σ energy that a contact potential stores at an accepted state after a step h, 0 without one [J].

        The terms of a step are those of its last evaluation, which a midpoint rule makes in the middle of the step. A
        balance of energy needs them at its end; buffers of their own leave what the step reports as it is.
        """
        pipeline, forces = self.pipeline, self.forces
        if pipeline is None or forces is None:
            return 0.0
        if self._forces_apart is None:
            own = ContactJacobian([terms.body for terms in self.bodies], self.jacobian.width)
            self._forces_apart = forces.apart(own), own
        apart, jacobian = self._forces_apart
        contacts = pipeline.contacts_at_end(state)
        if not contacts.count:
            return 0.0
        pipeline.assign_tangents(contacts)
        jacobian.collect(state, contacts)
        apart.evaluate(contacts, state.v, step, None)
        return float(np.sum(apart.terms.energy))
