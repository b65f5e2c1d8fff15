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
from collections.abc import Callable, Sequence

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import Candidates, ContactSet
from corekit.data.state import State
from corekit.linalg.array_table import ArrayTable
from corekit.roles.component import Memory
from corekit.roles.detector import ContactDetector
from corekit.world.bodies import Body
from corekit.world.contact_calls import dress_and_collect
from corekit.world.contact_kernels import counterparts, deepest, gap_terms
from corekit.world.contact_rows import ContactRows
from corekit.world.shape_scene import ShapeScene

__all__ = ["ContactStage", "Stabilisation"]


@frozen
class Stabilisation:
    """s(φ) of (2): approach [-], push_out [1/s], cap [m/s]."""

    approach: float = 1.0
    push_out: float = 20.0
    cap: float = 0.5


class _Tangents:
    """Tangents of contacts by id.

    Attributes:
        count: of how many contacts; −1 until this step's are dressed. id, tangent: theirs.
        table: both, for `contact_calls`.
    """

    __slots__ = ("_arrays", "count", "id", "table", "tangent")

    def __init__(self, room: int, count: int) -> None:
        self.count = count
        self._hold(np.zeros(room, dtype=np.int64), np.zeros((room, 3)))

    def _hold(self, id: IntArray, tangent: Array) -> None:
        self.id, self.tangent = id, tangent
        self._arrays = ArrayTable(id, tangent)
        self.table = self._arrays.table

    def reserve(self, room: int) -> None:
        """Make room for so many, more than now; what is known stays."""
        ids, tangent = self.id, self.tangent
        self._hold(np.zeros(room, dtype=np.int64), np.zeros((room, 3)))
        self.id[: len(ids)], self.tangent[: len(ids)] = ids, tangent


