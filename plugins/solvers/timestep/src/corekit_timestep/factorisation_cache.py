"""The factorisation of an earlier step, used as long as it solves steps.

Where a step's matrix hardly differs from that of the last step, chord steps with the old one are enough, and assembly
and factorisation are saved. The internal state is the place where it was made, (q₀, v₀, aux, t), v_k and h, so that a
resumed run makes the same one again. Matrices with contacts or constraints are not cached, since their terms depend on
more than that place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.component import Memory
from corekit.roles.integrator import System

__all__ = ["FactorisationCache"]

_PATIENCE: Final = 8
"""Steps without a trial after a step in which the old matrix was not good enough."""


class FactorisationCache:
    """The place and the number of a factorisation, and the number of steps in which it is not tried.

    Args:
        theta: θ of the scheme.
    """

    def __init__(self, theta: float) -> None:
        self._theta = theta
        self._id: int | None = None
        self._place: State | None = None
        self._velocity = np.zeros(0)
        self._step = 0.0
        self._wait = 0
        self._restored: Memory = {}

    def memory(self) -> Memory:
        """The place of the factorisation, from which `remember` makes it again."""
        if self._restored:
            return {name: array.copy() for name, array in self._restored.items()}
        kept: Memory = {"matrix.wait": np.array(self._wait)}
        if self._id is not None and self._place is not None:
            place = self._place
            kept |= {"matrix.q": place.q.copy(), "matrix.v": place.v.copy(), "matrix.aux": place.aux.copy()}
            kept |= {
                "matrix.velocity": self._velocity.copy(),
                "matrix.at": np.array([place.time, self._step]),
            }
        return kept

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore what `memory` saved, or forget."""
        self._id, self._wait, self._restored = None, 0, {}
        if "matrix.wait" in memory:
            self._wait = int(memory["matrix.wait"])
        if "matrix.q" in memory:
            self._restored = {
                name: array.copy() for name, array in memory.items() if name.startswith("matrix.")
            }

    def is_usable(self, system: System, step: float) -> bool:
        """Return whether the system still has the factorisation, for this step h [s], and it is worth a trial."""
        if self._restored:
            self._restore(system)
        if self._id is None or self._id != system.factorisation_id or step != self._step:
            return False
        if self._wait:
            self._wait -= 1
            return False
        return True

    def on_failure(self) -> None:
        """Wait some steps, since the old matrix was not good enough."""
        self._wait = _PATIENCE

    def store(self, system: System, start: State, velocity: Array, step: float, shift: float) -> None:
        """Store the last factorisation, of a step h from `start` at v_k = `velocity`, unless its matrix was shifted."""
        self._id = None if shift or len(system.constraint_impulses) else system.factorisation_id
        if self._id is None:
            return
        if self._place is None:
            self._place, self._velocity = system.new_state(), np.zeros(len(velocity))
        self._place.copy_from(start)
        self._velocity[:], self._step = velocity, step

    def _restore(self, system: System) -> None:
        given, self._restored = self._restored, {}
        place, (time, step) = system.new_state(), given["matrix.at"].tolist()
        place.q[:], place.v[:], place.aux[:] = given["matrix.q"], given["matrix.v"], given["matrix.aux"]
        place.time = time
        system.theta.begin_step(place, step)
        system.theta.linearise(given["matrix.velocity"], self._theta)
        self.store(system, place, given["matrix.velocity"], step, 0.0)
