"""Initial guesses for the end velocity of a step.

Implicit midpoint does not damp: a mode with h·ω ≫ 1, such as the stretch of a rod, changes the sign of its
velocity from step to step for ever. v₀ then lies on the wrong side, too far away for Newton's method. The
mean velocity v̄ = ½·(v₀ + v⁺) of a step is free of that ringing. The guess therefore follows the line through
the last two means,

    v̄_n = v̄_{n−1} + ½·(h + h_{n−1})·(v̄_{n−1} − v̄_{n−2})/(½·(h_{n−1} + h_{n−2})),   v⁺ = 2·v̄_n − v₀     (1)

which without ringing is one order better than v₀. It needs two previous steps, the last of which ended with
v₀. The next guesses, and the first ones for θ = 1, are v₀ and zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.roles.component import InternalState

__all__ = ["VelocityPredictor"]


class VelocityPredictor:
    """The mean velocities of the last two steps, the velocity at their end, and their sizes.

    Args:
        theta: θ of the scheme; (1) is for ½.
    """

    def __init__(self, theta: float) -> None:
        self._is_active = theta == 0.5
        self._mean = self._earlier = self._end = self._guess = np.zeros(0)
        self._step_sizes = (0.0, 0.0)
        self._count = 0

    def internal_state(self) -> InternalState:
        """Return the last two steps; an empty state before the first one."""
        if not self._count:
            return {}
        steps = np.array([self._mean, self._earlier, self._end])
        return {"means": steps, "step_sizes": np.array([*self._step_sizes, self._count])}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore the output of `internal_state`, or reset."""
        self._count = 0
        if "means" in internal_state:
            self._mean, self._earlier, self._end = (row.copy() for row in internal_state["means"])
            self._guess = np.zeros(len(self._mean))
            last, earlier, count = internal_state["step_sizes"]
            self._step_sizes, self._count = (float(last), float(earlier)), int(count)

    def add_step(self, mean: Array, end: Array, step: float) -> None:
        """Store an accepted step: its v̄ and v⁺, shape (nv,), and its size h [s]."""
        if not self._is_active:
            return
        if len(self._mean) != len(mean):
            self._mean, self._earlier, self._end, self._guess = np.zeros((4, len(mean)))
            self._count = 0
        self._mean, self._earlier = self._earlier, self._mean
        self._mean[:], self._end[:] = mean, end
        self._step_sizes, self._count = (step, self._step_sizes[0]), min(2, self._count + 1)

    def guesses(self, start: Array, step: float) -> Iterator[Array]:
        """Yield initial guesses for v⁺ of a step h [s] from v₀ = `start`, the best first; valid until the next."""
        if self._count == 2 and len(self._end) == len(start):
            last, earlier = self._step_sizes
            ratio = (step + last) / (last + earlier)
            if _extrapolate(self._mean, self._earlier, self._end, start, ratio, self._guess):
                yield self._guess
        yield start
        if start.any():
            yield np.zeros_like(start)


@compiled
def _extrapolate(mean: Array, earlier: Array, end: Array, start: Array, ratio: float, out: Array) -> bool:
    """Write v⁺ of (1) for the quotient of its times; return False if v₀ is not the end of the last step."""
    for i in range(len(start)):
        if end[i] != start[i]:
            return False
        out[i] = (2.0 + 2.0 * ratio) * mean[i] - (2.0 * ratio) * earlier[i] - start[i]
    return True
