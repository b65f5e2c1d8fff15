"""Contacts of one step: candidates and start gaps once, then a measured set with rows at every iterate.

The gap term of a contact at iterate k is

    φ̃ = s(φ₀) + φ_k − φ₀ − h·u_n(v̄_k)                                                    (1)

with φ₀ the gap at the start of the step, φ_k that of the trial end and u_n the relative normal
velocity; s is the scenario's stabilisation,

    s(φ) = approach·φ  (φ > 0),     s(φ)/h = max(φ·min(1/h, push_out), −cap)  (φ < 0)        (2)

A contact without a counterpart at the start takes φ₀ = φ_k − h·u_n(v̄_k).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import Candidates, ContactSet
from corekit.data.state import State
from corekit.roles.component import Memory
from corekit.roles.detector import ContactDetector
from corekit.world.bodies import Body
from corekit.world.contact_rows import ContactRows, tangents
from corekit.world.shape_scene import ShapeScene

__all__ = ["ContactStage", "Stabilisation", "match"]


@frozen
class Stabilisation:
    """s(φ) of (2): approach [-], push_out [1/s], cap [m/s]."""

    approach: float = 1.0
    push_out: float = 20.0
    cap: float = 0.5

    def __call__(self, gap: Array, step: float) -> Array:
        """s(φ) [m] of gaps [m] for a step h [s]."""
        share = min(1.0, self.push_out * step)
        answer = np.maximum(gap * share, -self.cap * step)
        np.multiply(gap, self.approach, out=answer, where=gap > 0)
        return answer


def match(wanted: IntArray, known: IntArray) -> tuple[IntArray, BoolArray]:
    """Where each wanted id stands among the known ones: positions (0 where absent) and a mask."""
    if not len(known):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    order = np.argsort(known, kind="stable")
    place = np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)
    position = order[place]
    return position, known[position] == wanted


@frozen(eq=False)
class _Probes:
    """Where the scene's probe points were at the start of a step."""

    position: Array = field(factory=lambda: np.zeros((0, 3)))
    time: float = 0.0


def _farthest(moved: Array) -> float:
    """A bound on the longest of displacements (n, 3), at most √3 times it."""
    flat = moved.ravel()
    return math.sqrt(3.0) * float(np.maximum.reduce(np.abs(flat, out=flat), initial=0.0))


@frozen(eq=False)
class _Remembered:
    """Tangents of the last accepted step by contact id."""

    id: IntArray = field(factory=lambda: np.zeros(0, dtype=np.int64))
    tangent: Array = field(factory=lambda: np.zeros((0, 3)))


