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

Source for (2): Baumgarte (1972), "Stabilization of constraints and integrals of motion".
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.signal_base import HeldSignal
from corekit.data.state import State
from corekit.dynamics.acceleration_jacobian import acceleration_jacobian
from corekit.dynamics.body_constraints import FREE_ROW
from corekit.dynamics.body_terms import BodyTerms
from corekit.dynamics.linearisation import of_acceleration
from corekit.dynamics.world_terms import WorldTerms
from corekit.linalg.vectors import max_abs

__all__ = ["SmoothDynamics"]

_BAUMGARTE_STEPS = 10.0
"""τ in steps where no other is given."""


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
        return min(breakpoints, default=until)

    def set_prescribed_velocities(self, state: State) -> None:
        """Set the prescribed velocities of a state to ṗ at its time."""
        self._world.set_prescribed_rates(state)

    # — reactions of prescribed coordinates —

    def forget_reactions(self) -> None:
        """Begin the mean of `mean_reaction` anew."""
        self._reaction_count = 0
        for reaction in self._reactions:
            reaction.fill(0.0)

    def mean_reaction(self, index: int) -> Array:
        """Mean force on a body's prescribed coordinates over the accelerations evaluated so far, (p,) [N or N·m]."""
        return self._reactions[index] / max(self._reaction_count, 1)

    def _count_reactions(self, extra: Array | None, acceleration: Array) -> None:
        self._reaction_count += 1
        for terms, where, total in zip(self._world.bodies, self._world.slices, self._reactions, strict=True):
            if len(total):
                own = None if terms.constraints is None else terms.constraints
                impulse = np.zeros(0) if own is None else np.where(own.rows.bounded, 0.0, own.impulse)
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
            frozen_damping_velocity: v₀, where the damping stays at its start: D·(v − v₀) is added to f, and f_c is
                that of v₀.
            baumgarte_time: τ [s]; ten steps if None.
        """
        world, step, frozen = self._world, self._step, frozen_damping_velocity
        extra = world.evaluate_potential(state, step, frozen)
        tau = _BAUMGARTE_STEPS * step if baumgarte_time is None else baumgarte_time
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
            if terms.rows is not None:
                _stabilise(terms, own, self._around.body_states[i], tau)
            if terms.motion.exists:
                terms.fixed[:] = terms.motion.acceleration(own, 1e-3 * step)
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
        extra = world.evaluate_potential(state, step)
        chord = chord and extra is None and factorisation.succeeded and factorisation.is_block_diagonal
        whole = of_acceleration(state, self._zero, damping_factor, stiffness_factor, shift)
        worst = 0.0
        for b, (terms, where, own) in enumerate(
            zip(world.bodies, world.slices, state.body_states, strict=True)
        ):
            if terms.motion.exists:
                terms.motion.set_coordinates(own, own.time)
                terms.motion.set_rates(own, own.time)
                # set at once: a Newton increment as large would hide how well the others converge
                acceleration[where][terms.prescribed] = terms.motion.acceleration(own, 1e-3 * step)
                terms.fixed[:] = 0.0
            terms.linearise_acceleration(whole.of_body(b, where), acceleration[where], only_residual=chord)
            residual = terms.rhs if extra is None else terms.rhs + extra[where]
            if terms.rows is not None and not chord:
                residual = residual.copy()
                terms.add_constraint_impulses(residual)
            worst = max(worst, max_abs(residual[terms.free] if terms.motion.exists else residual))
        known = [terms.row_impulse.copy() for terms in world.bodies] if chord else None
        if not chord and not factorisation.refactor(damping_factor, stiffness_factor):
            return None
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
        acceleration_jacobian(self._world, state, self._scratch, baumgarte_time, da_dq, da_dv, damped=damped)
        return True

    def end_step(self, state: State, frozen_damping_velocity: Array | None, baumgarte_time: float) -> None:
        """Set the prescribed velocities of the free state, and evaluate there what a record needs."""
        self._world.set_prescribed_rates(state)
        if self._world.forces is not None or self._world.has_prescribed:
            # of all evaluations in the step only this one gives the reaction
            self.forget_reactions()
            self.compute_acceleration(state, self._scratch, frozen_damping_velocity, baumgarte_time)


def _stabilise(terms: BodyTerms, state: State, around: State, tau: float) -> None:
    """Write the eliminated rows by (2)–(3) and add the forces (4) to the right side."""
    rows, own = terms.rows, terms.constraints
    assert rows is not None
    assert own is not None
    small = 1e-5 * tau
    ahead, behind = (_rate_at(terms, state, around, sign * small) for sign in (1.0, -1.0))
    drift = (ahead - behind) / (2.0 * small)
    terms.body.model.compute_constraints(state, terms.inputs_at(state.time), rows)
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


def _rate_at(terms: BodyTerms, state: State, around: State, shift: float) -> Array:
    """J_b·v − u at the state moved along its own velocity by `shift` seconds, v held."""
    rows, model = terms.rows, terms.body.model
    assert rows is not None
    model.integrate(state, state.v, shift, state, around)
    around.time = state.time + shift
    around.v[:] = state.v
    model.compute_constraints(around, terms.inputs_at(around.time), rows)
    return rows.product(state.v) - np.where(rows.is_velocity_level, rows.target_rate, 0.0)
