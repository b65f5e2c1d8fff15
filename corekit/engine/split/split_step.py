"""Steps of the split family: impulses after the smooth dynamics; see `corekit.roles.steps.SplitStep`.

Contacts. A row belongs to the state where its contact is found, and what the path to the end bends, φ(q⁺) − φ(q) −
J_n·Δ, is pushed out of the pair by h·push_out in a step: where forces press a body on a round one, whose free state is
½h²·a deep, that is a depth of order h³ that stays. So contacts are found again at q⁺, until no point moves by more than
a hundredth of the margin since; the first time at the start if the free state is more than the margin away from the
inertial motion, behind a thin body perhaps.

Where a prescribed rate jumps, the drives give an impulse, and momentum decides the rest:

    M·(v⁺ − v₀) = J_bᵀ·Λ + (impulses of the drives),   v⁺ = ṗ(t⁺) at prescribed entries                     (1)
    rigid position rows:  J_b·v⁺ = 0,     rigid velocity rows:  J_b·v⁺ = u                                  (2)

Compliant and bounded rows are finite forces and give no impulse. Steps land on such breakpoints. Coupled schemes meet
(1) in the step that begins there, since they solve for the end velocity with M·(v⁺ − v₀); a scheme that integrates
accelerations applies the jump first. A state already behind the jump (v₀ = ṗ(t⁺)) is left as it is.

How stiff the damping is follows from the bodies' own matrices and their factorisation by the power method, e.g. Golub
and Van Loan (2013), Matrix Computations, section 8.2:

    d = |λ|_max(M⁻¹·D) = lim ‖x_k‖_M/‖x_{k−1}‖_M,   x_k = G·D·x_{k−1}                                       (3)

G is the inverse of M with the rigid rows held, so that what the rows hold damps nothing. The quotients of symmetric
matrices rise: a few iterations come within some percent of d from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, final

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo, Status
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.split.smooth_dynamics import SmoothDynamics
from corekit.engine.step.linearisation import after_smooth_motion
from corekit.engine.step.step_equation import StepEquation
from corekit.engine.world.world_terms import WorldTerms
from corekit.linalg.constraint_rows import FREE_ROW
from corekit.roles.steps import SplitOutlook

__all__ = ["DriveImpulse", "SplitStep"]

_ITERATIONS = 6
_TURNS = 10
"""How often contacts are found anew where impulses leave the bodies."""


class DriveImpulse(NamedTuple):
    """What drives gave where rates jumped.

    Args:
        work: of models that give their energy [J].
        velocity: v⁺, shape (nv,).
        joint_impulse: of the joints' rows [N·s or N·m·s].
    """

    work: float
    velocity: Array
    joint_impulse: Array


@final
class SplitStep:
    """Implements the protocol for a world.

    Args:
        world: the world's terms.
        equation: its step equation.
        smooth: its smooth dynamics, whose reactions are counted per step.

    Attributes:
        drive_impulse: of the last step that began with a rate jump, or None.
    """

    def __init__(self, world: WorldTerms, equation: StepEquation, smooth: SmoothDynamics) -> None:
        self._world, self._equation, self._smooth = world, equation, smooth
        self._start, self._end, self._step = world.new_state(), world.new_state(), 0.0
        self._zero = np.zeros(world.nv)
        self.drive_impulse: DriveImpulse | None = None

    def begin_step(
        self, start: State, step: float, lookahead: float = 0.0, *, potential_last: bool = False
    ) -> SplitOutlook:
        """Find the contact candidates of a step h from `start`."""
        world, equation = self._world, self._equation
        self._start, self._step = start, step
        self._smooth.begin_step(step)
        world.potential_is_smooth = not potential_last
        is_local = world.forces is not None and not potential_last
        equation.begin_step(start, step, lookahead=lookahead if is_local else 0.0)
        touches = not is_local and world.pipeline is not None and world.pipeline.start.count > 0
        return SplitOutlook(touches or world.has_bounded, is_local)

    def apply_rate_jump(self, state: State, out: State) -> bool:
        """Write the state after a jump of prescribed rates; False where none jumps."""
        world = self._world
        drives = world.has_prescribed or (world.joints is not None and bool(world.joints.given))
        self.drive_impulse = _apply_rate_jump(world, state, out) if drives else None
        return self.drive_impulse is not None

    def max_damping_rate(self) -> float:
        """Evaluate D at the start and return the largest damping rate [1/s]."""
        return _max_damping_rate(self._world, self._start)

    def linearise(self, free_state: State, theta: float = 0.0, frozen_damping: bool = False) -> None:
        """Expand the step equation about the free state, with contacts there or, if that is too far, at the start."""
        start, equation = self._start, self._equation
        mean = 0.5 * (start.v + free_state.v)
        point = after_smooth_motion(start, free_state, mean, self._step, theta, frozen_damping)
        equation.linearise(start, point)
        if self._overshoots(mean - start.v):
            equation.find_contacts(start, point._replace(at=start, end=start, mean=self._zero))

    def _overshoots(self, change: Array) -> bool:
        """Whether forces, which change the mean velocity so, carry the free state away from contacts of the start."""
        world, equation, pipeline = self._world, self._equation, self._world.pipeline
        if pipeline is None or world.forces is not None or not pipeline.start.count:
            return False
        rate = world.jacobian.normal_velocity(change) if equation.contact_count else np.array([math.inf])
        return bool(self._step * np.abs(rate).max() > pipeline.least_margin)

    def is_impulse_free(self, free_state: State) -> bool:
        """Return whether no impulse acts at the free state."""
        return self._equation.end_without_impulses(free_state)

    def solve(self, velocity: Array) -> SolveInfo:
        """Solve the current problem and write v⁺, with contacts where the bodies end; INACCURATE where these jump."""
        world, equation, start = self._world, self._equation, self._start
        info, pipeline, point = equation.solve(velocity), world.pipeline, equation.point
        if pipeline is None or point is None or not equation.contact_count:
            return info
        for _ in range(_TURNS):
            mean = 0.5 * (start.v + velocity)
            moved = mean - equation.contact_mean
            if equation.contact_count:
                moved = world.jacobian.multiply(moved)[~pipeline.is_held(pipeline.contacts)]
            if (
                self._step * np.abs(moved).max(initial=0.0) <= pipeline.negligible_motion
                or not info.status.solved
            ):
                return info
            self.apply_velocity_change(point.at, velocity, self._end)
            equation.find_contacts(start, point._replace(at=self._end, end=self._end, mean=mean))
            info = equation.solve(velocity)
        return evolve(info, status=Status.INACCURATE)

    def apply_velocity_change(self, free_state: State, velocity: Array, out: State) -> None:
        """Write the end of the step, q⁺ = q_f ⊕ h·½·(v⁺ − v_f), for v⁺ = `velocity`."""
        world = self._world
        world.integrate(free_state, 0.5 * (velocity - free_state.v), self._step, free_state, out)
        out.time = free_state.time
        world.set_prescribed_coordinates(out)


def _apply_rate_jump(world: WorldTerms, state: State, out: State) -> DriveImpulse | None:
    """Write the state behind a jump by (1)–(2); None, with nothing written, where no prescribed rate jumps."""
    rates = [_jumped_rate(terms, own) for terms, own in zip(world.bodies, state.body_states, strict=True)]
    joints = world.joints
    carried_jumps = joints is not None and joints.jump_rates(state)
    if all(rate is None for rate in rates) and not carried_jumps:
        return None
    out.copy_from(state)
    world.factorisation.forget()
    work = 0.0
    for terms, own, after, rate in zip(world.bodies, state.body_states, out.body_states, rates, strict=True):
        if joints is None and rate is None:
            continue
        _write_jump(terms, own, own.v[terms.prescribed] if rate is None else rate)
        if joints is None:
            if terms.refactor():
                terms.solve(None, after.v)
            after.v[terms.prescribed] = rate
    if joints is not None and world.factorisation.refactor():
        world.factorisation.solve(None, out.v)
    for terms, own, after in zip(world.bodies, state.body_states, out.body_states, strict=True):
        energy = terms.body.abilities.energy
        if energy is not None:
            work += energy.compute_energies(after)[0] - energy.compute_energies(own)[0]
    return DriveImpulse(work, out.v.copy(), np.zeros(0) if joints is None else joints.impulse.copy())


def _jumped_rate(terms: BodyTerms, state: State) -> Array | None:
    """ṗ(t⁺) of a body, shape (p,), where it differs from the state's velocities by a jump; else None."""
    return terms.motion.jumped_rate(state) if terms.body.description.prescribed_signals else None


