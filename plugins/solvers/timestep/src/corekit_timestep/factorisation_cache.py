"""Factorisation of an earlier step, reused while it solves steps.

If a step's matrix hardly differs from that of the last step, chord steps with the old one suffice and save
assembly and factorisation. The internal state is the state of that matrix, (q₀, v₀, aux, t), v_k and h, so
that a resumed run computes the same matrix again.

A matrix that grows old makes steps longer long before it fails. It is replaced when the chord steps beyond the
fewest that one step needed with it add up to what a new one costs. Where the cost grows with age, that is at most
twice the cost of the best time, whatever the motion will be: the rule of a skier that rents skis until the rent has
bought them.

Matrices with the terms of a contact potential or of constraints are not cached, since these depend on more than this
state. Contact impulses have no terms in the matrix.

Source: Karlin, Manasse, Rudolph and Sleator (1988), "Competitive snoopy caching", Algorithmica 3, for the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.component import InternalState
from corekit.roles.integrator import System

__all__ = ["FactorisationCache"]

_REPLACEMENT: Final = 4
"""Chord steps that a new matrix costs about: assembly, factorisation and a solve."""
_WAITING_STEPS: Final = 8
"""Steps without a trial after a step in which the old matrix failed."""


class FactorisationCache:
    """State and identifier of a factorisation, what it has cost, and the number of steps without a trial of it.

    Args:
        theta: θ of the scheme.
    """

    def __init__(self, theta: float) -> None:
        self._theta = theta
        self._id: int | None = None
        self._state: State | None = None
        self._velocity = np.zeros(0)
        self._step = 0.0
        self._wait = self._fewest = self._excess = 0
        self._restored: InternalState = {}

    def internal_state(self) -> InternalState:
        """Return the state of the factorisation, from which `remember` restores it."""
        if self._restored:
            return {name: array.copy() for name, array in self._restored.items()}
        arrays: InternalState = {"matrix.wait": np.array(self._wait)}
        if self._id is not None and self._state is not None:
            start = self._state
            arrays |= {"matrix.q": start.q.copy(), "matrix.v": start.v.copy(), "matrix.aux": start.aux.copy()}
            arrays |= {
                "matrix.velocity": self._velocity.copy(),
                "matrix.at": np.array([start.time, self._step, self._fewest, self._excess]),
            }
        return arrays

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore the output of `internal_state`, or reset."""
        self._id, self._wait, self._restored = None, 0, {}
        if "matrix.wait" in internal_state:
            self._wait = int(internal_state["matrix.wait"])
        if "matrix.q" in internal_state:
            self._restored = {
                name: array.copy() for name, array in internal_state.items() if name.startswith("matrix.")
            }

    def is_usable(self, system: System, step: float) -> bool:
        """Whether the system still has the factorisation, for this step size h [s], and the cache does not wait."""
        if self._restored:
            self._restore(system)
        if self._id is None or self._id != system.factorisation_id or step != self._step:
            return False
        if self._wait:
            self._wait -= 1
            return False
        return True

    def drop_replaced(self, system: System) -> None:
        """Forget a matrix that the system has replaced by another one, as where a step had an impact."""
        if self._id != system.factorisation_id:
            self._id = None

    def on_success(self, chord_steps: int) -> None:
        """Count the chord steps by which the old matrix solved a step; give it up where it has cost a new one."""
        measured = max(2, chord_steps)  # one alone shows nothing of the matrix: the guess was the solution
        self._fewest = min(self._fewest or measured, measured)
        self._excess += measured - self._fewest
        if self._excess >= _REPLACEMENT:
            self._id = None

    def on_failure(self) -> None:
        """Wait some steps after the old matrix failed."""
        self._wait = _WAITING_STEPS

    def store(self, system: System, start: State, velocity: Array, step: float, shift: float) -> None:
        """Store the last factorisation, of a step h from `start` at v_k = `velocity`, unless its matrix was shifted."""
        self._fewest = self._excess = 0
        self._id = None if shift or len(system.constraint_impulses) else system.factorisation_id
        if self._id is None:
            return
        if self._state is None:
            self._state, self._velocity = system.new_state(), np.zeros(len(velocity))
        self._state.copy_from(start)
        self._velocity[:], self._step = velocity, step

    def _restore(self, system: System) -> None:
        restored, self._restored = self._restored, {}
        start, (time, step, fewest, excess) = system.new_state(), restored["matrix.at"].tolist()
        start.q[:], start.v[:], start.aux[:] = (
            restored["matrix.q"],
            restored["matrix.v"],
            restored["matrix.aux"],
        )
        start.time = time
        system.theta.begin_step(start, step)
        system.theta.linearise(restored["matrix.velocity"], self._theta)
        self.store(system, start, restored["matrix.velocity"], step, 0.0)
        self._fewest, self._excess = int(fewest), int(excess)
