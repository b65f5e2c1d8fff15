"""The world without impulses as a differential equation: accelerations, their Newton increments and their Jacobian.

    M·v̇ = f + Pᵀf_c + J_bᵀ·λ                                                          (1)
    rigid position row:  J_b·v̇ = −d(J_b)/dt·v − (2/τ)·J_b·v − c/τ²                       (2)
    rigid velocity row:  J_b·v̇ = −d(J_b·v − u)/dt|_v − (J_b·v − u)/τ                      (3)
    compliant rows are forces: −c/α, or (u − J_b·v)/α                                   (4)

Bounded rows stay out: like contacts they act at the end of a split step. Prescribed coordinates have v̇ = p̈(t). τ is
Baumgarte's time constant. The time derivatives in (2)–(3) at fixed v are central differences along the motion.

At a state whose velocity moves by c_v·Δ and whose displacement by c_q·Δ when its acceleration w moves by Δ, Newton's
increment is

    ((1 + σ)·M + c_v·D + c_q·K − c_q·∂(J_bᵀλ_b)/∂q)·Δ = f + Pᵀf_c + J_bᵀ·λ − M·w               (5)

with the constraints of `body_constraints` and λ the whole force. K is that of f − M·w where the model gives it: without
∂(M·w)/∂q Newton's method converges linearly, and not at all where accelerations are large. A chord step keeps the
factorisation of another state and the forces λ_k so far, and solves for Δ and δλ.

For implicit schemes of a differential equation

    ∂a/∂δ = −G·(K + PᵀK_cP + J_sᵀJ_s/α − ∂(Jᵀλ)/∂q) − H·J/τ²                                      (6)
    ∂a/∂v = −G·(D + PᵀD_cP + J_sᵀJ_s/α) − H·J·(2/τ or 1/τ)                                        (7)

with a = G·(f + Pᵀf_c) + H·r, G = M⁻¹ on the kernel of the rigid rows and J·H = 1. J_s are compliant rows, of
position in (6) and of velocity in (7). K is that of f − M·a for models with inverse dynamics, else of f without the
derivative of M. The derivatives of J and d(J)/dt·v are left out but for ∂(Jᵀλ)/∂q.

Source for (2): Baumgarte (1972), "Stabilization of constraints and integrals of motion".
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.signal_base import HeldSignal
from corekit.data.state import State
from corekit.engine.bodies.body_constraints import BAUMGARTE_STEPS, BodyConstraints
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.step.linearisation import of_acceleration
from corekit.engine.world.world_terms import WorldTerms
from corekit.linalg.constraint_rows import FREE_ROW
from corekit.linalg.vectors import max_abs

__all__ = ["SmoothDynamics"]


@final
class SmoothDynamics:
    """Implements `corekit.roles.steps.SmoothDynamics` for a world.

    Args:
        world: the world's terms.
    """

    def __init__(self, world: WorldTerms) -> None:
        self._world = world
        self._around = world.new_state()
        self._zero, self._scratch = np.zeros((2, world.nv))
        self._reactions = [np.zeros(len(terms.prescribed)) for terms in world.bodies]
        self._reaction_count, self._step = 0, 0.0
        self._joint_force = np.zeros(0 if world.joints is None else world.joints.count)

    def begin_step(self, step: float) -> None:
        """Begin a step of length h [s]."""
        self._step = step
        self.forget_reactions()

    def smooth_until(self, time: float, horizon: float) -> float:
        """Return the first breakpoint in (time, time + horizon], or its end [s]; `time` if an input is set outside."""
        until = time + horizon
        bodies = [terms.body for terms in self._world.bodies]
        signals = [signal for body in bodies for signal in body.inputs.signals]
        if any(body.inputs.written for body in bodies) or any(
            isinstance(signal, HeldSignal) and not signal.constant for signal in signals
        ):
            return time
        breakpoints = [each for body in bodies for each in body.breakpoints(time, until)]
        if self._world.pipeline is not None:
            for obstacle in self._world.pipeline.scene.obstacles:
                breakpoints += obstacle.breakpoints(time, until)
        if self._world.joints is not None:
            for motion in self._world.joints.given:
                breakpoints += motion.breakpoints(time, until)
        return min(breakpoints, default=until)

    def set_prescribed_velocities(self, state: State) -> None:
        """Set the prescribed velocities of a state to ṗ at its time."""
        self._world.set_prescribed_rates(state)

    # — reactions of prescribed coordinates —

    def forget_reactions(self) -> None:
        """Begin the mean of `mean_reaction` anew."""
        self._reaction_count = 0
        for reaction in (*self._reactions, self._joint_force):
            reaction.fill(0.0)

    def mean_reaction(self, index: int) -> Array:
        """Mean force on a body's prescribed coordinates over the accelerations evaluated so far, (p,) [N or N·m]."""
        return self._reactions[index] / max(self._reaction_count, 1)

    @property
    def mean_joint_force(self) -> Array:
        """Mean force of the joints' rows over the same accelerations, shape (rows,) [N or N·m]."""
        return self._joint_force / max(self._reaction_count, 1)

    def _count_reactions(self, extra: Array | None, acceleration: Array) -> None:
        self._reaction_count += 1
        joints = self._world.joints
        if joints is not None:
            self._joint_force += joints.impulse
            held = joints.jacobian.T @ joints.impulse
            extra = held if extra is None else extra + held
        for terms, where, total in zip(self._world.bodies, self._world.slices, self._reactions, strict=True):
            if len(total):
                impulse = terms.row_impulse
                if terms.rows is not None:
                    impulse = np.where(terms.rows.bounded, 0.0, impulse)
                total += terms.reaction(None if extra is None else extra[where], acceleration[where], impulse)

    # — (1) —

    def compute_acceleration(
        self,
        state: State,
        out: Array,
        frozen_damping_velocity: Array | None = None,
        baumgarte_time: float | None = None,
    ) -> bool:
        """Write v̇ of (1)–(4) at a world state; False if the mass matrix is singular on the constraints' kernel.

        Args:
            frozen_damping_velocity: v₀, where the damping stays at its start: D·(v − v₀) is added to f.
            baumgarte_time: τ [s]; ten steps if None.
        """
        world, step, frozen = self._world, self._step, frozen_damping_velocity
        extra = world.evaluate_potential(state, step)
        tau = BAUMGARTE_STEPS * step if baumgarte_time is None else baumgarte_time
        for i, (terms, where, own) in enumerate(
            zip(world.bodies, world.slices, state.body_states, strict=True)
        ):
            u = terms.inputs_at(own.time)
            terms.body.model.compute_mass_and_force(own, u, terms.mass, terms.force)
            terms.matrix.zero()
            terms.matrix.add(terms.mass)
            terms.rhs[:] = terms.force
            if frozen is not None and terms.damping is not None:
                work = np.empty(terms.body.nv)
                terms.damping.multiply(own.v - frozen[where], work)
                terms.rhs += work
            if terms.constraints is not None:
                _stabilise(terms, terms.constraints, own, self._around.body_states[i], tau)
            if terms.motion.exists:
                terms.fixed[:] = terms.motion.acceleration(own, 1e-3 * step)
        if world.joints is not None:
            world.joints.stabilise(state, self._around, tau)
        factorisation = world.factorisation
        if not factorisation.refactor():
            return False
        factorisation.solve(extra, out)
        self._count_reactions(extra, out)
        return True

    # — (5) —

    def compute_acceleration_increment(
        self,
        state: State,
        acceleration: Array,
        damping_factor: float,
        stiffness_factor: float,
        out: Array,
        shift: float = 0.0,
        chord: bool = False,
    ) -> float | None:
        """Write Δ of (5), or with `chord` that of the factorisation at hand where no contact potential acts.

        Returns the largest |right side of (5)| with the last λ, None if the matrix is singular.
        """
        world, factorisation, step = self._world, self._world.factorisation, self._step
        extra, joints = world.evaluate_potential(state, step), world.joints
        chord = chord and extra is None and factorisation.succeeded and factorisation.is_block_diagonal
        whole = of_acceleration(state, self._zero, damping_factor, stiffness_factor, shift)
        worst = 0.0
        world.set_prescribed_coordinates(state)
        world.set_prescribed_rates(state)
        held = None
        if joints is not None:
            joints.linearise_acceleration(whole)
            held = joints.jacobian.T @ joints.impulse
        for (terms, point), where in zip(world.of_bodies(whole), world.slices, strict=True):
            if terms.motion.exists:
                # set at once: a Newton increment as large would hide how well the others converge
                acceleration[where][terms.prescribed] = terms.motion.acceleration(point.at, 1e-3 * step)
                terms.fixed[:] = 0.0
            terms.linearise_acceleration(point, acceleration[where], only_residual=chord)
            residual = terms.rhs if extra is None else terms.rhs + extra[where]
            if terms.rows is not None and not chord:
                residual = residual.copy()
                terms.add_constraint_impulses(residual)
            if held is not None:
                residual = residual + held[where]
            worst = max(worst, max_abs(residual[terms.free] if terms.motion.exists else residual))
        known = [terms.row_impulse.copy() for terms in world.bodies] if chord else None
        if not chord and not factorisation.refactor(damping_factor, stiffness_factor):
            return None
        if chord and joints is not None:
            # as with the rows of bodies, the forces so far count on the right side, and the solve gives what they lack
            before = joints.impulse.copy()
            factorisation.solve(held, out)
            joints.impulse += before
        else:
            factorisation.solve(extra, out)
        # of Newton's increments only the last one gives the reaction
        self.forget_reactions()
        self._count_reactions(extra, out)
        if known is not None:
            for terms, impulse in zip(world.bodies, known, strict=True):
                own = terms.constraints
                if own is not None:
                    own.eliminated_impulse += impulse[own.kept]
                    own.update_impulses()
        return worst

    # — for integrators of differential equations —

    def compute_acceleration_jacobian(
        self, state: State, baumgarte_time: float, damped: bool, da_dq: Array, da_dv: Array
    ) -> bool:
        """Write ∂a/∂δ and ∂a/∂v; False if singular."""
        self._world.set_prescribed_rates(state)
        if not self.compute_acceleration(state, self._scratch, None, baumgarte_time):
            return False
        _acceleration_jacobian(self._world, state, self._scratch, baumgarte_time, da_dq, da_dv, damped=damped)
        return True

    def end_step(self, state: State, frozen_damping_velocity: Array | None, baumgarte_time: float) -> None:
        """Set the prescribed velocities of the free state, and evaluate there what a record needs."""
        world = self._world
        world.set_prescribed_rates(state)
        if world.forces is not None or world.has_prescribed or world.joints is not None:
            # of all evaluations in the step only this one gives the reaction
            self.forget_reactions()
            self.compute_acceleration(state, self._scratch, frozen_damping_velocity, baumgarte_time)


