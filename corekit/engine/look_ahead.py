"""What the velocities at the start of a step lead to, where contacts of the start alone would mislead.

Two shapes may pass each other within a step, so that a gap at its end counts from the wrong side. And an obstacle may
turn the normal of a row far in a step, along which the row would hold no longer.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.engine.contact.contact_kernels import find_turned_pairs, max_overrun, max_penetration
from corekit.engine.contact.contact_pipeline import NO_PAIRS, ContactPipeline
from corekit.engine.step.linearisation import LinearisationPoint
from corekit.engine.world.world_terms import WorldTerms

__all__ = ["LookAhead", "passing_pairs"]

_ALLOWANCE: Final = 1.05
"""How far ahead of the end of a step a pair is judged, relative to its motion: forces may add speed within the step."""


def passing_pairs(pipeline: ContactPipeline, start: State, ahead: State) -> IntArray:
    """Find pairs whose normal turns between the start and a state ahead, (k, 2): one is behind the other there."""
    one, other = pipeline.start, pipeline.contacts_at_end(ahead, pipeline.approach_distance)
    pipeline.scene.update_poses(start)
    pairs = np.empty((other.count, 2), dtype=np.int64)
    found = find_turned_pairs(one.count, one.shape, one.normal, other.count, other.shape, other.normal, pairs)
    return pairs[:found]


@final
class LookAhead:
    """Looks at the state q₀ ⊕ h·v₀ ahead of a step.

    Args:
        world: the world's terms.
        pipeline: its contact pipeline, whose contacts at the start are known.
    """

    def __init__(self, world: WorldTerms, pipeline: ContactPipeline) -> None:
        self._world, self._pipeline = world, pipeline
        self._ahead: State | None = None

    def _state(self, start: State, velocity: Array, step: float) -> State:
        if self._ahead is None:
            self._ahead = self._world.new_state()
        self._world.integrate(start, velocity, step, start, self._ahead)
        return self._ahead

    def hold_passing(self, start: State, step: float) -> None:
        """Hold the pairs of shapes, and no others, that pass each other in a step h [s] if nothing stops them."""
        pipeline, pairs = self._pipeline, NO_PAIRS
        if self._overruns(start, step):
            pairs = passing_pairs(pipeline, start, self._state(start, _ALLOWANCE * start.v, step))
        pipeline.held = pairs

    def _overruns(self, start: State, step: float) -> bool:
        """Whether by the velocities of the start a pair would overlap, or overlap more, within the step."""
        pipeline, jacobian = self._pipeline, self._world.jacobian
        contacts, count = pipeline.start, pipeline.start.count
        if not -max_penetration(count, contacts.gap) <= pipeline.approach_distance:
            return False
        pipeline.build_jacobian(contacts, start, jacobian)
        normal_velocity = jacobian.normal_velocity(start.v)
        rate = pipeline.obstacle_velocity(contacts, start.time, start.time, start.time + step, instant=False)
        if rate is not None:
            normal_velocity = normal_velocity - rate[:, 0]
        overrun = max_overrun(count, contacts.gap, step, normal_velocity)
        # while kernels are compiled, those that look ahead are too
        return overrun > pipeline.negligible_motion or pipeline.rehearsed is not None

    def contact_point(self, start: State, point: LinearisationPoint) -> LinearisationPoint:
        """Where the contacts of a scheme that linearises at the start are found.

        That is the start itself, or, where obstacles move, the state ahead: there the rows are those of the bodies
        and obstacles as they will stand, and the linearisation is that of implicit Euler at v_k = v₀.
        """
        if not self._pipeline.scene.moving:
            return point
        self.hold_passing(start, point.step)
        ahead = self._state(start, start.v, point.step)
        return point._replace(at=ahead, end=ahead, mean=start.v)
