"""An earlier step's factorisation, kept for as long as it solves steps.

Where a step's matrix hardly differs from that of the last one, chord steps with it are enough, and neither assembly nor
factorisation is paid for. What is remembered is the place at which it was made, (q₀, v₀, aux, t), v_k and h, so that a
resumed run makes the very same one again. It is kept apart from contacts and bilateral rows alone, whose terms depend
on more than that place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.component import Memory
from corekit.roles.integrator import System

__all__ = ["KeptMatrix"]

_PATIENCE: Final = 8
"""Steps without a trial after one in which the kept matrix was not good enough."""


class KeptMatrix:
    """The place and the number of a factorisation, and for how many steps it is not to be tried.

    Args:
        theta: θ of the scheme.
    """

    def __init__(self, theta: float) -> None:
        self._theta = theta
        self._number: int | None = None
        self._place: State | None = None
        self._velocity = np.zeros(0)
        self._step = 0.0
        self._wait = 0
        self._given: Memory = {}

    def memory(self) -> Memory:
        """What `remember` takes; the factorisation itself is made anew from it."""
        if self._given:
            return {name: array.copy() for name, array in self._given.items()}
        kept: Memory = {"matrix.wait": np.array(self._wait)}
        if self._number is not None and self._place is not None:
            place = self._place
            kept |= {"matrix.q": place.q.copy(), "matrix.v": place.v.copy(), "matrix.aux": place.aux.copy()}
            kept |= {
                "matrix.velocity": self._velocity.copy(),
                "matrix.at": np.array([place.time, self._step]),
            }
        return kept

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over what `memory` gave, or forget."""
        self._number, self._wait, self._given = None, 0, {}
        if "matrix.wait" in memory:
            self._wait = int(memory["matrix.wait"])
        if "matrix.q" in memory:
            self._given = {name: array.copy() for name, array in memory.items() if name.startswith("matrix.")}

    def usable(self, system: System, step: float) -> bool:
        """Whether the system still has the kept factorisation, made for this step h [s], and it is worth a trial."""
        if self._given:
            self._restore(system)
        if self._number is None or self._number != system.factorisation_id or step != self._step:
            return False
        if self._wait:
            self._wait -= 1
            return False
        return True

    def failed(self) -> None:
        """It was not good enough."""
        self._wait = _PATIENCE

    def take(self, system: System, start: State, velocity: Array, step: float, shift: float) -> None:
        """Keep the last factorisation, of a step h from `start` made about v_k = `velocity`; lifted ones are not."""
        self._number = None if shift or len(system.constraint_impulses) else system.factorisation_id
        if self._number is None:
            return
        if self._place is None:
            self._place, self._velocity = system.new_state(), np.zeros(len(velocity))
        self._place.copy_from(start)
        self._velocity[:], self._step = velocity, step

    def _restore(self, system: System) -> None:
        given, self._given = self._given, {}
        place, (time, step) = system.new_state(), given["matrix.at"].tolist()
        place.q[:], place.v[:], place.aux[:] = given["matrix.q"], given["matrix.v"], given["matrix.aux"]
        place.time = time
        system.theta.begin_step(place, step)
        system.theta.linearise(given["matrix.velocity"], self._theta)
        self.take(system, place, given["matrix.velocity"], step, 0.0)