def _stabilise(terms: BodyTerms, own: BodyConstraints, state: State, around: State, tau: float) -> None:
    """Write the eliminated rows by (2)–(3) and add the forces (4) to the right side."""
    rows, small = own.rows, 1e-5 * tau
    ahead, behind = (_rate_at(terms, own, state, around, sign * small) for sign in (1.0, -1.0))
    drift = (ahead - behind) / (2.0 * small)
    own.evaluate(state, terms.inputs_at(state.time))
    speed = rows.product(state.v)
    soft = rows.compliance > 0
    force = np.where(rows.is_velocity_level, rows.target_rate - speed, -rows.position_error) / np.where(
        soft, rows.compliance, 1.0
    )
    rows.add_transpose_product(np.where(soft & ~rows.bounded, force, 0.0), terms.rhs)
    wanted = np.where(
        rows.is_velocity_level,
        -drift - (speed - rows.target_rate) / tau,
        -drift - 2.0 * speed / tau - rows.position_error / (tau * tau),
    )
    own.set_rows(np.where(soft, FREE_ROW, 0.0), np.where(soft, 0.0, wanted))


def _rate_at(terms: BodyTerms, own: BodyConstraints, state: State, around: State, shift: float) -> Array:
    """J_b·v − u at the state moved along its own velocity by `shift` seconds, v held."""
    rows = own.rows
    terms.body.model.integrate(state, state.v, shift, state, around)
    around.time = state.time + shift
    around.v[:] = state.v
    own.evaluate(around, terms.inputs_at(around.time))
    return rows.product(state.v) - np.where(rows.is_velocity_level, rows.target_rate, 0.0)


