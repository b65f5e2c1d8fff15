"""The equations of a recorded step at other arguments, with its impulses and the modes of its contacts held.

    F(q₀, v₀, v_p, v⁺) = 0 of `solutions`, at the record                                                    (1)

They are those of the step itself: bodies, rows and contacts are expanded by the engine that solved it, at a start and
velocities which may differ a little. Differences of (1) are therefore the derivatives of whatever the engine does in
any world, scheme and contact; that (1) is zero at the record shows that all of it was repeated.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.contact.contact_pipeline import NO_PAIRS
from corekit.engine.step.linearisation import LinearisationPoint, in_step
from corekit.engine.tape import StepRecord
from corekit.errors import GradientError
from corekit.linalg.vectors import max_abs
from corekit.roles.component import Stateful
from corekit_gradients.adjoint.body_equations import body_equations, linearise_residual
from corekit_gradients.adjoint.body_products import as_dense
from corekit_gradients.adjoint.contact_modes import ContactTerms
from corekit_gradients.adjoint.evaluation import Arguments, Evaluation, LinearTerms, Residual
from corekit_gradients.adjoint.frozen_contacts import FrozenContacts
from corekit_gradients.adjoint.solutions import Kind, Solution, solutions_of

if TYPE_CHECKING:
    from corekit.engine.world.world_system import WorldSystem

__all__ = ["FrozenStep"]

_LEFT: Final = 1e-5
"""What the equations of a record may leave when they are evaluated anew, relative to their terms."""
_NOTHING = np.zeros(0)
_REASONS = (
    "rates or inputs that jump in the step, relaxed friction, or an option that changes as the run goes on"
)


@final
class FrozenStep:
    """Evaluates (1) for the steps of one world; it uses the world's buffers.

    Args:
        system: the world.

    Attributes:
        record: the step, as `load` was given it.
        solutions: that it consists of.
        theta: θ of its scheme; None for one that linearises at the start. step: h [s].
        arguments: those of the record.
        here: F there.
        contacts: those of the record at other arguments.
        turns_pyramids: whether a contact slides by a pyramid that turned.
        is_at_record: whether all is expanded there, and not elsewhere.
        wants_tangents: whether F has tangents beside it, where they are memory of a run.
    """

    def __init__(self, system: WorldSystem) -> None:
        self._world, self._equation = system.terms, system.equation
        self._trial, self._end = system.new_state(), system.new_state()
        self._zero = np.zeros(system.nv)
        self.contacts = FrozenContacts(system.terms, system.equation)
        self._width, self._judges, self.wants_tangents = system.terms.jacobian.width, True, True
        self.is_at_record = self.turns_pyramids = False

    # — one step —

    def load(self, record: StepRecord) -> None:
        """Hold a recorded step, find the modes of its contacts, and judge whether it can be repeated.

        Raises:
            GradientError: its scheme or world has no derivatives, or its equations are not those of the record.
        """
        self.take(record)
        self.contacts.load(record.contacts)
        self._begin_step()
        self.here = self._evaluate(self.arguments, is_first=True)
        self.turns_pyramids = self.tracks_impulses and any(each.modes.turns.any() for each in self.solutions)

    def take(self, record: StepRecord) -> None:
        """Hold a recorded step without a look at its contacts, so that bodies can be expanded at its points.

        Raises:
            GradientError: its scheme or world has no derivatives.
        """
        scheme, world, pipeline = record.scheme, self._world, self._world.pipeline
        when = f"the step from t = {record.start.time:.6g} s"
        if scheme is None:
            raise GradientError(
                f"{when} ends a smooth motion: split schemes (newmark, generalized-alpha, verlet, rk23, SciPy's) have "
                "no derivatives yet; use semi-implicit-euler, implicit-euler or implicit-midpoint"
            )
        if pipeline is not None and pipeline.areas is not None:
            raise GradientError(
                "contacts that resist turning (torsional, rolling) have no derivatives yet; give sliding friction alone"
            )
        if record.separation is not None and (world.has_constraints or world.has_bounded):
            raise GradientError(
                f"{when} moves bodies with constraints or joints apart at its end, as implicit-midpoint does after "
                "impacts: this has no derivatives yet; use implicit-euler"
            )
        if record.contacts is not None and len(record.contacts.held) and scheme.theta not in (None, 1.0):
            raise GradientError(
                f"{when} keeps contacts of its start, of shapes that would pass each other within it or touch without "
                "end elsewhere, which has no derivatives by implicit-midpoint; use implicit-euler or a smaller step"
            )
        self.record, self.scheme, self.step, self.theta = record, scheme, scheme.step, scheme.theta
        self.turns_pyramids = False
        self.solutions = solutions_of(record, self._width)
        self._restore(record)
        contacts = record.contacts
        final = next((each for each in self.solutions if each.kind is Kind.VELOCITY), self.solutions[0])
        carried = np.zeros((0, self._width)) if contacts is None else contacts.start_impulse
        self.arguments = Arguments(record.start, self.solutions[0].velocity, final.velocity, carried)

    def split(self, y: Array) -> list[tuple[Solution, Array]]:
        """The solutions with their parts of a covector of F."""
        return [(solution, y[part]) for solution, part in zip(self.solutions, self.parts, strict=True)]

    @property
    def parts(self) -> list[slice]:
        """Where R, G and H of every solution stand in F."""
        sizes = [
            len(each.momentum) + len(each.rows) + each.contacts.held.size for each in self.here.residuals
        ]
        ends = list(accumulate(sizes, initial=0))
        return [slice(first, last) for first, last in pairwise(ends)]

    def hold(self, other: FrozenStep) -> None:
        """Hold the step that another world's holds, to evaluate its equations in this one."""
        self.record, self.scheme, self.step, self.theta = other.record, other.scheme, other.step, other.theta
        self.solutions, self.arguments, self.here = other.solutions, other.arguments, other.here
        self.turns_pyramids = other.turns_pyramids
        self.wants_tangents = other.wants_tangents
        self._restore(self.record)
        self.contacts.hold(other.contacts)
        self._begin_step()

    def _begin_step(self) -> None:
        record, pipeline = self.record, self._world.pipeline
        self._equation.begin_step(record.start, self.step, contacts_at_start=True, approach=record.approach)
        if pipeline is not None:
            pipeline.held = NO_PAIRS if record.contacts is None else record.contacts.held

    @property
    def tracks_tangents(self) -> bool:
        """Whether tangents are memory of a run; see `FrozenContacts`."""
        return self.contacts.tracks_tangents

    @property
    def tracks_impulses(self) -> bool:
        """Whether impulses are."""
        return self.contacts.tracks_impulses

    def _restore(self, record: StepRecord) -> None:
        """Restore what the step had from steps before."""
        pipeline, world, contacts = self._world.pipeline, self._world, record.contacts
        if pipeline is not None and contacts is not None:
            pipeline.set_tangents(contacts.known.id, contacts.known.tangent)
        for terms, held in zip(world.bodies, record.inputs, strict=True):
            if held or terms.body.inputs.internal_state():
                terms.body.inputs.restore(held)
        if record.potential_state is not None and isinstance(world.solver, Stateful):
            world.solver.restore(record.potential_state)

    # — its equations —

    @property
    def has_closed_contacts(self) -> bool:
        """Whether a contact of the step has an impulse."""
        return any(len(each.modes.index) for each in self.solutions)

    @property
    def start_velocity_leaves_contacts(self) -> bool:
        """Whether rows and bias of closed contacts are the same at another v₀."""
        pipeline, forces = self._world.pipeline, self._world.forces
        struck = any(each.struck.any() for each in self.solutions)
        stay = pipeline is not None and forces is None and not pipeline.scene.moving
        return stay and self.theta is None and not struck and not self.contacts.need_matrix

    def evaluate(self, arguments: Arguments, *, contacts_stay: bool = False) -> Evaluation:
        """F of (1).

        Args:
            arguments: of F.
            contacts_stay: whether to take the contacts as they are at the record.
        Raises:
            ContactLost: a closed contact is not found there.
        """
        return self._evaluate(arguments, contacts_stay=contacts_stay)

    def _evaluate(
        self, arguments: Arguments, *, is_first: bool = False, contacts_stay: bool = False
    ) -> Evaluation:
        start, velocity, final, carried = arguments
        residuals, self._judges, self.is_at_record = [], is_first, is_first
        if contacts_stay:
            self._expand_bodies(start, velocity)
        else:
            self._expand(start, velocity)
        about = start.v if self.theta is None else velocity
        for solution in self.solutions:
            own = {Kind.PLACE: velocity, Kind.VELOCITY: final, Kind.APART: solution.velocity}[solution.kind]
            is_third = len(residuals) == 2
            if self.theta is not None and (solution.kind is Kind.VELOCITY or is_third):
                # the velocity level expands bodies at its own velocity; what moves them apart came before it
                about = final if solution.kind is Kind.VELOCITY else velocity
                self._expand_bodies(start, about)
            if is_first:
                self.contacts.find_modes(solution, start, own, carried)
            known = self.here.residuals[len(residuals)].contacts if contacts_stay else None
            residual = self._residual(solution, start, own, about, carried, known)
            residuals.append(residual._replace(linear=self._linear(solution)) if is_first else residual)
        if contacts_stay:
            return Evaluation(tuple(residuals), self.here.tangents)
        tracks = self.contacts.tracks_tangents and self.wants_tangents
        return Evaluation(tuple(residuals), self.contacts.tangents() if tracks else np.zeros((0, 3)))

    def _point(self, start: State, velocity: Array) -> LinearisationPoint:
        """The point of the θ family at v_k = `velocity`, as `ThetaStep` makes it."""
        world, theta, h, trial, end = self._world, self.theta, self.step, self._trial, self._end
        assert theta is not None
        mean = (1.0 - theta) * start.v + theta * velocity
        world.integrate(start, mean, theta * h, start, trial)
        trial.v[:] = mean
        ahead = trial
        if theta != 1.0 and self._equation.needs_end_state:
            world.integrate(start, mean, h, start, end)
            end.v[:] = mean
            ahead = end
        world.set_prescribed_rates(trial)
        return in_step(start, trial, ahead, velocity, h, theta, 1.0, 0.0)

    def _expand(self, start: State, velocity: Array) -> None:
        """Expand bodies, rows and contacts."""
        world, equation, pipeline = self._world, self._equation, self._world.pipeline
        if pipeline is not None and world.forces is None:
            pipeline.scene.update_poses(start)
            pipeline.detect_at_start()
        if self.theta is None:
            equation.expand(start, self._point_at_start(start))
            return
        self._expand_bodies(start, velocity)
        if pipeline is not None and world.forces is None and equation.point is not None:
            equation.find_contacts(start, equation.point)

    def point_of(self, solution: Solution) -> LinearisationPoint:
        """About what bodies are expanded for a solution at the record."""
        start, velocity, final, _ = self.arguments
        if self.theta is None:
            return self._point_at_start(start)
        return self._point(start, final if solution.kind is Kind.VELOCITY else velocity)

    def _point_at_start(self, start: State) -> LinearisationPoint:
        return self.scheme.point_at_start(start, self._zero)

    def _expand_bodies(self, start: State, velocity: Array) -> None:
        if self.theta is None:
            self._equation.set_point(self._point_at_start(start), BodyTerms.linearise)
            return
        # what moves bodies apart, and pyramids that turn, know the matrix of the step
        whole = self.solutions[-1].kind is Kind.APART or self.contacts.need_matrix
        self._equation.set_point(
            self._point(start, velocity), BodyTerms.linearise if whole else linearise_residual
        )

    def _residual(
        self, solution: Solution, start: State, velocity: Array, about: Array, carried: Array,
        known: ContactTerms | None,
    ) -> Residual:  # fmt: skip
        """R, G and H of a solution, for the bodies as they are expanded about v_k = `about`; `known`: H, if it is."""
        world, is_apart = self._world, solution.kind is Kind.APART
        is_linear = self.theta is None or is_apart
        change = velocity if is_apart else velocity - about
        momentum, size, weight = np.empty((3, world.nv))
        held, sizes, first = [], [], 0
        for terms, where in zip(world.bodies, world.slices, strict=True):
            last = first + (0 if terms.constraints is None else terms.constraints.rows.count)
            impulse, side, first = solution.of_constraints[first:last], solution.side[first:last], last
            momentum[where], error, size[where], left = body_equations(
                terms, self.step, change[where], impulse, side, is_linear=is_linear, is_apart=is_apart
            )
            terms.mass.multiply(velocity[where], weight[where])
            held.append(error)
            sizes.append(left)
        joints = world.joints
        if joints is not None:
            given = joints.jacobian.T @ solution.of_joints
            momentum -= given
            size += np.abs(given)
            product = joints.jacobian @ change if is_linear else np.zeros(joints.count)
            held.append(product - joints.target)
            sizes.append(np.abs(product) + np.abs(joints.target))
        contacts = self.contacts.evaluate(solution, start, velocity, carried) if known is None else known
        given = contacts.given if world.forces is None else self._potential_impulse(start, velocity)
        momentum -= given
        size += np.abs(given)
        for terms, where in zip(world.bodies, world.slices, strict=True):
            momentum[where][terms.prescribed] = 0.0
        rows = np.concatenate([_NOTHING, *held])
        if self._judges:
            # what cancels to zero is zero up to the rounding of the largest
            speed = max(max_abs(velocity), max_abs(self._equation.bound.alone(about)))
            self._judge("momentum", solution, momentum, max_abs(size + np.abs(weight)))
            for error, left in zip(held, sizes, strict=True):
                self._judge("constraints", solution, error, max_abs(left) + speed)
            self._judge("contacts", solution, contacts.held.ravel(), contacts.size + speed)
        return Residual(momentum, rows, contacts)

    def _judge(self, name: str, solution: Solution, left: Array, size: float) -> None:
        """Refuse a step whose equations leave more than a little of the size of their terms."""
        worst = max_abs(left)
        if not worst <= _LEFT * size:
            raise GradientError(
                f"the step from t = {self.record.start.time:.6g} s cannot be differentiated: its equations, evaluated "
                f"anew, leave {worst:.3g} of terms of {size:.3g} ({name} of the {solution.kind.value}); {_REASONS} can "
                "be the reason"
            )

    def _linear(self, solution: Solution) -> LinearTerms:
        """The terms of bodies and joints as they are expanded."""
        world, theta, nv = self._world, self.theta, self._world.nv
        matrix, rows, compliance = np.zeros((nv, nv)), [np.zeros((0, nv))], [np.zeros(0)]
        for terms, where in zip(world.bodies, world.slices, strict=True):
            is_linear = theta is None or solution.kind is Kind.APART
            matrix[where, where] = as_dense(terms.matrix if is_linear else terms.mass)
            constraints = terms.constraints
            if constraints is not None and constraints.rows.count:
                own = np.zeros((constraints.rows.count, nv))
                own[:, where] = constraints.rows.to_dense(terms.body.nv)
                rows.append(own)
                compliance.append(constraints.compliance)
        if world.joints is not None:
            rows.append(world.joints.jacobian)
            compliance.append(np.zeros(world.joints.count))
        side = np.concatenate([solution.side, np.zeros(len(solution.of_joints), dtype=np.int64)])
        return LinearTerms(matrix, np.concatenate(rows), np.concatenate(compliance), side)

    def _potential_impulse(self, start: State, velocity: Array) -> Array:
        """h·Pᵀ·f_c, shape (nv,)."""
        world, h, at, moved = self._world, self.step, self._trial, velocity
        forces, point = world.forces, self._equation.point
        assert forces is not None and point is not None
        if self.theta is None:
            world.integrate(start, velocity, h, start, at)
            at.v[:] = velocity
            world.set_prescribed_rates(at)
        else:
            at, moved = point.at, point.at.v
        count = forces.update(at, moved, h, (start.time, start.time + h))
        return h * forces.generalised() if count else np.zeros(world.nv)
