"""How q follows the solver's unknowns from the end of its last step, on any manifold.

The unknowns are y = (s, v) with ṡ = v: s is the path of every velocity since (q_n, v_n) at t_n, the end of the last
step. With Δt = t − t_n,

    q(t, y) = (q_n ⊕ (½·s + Δt/6·(v_n − v))) ⊕ (½·s − Δt/6·(v_n − v))                            (1)

and q ⊕ w = integrate(q, w, 1). For coordinates that add up this is q_n + s. Rotations do not commute: (1) is the
commutator-free scheme of order four of the parabola through v_n and v with the mean s/Δt; the two Gauss points carry
w ± (√3/6)·(v_n − v), weighted by ¼ ± √3/6. Going back, Δt < 0, it gives the states inside the last step.

Source: Celledoni, Marthinsen and Owren (2003), "Commutator-free Lie group methods".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.component import Memory
from corekit.roles.integrator import System

__all__ = ["ConfigurationPath"]


@final
class ConfigurationPath:
    """The place (q_n, v_n, t_n) and motion from there.

    Args:
        system: gives states and ⊕.

    Attributes:
        here: the place.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._n = system.nv
        self.here, self._next, self._between = (system.new_state() for _ in range(3))
        self._half, self._turn = np.zeros(self._n), np.zeros(self._n)

    def begin(self, state: State) -> None:
        """Start at a state."""
        self.here.copy_from(state)

    def state(self, time: float, y: Array, out: State) -> None:
        """Write the state of unknowns y at a time by (1)."""
        n, here = self._n, self.here
        half, turn = self._half, self._turn
        np.multiply(y[:n], 0.5, out=half)
        np.subtract(here.v, y[n:], out=turn)
        turn *= (time - here.time) / 6.0
        half += turn
        # ⊕ is a motion over 1 s; prescribed coordinates are set at the time of its end
        now, here.time = here.time, 0.5 * (here.time + time) - 1.0
        self._system.integrate(here, half, 1.0, here, self._between)
        here.time, self._between.time = now, time - 1.0
        np.subtract(y[:n], half, out=half)
        self._system.integrate(self._between, half, 1.0, self._between, out)
        out.v[:] = y[n:]
        out.time = time

    def move(self, time: float, y: Array) -> None:
        """Move the place to the end of a step."""
        self.state(time, y, self._next)
        self.here, self._next = self._next, self.here

    def memory(self) -> Memory:
        """The place, as named arrays."""
        here = self.here
        return {"path.q": here.q.copy(), "path.aux": here.aux.copy(), "path.v": here.v.copy()}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]], time: float) -> None:
        """Restore what `memory` saved at time t_n."""
        here = self.here
        here.q[:], here.aux[:], here.v[:] = memory["path.q"], memory["path.aux"], memory["path.v"]
        here.time = time