def _acceleration_jacobian(
    world: WorldTerms,
    state: State,
    acceleration: Array,
    settling: float,
    da_dq: Array,
    da_dv: Array,
    *,
    damped: bool,
) -> None:
    """Write (6) and (7), both (nv, nv).

    Args:
        state, acceleration: where, with the terms of `compute_acceleration` at this state.
        settling: τ [s].
        damped: whether the models' D counts; else it is frozen.
    """
    da_dq.fill(0.0)
    da_dv.fill(0.0)
    for terms, where, own in zip(world.bodies, world.slices, state.body_states, strict=True):
        stiffness, damping = da_dq[where, where], da_dv[where, where]
        _add_body(terms, own, acceleration[where], stiffness, damping, damped=damped)
        _add_constraints(terms, own, stiffness, damping)
    forces = world.forces
    if forces is not None and forces.count:
        for j, unit in enumerate(np.eye(world.nv)):
            da_dq[:, j] += forces.tangent_product(unit, 0.0, 1.0)
            da_dv[:, j] += forces.tangent_product(unit, 1.0, 0.0)
    for matrix in (da_dq, da_dv):
        block = np.array(matrix, order="F")
        world.factorisation.solve_columns(block)
        np.negative(block, out=matrix)
    if world.joints is not None:
        response = np.zeros((world.nv, world.nv))
        world.factorisation.add_joint_responses(response)
        da_dq -= response / settling**2
        da_dv -= response * (2.0 / settling)
    for terms, where in zip(world.bodies, world.slices, strict=True):
        _subtract_stabilisation(terms, settling, da_dq[where, where], da_dv[where, where])
        da_dq[:, where][:, terms.prescribed] = 0.0
        da_dv[:, where][:, terms.prescribed] = 0.0


