"""What the velocities at the start of a step lead to, where contacts of the start alone would mislead.

Two shapes may pass each other within a step, so that a gap at its end counts from the wrong side. And an obstacle may
turn the normal of a row far in a step, along which the row would hold no longer.
"""

from __future__ import annotations

from typing import Final, final

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.engine.contact.contact_pipeline import ContactPipeline
from corekit.engine.step.linearisation import LinearisationPoint
from corekit.engine.world.world_terms import WorldTerms

__all__ = ["LookAhead"]

_ALLOWANCE: Final = 1.05
"""How far ahead of the end of a step a pair is judged, relative to its motion: forces may add speed within the step."""


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

    def passed_pair(self, start: State, step: float) -> tuple[int, int] | None:
        """Find a pair of shapes that pass each other in a step h [s] if nothing stops them."""
        pipeline = self._pipeline
        if not pipeline.may_pass_through(start, step, self._world.jacobian):
            return None
        return pipeline.find_passed_pair(start, self._state(start, _ALLOWANCE * start.v, step))

    def contact_point(self, start: State, point: LinearisationPoint) -> LinearisationPoint:
        """Where the contacts of a scheme that linearises at the start are found.

        That is the start itself, or, where obstacles move, the state ahead: there the rows are those of the bodies
        and obstacles as they will stand, and the linearisation is that of implicit Euler at v_k = v₀. The start again
        where an obstacle would pass a body at v₀.
        """
        if not self._pipeline.scene.moving:
            return point
        ahead = self._state(start, start.v, point.step)
        if self._pipeline.find_passed_pair(start, ahead) is not None:
            return point
        return point._replace(at=ahead, end=ahead, mean=start.v)
