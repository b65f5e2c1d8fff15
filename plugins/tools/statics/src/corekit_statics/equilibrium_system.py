"""A world at rest: forces, stiffness, constraints and contacts at a state, and one Newton step towards equilibrium.

Equilibrium at v = 0, with inputs and prescribed motion of one time T:

    F = f(q, 0, s·u, T) + J_bᵀ·λ_b + J_cᵀ·λ_c = 0                                       (1)
    constraints c(q) = 0, compliant ones c(q) + α·λ_b = 0, bounded ones within their bounds   (2)
    0 ≤ λ_n ⊥ φ(q) ≥ 0,  λ_t within the bound of friction                               (3)

with forces λ [N] in place of a step's impulses, and the load factor s of `scaled_loads`.

One step δ solves, as a step of 1 s from rest in which M is weighted by a shift σ [1/s²],

    (K − ∂(J_bᵀλ_b)/∂q + σ·M)·δ = f + J_bᵀ·λ_b⁺ + J_cᵀ·λ_c⁺                              (4)
    J_b·δ + α·λ_b⁺ = −c,      w = J_c·δ + φ,  0 ≤ λ_n⁺ ⊥ w_n ≥ 0,  friction(λ_t⁺, w_t)      (5)

σ = 0 is Newton's step, a large σ a small step downhill along M⁻¹·F. Constraints of velocities are those of
`body_equilibrium`. A contact potential acts with its force at rest; its friction, a drag, does not act.

Source for (4): Kelley and Keyes (1998), "Convergence analysis of pseudo-transient continuation".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit.data.state import State
from corekit.data.status import SolveInfo, Status
from corekit.errors import CompositionError
from corekit.roles.collision_scene import CollisionScene
from corekit.roles.component import InternalState
from corekit.roles.contact import ImpulseSolver
from corekit.roles.obstacles import Obstacle
from corekit.roles.world import World
from corekit_statics.body_equilibrium import BodyEquilibrium
from corekit_statics.equilibrium_contacts import EquilibriumContacts
from corekit_statics.inertia import diagonal
from corekit_statics.probe_motion import ProbePoints, displacements
from corekit_statics.scaled_loads import ScaledLoads

__all__ = ["EquilibriumSystem"]

_SINGULAR = SolveInfo(Status.SINGULAR, answered_by="factorisation")


@final
class EquilibriumSystem:
    """(1)–(5) of a world.

    Args:
        built: a world without joints, whose models all offer `force-derivatives`.
        obstacles: the surroundings.
        time: T [s].
        step: h of the scenario [s], which a contact potential is given.
        models_without_gravity: builds the models once more, so that gravity grows with the load.
    Raises:
        CompositionError: a model without `force-derivatives`, or with constraints that cannot be at rest.

    Attributes:
        bodies: of the world. slices: where their velocities stand. nv: number of velocities.
        equilibria: (4) of every body.
        contacts: of the world.
        free: whether a velocity is not prescribed, shape (nv,).
        time: T [s].
    """

    def __init__(
        self,
        built: World,
        obstacles: Sequence[Obstacle] = (),
        *,
        time: float = 0.0,
        step: float = 1e-3,
        models_without_gravity: Callable[[], Sequence[Any] | None] | None = None,
    ) -> None:
        self.bodies = bodies = built.bodies
        for body in bodies:
            if body.abilities.force_derivatives is None:
                raise CompositionError(
                    f"statics needs 'force-derivatives' (stiffness and damping matrices), which the model of body "
                    f"{body.name!r} does not offer: let a run with damping come to rest instead."
                )
        self._world = world = built.equilibrium_terms()
        self.slices, self.nv = built.slices, built.nv
        self.contacts = EquilibriumContacts(world, built.pipeline, step)
        self._loads = ScaledLoads(world.bodies, models_without_gravity)
        symmetric = isinstance(built.solver, ImpulseSolver)
        self.equilibria = tuple(
            BodyEquilibrium(i, terms, self._loads, symmetric=symmetric)
            for i, terms in enumerate(world.bodies)
        )
        self.free: BoolArray = np.concatenate([terms.free for terms in world.bodies])
        stage = built.pipeline
        scene = CollisionScene(bodies, obstacles) if stage is None else stage.scene
        self._probe_points, self._frame_body = ProbePoints(scene), scene.frame_body
        self._margin = 0.0
        self.set_time(time)

    def set_time(self, time: float) -> None:
        """Use the loads of another time T [s]; raises CompositionError for constraints that cannot be at rest then."""
        self.time = time
        for each in self.equilibria:
            each.check_rates(time)

    def new_state(self) -> State:
        """A buffer for a state of the world, at time T."""
        state = self._world.new_state()
        state.time = self.time
        return state

    # — at a state —

    def evaluate(self, state: State, load_factor: float, margin: float) -> None:
        """Evaluate M, f, K, constraints, and contacts with gaps below `margin` [m] at a state, with the last λ."""
        self._loads.factor, self._margin = load_factor, margin
        for each, own in zip(self.equilibria, state.body_states, strict=True):
            each.evaluate(own, self.time)
        self.contacts.evaluate(state, margin)

    def guess_constraint_forces(self) -> bool:
        """Guess the forces of constraints that have none; whether there are any such forces."""
        guessed = [each.guess_constraint_forces() for each in self.equilibria]
        return any(guessed)

    def _force(self) -> Array:
        """F of (1) with the last λ, shape (nv,) [N or N·m]."""
        total = self._world.force()
        for terms, where in zip(self._world.bodies, self.slices, strict=True):
            total[where] += terms.rhs
            terms.add_constraint_impulses(total[where])
        return total

    def out_of_balance_force(self) -> Array:
        """F of (1) with the last λ, zero at prescribed entries, shape (nv,) [N or N·m]."""
        return np.where(self.free, self._force(), 0.0)

    def reactions(self) -> Array:
        """Forces on the prescribed coordinates, stacked over bodies [N or N·m]."""
        return -self._force()[~self.free]

    def inertia_force(self, shifts: Array, step: Array) -> Array:
        """σ·M·δ, shape (nv,)."""
        total = np.zeros(self.nv)
        for terms, where, shift in zip(self._world.bodies, self.slices, shifts, strict=True):
            if shift:
                terms.mass.multiply(step[where], total[where])
                total[where] *= shift
        return total

    def add_force(self, force: Array) -> None:
        """Add a force (nv,) to those of the bodies, until the next evaluation."""
        for terms, where in zip(self._world.bodies, self.slices, strict=True):
            terms.rhs += force[where]

    def largest_body_force(self) -> float:
        """Largest |f| of the bodies without constraints and contacts [N or N·m]."""
        return max(float(np.max(np.abs(terms.rhs), initial=0.0)) for terms in self._world.bodies)

    def max_acceleration(self, force: Array) -> float:
        """Largest |F_i|/M_ii over free coordinates with mass [m/s² or rad/s²]."""
        mass = np.concatenate([diagonal(terms.mass) for terms in self._world.bodies])
        moves = self.free & (mass > 0)
        return float(np.max(np.abs(force[moves]) / mass[moves], initial=0.0))

    def energy(self, state: State) -> float:
        """Potential energy of bodies and contact potential [J]; nan where a model gives none."""
        bodies = zip(self.bodies, state.body_states, strict=True)
        own = (
            math.nan if body.abilities.energy is None else body.abilities.energy.compute_energies(part)[1]
            for body, part in bodies
        )
        potential = self.contacts.potential
        return sum(own) + (0.0 if potential is None else float(np.sum(potential.terms.energy)))

    # — errors —

    def rounding(self, state: State, size: float) -> Array:
        """`BodyEquilibrium.rounding` of all bodies, which have a size [m], shape (nv,) [N or N·m]."""
        pairs = zip(self.equilibria, state.body_states, strict=True)
        return np.concatenate([each.rounding(own, size) for each, own in pairs])

    def constraint_error(self) -> float:
        """Largest error of (2) among constraints of positions [m or rad]."""
        return max((each.constraint_error() for each in self.equilibria), default=0.0)

    def drift(self, start: State | None = None, step: Array | None = None) -> float:
        """Largest drift of rigid velocity constraints, now or after a further step from a state [m or rad]."""
        after = [each.drift for each in self.equilibria]
        if start is not None and step is not None:
            after = self._drift_after(start, step)
        return max((float(np.max(np.abs(drift), initial=0.0)) for drift in after), default=0.0)

    def _drift_after(self, start: State, step: Array) -> list[Array]:
        bodies = zip(self.equilibria, start.body_states, self.slices, strict=True)
        return [each.drift_after(own, step[where], self.time) for each, own, where in bodies]

    def prescribed_error(self) -> float:
        """Largest distance of a prescribed coordinate from p(T) [m or rad]."""
        return max(float(np.max(np.abs(terms.fixed), initial=0.0)) for terms in self._world.bodies)

    # — one step —

    def solve(self, shifts: Sequence[float] | Array, out: Array) -> tuple[SolveInfo, int]:
        """Solve (4)–(5) with a shift σ for every body; write δ and update λ⁺.

        Returns:
            How the solve went; and the first body whose matrix is not positive definite on its constraints, −1 if all
            are.
        """
        for b, (each, shift) in enumerate(zip(self.equilibria, shifts, strict=True)):
            each.assemble(float(shift))
            if not each.is_definite():
                return _SINGULAR, b
        info = self._world.solve(out)
        return (_SINGULAR, self._world.failed_body) if info is None else (info, -1)

    def integrate(self, start: State, step: Array, fraction: float, out: State) -> None:
        """Write the state after a fraction of δ; after the whole, prescribed coordinates are at p(T)."""
        for terms, where, own, target in zip(
            self._world.bodies, self.slices, start.body_states, out.body_states, strict=True
        ):
            terms.body.model.integrate(own, fraction * step[where], 1.0, own, target)
            if fraction == 1.0:
                terms.motion.set_coordinates(target, self.time)
        out.v.fill(0.0)
        out.time = self.time

    def accept(self, start: State, step: Array, fraction: float, state: State) -> None:
        """Accept the step to a state: add its drift, keep the contacts' tangents and reparametrise coordinates."""
        is_stale = False
        for each, drift, own in zip(
            self.equilibria, self._drift_after(start, fraction * step), state.body_states, strict=True
        ):
            each.drift = drift
            is_stale |= each.terms.reparametrise(own) or each.has_rates
        self._world.accept()
        if is_stale:
            # the drift, or the coordinates, were others when the state was evaluated
            self.evaluate(state, self._loads.factor, self._margin)

    def probes(self, state: State) -> Array:
        """Probe points of all shapes at a state, shape (k, 3) [m]."""
        return self._probe_points.points_at(state)

    def displacements(self, start: State, step: Array, scratch: State) -> tuple[Array, Array]:
        """How far a whole step moves each body's probe points [m], and turns them near contacts [rad]."""
        before = self.probes(start)
        self.integrate(start, step, 1.0, scratch)
        turns = self.contacts.count > 0
        return displacements(before, self.probes(scratch), self._frame_body, len(self.bodies), turns)

    # — forces that are known —

    def constraint_forces(self) -> tuple[Array, ...]:
        """λ_b of every body, copies [N or N·m]."""
        return tuple(terms.row_impulse.copy() for terms in self._world.bodies)

    def internal_state(self) -> InternalState:
        """λ of constraints and contacts, and the drift of velocity constraints."""
        drifts = {f"drift.{b}": each.drift for b, each in enumerate(self.equilibria)}
        return drifts | self._world.internal_state()

    def restore(self, state: InternalState) -> None:
        """Restore what `internal_state` returned."""
        for b, each in enumerate(self.equilibria):
            each.drift = state[f"drift.{b}"]
        self._world.restore(state)