def _add_body(
    terms: BodyTerms, state: State, acceleration: Array, stiffness: Array, damping: Array, *, damped: bool
) -> None:
    """K and D of the model."""
    if terms.stiffness is None or terms.damping is None:
        return
    inputs, abilities = terms.inputs_at(state.time), terms.body.abilities
    if abilities.inverse_dynamics is not None:
        abilities.inverse_dynamics.compute_residual_derivatives(
            state, inputs, acceleration, terms.stiffness, terms.damping
        )
    elif abilities.force_derivatives is not None:
        abilities.force_derivatives.compute_stiffness_and_damping(
            state, inputs, terms.stiffness, terms.damping
        )
    stiffness += terms.stiffness.dense()
    if damped:
        damping += terms.damping.dense()


def _add_constraints(terms: BodyTerms, state: State, stiffness: Array, damping: Array) -> None:
    """The terms of compliant rows in K and D, and the gradient of all rows' forces."""
    own, derivatives = terms.constraints, terms.body.abilities.force_derivatives
    if own is None:
        return
    rows = own.rows
    soft = (rows.compliance > 0) & ~rows.bounded
    safe = np.where(soft, rows.compliance, 1.0)
    full = rows.to_dense(terms.body.nv)
    for is_rate, matrix in ((False, stiffness), (True, damping)):
        chosen = soft & (rows.is_velocity_level == is_rate)
        matrix += full[chosen].T @ (full[chosen] / safe[chosen, None])
    if derivatives is not None:
        compliant = (
            np.where(rows.is_velocity_level, rows.target_rate - rows.product(state.v), -rows.position_error)
            / safe
        )
        force = np.where(soft, compliant, np.where(rows.bounded, 0.0, terms.row_impulse))
        gradient = derivatives.new_stiffness_and_damping()[0]
        own.compute_force_gradient(state, force, gradient)
        stiffness -= gradient.dense()


def _subtract_stabilisation(terms: BodyTerms, settling: float, da_dq: Array, da_dv: Array) -> None:
    """The last terms of (6) and (7), H one column per rigid row."""
    rows, eliminated = terms.rows, terms.eliminated
    if rows is None:
        return
    kept = ~rows.bounded
    rigid, is_rate = (rows.compliance <= 0)[kept], rows.is_velocity_level[kept]
    n, given = terms.body.nv, eliminated.rhs.copy()
    nothing, fixed, force = np.zeros(n), np.zeros(len(terms.prescribed)), np.zeros(eliminated.count)
    response = np.zeros((n, eliminated.count), order="F")
    for r in np.flatnonzero(rigid):
        eliminated.rhs[:] = 0.0
        eliminated.rhs[r] = 1.0
        terms.factor.solve(nothing, fixed, response[:, r], force)
    eliminated.rhs[:] = given
    full = eliminated.to_dense(n)
    da_dq -= response @ (full * np.where(is_rate, 0.0, 1.0 / settling**2)[:, None])
    da_dv -= response @ (full * np.where(is_rate, 1.0, 2.0)[:, None] / settling)