class ContactStage:
    """Detection, gap terms and rows of one step.

    Attributes:
        contacts: the set measured last.
        rows: its J, built on demand by `measure`.
        start: the set at the start of the step.
        margin: gap up to which contacts are taken in this step [m].
    """

    def __init__(
        self,
        bodies: Sequence[Body],
        scene: ShapeScene,
        detectors: Sequence[ContactDetector],
        friction: tuple[IntArray, Array],
        stabilisation: Stabilisation,
        margin: float,
        plane: Array | None = None,
    ) -> None:
        self._bodies = tuple(bodies)
        self.scene = scene
        self._surface, self._friction = friction
        self._row_of_friction = np.array([len(self._friction), 1])
        self._stabilisation = stabilisation
        self._least_margin = margin
        self._plane = plane
        self.width = 3 if plane is None else 2
        self.start = ContactSet()
        self._trial = ContactSet()
        self.contacts = self._trial
        self._end = ContactSet()
        self.rows = ContactRows(bodies, scene.frame_body, self.width)
        self.margin = margin
        self._tangents = _Remembered()
        self._probes = self._new_probes = _Probes()
        self._detectors: list[tuple[ContactDetector, Candidates]] = []
        self._assign(detectors)

    def _assign(self, detectors: Sequence[ContactDetector]) -> None:
        """Give every pair of kinds to the first detector that serves it."""
        kinds = sorted(set(self.scene.table.kind))
        wanted = {(a, b) for a in kinds for b in kinds}
        for detector in detectors:
            mine = {(a, b) for a, b in wanted if (a, b) in detector.served or (b, a) in detector.served}
            wanted -= mine
            detector.prepare(self.scene.table, frozenset(mine))
            self._detectors.append((detector, Candidates()))

    # — once a step —

    def begin(self, start: State, step: float, ahead: State, reach: float = 0.0) -> None:
        """Place the shapes at the start, find candidates and take the gaps there.

        Args:
            start: state at the start of the step.
            step: h [s].
            ahead: scratch state, used at the first step only, to see how fast the shapes move.
            reach: range of a contact potential [m], added to the margin.
        """
        self.scene.place(start)
        speed = self._speed(start, step, ahead)
        self.margin = reach + max(self._least_margin, 2.0 * step * speed)
        for detector, candidates in self._detectors:
            detector.candidates(self.scene.poses, self.margin + step * speed, candidates)
        self._measure(self.start)

    def _speed(self, start: State, step: float, ahead: State) -> float:
        """How fast shapes may approach [m/s]: bodies as over the last step, or as at the first; obstacles to come."""
        scene, now = self.scene, self.scene.probes()
        elapsed = start.time - self._probes.time
        if self._probes.position.shape != now.shape or elapsed <= 0:
            for body, part, target in zip(self._bodies, start.parts, ahead.parts, strict=True):
                body.model.advance(part, part.v, step, part, target)
            ahead.time = start.time
            scene.place(ahead)
            moved, elapsed = scene.probes() - now, step
            scene.place(start)
        else:
            moved = now - self._probes.position
        self._new_probes = _Probes(now, start.time)
        speed = _farthest(moved) / elapsed
        if scene.moving:
            t0, t1 = start.time, start.time + step
            to_come = [_farthest(scene.obstacle_displacement(o, now, t0, t0, t1)) for o in scene.moving]
            speed += max(to_come) / step
        return speed

    def _measure(self, out: ContactSet) -> None:
        out.count = 0
        for detector, candidates in self._detectors:
            if candidates.count:
                detector.measure(candidates, self.scene.poses, self.margin, out)

    # — at every iterate —

    def take_start(self) -> int:
        """Make the set at the start of the step the current one; returns its size."""
        self.contacts = self.start
        return self.contacts.count

    def measure(self, trial: State) -> int:
        """Make the set at a trial state the current one; returns its size."""
        self.scene.place(trial)
        self.contacts = self._trial
        self._measure(self.contacts)
        return self.contacts.count

    def find(self, state: State, margin: float) -> int:
        """Make every contact at a state with a gap below `margin` [m] the current set; returns its size.

        Candidates are looked for anew, without a step: for statics.
        """
        self.scene.place(state)
        self.margin = margin
        for detector, candidates in self._detectors:
            detector.candidates(self.scene.poses, margin, candidates)
        self.contacts = self._trial
        self._measure(self.contacts)
        return self.contacts.count

    def build_rows(self, state: State) -> None:
        """Tangents, friction and J of the current set at the state it was measured."""
        contacts, m = self.contacts, self.contacts.count
        normal = contacts.normal[:m]
        remembered = self._tangents
        previous: Array | None = None
        if m and len(remembered.id) and self._plane is None:
            if len(remembered.id) == m and not np.count_nonzero(remembered.id != contacts.id[:m]):
                previous = remembered.tangent
            else:
                position, found = match(contacts.id[:m], remembered.id)
                previous = np.where(found[:, None], remembered.tangent[position], 0.0)
        tangents(normal, previous, self._plane, contacts.tangent)
        surfaces = self._surface.take(contacts.shape[:m])
        contacts.friction[:m] = self._friction.take(surfaces @ self._row_of_friction)
        self.rows.build(state, contacts)

    def gap_at(self, end: State) -> Array:
        """Gaps of the current contacts at another state [m], nan where a contact is not found there."""
        self.scene.place(end)
        self._measure(self._end)
        m = self.contacts.count
        position, found = match(self.contacts.id[:m], self._end.id[: self._end.count])
        return np.where(found, self._end.gap[position] if self._end.count else 0.0, np.nan)

    def gap_term(self, end_gap: Array, normal_velocity: Array, step: float) -> Array:
        """φ̃ of (1) [m] for the current contacts, shape (m,).

        Args:
            end_gap: φ_k [m].
            normal_velocity: u_n(v̄_k), relative to obstacles [m/s].
            step: h [s].
        """
        m = self.contacts.count
        backwards = end_gap - step * normal_velocity
        position, found = match(self.contacts.id[:m], self.start.id[: self.start.count])
        start_gap = np.where(found, self.start.gap[position] if self.start.count else 0.0, backwards)
        return self._stabilisation(start_gap, step) + end_gap - start_gap - step * normal_velocity

    def stabilised(self, gap: Array, step: float) -> Array:
        """s(φ) of (2) [m]."""
        return self._stabilisation(gap, step)

    def obstacle_velocity(self, time: float, t0: float, t1: float, instant: bool) -> Array | None:
        """Velocity of the obstacles at the current contacts, in contact axes, (m, width) [m/s]; None if all rest.

        Over the step (displacement/h), or, if `instant`, at t1.
        """
        if not self.scene.moving:
            return None
        contacts, m = self.contacts, self.contacts.count
        owner = self.scene.table.obstacle[contacts.shape[:m, 1]]
        velocity = np.zeros((m, 3))
        for o in self.scene.moving:
            mine = owner == o
            if not mine.any():
                continue
            point = contacts.point[:m][mine]
            if instant:
                velocity[mine] = self.scene.obstacle_velocity(o, point, time, t1)
            else:
                velocity[mine] = self.scene.obstacle_displacement(o, point, time, t0, t1) / (t1 - t0)
        return np.einsum("mwi,mi->mw", self.rows.basis(contacts), velocity)

    # — after acceptance, and for resuming —

    def accept(self) -> None:
        """Remember the tangents of the current set, and where the shapes were, for the next step."""
        self._probes = self._new_probes
        m = self.contacts.count
        self._tangents = _Remembered(self.contacts.id[:m].copy(), self.contacts.tangent[:m].copy())

    def memory(self) -> Memory:
        """Tangents by id, and where the probe points were."""
        return {
            "tangent_id": self._tangents.id.copy(),
            "tangent": self._tangents.tangent.copy(),
            "probe": self._probes.position.copy(),
            "probe_time": np.array(self._probes.time),
        }

    def remember(self, memory: Memory) -> None:
        """Take over what `memory` gave; empty means a fresh start."""
        self._tangents, self._probes = _Remembered(), _Probes()
        if memory:
            self._tangents = _Remembered(memory["tangent_id"].copy(), memory["tangent"].copy())
            self._probes = _Probes(memory["probe"].copy(), float(memory["probe_time"]))
        self._new_probes = self._probes
