"""From a state to contact rows: broad phase once per step, narrow phase, tangents, Jacobian, gap terms.

The bias of a contact at a linearisation point is φ̃/h less the velocity of an obstacle, with the gap term

    φ̃ = s(φ₀) + φ_k − φ₀ − h·u_n(v̄)                                                       (1)

φ₀ is the gap at the start of the step, φ_k that at the point's end state and u_n the relative normal velocity; s is
the scenario's stabilisation,

    s(φ) = approach·φ  (φ > 0),     s(φ)/h = max(φ·min(1/h, push_out), −cap)  (φ < 0)        (2)

A contact without a counterpart at the start has φ₀ = φ_k − h·u_n(v̄).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from scipy.sparse import csr_array

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import Candidates, ContactSet
from corekit.data.state import State
from corekit.engine.contact.contact_jacobian import ContactJacobian, contact_axes
from corekit.engine.contact.contact_kernels import (
    assign_tangents_and_friction,
    gap_terms,
    id_order,
    match_by_id,
    max_penetration,
)
from corekit.engine.contact.shape_motion import ShapeMotion
from corekit.engine.step.linearisation import LinearisationPoint
from corekit.roles.body import Body
from corekit.roles.collision_scene import CollisionScene
from corekit.roles.component import InternalState
from corekit.roles.detector import ContactDetector
from corekit.roles.surface_pairs import FrictionTable, RestitutionTable, assign_friction_records
from corekit.roles.world import Stabilisation

if TYPE_CHECKING:
    from corekit.engine.contact_areas import ContactAreas
    from corekit.engine.internal_edges.joined_ends import JoinedEnds
    from corekit.engine.internal_edges.seams import Seams

__all__ = ["NO_PAIRS", "ContactPipeline", "Tangents"]


class Tangents(NamedTuple):
    """Tangents of the contacts of an accepted step, by id."""

    id: IntArray
    order: IntArray
    tangent: Array


_NEGLIGIBLE_MOTION = 0.01
"""Share of the margin by which a step may overrun a gap, or leave its rows, without a look at where it leads."""
_NOBODY = np.zeros(0, dtype=np.int64)
NO_PAIRS = np.zeros((0, 2), dtype=np.int64)
_NO_TANGENTS = Tangents(_NOBODY, _NOBODY, np.zeros((0, 3)))


@final
class ContactPipeline:
    """Finds the contacts of a world.

    Args:
        bodies: of the world.
        scene: where their shapes are.
        detectors: the first one that serves a pair of shape kinds answers for it.
        friction: of every two surfaces.
        stabilisation: s(φ).
        margin: gap up to which contacts are always found [m]. plane: of a planar world, else None.
        restitution: of impacts that one solve ends at velocity level; None: they end at position level.
        abilities: words that the spec of each detector provides; empty where none is known.
        areas, seams: as below; None where there are none.

    Attributes:
        width: rows per contact, 3, or 2 in a planar world. plane_normal: of such a world, else zero, shape (3,).
        rule: s(φ). motion: how far shapes may approach in a step.
        room: of every contact whose bias was written last, how much closer than at the end state it may come [m].
        push: of the same, the speed at which it is pushed out of an overlap [m/s]. fastest_push: the largest of them.
        first_gap: φ₀ of the same [m].
        contacts: the set that the step is solved with, written where it is solved.
        start: that at the start of the step. end: the last one ahead.
        held: pairs of shapes that would pass each other in this step, or whose contacts do not settle, shape (k, 2):
            every set found in it has those of the start for them.
        margin: gap up to which contacts are found in this step [m]. least_margin: in every step.
        negligible_motion: by which a step may leave the state of its contacts without a look at where it leads [m].
        approach_distance: how far two shapes may approach in this step [m].
        frictional: whether two surfaces of the world have friction.
        known: tangents of the last step. record_width: numbers of a friction record, 0 for Coulomb's law.
        areas: makes several contacts of one where a pair resists turning; None where none does.
        seams: leaves out contacts at the seams between fixed boxes, or None.
        joined: merges contacts by ends or nodes that shapes of a body share, where impulses act on such; else None.
        rehearsed: contacts that a rehearsal puts in place of those found, so that kernels are compiled, or None.
        is_finite: whether the poses at the start of the step and the current contacts are finite numbers.
    """

    def __init__(
        self, bodies: Sequence[Body], scene: CollisionScene, detectors: Sequence[ContactDetector],
        friction: FrictionTable, stabilisation: Stabilisation, margin: float, plane: Array | None = None,
        restitution: RestitutionTable | None = None, *, abilities: Sequence[frozenset[str]] = (),
        areas: ContactAreas | None = None, seams: Seams | None = None,
    ) -> None:  # fmt: skip
        self.scene, self._bodies, self.abilities = scene, tuple(bodies), tuple(abilities)
        self.rule, self.friction, self.restitution = stabilisation, friction, restitution
        self.least_margin = self.margin = margin
        self.negligible_motion, self.approach_distance = _NEGLIGIBLE_MOTION * margin, 0.0
        self._planar = plane is not None
        self.plane_normal = np.zeros(3) if plane is None else np.cross(plane[1], plane[2])
        self.width = 3 if plane is None else 2
        self.frictional = bool(np.any(friction.coefficient))
        self.record_width = width = friction.law.record_width
        self.start, self._trial, self.end = (ContactSet(record_width=width) for _ in range(3))
        self.contacts, self.held = self._trial, NO_PAIRS
        (self.first_gap, self.room, self.push), self.fastest_push = np.zeros((3, 0)), 0.0
        self.known, self.seams, self.areas = _NO_TANGENTS, seams, areas
        self.joined: JoinedEnds | None = None
        self.rehearsed: ContactSet | None = None
        self.is_finite = self._starts_finite = True
        self.motion = ShapeMotion(bodies, scene)
        self._searches: list[tuple[ContactDetector, Candidates]] = []
        self._assign(detectors)

    def _assign(self, detectors: Sequence[ContactDetector]) -> None:
        """Give every pair of kinds to the first detector that serves it."""
        kinds = sorted(set(self.scene.table.kind))
        wanted = {(a, b) for a in kinds for b in kinds}
        for detector in detectors:
            own = {
                (a, b)
                for a, b in wanted
                if (a, b) in detector.supported_pairs or (b, a) in detector.supported_pairs
            }
            wanted -= own
            detector.prepare(self.scene.table, frozenset(own))
            self._searches.append((detector, Candidates()))

    @property
    def detectors(self) -> tuple[ContactDetector, ...]:
        """In the order in which they are asked."""
        return tuple(detector for detector, _ in self._searches)

    @property
    def candidates(self) -> tuple[Candidates, ...]:
        """Those of every detector in this step."""
        return tuple(candidates for _, candidates in self._searches)

    # — broad phase, once per step —

    def begin_step(
        self, start: State, step: float, activation_distance: float = 0.0, approach: float | None = None
    ) -> None:
        """Place the shapes at the start and find the candidates of the step.

        Args:
            start: state at the start of the step.
            step: h [s].
            activation_distance: of a contact potential [m], added to the margin.
            approach: how far two shapes may approach [m], where that is known; else as they did in the last step.
        """
        if approach is None:
            approach = self.motion.approach(start, step)
        else:
            self.scene.update_poses(start)
        coming, self.held = 0.5 * approach, NO_PAIRS
        self.is_finite = self._starts_finite = math.isfinite(coming)
        self.margin = margin = activation_distance + max(self.least_margin, 2.0 * coming)
        self.approach_distance = 2.0 * coming
        for detector, candidates in self._searches:
            detector.find_candidates(self.scene.poses, margin + coming, candidates)

    def detect_at_start(self) -> ContactSet:
        """Find the contacts at the start of the step that was just begun."""
        self._detect(self.start, self.margin)
        return self.start

    def is_held(self, contacts: ContactSet) -> BoolArray:
        """Which contacts of a set belong to pairs that keep those of the start, shape (m,)."""
        pair = contacts.shape[: contacts.count, None]
        return np.asarray((pair == self.held).all(axis=2).any(axis=1))

    # — narrow phase, at a state —

    def _detect(self, out: ContactSet, margin: float) -> None:
        out.count = 0
        rehearsed = self.rehearsed
        for detector, candidates in self._searches:
            if candidates.count or rehearsed is not None:
                detector.compute_contacts(candidates, self.scene.poses, margin, out)
        if self.seams is not None:
            self.seams.leave_out(out)
        if self.joined is not None:
            self.joined.merge(out)
        if rehearsed is not None:
            out.copy_from(rehearsed)
            rehearsed.gap[:] = 0.0  # it pushed once; Newton finds no solution where a gap never closes
        if self.areas is not None:
            self.areas.spread(out)

    def detect(self, state: State) -> ContactSet:
        """Find the contacts at a state of the step."""
        self.scene.update_poses(state)
        self.is_finite = self._starts_finite
        self._detect(self._trial, self.margin)
        if len(self.held):
            self._trial.select(np.flatnonzero(~self.is_held(self._trial)))
            self._trial.append(self.start, np.flatnonzero(self.is_held(self.start)))
        return self._trial

    def measure(self, out: ContactSet) -> None:
        """Find the contacts of the candidates where the shapes are; they become the current set, with tangents."""
        self.contacts = out
        self._detect(out, self.margin)
        self.assign_tangents(out)

    def contacts_at_end(self, state: State, beyond: float = 0.0) -> ContactSet:
        """Find the contacts at another state of the step, in a buffer that the next call overwrites.

        Args:
            state: where. beyond: by how much their gaps may exceed the margin [m].
        """
        self.scene.update_poses(state)
        self._detect(self.end, self.margin + beyond)
        return self.end

    def contacts_of_step(self, start: State, step: float) -> ContactSet:
        """Find the contacts at the start of a step h, with which it is solved."""
        self.begin_step(start, step)
        self.contacts = found = self.detect_at_start()
        return found

    def count(self) -> int:
        """How many contacts were found last; the points that stand for an area count as one."""
        return self.contacts.count if self.areas is None else self.areas.count(self.contacts)

    def detect_anew(self, state: State, margin: float) -> int:
        """Find every contact at a state with a gap below `margin` [m], with candidates of its own, for statics."""
        self.scene.update_poses(state)
        self.margin = margin
        for detector, candidates in self._searches:
            detector.find_candidates(self.scene.poses, margin, candidates)
        self.contacts = self._trial
        self._detect(self.contacts, self.margin)
        return self.contacts.count

    # — rows —

    def rows_at(self, state: State) -> csr_array:
        """J_c of the current contacts, which were found at this state, shape (m·width, nv)."""
        jacobian = ContactJacobian(self._bodies, self.width)
        self.build_jacobian(self.contacts, state, jacobian)
        return jacobian.to_sparse()

    def build_jacobian(
        self, contacts: ContactSet, state: State, jacobian: ContactJacobian, start: State | None = None
    ) -> None:
        """Assign tangents and friction to a set, and build its Jacobian at the state where it was found.

        Args:
            contacts, state, jacobian: the set, the state, and what is built.
            start: of the step, where contacts of pairs that would pass have their rows: a turn moves their points.
        """
        areas = self.areas
        self.assign_tangents(contacts)
        if areas is not None:
            areas.place(contacts, self.scene.poses.frame_rotation)
        jacobian.collect(state, contacts)
        if start is not None and start is not state and len(self.held):
            jacobian.collect_some(start, contacts, self.is_held(contacts))
        if areas is not None:
            areas.share_motion(contacts, jacobian.points)
        jacobian.assemble(contacts)

    def assign_tangents(self, contacts: ContactSet) -> None:
        """Assign tangents and friction to a set, at whose state the shapes are."""
        known, friction = self.known, self.friction
        finite = assign_tangents_and_friction(
            contacts.count, self._planar, self.plane_normal, friction.surface, friction.coefficient, known.id,
            known.order, known.tangent, contacts.id, contacts.shape, contacts.gap, contacts.normal, contacts.tangent,
            contacts.friction,
        )  # fmt: skip
        self.is_finite = self._starts_finite and finite
        if self.record_width:
            poses = self.scene.poses
            assign_friction_records(
                contacts.count, self._planar, friction.surface, friction.record, friction.axis_owner, friction.axis,
                poses.rotation, poses.position, poses.end, contacts.shape, contacts.normal, contacts.tangent,
                contacts.friction_record,
            )  # fmt: skip

    def bias(
        self, contacts: ContactSet, at: State, start: State, point: LinearisationPoint, jacobian: ContactJacobian
    ) -> tuple[Array, Array | None]:  # fmt: skip
        """The bias of contacts, shape (m, width), and the obstacles' velocity in contact axes, or None.

        Args:
            contacts: the set. at: where it was found, `start` or the state of the point.
            start: state at the start of the step. jacobian: of the set.
            point: its end state is where the gaps of contacts count that were found there.
        """
        count = contacts.count
        gap, span = contacts.gap[:count], (at.time, start.time, start.time + point.step)
        rate = self.obstacle_velocity(contacts, *span, instant=False) if self.scene.moving else None
        if contacts is self.start:
            normal_velocity = np.zeros(count)
        else:
            normal_velocity = jacobian.normal_velocity(point.mean)
            if rate is not None:
                normal_velocity = normal_velocity - rate[:, 0]
                if point.end is not at or point.is_after_smooth_motion:
                    rate = self.obstacle_velocity(contacts, *span, instant=True)
            if point.end is not at:
                to_end = (point.end.time - at.time) * normal_velocity
                gap = self.gap_at(contacts, point.end, gap + to_end)
                self.scene.update_poses(at)
            if len(self.held):  # behind each other they have no gap: along the normal of the start they have
                at_end = contacts.gap[:count] + point.step * normal_velocity
                gap = np.where(self.is_held(contacts), at_end, gap)
        bias, rule, start_id = np.empty((count, self.width)), self.rule, self.start.id[: self.start.count]
        if len(self.push) != count:
            self.first_gap, self.room, self.push = np.empty((3, count))
        self.fastest_push = gap_terms(
            count, contacts.id, gap, normal_velocity, point.step, rule.approach, rule.push_out, rule.cap,
            start_id, id_order(start_id), self.start.gap, bias, self.first_gap, self.room, self.push,
        )  # fmt: skip
        if rate is not None:
            bias -= rate
        return bias, rate

    def gap_at(self, contacts: ContactSet, end: State, otherwise: Array) -> Array:
        """Gaps of contacts at another state [m]; `otherwise` (m,) where one is not found there."""
        self.contacts_at_end(end)
        gap, end_id = otherwise.copy(), self.end.id[: self.end.count]
        match_by_id(1, contacts.id, end_id, id_order(end_id), self.end.gap, gap)
        return gap

    def obstacle_velocity(
        self, contacts: ContactSet, time: float, t0: float, t1: float, *, instant: bool
    ) -> Array | None:
        """Velocity of obstacles at contacts over t0 … t1 or at t1, contact axes, (m, width) [m/s]; None: none moves."""
        if not self.scene.moving:
            return None
        velocity = self.scene.obstacle_velocities(contacts, time, t0, t1, instant=instant)
        if len(self.held):  # found at the start, and held for the whole step
            of_start = self.scene.obstacle_velocities(contacts, t0, t0, t1, instant=False)
            velocity = np.where(self.is_held(contacts)[:, None], of_start, velocity)
        rate = np.einsum("mwi,mi->mw", contact_axes(contacts, self.width), velocity)
        if self.areas is not None:
            self.areas.make_rate_rigid(contacts, rate)
        return rate

    def push_out_speed(self, step: float) -> float:
        """The largest speed at which a step h pushes out what overlaps at its start [m/s]."""
        depth, rule = max(0.0, max_penetration(self.start.count, self.start.gap)), self.rule
        return min(depth * min(1.0 / step, rule.push_out), rule.cap)

    def max_penetration(self) -> float:
        """The largest −gap of the contacts that the step was solved with [m], −∞ without any."""
        return max_penetration(self.contacts.count, self.contacts.gap)

    # — after acceptance, and for resuming —

    def accept(self) -> None:
        """Keep the tangents of the current set, and where the shapes were, for the next step."""
        self.motion.accept()
        contacts, n = self.contacts, self.contacts.count
        self.set_tangents(contacts.id[:n], contacts.tangent[:n])

    def set_tangents(self, id_: IntArray, tangent: Array) -> None:
        self.known = Tangents(id_.copy(), id_order(id_), tangent.copy()) if len(id_) else _NO_TANGENTS

    def internal_state(self) -> InternalState:
        """Tangents by id."""
        return {"tangent_id": self.known.id.copy(), "tangent": self.known.tangent.copy()}

    def restore(self, internal_state: InternalState) -> None:
        """Restore what `internal_state` gave; empty means a fresh start."""
        self.known = _NO_TANGENTS
        if internal_state:
            self.set_tangents(internal_state["tangent_id"], internal_state["tangent"])
