"""How long a step may be where a contact potential acts: no pair moves through a large part of its layer at once.

A potential sees nothing outside its layer of half width δ. A pair with gap φ whose gap changes at the rate φ̇ may move

    h·|φ̇| ≤ max(φ − δ, 0) + r   (φ̇ < 0),        h·|φ̇| ≤ r   (φ̇ > 0 and φ < δ)                        (1)

with r ≤ δ/2 the potential's resolution, so that a step ends between δ and δ − r before the potential pushes, and an
impact is resolved by several steps.
Where shapes turn, other points may approach faster than those that are nearest now. So the state ahead is looked at,
and h is halved until no gap φ' there is smaller than

    min(φ, δ) − 1.5·r                                                                       (2)

and no pair has changed sides. Forces may add speed within the step, as those of a stiff rod that rings after an impact
do. So the end of a step is looked at too: where a gap is smaller there than (2) allows with 2·r in place of 1.5·r, the
step is repeated in halves. While a contact is inside the layer h grows by at most a factor per step: where a body
turns around its velocity is small for a moment, its acceleration is not. Worlds in which nothing comes closer to
anything by r in a step and no gap is below −δ are not looked at before it, as a rod that slides along a floor; and
after it only where a gap is below −δ and velocities changed by more than r/(2·h), as by a motor that is switched on.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import StepReport
from corekit.engine.contact.contact_kernels import id_order, match_by_id
from corekit.engine.contact.contact_pipeline import ContactPipeline
from corekit.engine.look_ahead import passing_pairs
from corekit.engine.world.world_terms import WorldTerms
from corekit.roles.body import stacked_velocity_scale
from corekit.roles.component import InternalState, Stateful
from corekit.roles.contact import ContactPotential
from corekit.roles.integrator import Integrator, System
from corekit.roles.stage_solver import velocity_norms

__all__ = ["StepLimit"]

_GROWTH = 1.25
_ROUNDING = 1e-9
"""Of the rest to a stop: none is left for a step of its own."""
_SHORTEST = 2.0**-24
"""Of the scenario's step; shorter ones would stop the run for good."""
_UNSOLVED = 2.0**-10
"""Of the scenario's step, down to which one that misses its tolerance is repeated in halves."""
_ALLOWANCE = 1.05
"""How far ahead of the end of a step a pair is judged: forces may add speed within the step."""
_AHEAD, _AT_END = 1.5, 2.0
"""How much of a gap a step may use up, relative to r: as (2) judges it before the step, and after it."""


