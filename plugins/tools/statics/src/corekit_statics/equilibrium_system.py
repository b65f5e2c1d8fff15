"""The world at rest: forces, stiffness, rows and contacts at a state, and one Newton step towards balance.

Balance of a world at rest, v = 0, inputs and paths taken at one time T:

    F = f(q, 0, s·u, T) + J_bᵀ·λ_b + J_cᵀ·λ_c = 0                                       (1)
    rigid position rows c(q) = 0,  compliant ones c(q) + α·λ_b = 0,  bounded ones within their bounds   (2)
    0 ≤ λ_n ⊥ φ(q) ≥ 0,  λ_t within friction's bound                                    (3)

with forces λ [N] where a step has impulses. The load factor s scales efforts, and gravity where twins of the
models without gravity are given: f_s = s·f + (1 − s)·f_weightless, as f is affine in gravity.

One step δ solves, in the form of a step of 1 s from rest in which M is weighted by a shift σ [1/s²],

    (K − ∂(J_bᵀλ_b)/∂q + σ·M)·δ = f + J_bᵀ·λ_b⁺ + J_cᵀ·λ_c⁺                              (4)
    J_b·δ + α·λ_b⁺ = −c,      w = J_c·δ + φ,  0 ≤ λ_n⁺ ⊥ w_n ≥ 0,  friction(λ_t⁺, w_t)      (5)

σ = 0 is Newton's step, a large σ a small step downhill along M⁻¹·F. Rigid rate rows hold what their rates
integrate to, see `rest_rows`. A contact potential acts with its force at rest; its friction, a drag, does not.

Source for (4): Kelley and Keyes (1998), "Convergence analysis of pseudo-transient continuation".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.data.status import SolveInfo, Status
from corekit.dynamics.bodies import Body
from corekit.dynamics.collision_scene import CollisionScene
from corekit.dynamics.contact_impulses import ContactImpulses
from corekit.dynamics.contact_pipeline import ContactPipeline
from corekit.dynamics.contact_problem import ContactReduction
from corekit.dynamics.delassus import delassus_operator
from corekit.dynamics.obstacles import Obstacle
from corekit.dynamics.world_terms import WorldTerms
from corekit.errors import CompositionError
from corekit.linalg.matrices import symmetrise
from corekit.roles.component import Memory
from corekit.roles.contact import ContactSolver, ImpulseSolver
from corekit.roles.model import ChannelKind
from corekit_statics.equilibrium_constraints import check_rates, diagonal, row_error, slip, take_rows
from corekit_statics.equilibrium_contacts import carried, gap_error
from corekit_statics.equilibrium_matrix import EquilibriumMatrix
from corekit_statics.probe_motion import Probed, how_far

__all__ = ["EquilibriumSystem"]

_DIRECT = SolveInfo(answered_by="factorisation")


@final
class EquilibriumSystem:
    """(1)–(5) of a world.

    Args:
        bodies: whose models all offer `tangent`.
        pipeline, solver: of contact, or None.
        obstacles: the surroundings, for the places of shapes.
        time: T [s].
        step: h of the scenario [s], which a contact potential is told.
    Raises:
        CompositionError: a model without `tangent`, or with rows that cannot be at rest.

    Attributes:
        models_without_gravity: makes twins of the bodies' models without gravity, once a part of the load is asked for;
            without them gravity is always whole.
    """

    def __init__(
        self,
        bodies: Sequence[Body],
        pipeline: ContactPipeline | None,
        solver: ContactSolver | None,
        obstacles: Sequence[Obstacle] = (),
        *,
        time: float = 0.0,
        step: float = 1e-3,
    ) -> None:
        self.bodies, self.pipeline, self.time, self._step = tuple(bodies), pipeline, time, step
        for body in bodies:
            if "tangent" not in body.abilities:
                raise CompositionError(
                    f"statics needs 'tangent' (stiffness and damping matrices), which the model of body "
                    f"{body.name!r} does not offer: let a run with damping come to rest instead."
                )
        self._solver = solver if isinstance(solver, ImpulseSolver) else None
        self.world = world = WorldTerms(bodies, pipeline, solver, separate_bodies=True)
        self.parts, self.slices, self.velocities = world.bodies, world.slices, world.nv
        self.impulses = ContactImpulses(world.bodies, world.jacobian.width, has_contact=pipeline is not None)
        self._delassus = delassus_operator(world)
        self._solves_impulses = self._solver is not None and pipeline is not None
        self.forces = world.forces
        self.scene = pipeline.scene if pipeline is not None else CollisionScene(bodies, obstacles)
        self._probed = Probed(self.scene)
        self.models_without_gravity: Callable[[], Sequence[Any] | None] | None = None
        self._twins: Sequence[Any] | None = None
        self._twin_force = [np.zeros(body.nv) for body in bodies]
        self._twin_mass = [part.body.model.mass_matrix() for part in self.parts]
        self._twin_tangent = [part.body.model.tangent_matrices() for part in self.parts]
        self._effort = [_efforts(body) for body in bodies]
        self._matrices = [EquilibriumMatrix(part, self._solver is not None) for part in self.parts]
        self._slipped = [np.zeros(0 if part.rows is None else part.rows.count) for part in self.parts]
        self._still = np.zeros(self.velocities)
        self._count, self._load, self._margin = 0, 1.0, 0.0
        self.free: BoolArray = np.concatenate([part.free for part in self.parts])

        self.go_to(time)

    def go_to(self, time: float) -> None:
        """Take the loads of another time T [s]; raises CompositionError for rows that cannot rest then."""
        self.time = time
        for part in self.parts:
            check_rates(part, time)

    def new_state(self) -> State:
        """A buffer for a state of the world, at time T."""
        state = State.stacked([body.sizes for body in self.bodies])
        state.time = self.time
        return state

    # — at a state —

    def look(self, state: State, load: float, margin: float) -> None:
        """Take M, f, K and rows at a state, and contacts with gaps below `margin` [m], with the last λ."""
        self._load, self._margin = load, margin
        if load != 1.0 and self.models_without_gravity is not None:
            self._twins, self.models_without_gravity = self.models_without_gravity(), None
        for b, own in enumerate(state.parts):
            self._look_at_body(b, own, load)
        self._look_at_contacts(state, margin)

    def _look_at_body(self, b: int, own: State, load: float) -> None:
        part = self.parts[b]
        model, K, D = part.body.model, part.stiffness, part.damping
        assert K is not None and D is not None
        u = part.body.inputs.at(self.time)
        if load != 1.0:
            u = np.where(self._effort[b], load * u, u)
        model.dynamics(own, u, part.mass, part.rhs)
        model.tangent(own, u, K, D)
        if load != 1.0 and self._twins is not None:
            twin, force, (stiffness, damping) = self._twins[b], self._twin_force[b], self._twin_tangent[b]
            twin.dynamics(own, u, self._twin_mass[b], force)
            twin.tangent(own, u, stiffness, damping)
            part.rhs *= load
            part.rhs += (1.0 - load) * force
            K.data *= load
            K.data += (1.0 - load) * stiffness.data
        if self._matrices[b].symmetrised:
            symmetrise(K)
        curvature = self._matrices[b].curvature
        if curvature is not None:
            take_rows(part, own, u, self._slipped[b])
            model.bilateral_curvature(own, part.row_impulse, curvature)
            if self._matrices[b].symmetrised:
                symmetrise(curvature)
        if len(part.prescribed):
            value, rate = np.zeros(len(part.prescribed)), np.zeros(len(part.prescribed))
            model.prescribed(self.time, value, rate)
            part.fixed[:] = value - own.q[part.body.layout.prescribed_coordinates]

    def _look_at_contacts(self, state: State, margin: float) -> None:
        pipeline, self._count = self.pipeline, 0
        if pipeline is None:
            self.impulses.match(None)
            return
        forces = self.forces
        self._count = pipeline.detect_anew(
            state, margin + (0.0 if forces is None else forces.potential.reach)
        )
        if self._count:
            pipeline.build_jacobian(state, self.world.jacobian)
        if self._solves_impulses:
            self.impulses.match(pipeline.contacts)
        elif forces is not None:
            forces.clear()
            if self._count:
                forces.evaluate(state, self._still, self._step, None)

    @property
    def sees_contacts(self) -> bool:
        """Whether there were contacts within the margin at the last look."""
        return self._count > 0

    # — how far from balance —

    def residual(self) -> Array:
        """F of (1) with the last λ, shape (nv,) [N or N·m]; at prescribed entries minus their reactions."""
        total = np.zeros(self.velocities)
        for part, where in zip(self.parts, self.slices, strict=True):
            total[where] = part.rhs
            part.add_constraint_impulses(total[where])
        if not self._count:
            return total
        if self.forces is None:
            return total + self.world.jacobian.multiply_transposed(self.impulses.of_contacts)
        return total + self.forces.generalised()

    def row_error(self) -> float:
        """Largest error of (2) among position rows [m or rad]."""
        return max((row_error(part) for part in self.parts), default=0.0)

    def slip_error(self, start: State | None = None, step: Array | None = None) -> float:
        """Largest drift of what rigid rate rows hold, now or after a further step [m or rad]."""
        after = self._slipped
        if start is not None and step is not None:
            after = self._slipped_after(start, step)
        return max((float(np.max(np.abs(slipped), initial=0.0)) for slipped in after), default=0.0)

    def _slipped_after(self, start: State, step: Array) -> list[Array]:
        found: list[Array] = []
        for part, slipped, where, own in zip(
            self.parts, self._slipped, self.slices, start.parts, strict=True
        ):
            holds = part.rows is not None and part.rows.is_velocity_level.any()
            found.append(slipped + slip(part, own, step[where], self.time) if holds else slipped)
        return found

    def gap_error(self) -> float:
        """Largest |φ| of contacts that press, and depth of those that do not [m]; 0 with a potential."""
        if not self._count or not self._solves_impulses or self.pipeline is None:
            return 0.0
        return gap_error(self.pipeline, self.impulses)

    def unreached(self) -> float:
        """Largest distance of a prescribed coordinate from p(T) [m or rad]."""
        return max((float(np.max(np.abs(part.fixed), initial=0.0)) for part in self.parts), default=0.0)

    def acceleration(self, force: Array) -> float:
        """Largest |F_i|/M_ii over free coordinates with mass [m/s² or rad/s²]."""
        mass = np.concatenate([diagonal(part.mass) for part in self.parts])
        moves = self.free & (mass > 0)
        return float(np.max(np.abs(force[moves]) / mass[moves], initial=0.0))

    # — one step —

    def solve(self, shifts: Sequence[float], out: Array) -> tuple[SolveInfo, int]:
        """Solve (4)–(5) with a shift σ a body; write δ and take over λ⁺.

        Returns:
            How it went; and the first body whose matrix is not positive definite on its rows, −1 if all are.
        """
        world, forces, singular = (
            self.world,
            self.forces,
            SolveInfo(Status.SINGULAR, answered_by="factorisation"),
        )
        for b, (own, shift) in enumerate(zip(self._matrices, shifts, strict=True)):
            own.assemble(shift)
            if not own.is_definite():
                return singular, b
        if not world.factorisation.refactor(0.0, 1.0):
            return singular, world.factorisation.failed_body
        extra = forces.generalised() if forces is not None and self._count else None
        world.factorisation.solve(extra, out)
        count = self._count if self._solves_impulses else 0
        if not count + self.impulses.bounded or self._solver is None:
            return _DIRECT, -1
        bias = np.zeros((count, world.jacobian.width))
        if self.pipeline is not None:
            bias[:, 0] = self.pipeline.contacts.gap[:count]
        reduction = ContactReduction(world, count, bias, self._still, 1.0)
        self._delassus.assemble(reduction.rows, out, reduction.problem.free, reduction.problem.delassus())
        info = reduction.solve(self._solver, self.impulses.impulse)
        self.impulses.update_bounded()
        push = reduction.rows.T @ self.impulses.impulse
        world.factorisation.solve(push if extra is None else push + extra, out)
        return info, -1

    def assemble(self, b: int, shift: float) -> None:
        """Write A of (4) of one body into its part's matrix."""
        self._matrices[b].assemble(shift)

    def move(self, start: State, step: Array, share: float, out: State) -> None:
        """Write the state reached from `start` by share·δ; at share 1 prescribed coordinates are at p(T)."""
        for part, where, own, target in zip(self.parts, self.slices, start.parts, out.parts, strict=True):
            part.body.model.advance(own, share * step[where], 1.0, own, target)
        out.v.fill(0.0)
        out.time = self.time
        if share == 1.0:
            for part, target in zip(self.parts, out.parts, strict=True):
                part.motion.set_coordinates(target, self.time)

    def accept(self, start: State, step: Array, share: float, now: State) -> None:
        """Told after a step is taken: counts what rate rows slipped, keeps tangents, lets models rechart."""
        self._slipped = self._slipped_after(start, share * step)
        if self.pipeline is not None:
            self.pipeline.accept()
        stale = any(part.rows is not None and part.rows.is_velocity_level.any() for part in self.parts)
        for part, own in zip(self.parts, now.parts, strict=True):
            stale |= part.body.model.rechart(own)
        if stale:
            # what rate rows have to make good, or the chart, was not known yet when it was looked at
            self.look(now, self._load, self._margin)

    def moved(self, start: State, step: Array, scratch: State) -> tuple[Array, Array]:
        """How far a full step moves any probe point of each body [m], and turns it near contacts [rad]: `how_far`."""
        before = self._probed.at(start)
        self.move(start, step, 1.0, scratch)
        after, turns = self._probed.at(scratch), self.sees_contacts
        return how_far(before, after, self.scene.frame_body, len(self.bodies), turns)

    # — what is known from before —

    def memory(self) -> Memory:
        """λ of rows and contacts, and what rate rows slipped."""
        self.impulses.accept()
        kept = {f"slipped.{b}": slipped.copy() for b, slipped in enumerate(self._slipped)}
        return kept | self.impulses.memory()

    def remember(self, memory: Memory) -> None:
        """Take over what `memory` gave."""
        self._slipped = [memory[f"slipped.{b}"].copy() for b in range(len(self.parts))]
        self.impulses.remember(memory)

    # — what there is to tell —

    def record(self) -> ContactRecord:
        """What every contact carries, as impulses over 1 s."""
        if self.pipeline is None or not self._count:
            return ContactRecord()
        return carried(self.pipeline, self.impulses, self.forces)


def _efforts(body: Body) -> BoolArray:
    kinds = [np.full(channel.size, channel.kind is ChannelKind.EFFORT) for channel in body.layout.inputs]
    return np.concatenate([np.zeros(0, dtype=bool), *kinds])