def _write_jump(terms: BodyTerms, state: State, rate: Array) -> None:
    """Write (1)–(2) of one body; where M is singular on the rows' kernel only what is prescribed jumps."""
    model, u, own = terms.body.model, terms.inputs_at(state.time), terms.constraints
    model.compute_mass_and_force(state, u, terms.mass, terms.force)
    terms.matrix.zero()
    terms.matrix.add(terms.mass)
    terms.mass.multiply(state.v, terms.rhs)
    if own is not None:
        rows = own.rows
        own.evaluate(state, u)
        soft = rows.compliance > 0
        own.set_rows(
            np.where(soft, FREE_ROW, 0.0), np.where(soft | ~rows.is_velocity_level, 0.0, rows.target_rate)
        )
    terms.fixed[:] = rate


def _max_damping_rate(world: WorldTerms, start: State) -> float:
    """Evaluate every body's D at the start of a step; d of (3) [1/s], 0 without damping.

    Args:
        world: factorised with A = M.
    """
    dampings = [terms.update_damping(own) for terms, own in zip(world.bodies, start.body_states, strict=True)]
    if world.joints is None:
        return max(
            0.0 if damping is None else _largest(terms.body.nv, terms.factor.solve_columns, damping.multiply)
            for terms, damping in zip(world.bodies, dampings, strict=True)
        )

    def multiply(x: Array, out: Array) -> None:
        out.fill(0.0)
        for damping, where in zip(dampings, world.slices, strict=True):
            if damping is not None:
                own = np.empty(where.stop - where.start)
                damping.multiply(x[where], own)
                out[where] += own

    return _largest(world.nv, world.factorisation.solve_columns, multiply)


def _largest(n: int, solve: Callable[[Array], None], multiply: Callable[[Array, Array], None]) -> float:
    """d of (3); `solve` applies G in place, `multiply` writes D·x."""
    # a start that is orthogonal to no mode in particular, as a force
    force, x = np.cos(np.arange(n)), np.zeros((n, 1), order="F")
    quotient = 0.0
    for iteration in range(_ITERATIONS + 1):
        x[:, 0] = force
        solve(x)
        quotient = math.sqrt(max(float(x[:, 0] @ force), 0.0))  # ‖x‖_M: M·x is the force that gave it
        if not 0.0 < quotient < math.inf:
            return 0.0
        if iteration < _ITERATIONS:
            x /= quotient
            multiply(x[:, 0], force)
    return quotient