class ContactStage:
    """Detection, gap terms and rows of one step.

    Attributes:
        contacts: the set measured last.
        rows: its J, built on demand by `measure`.
        start: the set at the start of the step.
        margin: gap up to which contacts are taken in this step [m].
        frictional: whether two surfaces of the world have friction.
        placeholder: a set that stands for what the detectors find, or None.
        dressing: for `contact_calls`.
        known, coming: tangents of the last step and of this one.
        room: for tangents and rows of so many contacts.
    """

    __slots__ = (
        "_arrays", "_bodies", "_detectors", "_end", "_gap_terms", "_last_probed", "_last_probes", "_least_margin",
        "_measured", "_probed", "_probes", "_stabilisation", "_trial", "coming", "contacts", "dressing", "frictional",
        "known", "margin", "placeholder", "room", "rows", "scene", "start", "width",
    )  # fmt: skip

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
        self._stabilisation = rule = stabilisation
        self._least_margin = margin
        self._arrays = ArrayTable(
            *friction, np.zeros(3) if plane is None else np.cross(plane[1], plane[2]),
            np.array([plane is not None], dtype=np.int64),
            np.array([rule.approach, rule.push_out, rule.cap], dtype=float),
        )  # fmt: skip
        self.dressing = self._arrays.table
        self.width = 3 if plane is None else 2
        self.frictional = bool(np.any(friction[1]))
        self.start, self._measured = ContactSet(), True
        self._trial = ContactSet()
        self.contacts = self._trial
        self._end = ContactSet()
        self.room = room = 16
        self.rows = ContactRows(bodies, self.width, room)
        self.known, self.coming = _Tangents(room, 0), _Tangents(room, -1)
        self.margin = margin
        self.placeholder: ContactSet | None = None
        points = len(scene.probes())
        # where the probe points were in the last step and are in this one, and when [s]; −∞ before the first step
        self._last_probes, self._last_probed = np.zeros((points, 3)), -math.inf
        self._probes, self._probed = np.zeros((points, 3)), -math.inf
        self._gap_terms = np.zeros(0)
        self._detectors: list[tuple[Callable[..., None], Callable[..., None], Candidates]] = []
        self._assign(detectors)

    def _assign(self, detectors: Sequence[ContactDetector]) -> None:
        """Give every pair of kinds to the first detector that serves it."""
        kinds = sorted(set(self.scene.table.kind))
        wanted = {(a, b) for a in kinds for b in kinds}
        for detector in detectors:
            mine = {(a, b) for a, b in wanted if (a, b) in detector.served or (b, a) in detector.served}
            wanted -= mine
            detector.prepare(self.scene.table, frozenset(mine))
            self._detectors.append((detector.candidates, detector.measure, Candidates()))

    # — once a step —

    def begin(self, start: State, step: float, reach: float = 0.0, gaps: bool = True) -> None:
        """Place the shapes at the start, find candidates and take the gaps there.

        Args:
            start: state at the start of the step.
            step: h [s].
            reach: range of a contact potential [m], added to the margin.
            gaps: whether the gaps at the start are wanted in any case; else `take_start` takes them.
        """
        scene, self._probed = self.scene, start.time
        moved = scene.place_and_probe(start, self._last_probes, self._probes)
        elapsed = self._probed - self._last_probed
        if 0.0 < elapsed < math.inf and not scene.moving:
            coming = step * (moved / elapsed)
        else:
            coming = step * self._speed(start, step, moved, elapsed)
        self.margin = margin = reach + max(self._least_margin, 2.0 * coming)
        for find, _, candidates in self._detectors:
            find(scene.poses, margin + coming, candidates)
        self._measured = gaps
        if gaps:
            self._measure(self.start)

    def _speed(self, start: State, step: float, moved: float, elapsed: float) -> float:
        """How fast shapes may approach [m/s]: bodies as over the last step, or as at the first; obstacles to come.

        Args:
            moved: how far the farthest probe point went since the last step [m].
            elapsed: since then [s].
        """
        scene, now = self.scene, self._probes
        if not 0 < elapsed < math.inf:
            ahead = State.stacked([body.sizes for body in self._bodies])
            for i, body in enumerate(self._bodies):
                part = start.parts[i]
                body.model.advance(part, part.v, step, part, ahead.parts[i])
            ahead.time = start.time
            scene.place(ahead)
            # those of the last step stay: an integrator may begin a step at an earlier time in between
            moved, elapsed = scene.probe(now, np.zeros_like(now)), step
            scene.place(start)
        speed = moved / elapsed
        if scene.moving:
            t0, t1 = start.time, start.time + step
            to_come = [scene.obstacle_displacement(o, now, t0, t0, t1) for o in scene.moving]
            speed += (
                max(float(np.max(np.linalg.norm(moved, axis=1), initial=0.0)) for moved in to_come) / step
            )
        return speed

    def _measure(self, out: ContactSet) -> None:
        out.count = 0
        placeholder = self.placeholder
        for _, measure, candidates in self._detectors:
            if candidates.count or placeholder is not None:
                measure(candidates, self.scene.poses, self.margin, out)
        if placeholder is not None:
            out.copy_from(placeholder)

    def warm_up(self) -> None:
        """Let every detector measure one pair of shapes that no state has placed, so that its kernels are compiled."""
        poses = self.scene.poses
        poses.rotation[:] = np.eye(3)
        for find, measure, candidates in self._detectors:
            find(poses, self.margin, candidates)
            candidates.count = min(candidates.count, 1)
            measure(candidates, poses, self.margin, self._trial)
            self._trial.count = 0

    # — at every iterate —

    def take_start(self) -> ContactSet:
        """Make the set at the start of the step the current one. Asked before any other state."""
        self.contacts = start = self.start
        if not self._measured:
            self._measured = True
            self._measure(start)
        return start

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
        for find, _, candidates in self._detectors:
            find(self.scene.poses, margin, candidates)
        self.contacts = self._trial
        self._measure(self.contacts)
        return self.contacts.count

    def build_rows(self, state: State) -> None:
        """Tangents, friction and J of the current set at the state it was measured."""
        contacts, rows = self.contacts, self.rows
        count, table = contacts.count, contacts.arrays.table
        if count > self.room:
            self.reserve(2 * count)
        known, coming = self.known, self.coming
        carriers = dress_and_collect(
            count, table, self.dressing, known.count, known.table, coming.table, rows.table
        )
        if not rows.collect(state, contacts, carriers):
            carriers = dress_and_collect(
                count, table, self.dressing, known.count, known.table, coming.table, rows.table
            )
            rows.collect(state, contacts, carriers)
        coming.count = count

    def reserve(self, room: int) -> None:
        """Make room for tangents and rows of so many contacts, more than now; known tangents stay."""
        self.room = room
        self.known.reserve(room)
        self.coming.reserve(room)
        self.rows.reserve(room)

    def gap_at(self, end: State, otherwise: Array) -> Array:
        """Gaps of the current contacts at another state [m]; `otherwise` (m,) where one is not found there."""
        self.scene.place(end)
        self._measure(self._end)
        answer = np.empty(self.contacts.count)
        counterparts(
            len(answer), self.contacts.id, self._end.count, self._end.id, self._end.gap, otherwise, answer
        )
        return answer

    def gap_term(self, end_gap: Array, normal_velocity: Array, step: float) -> Array:
        """φ̃ of (1) [m] for the current contacts, shape (m,), a view that the next call rewrites.

        Args:
            end_gap: φ_k [m].
            normal_velocity: u_n(v̄_k), relative to obstacles [m/s].
            step: h [s].
        """
        rule, start, m = self._stabilisation, self.start, self.contacts.count
        gap_terms(
            m, self.contacts.id, end_gap, normal_velocity, step, rule.approach, rule.push_out, rule.cap,
            start.count, start.id, start.gap, self._room(m),
        )  # fmt: skip
        return self._gap_terms[:m]

    def _room(self, count: int) -> Array:
        if len(self._gap_terms) < count:
            self._gap_terms = np.zeros(2 * count)
        return self._gap_terms

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

    def depth(self) -> float:
        """The largest −gap of the current contacts [m], −∞ without any."""
        return deepest(self.contacts.count, self.contacts.gap)

    # — after acceptance, and for resuming —

    def accept(self) -> None:
        """Remember the tangents of the current set, and where the shapes were, for the next step."""
        self._last_probes, self._probes, self._last_probed = self._probes, self._last_probes, self._probed
        if not self.contacts.count:
            self.known.count = 0
        elif self.coming.count >= 0:
            self.known, self.coming = self.coming, self.known
        self.coming.count = -1

    def memory(self) -> Memory:
        """Tangents by id, and where the probe points were."""
        known = self.known
        return {
            "tangent_id": known.id[: known.count].copy(),
            "tangent": known.tangent[: known.count].copy(),
            "probe": self._last_probes.copy(),
            "probe_time": np.array(self._last_probed),
        }

    def remember(self, memory: Memory) -> None:
        """Take over what `memory` gave; empty means a fresh start."""
        self.known.count, self.coming.count = 0, -1
        self._last_probes, self._last_probed = np.zeros_like(self._probes), -math.inf
        if memory:
            self.known.count = count = len(memory["tangent_id"])
            if count > self.room:
                self.reserve(count)
            self.known.id[:count], self.known.tangent[:count] = memory["tangent_id"], memory["tangent"]
            self._last_probes[:] = memory["probe"]
            self._last_probed = float(memory["probe_time"])