@final
class StepLimit:
    """Limits the steps of a world with a contact potential.

    Args:
        world: the world's terms.
        pipeline: its contact pipeline.
        potential: supplies δ and r; of one without a layer the margin within which contacts are always found is δ.

    Attributes:
        passed_pair: two shapes that no step is short enough for, since the potential is too weak; or None.
        watches: whether a pair is so near that `is_resolved` looks at the end of the step.
        start_velocity: v at the start of the step, shape (nv,).
    """

    def __init__(self, world: WorldTerms, pipeline: ContactPipeline, potential: ContactPotential) -> None:
        self._world, self._pipeline = world, pipeline
        self._layer = potential.activation_distance or pipeline.least_margin
        self._span = potential.resolution or 0.5 * self._layer
        self._ahead = world.new_state()
        self.passed_pair: tuple[int, int] | None = None
        self.watches, self.start_velocity = False, np.zeros(world.nv)
        self._last, self._is_deep, self._shortest = math.inf, False, 0.0
        scale = stacked_velocity_scale([terms.body for terms in world.bodies])
        self._scale = np.ones(world.nv) if scale is None else scale

    def make_step(
        self, integrator: Integrator, system: System, start: State, stop: float, out: State, step: float
    ) -> StepReport:
        """Make one step of an integrator; a shorter one where a pair moved too far through the layer.

        Args:
            integrator, system, start, out: as of `Integrator.step`. stop, step: as of `stop`.
        """
        stop = self.stop(start, stop, step)
        own = integrator if self.watches and isinstance(integrator, Stateful) else None
        kept = {} if own is None else own.internal_state()
        while True:
            report = integrator.step(system, start, stop, out)
            if not report.accepted:
                return report
            if report.solve_info.status.solved or report.step_size <= _UNSOLVED * step:
                deep = self._pipeline.max_penetration() > self._layer
                if deep and not self.watches and self._is_pushed(start, out, report.step_size):
                    self._watch(start, step)
                if self.is_resolved(start, out):
                    return report
            self._last = min(self._last, report.step_size)
            if own is not None:
                own.restore(kept)
            stop = start.time + 0.5 * report.step_size

    def stop(self, start: State, stop: float, step: float) -> float:
        """Return the time up to which steps from `start` resolve what the potential sees, at most `stop` [s].

        Args:
            start: the current state.
            stop: where the integrator must stop [s].
            step: h of the scenario [s]; no step is longer.
        """
        self.start_velocity[:] = start.v
        left = stop - start.time
        limit = self._longest(start, step, left)
        return stop if limit >= left * (1.0 - _ROUNDING) else start.time + limit

    def _longest(self, start: State, step: float, left: float) -> float:
        """Return the longest step from `start`, at most `step` [s]; the next stop is `left` [s] away."""
        pipeline, layer, span = self._pipeline, self._layer, self._span
        self.passed_pair, self._shortest = None, _SHORTEST * step
        self.watches = (
            self._is_deep or pipeline.motion.closing(start, step) > span or step > _GROWTH * self._last
        )
        if not self.watches:
            self._last = math.inf
            return step
        pipeline.begin_step(start, step, layer)
        contacts = pipeline.detect_at_start()
        shortest, limit, touches = self._shortest, step, False
        if contacts.count:
            pipeline.build_jacobian(contacts, start, self._world.jacobian)
            rate = self._world.jacobian.normal_velocity(start.v)
            moving = pipeline.obstacle_velocity(
                contacts, start.time, start.time, start.time + step, instant=False
            )
            if moving is not None:
                rate = rate - moving[:, 0]
            limit, touches = _limit(contacts.gap[: contacts.count], rate, layer, span, step)
        if touches:
            limit = min(limit, _GROWTH * self._last)
        # what explodes is not followed to ever shorter steps: it ends as a number that is not finite
        limit = max(limit, shortest)
        safe = tried = min(limit, left)
        while safe > shortest and not self._is_safe(start, safe):
            safe *= 0.5
        if safe > shortest:
            self.passed_pair, limit = None, limit if safe == tried else safe
        self._last = limit if touches and limit < step else math.inf
        return limit

    def _is_pushed(self, start: State, end: State, step: float) -> bool:
        """Whether forces changed a velocity by so much in a step h that a pair may have moved far."""
        change = step * velocity_norms(end.v - start.v, self._scale)[1]
        return not change <= 0.5 * self._span

    def _watch(self, start: State, step: float) -> None:
        """Find the contacts at the start of a step that was made, for `is_resolved`."""
        self.watches, self._shortest = True, _SHORTEST * step
        self._pipeline.begin_step(start, step, self._layer)
        self._pipeline.detect_at_start()

    def accept(self) -> None:
        """Keep of an accepted step whether a gap is below −δ."""
        self._is_deep = self._pipeline.max_penetration() > self._layer

    def rehearse(self, start: State, end: State, step: float) -> None:
        """Look at a step h as at one in which a pair moved far, so that kernels are loaded; `restore` comes after."""
        scene = self._pipeline.scene
        scene.closing_distance(scene.new_probes(), scene.new_probes())
        self._is_deep = True
        self.stop(start, start.time + step, step)
        self.is_resolved(start, end)
        self.accept()

    def internal_state(self) -> InternalState:
        """The last limit [s], and whether a gap is below −δ."""
        return {"step_limit": np.array([self._last, self._is_deep])}

    def restore(self, internal_state: InternalState) -> None:
        """Restore what `internal_state` gave; empty means a fresh start."""
        last, is_deep = internal_state.get("step_limit", (math.inf, 0.0))
        self._last, self._is_deep = float(last), bool(is_deep)

    def _is_safe(self, start: State, step: float) -> bool:
        """Whether (2) holds at the state that the velocities of the start lead to."""
        self._world.integrate(start, _ALLOWANCE * start.v, step, start, self._ahead)
        return self._loss(start, self._ahead) <= _AHEAD * self._span

    def is_resolved(self, start: State, end: State) -> bool:
        """Whether a step moved no pair too far through the layer; if not, it is to be repeated with a shorter one."""
        if not self.watches or self._loss(start, end) <= _AT_END * self._span:
            return True
        step = end.time - start.time
        self._last = min(self._last, step)
        if step > self._shortest:
            self.passed_pair = None
            return False
        return True

    def _loss(self, start: State, state: State) -> float:
        """The most by which a gap, at most δ, is smaller at a state than at the start [m]; ∞ where a pair passed."""
        pipeline = self._pipeline
        passing = passing_pairs(pipeline, start, state)
        self.passed_pair = (int(passing[0, 0]), int(passing[0, 1])) if len(passing) else None
        if self.passed_pair is not None:
            return math.inf
        one, other = pipeline.start, pipeline.end
        known, gap = one.id[: one.count], np.minimum(one.gap[: one.count], self._layer)
        # a contact that is only there counts as the nearest one of the start, whose neighbour it may be
        before = np.full(other.count, gap.min(initial=self._layer))
        match_by_id(1, other.id, known, id_order(known), gap, before)
        return float((before - other.gap[: other.count]).max(initial=0.0))


@compiled
def _limit(gap: Array, rate: Array, layer: float, span: float, step: float) -> tuple[float, bool]:
    """The longest step by (1), and whether a contact is inside the layer."""
    limit, touches = step, False
    for c in range(len(gap)):
        inside = gap[c] < layer
        touches = touches or inside
        if rate[c] < 0.0:
            limit = min(limit, (max(gap[c] - layer, 0.0) + span) / -rate[c])
        elif inside and rate[c] > 0.0:
            limit = min(limit, span / rate[c])
    return limit, touches
