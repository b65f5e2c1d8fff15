"""The step equation (1) of `linearisation`, expanded at a point, reduced to its impulses and solved.

    A·Δ = r + J_bᵀ·λ_b + J_cᵀ·λ_c,     v⁺ = v_k + Δ                                        (1)
    J_b·Δ + E_b·λ_b = r_b                                                             (2)
    w = W·λ + w₀,   W = J·G·Jᵀ,   w₀ = J·v_f + bias                                      (3)

v_f = v_k + Δ solves (1)–(2) without contact; J stacks the contact rows and the bounded constraints.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, final

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit.data.state import State
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.contact.contact_answer import checked_solution
from corekit.engine.contact.contact_impulses import ContactImpulses
from corekit.engine.step.error_bound import NEGLIGIBLE, ErrorBound
from corekit.engine.step.linearisation import LinearisationPoint
from corekit.engine.step.normal_response import largest_response
from corekit.engine.step.opened_rows import judged_by_rows
from corekit.engine.step.push_out import limit_push_out
from corekit.engine.step.reduced_step import ReducedStep
from corekit.engine.step.two_levels import Placing, Separation
from corekit.engine.step.unreduced_step import UnreducedStep
from corekit.linalg.vectors import max_abs
from corekit.roles.contact import ImpulseSolver

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["StepEquation"]

_SINGULAR = SolveInfo(status=Status.SINGULAR, answered_by="factorisation")
_Evaluate = Callable[[BodyTerms, LinearisationPoint], None]
_SOLVED = SolveInfo(status=Status.CONVERGED, residuals=Residuals(), answered_by="factorisation")


@final
class StepEquation:
    """Linearises and solves the step of a world of these terms.

    Attributes:
        impulses: of contacts and constraints. reduced: solves for them; None without an impulse solver.
        point: the last linearisation point, or None. about: v_k of it, shape (nv,). step: h of the step [s].
        contact_count: contacts there that are solved for impulses.
        bound: of errors. contact_mean: v̄ that leads to the state where they were found, shape (nv,).
        bias: of those contacts, shape (m, width) [m/s], from a solve on with push-out limited. full_bias: before it.
        obstacle_velocity: part of it, or None where none moves.
        movable: which of those contacts an impulse can move along their normal, shape (m,); None: all.
        ended_freely: whether the step ended with a smooth motion, without this equation.
        needs_end_state: whether anything is evaluated at the end state of a linearisation point.
        placing: the solution at position level where impacts replaced it. separation: what moved bodies apart last.
    """

    def __init__(self, world: WorldTerms) -> None:
        self._world = world
        solver = world.solver
        self._solver = solver if isinstance(solver, ImpulseSolver) else None
        has_contact = world.pipeline is not None
        self.impulses = ContactImpulses(
            world.bodies, world.jacobian.width, world.joints, has_contact=has_contact
        )
        self.reduced = None if self._solver is None else ReducedStep(world, self._solver, self.impulses)
        self._unreduced_step = UnreducedStep.if_supported(world, self.impulses)
        # that of the current point, by which the step is solved before A is factorised; None where it is reduced
        self._unreduced: UnreducedStep | None = None
        self._solves_contacts = self._solver is not None and has_contact
        self.bound = ErrorBound(world)
        self.needs_end_state = self._solver is not None or world.has_constraints
        self.point: LinearisationPoint | None = None
        self.step, self.about, self._potential_factors = 0.0, np.zeros(world.nv), (0.0, 0.0)
        self._potential_rhs: Array | None = None
        self._known_residual: Array | None = None
        self._stage_start: State | None = None  # of a step whose potential is solved for by the stage
        self.placing: Placing | None = None
        self.separation: Separation | None = None
        self.ended_freely, self.contact_count, self.contact_mean = False, 0, np.zeros(world.nv)
        self.free: Array | None = None
        self.bias = self.full_bias = np.zeros((0, world.jacobian.width))
        self.obstacle_velocity: Array | None = None
        self.movable: BoolArray | None = None

    # — building it —

    def begin_step(
        self, start: State, step: float, *, lookahead: float = 0.0, contacts_at_start: bool = False,
        approach: float | None = None,
    ) -> None:  # fmt: skip
        """Find the contact candidates of the step from `start`, and for impulse solvers the contacts there.

        Args:
            start: state at the start of the step. step: h [s].
            lookahead: how far ahead a potential is evaluated, if farther than h [s]. approach: as of the pipeline.
            contacts_at_start: whether all pairs keep the contacts of the start, so that none can pass.
        """
        world, self.step = self._world, step
        self.placing = self.separation = self.free = None
        self.impulses.begin_step()
        self.bound.begin_step(start, step)
        pipeline, forces, look_ahead = world.pipeline, world.forces, world.look_ahead
        if pipeline is None or look_ahead is None:
            return
        layer = 0.0
        if forces is not None:
            forces.clear()
            layer = forces.potential.activation_distance
        pipeline.begin_step(start, max(step, lookahead), layer, approach)
        if forces is None or not world.potential_is_smooth:
            pipeline.detect_at_start()
        if forces is None and contacts_at_start:
            pipeline.held = pipeline.start.shape[: pipeline.start.count]
        elif forces is None:  # else `StepLimit` looks for what passes
            look_ahead.hold_passing(start, step)

    def linearise(self, start: State, point: LinearisationPoint) -> None:
        """Expand (1)–(3) at a point and factorise A; `start` is the state at the start of the step."""
        self.expand(start, point)
        self._refactor()

    def expand(self, start: State, point: LinearisationPoint) -> None:
        """Expand (1)–(3) at a point; A is not factorised."""
        self.set_point(point, BodyTerms.linearise)
        self._potential_factors = point.damping_factor, point.stiffness_factor
        self._update_contacts(start, point)

    def linearise_bodies(self, point: LinearisationPoint) -> None:
        """Expand bodies and joints at another point of the θ family; the contacts, their rows and bias stay."""
        self.set_point(point, BodyTerms.linearise)
        self._refactor()

    def _refactor(self) -> None:
        """Factorise A, unless the stage solves for a potential or the step is solved unreduced."""
        if self._unreduced is None and self._stage_start is None:
            self._world.factorisation.refactor(*self._potential_factors)

    def refactor_late(self) -> None:
        """Factorise A of a step that is solved unreduced, for what asks for G after all."""
        if self._unreduced is not None and self._stage_start is None:
            self._world.factorisation.refactor(*self._potential_factors)

    def update_residual(self, start: State, point: LinearisationPoint) -> None:
        """Evaluate r, J_b and the contacts at another point of the θ family; A and its factorisation stay."""
        self.set_point(point, BodyTerms.update_residual)
        self._update_contacts(start, point)

    def set_point(self, point: LinearisationPoint, evaluate: _Evaluate) -> None:
        """Keep a point, and evaluate bodies and joints there."""
        # a buffer of the caller, which changes; records refer to it after the step
        self.about[:] = point.velocity
        self.point, self.step, self.ended_freely = point, point.step, False
        self._known_residual = None
        self._unreduced = None if point.is_after_smooth_motion else self._unreduced_step
        for terms, own in self._world.of_bodies(point):
            evaluate(terms, own)
        if self._world.joints is not None:
            self._world.joints.linearise(point)

    def _update_contacts(self, start: State, point: LinearisationPoint) -> None:
        """Contacts at the point, their rows and bias, or a potential's terms there."""
        world, look_ahead = self._world, self._world.look_ahead
        self.obstacle_velocity = self._potential_rhs = self.movable = self._stage_start = None
        if self._solves_contacts and look_ahead is not None:
            self.find_contacts(start, look_ahead.contact_point(start, point) if point.at is start else point)
        elif world.forces is not None:
            if point.is_single_solve or not world.potential_is_smooth:
                self._stage_start = start
            elif not point.is_after_smooth_motion:
                self._potential_rhs = world.forces.linearise(start, point)
        elif self.impulses.bounded:
            self.impulses.match(None)

    def find_contacts(self, start: State, point: LinearisationPoint) -> None:
        """Find the contacts that are solved for impulses at a point, which need not be that of the bodies."""
        world, pipeline, found, of_bodies = self._world, self._world.pipeline, point.at, self.point
        assert pipeline is not None and of_bodies is not None
        if found is start:
            contacts = pipeline.start
            if of_bodies.is_after_smooth_motion:
                pipeline.scene.update_poses(start)
        else:
            contacts = pipeline.detect(found)
        pipeline.contacts, self.contact_count, self.contact_mean = contacts, contacts.count, point.mean
        if self.contact_count:
            pipeline.build_jacobian(contacts, found, world.jacobian, start)
            bias, rate = pipeline.bias(contacts, found, start, point, world.jacobian)
            self.bias, self.full_bias, self.obstacle_velocity = bias, bias, rate
            if point is not of_bodies and of_bodies.at is start:
                contacts.gap[: self.contact_count] = pipeline.first_gap
        self.impulses.match(contacts)

    def end_without_impulses(self, free: State) -> bool:
        """Whether no impulse acts at the end of a smooth motion; then the split problem need not be built."""
        world, pipeline = self._world, self._world.pipeline
        if world.has_prescribed or self.impulses.bounded or world.joints is not None:
            return False
        self.contact_count, self.obstacle_velocity = 0, None
        if self._solves_contacts and pipeline is not None:
            pipeline.contacts = pipeline.detect(free)
            if pipeline.contacts.count:
                return False
        if world.forces is not None and not world.potential_is_smooth:
            self.ended_freely = world.forces.update(free, free.v, self.step, None) == 0
        else:
            self.impulses.match(None)
            self.ended_freely = True
        return self.ended_freely

    # — solving it —

    @property
    def has_impulses(self) -> bool:
        """Whether contacts or constraints give impulses at the current point."""
        return self._world.has_constraints or self.contact_count > 0

    def solve(self, velocity: Array, *, chord: bool = False) -> SolveInfo:
        """Write v⁺ at the current point; a status that is not solved still leaves the best answer.

        MISREPORTED where the contact solver's answer is worse than it says, JAMMED where it opens constraints. With
        `chord`, after `update_residual`, SINGULAR and nothing written where rows of these are factorised with A.
        """
        world = self._world
        if chord and (world.has_constraints or not world.factorisation.succeeded):
            return _SINGULAR
        return self._solve_and_judge(velocity, self.full_bias)

    def _solve_and_judge(self, velocity: Array, bias: Array, *, limits_push: bool = True) -> SolveInfo:
        """Solve with a bias of the contacts, which becomes the current one, and check the answer."""
        world, count, pipeline = self._world, self.contact_count, self._world.pipeline
        self.bias = bias
        info = self._solve(velocity, count, limits_push=limits_push)
        if (
            not count
            or pipeline is None
            or info.status is Status.SINGULAR
            or info.status is Status.NON_FINITE
        ):
            return info
        info = checked_solution(info, type(self._solver).__name__, world, self, velocity)
        if not world.has_constraints:
            return info
        nothing = partial(self.error_bound, velocity, NEGLIGIBLE)
        free_change = None if self.free is None else self.free - self.about
        return judged_by_rows(info, world, velocity - self.about, free_change, self.bound.scale, nothing)

    def _solve(self, velocity: Array, count: int, *, limits_push: bool) -> SolveInfo:
        """Write v⁺ with so many contacts solved for impulses."""
        world, point, unreduced = self._world, self.point, self._unreduced
        assert point is not None
        self.free = None
        if count and limits_push:
            self.bias = limit_push_out(world, point.at, point.step, self.bias, self.refactor_late)
        if unreduced is not None:
            contacts = world.pipeline.contacts if count and world.pipeline is not None else None
            info, self.movable = unreduced.solve(self.about, point.step, contacts, self.bias, velocity)
            if info.status is not Status.SINGULAR:
                return info
            self.impulses.match(contacts)
            world.factorisation.refactor(*self._potential_factors)
        if world.stage is not None and self._stage_start is not None:
            info = world.stage.solve(self._stage_start, point, velocity)
            self._potential_rhs = world.stage.impulse
            return info
        if not world.factorisation.succeeded:
            velocity[:] = self.about
            return _SINGULAR
        world.factorisation.solve(self._potential_rhs, velocity)
        velocity += self.about
        if count or self.impulses.bounded:
            assert self.reduced is not None
            self.free = velocity.copy()
            info, self.movable = self.reduced.solve(
                count, self.bias, self.about, point.step, self._potential_rhs, velocity
            )
            return info
        return _SOLVED if world.forces is None else world.forces.info

    def solve_again(self, bias: Array, velocity: Array) -> SolveInfo:
        """Solve the current problem with another bias of the contacts, and write v⁺ and the impulses if it succeeds."""
        impulses, before, after = self.impulses, self.bias, velocity.copy()
        impulse, of_constraints = impulses.impulse.copy(), impulses.of_constraints
        info = self._solve_and_judge(after, bias, limits_push=False)
        if info.status.solved:
            velocity[:] = after
        else:
            self.bias, impulses.impulse, impulses.of_constraints = before, impulse, of_constraints
        return info

    def solve_apart(self, gap: Array, velocity: Array) -> tuple[SolveInfo, Separation]:
        """Solve for what moves the contacts of the last answer v⁺ apart; see `ReducedStep.separate`."""
        assert self.reduced is not None
        self.refactor_late()
        return self.reduced.separate(self.contact_count, gap, self.about, self.step, velocity)

    def free_velocity(self) -> Array:
        """v_f at the current point, a new array (nv,); v_k where A cannot be factorised."""
        return self.about + self._change(self._potential_rhs)

    def change_left(self) -> Array:
        """Δ at the current point, (nv,), with the impulses of contacts and bounded rows as they are."""
        extra = self.contact_impulse()
        for terms, where in zip(self._world.bodies, self._world.slices, strict=True):
            if terms.rows is not None and len(terms.bounded):
                impulse = np.zeros(len(terms.row_impulse))
                impulse[terms.bounded] = terms.row_impulse[terms.bounded]
                terms.rows.add_transpose_product(impulse, extra[where])
        return self._change(extra)

    def _change(self, extra: Array | None) -> Array:
        """Δ with `extra` (nv,) added to r, a new array; zero where A cannot be factorised."""
        world, out = self._world, np.zeros(self._world.nv)
        self.refactor_late()
        if world.factorisation.succeeded:
            of_constraints = self.impulses.of_constraints
            world.factorisation.solve(extra, out)
            self.impulses.of_constraints = of_constraints
        return out

    def compute_newton_increment(self, out: Array) -> SolveInfo | None:
        """Write G·r with the last factorisation, prescribed entries zero; None with nothing written where impulses are.

        SINGULAR, with nothing written, where A could not be factorised.
        """
        world = self._world
        if self.has_impulses:
            return None
        if not world.factorisation.succeeded:
            return _SINGULAR
        self._known_residual = self.residual()
        world.factorisation.solve_negative(self._known_residual, out)
        return _SOLVED if world.forces is None else world.forces.info

    def momentum_residual(self) -> float:
        """Largest |r + J_bᵀλ_b + J_cᵀλ_c| with the last impulses, of entries not prescribed, at the surface [N·s]."""
        residual = self.residual() if self._known_residual is None else self._known_residual
        return max_abs(residual / self.bound.scale)

    def residual(self) -> Array:
        """−(r + J_bᵀλ_b + J_cᵀλ_c), shape (nv,), zero at prescribed entries."""
        world = self._world
        out = self.contact_impulse()
        for terms, where in zip(world.bodies, world.slices, strict=True):
            out[where] += terms.rhs
            terms.add_constraint_impulses(out[where])
        if world.joints is not None:
            out += world.joints.jacobian.T @ world.joints.impulse
        np.negative(out, out=out)
        if world.has_prescribed:
            for terms, where in zip(world.bodies, world.slices, strict=True):
                out[where][terms.prescribed] = 0.0
        return out

    def contact_impulse(self) -> Array:
        """J_cᵀ·λ_c of impulses, or h·Pᵀ·f_c of a potential at the current point, a new array (nv,)."""
        world, point = self._world, self.point
        if self._potential_rhs is not None:
            return self._potential_rhs.copy()
        out = np.zeros(world.nv)
        if world.forces is not None and point is not None:
            world.forces.add_forces(point.force_factor, out)
        elif self.contact_count:
            out += world.jacobian.multiply_transposed(self.impulses.of_contacts)
        return out

    def error_bound(self, velocity: Array, tolerance: float) -> float:
        """What may be left of v⁺ = `velocity` at the current point; see `corekit.engine.step.error_bound`."""
        is_unreduced = self.contact_count > 0 and self._unreduced is not None
        return self.bound.of(velocity, tolerance, self.free, self.about if is_unreduced else None)

    def rounding_in_contact(self) -> float:
        """What rounding of gaps makes of v⁺ where contacts press [m/s]; see `corekit.engine.step.normal_response`."""
        normal = self.impulses.of_contacts[:: self._world.jacobian.width]
        pressed = np.flatnonzero(normal[: self.contact_count] > 0.0)
        self.refactor_late()
        if not len(pressed) or not self._world.factorisation.succeeded:
            return self.bound.rounding
        return self.bound.rounding * largest_response(self._world, pressed, self.bound.scale)

    # — after the step —

    def settle_potential(self, start: State, point: LinearisationPoint) -> None:
        """Evaluate the potential at the point of the accepted v⁺, which is not that of the bodies' terms."""
        assert self._world.forces is not None
        self._potential_rhs = self._world.forces.linearise(start, point)

    def given_by_contact(self) -> Array | None:
        """What contacts gave in the accepted step, shape (nv,); None where nothing can."""
        return self.contact_impulse() if self._world.forces is None else self._potential_rhs

    def forget(self) -> None:
        """Report nothing of the last step, as before the first one."""
        self.contact_count = 0
        if self._world.forces is not None:
            self._world.forces.clear()
