"""The world as integrators see it: states, the families of steps, and what a step reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import final

import numpy as np
from attrs import evolve

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.data.status import SolveInfo, Status, StepReport
from corekit.engine.contact.contact_kernels import max_penetration
from corekit.engine.contact.contact_pipeline import ContactPipeline, Tangents
from corekit.engine.contact.contact_record import joined_record, step_record
from corekit.engine.impact import place_apart, resolve_impacts
from corekit.engine.potentials.contact_motion import ContactMotion
from corekit.engine.potentials.step_limit import StepLimit
from corekit.engine.split.smooth_dynamics import SmoothDynamics
from corekit.engine.split.split_step import SplitStep
from corekit.engine.step.step_energy import exceeds_energy
from corekit.engine.step.step_equation import StepEquation
from corekit.engine.step.theta_step import ThetaStep
from corekit.engine.tape import StepRecord, freeze_step
from corekit.engine.world.assembly import assemble_terms
from corekit.engine.world.diagnosis import StepDiagnosis
from corekit.engine.world.equilibrium_terms import EquilibriumTerms
from corekit.engine.world.rehearsal import rehearse, rehearse_solver
from corekit.errors import ControlError
from corekit.roles.body import Body, check_orientation, stacked_velocity_scale
from corekit.roles.component import Component, InternalState
from corekit.roles.contact import ContactSolver
from corekit.roles.integrator import Integrator
from corekit.roles.joint import Joint, JointForce
from corekit.roles.model import Model

__all__ = ["WorldSystem"]


@compiled
def _copy_finite(motion: Array, velocity: Array) -> bool:
    """Whether all of q and v side by side is finite; then v (nv,) is written too."""
    for value in motion:
        if not math.isfinite(value):
            return False
    first = len(motion) - len(velocity)
    for i in range(len(velocity)):
        velocity[i] = motion[first + i]
    return True


@final
class WorldSystem:
    """Implements `corekit.roles.world.World`.

    Args:
        bodies: stacked bodies.
        pipeline: contact detection, or None without contact.
        solver: contact solver, or None without contact.
        joints: between bodies; they hold frames as they stand at the state given to `hold_joints`.

    Attributes:
        terms: of bodies and contacts. equation: the step equation.
        theta, split, smooth: what the families of integrators call.
        limit: how long steps may be, with a contact potential; else None.
        accepted: v⁺ of the last accepted step, before its coordinates were reparametrised.
    """

    def __init__(
        self,
        bodies: Sequence[Body],
        pipeline: ContactPipeline | None,
        solver: ContactSolver | None,
        joints: Sequence[Joint] = (),
    ) -> None:
        self.bodies, self.joints = tuple(bodies), tuple(joints)
        self.pipeline, self.solver = pipeline, solver
        self.terms = terms = assemble_terms(bodies, pipeline, solver, joints)
        self.equation = StepEquation(terms)
        self.smooth = SmoothDynamics(terms)
        self.theta = ThetaStep(terms, self.equation)
        self.split = SplitStep(terms, self.equation, self.smooth)
        self.nq, self.nv, self.slices = terms.nq, terms.nv, terms.slices
        self.velocity_scale = stacked_velocity_scale(bodies)
        self.accepted, self._step, self._end = np.zeros(terms.nv), 0.0, terms.new_state()
        self.limit: StepLimit | None = None
        # tangents with which the last step began, for its record
        self._known: Tangents | None = None
        if pipeline is not None and terms.forces is not None:
            self.limit = StepLimit(terms, pipeline, terms.forces.potential)
        self.diagnosis = StepDiagnosis(terms, self.theta, self.limit)
        self._resolves_impacts = pipeline is not None and pipeline.restitution is not None
        self._reparametrised = [each for each in terms.bodies if each.body.abilities.reparametrisation]
        parts = (self.limit, self.equation.impulses, terms.factorisation.coupled, pipeline)
        motion = None if pipeline is None else pipeline.motion
        self._remembering = [part for part in (*parts, motion) if part is not None]

    def new_state(self) -> State:
        """Allocate a state of the world."""
        return self.terms.new_state()

    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        """Move every body with v̄ over h; write q, aux and time of `out`, prescribed coordinates set to p."""
        self.terms.integrate(start, velocity, step, previous, out)

    def error_bound(self, velocity: Array, tolerance: float, *, in_contact: bool = False) -> float:
        """Largest error of an entry of v⁺ = `velocity` that a relative tolerance allows [m/s]."""
        bound = self.equation.error_bound(velocity, tolerance)
        return max(bound, self.equation.rounding_in_contact()) if in_contact else bound

    @property
    def factorisation_id(self) -> int | None:
        """Number of the current factorisation, None if it failed or holds more than the bodies' own matrices."""
        own = self.terms.factorisation
        return own.number if own.succeeded and own.is_block_diagonal else None

    @property
    def constraint_impulses(self) -> Array:
        """λ_b of all bodies after the last solve or the accepted step, a copy."""
        return self.equation.impulses.of_constraints

    @constraint_impulses.setter
    def constraint_impulses(self, impulses: Array) -> None:
        self.equation.impulses.of_constraints = impulses

    # — joints —

    def hold_joints(self, state: State) -> None:
        """Make the joints: their frames stay as they stand to each other at a state. Find rows that repeat others.

        Raises:
            CompositionError: joints that hold what is held already, or what cannot move.
        """
        joints = self.terms.joints
        for terms, own in zip(self.terms.bodies, state.body_states, strict=True):
            if terms.constraints is not None:
                terms.constraints.find_implied(own, terms.free)
        if joints is not None:
            joints.attach(state)
            joints.check_independent(state, np.concatenate([terms.free for terms in self.terms.bodies]))

    def joint_force(self, name: str, state: State) -> JointForce:
        """Mean force and torque that a joint gave its first frame in the last step, which ended at a state."""
        joints, equation = self.terms.joints, self.equation
        if joints is None or name not in (names := [joint.name for joint in joints.joints]):
            listed = ", ".join(joint.name for joint in joints.joints) if joints else "none"
            raise ControlError(f"there is no joint {name!r}; there are {listed}")
        if equation.point is None:
            return JointForce(np.zeros(3), np.zeros(3))
        force = joints.impulse / equation.step
        if equation.point.is_after_smooth_motion:
            force = force + self.smooth.mean_joint_force
        if self.split.drive_impulse is not None:
            force = force + self.split.drive_impulse.joint_impulse / equation.step
        return joints.force(names.index(name), state, force)

    def equilibrium_terms(self) -> EquilibriumTerms:
        """Terms of a balance of forces at rest, apart from those of steps."""
        return EquilibriumTerms(self.bodies, self.pipeline, self.solver)

    def replace_model(self, body: int, model: Model) -> None:
        """Compute a body by another model; ValueError, and nothing changed, where its matrices are structured anew."""
        self.terms.bodies[body].replace_model(model)

    # — a step —

    def step(
        self, integrator: Integrator, state: State, stop: float, out: State, longest: float
    ) -> StepReport:
        """Make one step of an integrator, with its impacts, and accept it.

        Args:
            integrator, state, stop, out: as of `Integrator.step`.
            longest: h of the scenario [s]; a contact potential's steps may be shorter.
        Returns:
            The report. Where it is not accepted, `out` has no meaning: the integrator found no solution, a number is
            not finite, or two shapes pass each other, which `limit` names.
        """
        self._known = None if self.pipeline is None else self.pipeline.known
        if self.limit is None:
            report = integrator.step(self, state, stop, out)
        else:
            report = self.limit.make_step(integrator, self, state, stop, out, longest)
            if self.limit.passed_pair is not None:
                return evolve(report, accepted=False)
        report = self.end_step(state, out, report)
        return (
            report
            if report.accepted and self.accept(out, report.step_size)
            else evolve(report, accepted=False)
        )

    def rehearse(
        self, integrator: Integrator, start: State, end: State, step: float, components: Iterable[Component]
    ) -> None:
        """Make steps h that use every kernel. Both states are overwritten, and internal states change."""
        rehearse(self, integrator, start, end, step, components)

    def rehearse_solver(self, step: float) -> None:
        """Let the contact solver solve a problem of a step h [s] that uses its kernels."""
        rehearse_solver(self.pipeline, self.solver, step)

    def admit(self, state: State) -> None:
        """Put a state of a user in order: prescribed motion as at its time, coordinates reparametrised.

        Raises:
            ControlError: an orientation that is none.
        """
        for terms, own in zip(self.terms.bodies, state.body_states, strict=True):
            terms.motion.impose(own, state.time)
            check_orientation(terms.body, own)
            terms.reparametrise(own)

    def freeze_step(self, start: State, end: State, before: StepRecord | None) -> StepRecord:
        """The record of the last accepted step from `start` to `end`, with that of the step before."""
        return freeze_step(self.terms, self.equation, self.accepted, start, end, self._known, before)

    def end_step(self, start: State, state: State, report: StepReport) -> StepReport:
        """Write q and v after the impacts of a step from `start` to `state`, and judge its energy."""
        if not report.accepted or self.pipeline is None or self.terms.forces is not None:
            return report
        info = report.solve_info
        resolves = self._resolves_impacts or len(self.pipeline.held)
        ended = self._resolve_impacts(start, state) if resolves else None
        if ended is not None and info.status.solved:
            info = ended
        if info.status.solved and exceeds_energy(
            self.terms, self.equation, self.theta, start.v, state.v, info.residuals.equation
        ):
            info = evolve(info, status=Status.UNPHYSICAL)
        return report if info is report.solve_info else evolve(report, solve_info=info)

    def _resolve_impacts(self, start: State, state: State) -> SolveInfo | None:
        """Write q and v after the impacts of a step; None where there are none."""
        placed = place_apart(self.terms, self.equation, self.theta, start, state)
        jumped = self.split.drive_impulse  # rates that jump strike with what they jump to
        before = start.v if jumped is None else jumped.velocity
        ended = resolve_impacts(self.terms, self.equation, self.theta, before, state.v)
        return placed if ended is None or (placed is not None and not placed.status.solved) else ended

    def accept(self, state: State, step: float) -> bool:
        """Accept a step h that ends at `state`: keep warm starts, reparametrise.

        False, and nothing happens, if a number is not finite.
        """
        pipeline, limit, forces = self.pipeline, self.limit, self.terms.forces
        if not self.keep_velocity(state) or (pipeline is not None and not pipeline.is_finite):
            return False
        self._step, self._end = step, state
        if forces is not None and forces.count:
            self._settle_potential(state, step)
        self.equation.impulses.accept()
        if pipeline is not None:
            pipeline.accept()
            if limit is not None and forces is not None:
                limit.accept()
                motion = ContactMotion(self.terms, state, limit.start_velocity, step)
                forces.potential.on_step_accepted(pipeline.contacts, motion, step)
        for terms in self._reparametrised:
            terms.reparametrise(state.body_states[terms.body.index])
        return True

    def _settle_potential(self, state: State, step: float) -> None:
        """Evaluate a potential where the accepted step h to `state` has it act, for what is reported of the step.

        Newton's method ends with a correction behind its last look at the forces, which stiff contacts multiply. A
        step of one solve has done it.
        """
        point = self.equation.point
        if point is None or point.is_after_smooth_motion:
            self.terms.evaluate_potential(state, step)
        elif point.is_iterated:
            self.theta.settle(self.accepted)

    def keep_velocity(self, state: State) -> bool:
        """Whether all numbers of a state are finite; its velocity is then the accepted one."""
        return _copy_finite(state.qv, self.accepted)

    def unsettled_contact(self, change: Array) -> tuple[int, int] | None:
        """The two shapes of the current contact whose velocity a change of v⁺ alters most; None without contacts."""
        if self.pipeline is None or not self.equation.contact_count:  # of a potential no rows are made
            return None
        altered = np.linalg.norm(self.terms.jacobian.multiply(change), axis=1)
        one, other = self.pipeline.contacts.shape[int(np.argmax(altered))].tolist()
        return one, other

    def penetration(self, state: State) -> float:
        """How deep the last accepted step left shapes in each other at its end `state` [m], −∞ without contacts.

        Where the step's own contacts were found before its impulses moved the bodies, they are found anew.
        """
        pipeline, point = self.pipeline, self.equation.point
        if pipeline is None:
            return -math.inf
        found = pipeline.max_penetration()
        if found <= 0.0 or point is None or point.share == 1.0:
            return found
        contacts = pipeline.contacts_at_end(state)
        return max_penetration(contacts.count, contacts.gap)

    def record(self, *, by_point: bool = False) -> ContactRecord:
        """What every contact of the last accepted step did, or, by point, the points that stand for areas."""
        found = step_record(self.terms, self.equation, self.accepted, self._step, self._end)
        return found if by_point else joined_record(found, self.pipeline)

    def reaction(self) -> Array:
        """Impulses on the prescribed coordinates in the last step, stacked over bodies [N·s or N·m·s]."""
        equation = self.equation
        found, point = self._reactions(), equation.point
        if point is not None and point.is_after_smooth_motion:
            # of the smooth motion h times the mean of the forces where they were evaluated
            found = [own + equation.step * self.smooth.mean_reaction(i) for i, own in enumerate(found)]
        elif point is not None:
            # the force of a stage shorter than the step stands for all of it
            found = [own * (self._step / equation.step) for own in found]
        return np.concatenate([np.zeros(0), *found])

    def _reactions(self) -> list[Array]:
        """The same of every body by the equation that was solved: A·Δ − r − J_bᵀλ_b − J_cᵀλ_c there, each (p,)."""
        terms, extra = self.terms, self.equation.given_by_contact()
        if terms.joints is not None:
            held = terms.joints.jacobian.T @ terms.joints.impulse
            extra = held if extra is None else extra + held
        change = self.accepted - self.equation.about
        return [
            body.reaction(None if extra is None else extra[where], change[where], body.row_impulse)
            for body, where in zip(terms.bodies, terms.slices, strict=True)
        ]

    def jump(self) -> tuple[Array, float] | None:
        """Velocity behind a jump of prescribed rates in the last step and the work of its drives [J], or None."""
        jumped = self.split.drive_impulse
        return None if jumped is None else (jumped.velocity, jumped.work)

    def contact_forces(self, b: int) -> dict[str, Array]:
        """A potential's force on body b at the step's last evaluation, by the name `contact`, if there was one."""
        forces = self.terms.forces
        if forces is None or not forces.count:
            return {}
        return {"contact": forces.generalised()[self.slices[b]]}

    # — internal state —

    def internal_state(self) -> InternalState:
        """Warm starts and contact memory as of the last accepted step, as named arrays."""
        return {name: array for part in self._remembering for name, array in part.internal_state().items()}

    def forget(self) -> None:
        """Report nothing of the last step, as before the first one."""
        self.equation.forget()

    def restore(self, internal_state: InternalState) -> None:
        """Restore what `internal_state` gave; an empty one means a fresh start."""
        for part in self._remembering:
            part.restore(internal_state)
