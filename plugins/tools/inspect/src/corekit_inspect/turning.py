"""Steps in which something turns by more than a radian: no scheme follows what it sees so rarely.

Schemes take ω·h for small: their errors are powers of it, those of Euler's schemes in proportion to (ω·h)² each step,
and of contacts they see one of every few points of a rim.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.simulation.loop import Simulation

__all__ = ["Turning"]

_MOST = 1.0
"""Of ω·h [rad]."""


@final
class Turning:
    """Looks at the angular velocities among a world's velocities."""

    def __init__(self, simulation: Simulation) -> None:
        self._bodies, self._simulation = simulation.bodies, simulation
        self._index = np.array(
            [
                body.first_v + k
                for body in self._bodies
                for k, velocity in enumerate(body.description.velocities)
                if velocity.unit == "rad/s"
            ],
            dtype=np.int64,
        )

    def doubts(self, step: float, when: str) -> list[str]:
        """Return a sentence on what turns fastest, none where that is by less than a radian in a step [s].

        Args:
            when: now, in words.
        """
        if not len(self._index):
            return []
        speeds = np.abs(self._simulation.state.v[self._index])
        k = int(np.argmax(speeds))
        if not speeds[k] * step > _MOST:
            return []
        body = next(each for each in reversed(self._bodies) if each.first_v <= self._index[k] and each.nv)
        name = body.description.velocities[int(self._index[k]) - body.first_v].name
        said = (
            f"bodies.{body.name}: {when} it turns by {speeds[k] * step:.3g} rad in a step of {step:.3g} s ({name}), "
            f"which no scheme resolves: below {0.1 * _MOST / speeds[k]:.1g} s a step turns by a tenth of a radian; or "
            "look for an inertia that is too small"
        )
        return [said]
