"""q as a function of the solver's unknowns since the end of its last step, on any manifold.

The unknowns are y = (s, v) with ṡ = v: s is the integral of every velocity since (q_n, v_n) at t_n, the end
of the last step. With Δt = t − t_n,

    q(t, y) = (q_n ⊕ (½·s + Δt/6·(v_n − v))) ⊕ (½·s − Δt/6·(v_n − v))                            (1)

and q ⊕ w = integrate(q, w, 1). For additive coordinates this is q_n + s. Rotations do not commute: (1) is the
commutator-free scheme of order four of the parabola through v_n and v with the mean s/Δt; the two Gauss
points have w ± (√3/6)·(v_n − v), weighted by ¼ ± √3/6. Δt < 0 gives the states inside the last step.

Source: Celledoni, Marthinsen and Owren (2003), "Commutator-free Lie group methods".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.component import InternalState
from corekit.roles.integrator import System

__all__ = ["ConfigurationPath"]


@final
class ConfigurationPath:
    """The origin (q_n, v_n, t_n) and the motion from there.

    Args:
        system: provides states and ⊕.

    Attributes:
        origin: the state at t_n.
    """

    def __init__(self, system: System) -> None:
        self._system = system
        self._n = system.nv
        self.origin, self._next, self._between = (system.new_state() for _ in range(3))
        self._half, self._commutator = np.zeros(self._n), np.zeros(self._n)

    def set_origin(self, state: State) -> None:
        """Copy a state to the origin."""
        self.origin.copy_from(state)

    def compute_state(self, time: float, y: Array, out: State) -> None:
        """Write the state of unknowns y at a time by (1)."""
        n, origin = self._n, self.origin
        half, commutator = self._half, self._commutator
        np.multiply(y[:n], 0.5, out=half)
        np.subtract(origin.v, y[n:], out=commutator)
        commutator *= (time - origin.time) / 6.0
        half += commutator
        # ⊕ integrates over 1 s and sets prescribed coordinates at the time of its end
        origin_time, origin.time = origin.time, 0.5 * (origin.time + time) - 1.0
        self._system.integrate(origin, half, 1.0, origin, self._between)
        origin.time, self._between.time = origin_time, time - 1.0
        np.subtract(y[:n], half, out=half)
        self._system.integrate(self._between, half, 1.0, self._between, out)
        out.v[:] = y[n:]
        out.time = time

    def advance_origin(self, time: float, y: Array) -> None:
        """Move the origin to the end of a step."""
        self.compute_state(time, y, self._next)
        self.origin, self._next = self._next, self.origin

    def internal_state(self) -> InternalState:
        """Return the origin, as named arrays."""
        origin = self.origin
        return {"path.q": origin.q.copy(), "path.aux": origin.aux.copy(), "path.v": origin.v.copy()}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]], time: float) -> None:
        """Restore the output of `internal_state` at time t_n."""
        origin = self.origin
        origin.q[:], origin.aux[:], origin.v[:] = (
            internal_state["path.q"],
            internal_state["path.aux"],
            internal_state["path.v"],
        )
        origin.time = time
