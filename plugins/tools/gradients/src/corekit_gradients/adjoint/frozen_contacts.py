"""The contacts of a recorded step at other arguments: H of `contact_modes`, with impulses and modes held.

A closed contact of the record is found again by its id. Where a detector does not find it at some argument (its
feature ends there) the caller is told: a difference is then one-sided.

The gap term of a row has kinks: s(φ₀) at φ₀ = 0 and where its cap begins, and the room behind a step at φ₀ = 0. A
contact at rest is near the first for ever. So each keeps the branch on which it is at the record.

    s(φ₀) = α·φ₀ + β,    (α, β) = (approach, 0) | (min(1, h·push_out), 0) | (0, −h·cap)                    (1)

Directions d_k of turned pyramids depend on the whole problem, W and w₀, and on the impulses with which the step began;
they are computed anew at every argument where a contact slides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.step.push_out import limit_push_out
from corekit.roles.contact import FrictionDirections
from corekit.roles.contact_blocks import ReducedStepProblem
from corekit_gradients.adjoint.contact_branches import APART, add_slips, write_bias, write_branches
from corekit_gradients.adjoint.contact_modes import ContactTerms, find_modes
from corekit_gradients.adjoint.contact_slope_kernels import locate
from corekit_gradients.adjoint.solutions import Kind, Solution

if TYPE_CHECKING:
    from corekit.engine.step.step_equation import StepEquation
    from corekit.engine.tape import ContactImpulses
    from corekit.engine.world.world_terms import WorldTerms
    from corekit.roles.pyramid import DirectionCovector

__all__ = ["ContactLost", "FrozenContacts"]


class ContactLost(Exception):
    """A closed contact is not found at an argument nearby."""


class FoundContacts(NamedTuple):
    """The m contacts of a record as they are found at the record; zeros for one that is not.

    Args:
        place: among those found, −1 for one that is not, shape (m,). rows: J, shape (m, width, nv).
        normal, tangent: shape (m, 3). friction: μ, shape (m,).
    """

    place: IntArray
    rows: Array
    normal: Array
    tangent: Array
    friction: Array


@final
class FrozenContacts:
    """The contacts of the recorded steps of one world.

    Args:
        world, equation: expanded at an argument before each call.

    Attributes:
        need_matrix: whether bodies must be expanded with their matrices.
        found: the contacts of the record there, once modes were found.
    """

    def __init__(self, world: WorldTerms, equation: StepEquation) -> None:
        self._world, self._equation = world, equation
        self._width = world.jacobian.width
        solver = world.solver
        self._pyramids = solver if isinstance(solver, FrictionDirections) else None
        self._turns = self._pyramids is not None and self._pyramids.turns_directions and self._width == 3
        self.need_matrix = self._turns
        self._known: ContactImpulses | None = None
        self._fixed: dict[int, Array | None] = {}
        self._standing: dict[int, Array] = {}
        # the branch of (1) of every contact of the record, in its order, and whether its push-out is limited
        self._branch: IntArray = np.zeros(0, dtype=np.int64)
        self._is_limited = False

    def load(self, known: ContactImpulses | None) -> None:
        """Hold the contacts of a record."""
        self._known, self._fixed, self._is_limited = known, {}, False
        self.found: FoundContacts | None = None

    def hold(self, other: FrozenContacts) -> None:
        """Hold the contacts that another world's hold, with what was found of them at the record."""
        self._known, self._fixed, self.found = other._known, other._fixed, other.found
        self._branch, self._is_limited = other._branch, other._is_limited

    @property
    def tracks_tangents(self) -> bool:
        """Whether the tangents with which a step began change what it does: those of pyramids that stand do."""
        return self._pyramids is not None and not self._turns and self._width == 3

    @property
    def tracks_impulses(self) -> bool:
        """Whether the impulses with which a step began change what it does: by pyramids that turn they do."""
        return self._turns

    @property
    def limits_push_out(self) -> bool:
        """Whether pushing out of an overlap is limited."""
        return self._is_limited

    def gap_slopes(self, solution: Solution, index: IntArray | None = None) -> Array:
        """α of (1) of the closed contacts of a solution, or of those of the record given, shape (k,)."""
        pipeline = self._world.pipeline
        assert pipeline is not None
        rule = pipeline.rule
        push = min(1.0, self._equation.step * rule.push_out)
        slopes = np.array([rule.approach, push, 0.0])
        return slopes[self._branch[solution.modes.index if index is None else index]]

    def rebounds(self, solution: Solution, start: State, rows: Array) -> Array:
        """e of the closed contacts that an impact of a solution throws back, by −e·J_n·v₀, else 0, shape (k,)."""
        pipeline, index = self._world.pipeline, solution.modes.index
        out = np.zeros(len(index))
        if (
            self._known is None
            or pipeline is None
            or pipeline.restitution is None
            or not solution.struck.any()
        ):
            return out
        place = self.places(self._known.id[index])
        thrown = solution.struck & (place >= 0) & (rows[:, 0] @ start.v < 0.0)
        out[thrown] = pipeline.restitution.of_contacts(pipeline.contacts)[place[thrown]]
        return out

    # — at the record —

    def find_modes(self, solution: Solution, start: State, velocity: Array, start_impulse: Array) -> None:
        """Find the modes of a solution, for the contacts as they are expanded at the record."""
        if self._known is None:
            return
        if self.found is None:
            self.found = self._find(self._known.id)
        found, rows, *_, mu = self.found
        is_there = found >= 0
        is_apart = solution.kind is Kind.APART
        if solution.kind is Kind.PLACE:
            self._find_branches(solution, found)
        friction = np.zeros(len(found)) if is_apart else mu
        directions: Array | None = None
        if self._pyramids is not None and not is_apart and friction.any():
            here = self._directions(found[is_there], solution.bias[is_there], start_impulse)
            directions = np.zeros((len(found), *here.shape[1:]))
            directions[is_there] = here[found[is_there]]
        # of a body that rests: what its weight alone would do
        alone = self._equation.bound.alone(start.v)
        slip = solution.bias.copy()
        speed = add_slips(rows, velocity, start.v, alone, slip)
        solution.modes = modes = find_modes(solution.of_contacts, slip, speed, friction, directions)
        self._fixed[id(solution)] = None if directions is None else directions[modes.index]
        solution.struck = np.zeros(len(modes.index), dtype=bool)
        if solution.kind is Kind.VELOCITY and len(modes.index):
            kept, own = self._equation.bias[found[modes.index]], solution.bias[modes.index]
            near = 1e-9 * (np.abs(kept).max() + np.abs(own).max())
            solution.struck = np.abs(kept - own).max(axis=1) > near

    def _find(self, ids: IntArray) -> FoundContacts:
        """Contacts of these ids among those found now."""
        pipeline, place = self._world.pipeline, self.places(ids)
        assert pipeline is not None
        contacts, is_there = pipeline.contacts, place >= 0
        at = place[is_there]
        m, width, nv = len(ids), self._width, self._world.nv
        out = FoundContacts(place, np.zeros((m, width, nv)), np.zeros((m, 3)), np.zeros((m, 3)), np.zeros(m))
        if len(at):
            out.rows[is_there] = self._rows().reshape(-1, width, nv)[at]
        for own, every in zip(out[2:], (contacts.normal, contacts.tangent, contacts.friction), strict=True):
            own[is_there] = every[at]
        return out

    def _find_branches(self, solution: Solution, found: IntArray) -> None:
        """Find (1) of every contact, and whether something limits pushing out."""
        pipeline, equation = self._world.pipeline, self._equation
        assert pipeline is not None
        rule, h = pipeline.rule, equation.step
        self._branch = np.empty(len(found), dtype=np.int64)
        # slower than this nothing is limited; at rest, what is left of a bias is rounding
        least = pipeline.negligible_motion / h
        self._is_limited = write_branches(
            found, pipeline.first_gap, min(1.0, h * rule.push_out), h * rule.cap, solution.of_contacts, solution.bias,
            equation.bias, least, self._branch,
        )  # fmt: skip
        if self._is_limited:
            self._limit()

    def _limit(self) -> None:
        """Limit how fast what hardly moves is pushed out, as the step does."""
        equation, world, point = self._equation, self._world, self._equation.point
        assert point is not None

        def factorise() -> None:
            # of an iterated step bodies were expanded without their matrices
            equation.set_point(point, BodyTerms.linearise)
            world.factorisation.refactor()

        equation.bias = limit_push_out(world, point.at, equation.step, equation.full_bias, factorise)

    # — at any argument —

    def evaluate(
        self, solution: Solution, start: State, velocity: Array, start_impulse: Array
    ) -> ContactTerms:
        """H of a solution and its terms, for the contacts as they are expanded.

        Raises:
            ContactLost: a closed contact is not among them.
        """
        known, width, world, pipeline = self._known, self._width, self._world, self._world.pipeline
        modes = solution.modes
        if known is None or pipeline is None or not len(modes.index):
            return ContactTerms.none(width, world.nv)
        index = self.places(known.id[modes.index])
        if (index < 0).any():
            raise ContactLost
        rows, is_apart = self._rows(), solution.kind is Kind.APART
        bias = self._bias(solution, index, start, rows)
        friction = np.zeros(len(index)) if is_apart else pipeline.contacts.friction[index]
        directions = self._fixed.get(id(solution))
        if self._turns and directions is not None and modes.turns.any():
            directions = self._directions(index, bias, start_impulse)[index]
        impulse = solution.of_contacts[modes.index]
        return modes.equations(rows, index, velocity, bias, impulse, friction, directions)

    def _bias(self, solution: Solution, index: IntArray, start: State, rows: Array) -> Array:
        """The bias of the closed contacts of a solution, shape (k, width); `rows` are those of all contacts."""
        pipeline, equation = self._world.pipeline, self._equation
        assert pipeline is not None
        h, rule, branch = equation.step, pipeline.rule, self._branch[solution.modes.index]
        own = np.zeros((len(index), self._width))
        if solution.kind is Kind.APART:
            first = pipeline.first_gap[index]
            end_gap = pipeline.room[index] + np.minimum(first, 0.0)
            own[:, 0] = (end_gap - np.where(branch == APART, 0.0, first)) / h
            return own
        if self._is_limited and solution.kind is Kind.PLACE:
            self._limit()
        write_bias(
            index, branch, pipeline.first_gap, h, rule.approach, min(1.0, h * rule.push_out), h * rule.cap,
            equation.bias, own,
        )  # fmt: skip
        if solution.struck.any() and pipeline.restitution is not None:
            rate = equation.obstacle_velocity
            struck = np.zeros_like(own) if rate is None else -rate[index]
            approach = rows[index * self._width] @ start.v + struck[:, 0]
            struck[:, 0] += pipeline.restitution.of_contacts(pipeline.contacts)[index] * np.minimum(
                approach, 0.0
            )
            own = np.where(solution.struck[:, None], struck, own)
        return own

    def tangents(self) -> Array:
        """Tangents of the contacts of the record as they are found now, shape (m, 3); zero of those that are not."""
        known, pipeline = self._known, self._world.pipeline
        if known is None or pipeline is None:
            return np.zeros((0, 3))
        place, out = self.places(known.id), np.zeros((len(known.id), 3))
        out[place >= 0] = pipeline.contacts.tangent[place[place >= 0]]
        return out

    def _rows(self) -> Array:
        """J of all contacts, shape (m·width, nv)."""
        return self._world.jacobian.to_dense()

    def places(self, wanted: IntArray) -> IntArray:
        """Where contacts stand among those found now, −1 for one that was not."""
        pipeline = self._world.pipeline
        assert pipeline is not None
        out = np.empty(len(wanted), dtype=np.int64)
        locate(wanted, self._equation.contact_count, pipeline.contacts.id, out)
        return out

    def _directions(self, places: IntArray, bias: Array, start_impulse: Array) -> Array:
        """d_k of all contacts found now, shape (m, width − 1, r), with the bias given of those at some places."""
        assert self._pyramids is not None
        pipeline, count = self._world.pipeline, self._equation.contact_count
        # pyramids that stand are those of any problem, unless a law has numbers of its own
        stand = not self._turns and pipeline is not None and not pipeline.record_width
        known = self._standing.get(count) if stand else None
        if known is None:
            whole = self._equation.bias.copy()
            whole[places] = bias
            known = self._pyramids.compute_friction_directions(self._pose(whole, start_impulse))
            if stand:
                self._standing[count] = known
        return known

    def _pose(self, bias: Array, start_impulse: Array) -> ReducedStepProblem:
        """The problem of all contacts found now."""
        known, equation = self._known, self._equation
        assert known is not None
        found = self.places(known.id)
        carried = np.zeros((equation.contact_count, self._width))
        carried[found[found >= 0]] = start_impulse[found >= 0]
        assert equation.reduced is not None
        self._world.factorisation.refactor()
        return equation.reduced.pose(
            equation.contact_count, bias, equation.about, equation.step, equation.free_velocity(), carried
        )

    def pull_directions(
        self, solution: Solution, start_impulse: Array, of_held: Array
    ) -> tuple[ReducedStepProblem, Array, DirectionCovector, Array] | None:
        """The problem of a solution at the record, v_f, the covector of its directions, and J, shape (m·width, nv).

        None where the solver has none, or where the contacts of the record are not those of the problem.

        Args:
            of_held: covector of H of the closed contacts, shape (k, width).
        """
        assert self._pyramids is not None and self.found is not None
        modes, place = solution.modes, self.found.place
        if len(place) != self._equation.contact_count or (place != np.arange(len(place))).any():
            return None
        index = modes.index
        problem, rows = self._pose(solution.bias, start_impulse), self.found.rows
        directions = self._pyramids.compute_friction_directions(problem)
        slip = rows[index] @ solution.velocity + solution.bias[index]
        covector = np.zeros(directions.shape)
        covector[index] = modes.pull_directions(
            self.found.friction[index], directions[index], slip, solution.of_contacts[index], of_held
        )
        found = self._pyramids.pull_friction_directions(problem, directions, covector)
        if found is None:
            return None
        return problem, self._equation.free_velocity(), found, rows.reshape(-1, self._world.nv)
