"""The step equation (2)–(4) of the contract, built at an iterate and solved: the integrators' `System`.

    A·v⁺ = b + J_bᵀ·λ_b + J_cᵀ·λ_c                                                     (1)
    J_b·v⁺ + E_b·λ_b = r_b                                                             (2)
    w = W·λ + w₀,   W = J·G·Jᵀ,   w₀ = J·v_f − (obstacle velocity) + φ̃/h                 (3)

v_f solves (1)–(2) without contact; J stacks the contact rows and the bounded bilateral rows; G is the
inverse of (1)–(2). A is block diagonal over bodies; a contact potential adds low-rank terms that may
couple them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import Memory
from corekit.roles.contact import ContactPotential, ContactSolver, ImpulseSolver
from corekit.world.bodies import Body, stacked_reach
from corekit.world.body_system import BodySystem
from corekit.world.contact_forces import ContactForces
from corekit.world.contact_stage import ContactStage
from corekit.world.damping import damping_rate
from corekit.world.impulses import Impulses
from corekit.world.kinks import Kick, pass_kink
from corekit.world.smooth import smooth_acceleration
from corekit.world.smooth_correction import smooth_correction
from corekit.world.smooth_motion import SmoothMotion
from corekit.world.step_contacts import StepContacts
from corekit.world.step_factor import StepFactor
from corekit.world.step_motion import StepMotion, take_over
from corekit.world.step_report import contacts_of, reactions, unbalanced
from corekit.world.steps import SmoothDynamics, SplitStep, ThetaStep
from corekit.world.whole_step import WholeStep

__all__ = ["StepSystem"]


@final
class StepSystem:
    """The world as integrators see it; see `corekit.roles.integrator.System`.

    Args:
        bodies: stacked bodies.
        stage: contact detection and rows, or None without contact.
        solver: contact solver, or None without contact.

    Attributes:
        contact_count: contacts at the last linearisation. trial: where that was. velocity_scale: `Layout.reach` of all.
        extra: what a potential adds to b, or None. solves_impulses: whether the solver is an `ImpulseSolver`.
        is_split: whether the last linearisation was of the split family. integrate, correct: of `StepMotion`.
        theta, split, smooth: what the families of integrators ask.
        accepted: v⁺ of the last accepted step, before its charts changed. kick: what drives did at its begin, or None.
    """

    __slots__ = (
        "_about", "_coefficients", "_contacts", "_due", "_end", "_first", "_has_impulses", "_measured",
        "_motion", "_numbered", "_obstacle_rate", "_recharts", "_rights_due", "_unbalanced", "_velocity",
        "_whole", "accepted", "bodies", "contact_count", "correct", "extra", "factor", "forces", "impulses",
        "integrate", "is_split", "kick", "nq", "nv", "parts", "problem", "scratch", "slices", "smooth",
        "solver", "solves_impulses", "split", "stage", "theta", "trial", "velocity_scale",
    )  # fmt: skip

    def __init__(
        self, bodies: Sequence[Body], stage: ContactStage | None, solver: ContactSolver | None
    ) -> None:
        self.bodies = tuple(bodies)
        impulses = isinstance(solver, ImpulseSolver)
        self.parts = tuple(BodySystem(body, symmetric=impulses) for body in bodies)
        self._numbered = tuple(enumerate(self.parts))
        self.slices = tuple(slice(b.first_v, b.first_v + b.nv) for b in self.bodies)
        self._motion = StepMotion(self.parts, self.slices)
        self.integrate, self.correct = self._motion.integrate, self._motion.correct
        self.nq = sum(body.nq for body in self.bodies)
        self.nv = n = sum(body.nv for body in self.bodies)
        self.stage = stage
        self.solver = solver
        self.forces = (
            ContactForces(solver, bodies, stage)
            if isinstance(solver, ContactPotential) and stage is not None
            else None
        )
        self.solves_impulses = isinstance(solver, ImpulseSolver)
        self.impulses = Impulses(
            solver if isinstance(solver, ImpulseSolver) else None, self.parts, self.slices, stage
        )
        self.problem = self.impulses.problem
        self.factor = StepFactor(self.parts, self.slices, self.forces, self.impulses)
        self._contacts = None if stage is None else StepContacts(stage, self.impulses, self.solves_impulses)
        self._whole = WholeStep.of(solver, self.parts, stage, self.impulses)
        # without an impulse solver at contacts and without rows there are no impulses to solve for or to remember
        self._has_impulses = (self.solves_impulses and stage is not None) or self.impulses.has_rows
        self._recharts = tuple((i, body.model.rechart) for i, body in enumerate(self.bodies))
        self.trial, self.scratch = self.new_state(), self.new_state()
        # gaps of impulse solvers and the values of constraints alone are taken at the end of a step
        self._end = self.new_state() if self.solves_impulses or self.impulses.has_rows else None
        self._velocity = self._about = np.zeros(n)
        self.extra, self._due, self._rights_due = cast("Array | None", None), False, False
        self.contact_count = 0
        self.is_split = self._measured = False
        self._first = True
        self._obstacle_rate: Array | None = None
        self._coefficients = (0.0, 0.0)
        self.accepted, self._unbalanced = np.zeros(n), np.zeros(n)
        self.kick: Kick | None = None
        self.velocity_scale = stacked_reach(bodies)
        motion = SmoothMotion(self)
        self.theta, self.split, self.smooth = (
            ThetaStep(self),
            SplitStep(self, motion),
            SmoothDynamics(self, motion),
        )

    def new_state(self) -> State:
        """A buffer for a state of the world."""
        return State.stacked([body.sizes for body in self.bodies])

    def begin(self, start: State, step: float) -> None:
        """Find the contact candidates of the step from `start` and take the gaps φ(q₀).

        Warm starts are those of the last accepted step, so a repeated or a resumed step is the same.
        """
        self.problem.step = step
        self._first = True
        impulses = self.impulses
        if impulses.stand:
            impulses.stand = False
        elif self._has_impulses:
            impulses.begin()
        if self._motion.prescribes:
            for part in self.parts:
                part.begin()
        if self.stage is not None:
            if self.forces is None:
                self.stage.begin(start, step)
            else:
                self.forces.clear()
                self.stage.begin(start, step, self.forces.potential.reach, gaps=False)

    def linearise(
        self, start: State, velocity: Array, step: float, theta: float, tangent: float = 1.0, shift: float = 0.0
    ) -> None:  # fmt: skip
        """Build (1)–(3) of the coupled family at v_k = `velocity`, prescribed entries at ṗ(t + h)."""
        trial, end = self._go_to(start, velocity, step, theta)
        for part, where, a, b, c in zip(
            self.parts, self.slices, start.parts, trial.parts, end.parts, strict=True
        ):
            part.assemble_coupled(a, b, c, self._velocity[where], step, theta, tangent, shift)
        self._coefficients = (theta * step, tangent * theta * theta * step * step)
        self._touch(start, step, theta)
        self._finish(step, self._has_impulses)

    def evaluate(self, start: State, velocity: Array, step: float, theta: float) -> None:
        """Take `residual` and the contacts at v_k = `velocity`; A and its factorisation stay as they are."""
        trial, _ = self._go_to(start, velocity, step, theta)
        for part, where, a, b in zip(self.parts, self.slices, start.parts, trial.parts, strict=True):
            part.evaluate_coupled(a, b, self._velocity[where], step)
        self._touch(start, step, theta)
        if self._has_impulses:
            self.impulses.carry_over()

    def _go_to(self, start: State, velocity: Array, step: float, theta: float) -> tuple[State, State]:
        """Move to the trial state and the end state of v_k = `velocity`; both are one buffer at θ = 1."""
        own, first, self._first = self._velocity, self._first, False
        self._motion.fix(velocity, start.time + step)
        own[:] = velocity
        self._reset(own, split=False)
        self._rights_due, self._measured = True, False
        return self.trial, self._motion.go_to(start, own, step, theta, first, self.trial, self._end)

    def _touch(self, start: State, step: float, theta: float) -> None:
        """Contacts at the trial state, and the forces of a potential there."""
        trial = self.trial
        if self._contacts is not None:
            end = trial if theta == 1.0 or self._end is None else self._end
            self.contact_count, self._obstacle_rate = self._contacts.coupled(start, trial, end, step, theta)
        if self.forces is not None and self.contact_count:
            self.forces.evaluate(trial, trial.v, step, self._obstacle_rate)
            self._due = True

    def _reset(self, about: Array, split: bool) -> None:
        """Begin a linearisation about a velocity; a potential's last smooth evaluation counts in a split step."""
        self._about, self._rights_due, self.is_split = about, False, split
        self.impulses.count = 0
        if self._whole is not None:
            self._whole.joints.eliminates = split
        if self.forces is not None:
            self.extra, self._due = None, False
            if not split:
                self.forces.clear()

    def linearise_start(
        self, start: State, step: float, beta: float, damping: bool, shift: float = 0.0
    ) -> None:
        """Build the one-solve problem at (q₀, v₀, t)."""
        self._reset(start.v, split=False)
        by_damping, by_stiffness = step if damping else 0.0, beta * step * step
        for i, part in self._numbered:
            part.assemble_start(start.parts[i], step, by_damping, by_stiffness, shift)
        # a potential, stiff by design, is taken implicitly whatever the models are
        if self.forces is not None:
            beta = beta or 1.0
            by_damping, by_stiffness = step, beta * step * step
        self._coefficients = by_damping, by_stiffness
        if self._contacts is not None:
            self.contact_count, self._obstacle_rate = self._contacts.at_start(start, step)
            if self.forces is not None and self.contact_count:
                self.extra = self.forces.start(start, step, beta, self._obstacle_rate)
        # the guess of contacts was made along with their rows
        self._finish(step, self._has_impulses and not self.impulses.count)

    def linearise_split(
        self, start: State, smooth: State, step: float, theta: float = 0.0, held: bool = False
    ) -> None:
        """Build the split problem about the smooth end state (q_f, v_f)."""
        self._reset(smooth.v, split=True)
        for part, a, where in zip(self.parts, start.parts, smooth.parts, strict=True):
            part.assemble_split(a, where, step, theta, held)
        self._coefficients = (theta * step, 0.0)
        if theta and self.forces is not None:
            self.extra = theta * step * self.forces.damping_force(start.v if held else smooth.v)
        if self._contacts is not None:
            self.contact_count, self._obstacle_rate = self._contacts.split(start, smooth, step)
        self._finish(step, self._has_impulses)

    def ends_smoothly(self, smooth: State) -> bool:
        """Whether nothing but the smooth part acts in a split step to `smooth`."""
        if self._motion.prescribes or self.problem.bounded:
            return False
        self._reset(smooth.v, split=True)
        self._coefficients = (0.0, 0.0)
        self.contact_count, self._obstacle_rate = 0, None
        if self.stage is not None and self.solves_impulses and self.stage.measure(smooth):
            return False
        if self._has_impulses:
            self.impulses.carry_over()
        return True

    def pass_kink(self, state: State, out: State) -> bool:
        """Write the state behind a kink of prescribed rates; see `corekit.world.kinks`."""
        self.kick = pass_kink(self, state, out) if self._motion.prescribes else None
        return self.kick is not None

    def acceleration(self, state: State, out: Array, held: Array | None, settling: float | None) -> bool:
        """Write v̇ of the smooth part at a state; see `corekit.world.smooth`."""
        self.factor.number += 1
        return smooth_acceleration(self, state, out, held, settling)

    def smooth_correction(
        self, state: State, acceleration: Array, damping: float, stiffness: float, out: Array, shift: float = 0.0,
        chord: bool = False,
    ) -> float | None:  # fmt: skip
        """Write a Newton step of the smooth part's acceleration; see `corekit.world.smooth_correction`."""
        return smooth_correction(self, state, acceleration, damping, stiffness, out, shift, chord)

    def solve_smooth(self, extra: Array | None, damping: float, stiffness: float, out: Array) -> bool:
        """Factorise the bodies' matrices as they stand, with a potential's terms, and solve; False if singular."""
        self._coefficients = damping, stiffness
        if not self.factor.factorise(self._coefficients):
            return False
        self.factor.free(extra, out)
        return True

    def damping_rate(self, start: State) -> float:
        """Take D at the start of the step; the largest rate, a potential's drag included [1/s]."""
        return damping_rate(self, start)

    def share(self) -> Array | None:
        """What a potential adds to b = A·v_k − ρ, taken when it is asked for; None without one."""
        if self._due and self.forces is not None:
            self.extra = self.problem.step * self.forces.generalised()
            self.extra += self.forces.tangent_product(self._velocity, *self._coefficients)
            self._due = False
        return self.extra

    def _finish(self, step: float, carry: bool) -> None:
        """Factorise, unless the step is to be solved whole, and carry the warm start over if that is to be done."""
        self.problem.step = step
        if self._whole is None or self.is_split:
            self.factor.factorise(self._coefficients)
        if carry:
            self.impulses.carry_over()

    def solve(self, velocity: Array) -> SolveInfo:
        """Solve the current problem; write v⁺."""
        if self._rights_due:
            for part in self.parts:
                part.take_right()
        if self._whole is not None and not self.is_split:
            info = self._whole.solve(velocity)
            if info is not None:
                return info
            self.factor.factorise(self._coefficients)
        factor, impulses = self.factor, self.impulses
        if not factor.ready:
            velocity[:] = self._about
            return _SINGULAR
        pushed = impulses.count or impulses.bounded
        if pushed and factor.halves is not None:
            return impulses.push(factor.halves, velocity)
        factor.free(self.share() if self._due else self.extra, velocity)
        if pushed:
            return factor.push(self.extra, velocity)
        return self.forces.info if self.forces is not None else _DIRECT

    def residual(self) -> float:
        """Largest residual of the step equation at the current coupled linearisation with the last impulses."""
        if not self._measured:
            unbalanced(self, self._motion.prescribes, self._unbalanced)
        return float(np.abs(self._unbalanced).max(initial=0.0))

    @property
    def holds_impulses(self) -> bool:
        """Whether the last linearisation or evaluation has impulses, of contacts or of bilateral rows."""
        return self.impulses.has_rows or self.impulses.count > 0

    @property
    def factorisation_id(self) -> int | None:
        """Number of the factorisation at hand, None where it failed or holds more than the bodies' own matrices."""
        return self.factor.number if self.factor.ready and self.factor.plain else None

    @property
    def constraint_impulses(self) -> Array:
        """λ_b of all bodies as the last solve or the accepted step left them, a copy."""
        return self.impulses.of_rows()

    @constraint_impulses.setter
    def constraint_impulses(self, impulses: Array) -> None:
        self.impulses.take_rows(impulses)

    def correction(self, out: Array) -> SolveInfo | None:
        """Write −A⁻¹·(residual at the last `evaluate`) with A of the last `linearise`; None with impulses."""
        if self.holds_impulses or not self.factor.ready:
            return None if self.holds_impulses else _SINGULAR
        unbalanced(self, self._motion.prescribes, self._unbalanced)
        self._measured = True
        self.factor.correct(self._unbalanced, out)
        return self.forces.info if self.forces is not None else _DIRECT

    def contact_forces(self, b: int) -> dict[str, Array]:
        """A potential's force on body b at the step's last evaluation, by the name `contact`, if there was one."""
        if self.forces is None or not len(self.forces.terms.energy):
            return {}
        return {"contact": self.forces.generalised()[self.slices[b]]}

    def reaction(self) -> Array:
        """Impulses that held the prescribed coordinates in the last step, stacked over bodies [N·s or N·m·s]."""
        return reactions(self, self.accepted, self._coefficients)

    # — after acceptance —

    def accept(self, state: State) -> bool:
        """Told once a step: contact memory, charts. False, and nothing happens, if a number is not finite."""
        if not take_over(state.motion, self.accepted):
            return False
        if self._has_impulses:
            self.impulses.accept()
        if self.stage is not None:
            self.stage.accept()
            if self.forces is not None:
                self.forces.potential.accepted(self.stage.contacts, self.problem.step)
        for i, rechart in self._recharts:
            rechart(state.parts[i])
        return True

    def record(self) -> ContactRecord:
        """What every contact of the last accepted step did."""
        return contacts_of(self, self.accepted, self._obstacle_rate)

    # — memory —

    def memory(self) -> Memory:
        """Warm starts and contact memory as of the last accepted step, as named arrays."""
        of_stage = {} if self.stage is None else self.stage.memory()
        return self.impulses.memory() | {f"stage.{name}": array for name, array in of_stage.items()}

    def forget(self) -> None:
        """Have nothing to tell of the last step, as before the first one."""
        self.contact_count = 0
        if self.forces is not None:
            self.forces.clear()

    def remember(self, memory: Memory) -> None:
        """Take over what `memory` gave; an empty one means a fresh start."""
        self.impulses.remember(memory)
        self.factor.forget()
        if self.stage is not None:
            own = {name[6:]: array for name, array in memory.items() if name.startswith("stage.")}
            self.stage.remember(own)


_SINGULAR = SolveInfo(status=Status.SINGULAR, answered_by="factorisation")
_DIRECT = SolveInfo(status=Status.CONVERGED, residuals=Residuals(), answered_by="factorisation")
