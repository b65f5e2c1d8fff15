"""Initial guesses for the end velocity of a step.

The position of a θ step moves by the mean velocity v̄ = θ·v⁺ + (1 − θ)·v₀, which is the velocity at θh within the step:
v̄ = v(t + θh) + O(h²). Of the velocities of a step it is the smooth one. A stiff mode, h·ω ≫ 1, turns v⁺ into
−(1 − θ)/θ·v₀ in every step: for θ = ½ it rings for ever, and v₀ lies on the wrong side, too far away for Newton's
method; its v̄ is small, 2/(h·ω) of that. The guess therefore follows the line through the last two means,

    v̄_n = v̄_{n−1} + r·(v̄_{n−1} − v̄_{n−2}),     v⁺ = (v̄_n − (1 − θ)·v₀)/θ
    r = (θ·h_n + (1 − θ)·h_{n−1})/(θ·h_{n−1} + (1 − θ)·h_{n−2})                          (1)

r is the quotient of the times between the means. Without ringing (1) is one order better than v₀: it is off by
h²·v̈ where v₀ is off by h·v̇. For θ = 1, v̄ is v⁺, and (1) is the line through the last two end velocities.

(1) needs two steps in a row, without a jump of v between them or after them: an impact, a reset or a rate jump starts
anew. Within a step a contact that closes or begins to slide bends the line without a sign of it in the velocities; the
last mean, held,

    v⁺ = (v̄_{n−1} − (1 − θ)·v₀)/θ                                                          (2)

is not bent and does not ring either, but is off by h·v̇/θ; for θ = 1 it is v₀. So (1) is given only while it would have
halved the error of (2) at the last step, rates of turning counted as speeds of the surface, and else (2). The next
guesses are v₀ and zero. Not even where v₀ is nearer than (2) does it come first: what it misses are stiff modes, which
cost Newton's method most. With v₀ in the place of (2) the second helix of DisMech, which rings, took 2.4 matrices a
step, with (2) it takes 1.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.roles.component import InternalState

__all__ = ["VelocityPredictor", "rehearse_guess"]


class VelocityPredictor:
    """The mean velocities of the last two steps, the velocity at their end, their sizes, and whether (1) held.

    Args:
        theta: θ of the scheme.
    """

    def __init__(self, theta: float) -> None:
        self._theta = theta
        self._mean = self._earlier = self._end = self._guess = np.zeros(0)
        self._step_sizes = (0.0, 0.0)
        self._count = 0
        self._is_good = True

    def internal_state(self) -> InternalState:
        """Return the last two steps; an empty state before the first one."""
        if not self._count:
            return {}
        steps = np.array([self._mean, self._earlier, self._end])
        return {"means": steps, "step_sizes": np.array([*self._step_sizes, self._count, self._is_good])}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore the output of `internal_state`, or reset."""
        self._count, self._is_good = 0, True
        if "means" in internal_state:
            self._mean, self._earlier, self._end = (row.copy() for row in internal_state["means"])
            self._guess = np.zeros(len(self._mean))
            last, earlier, count, is_good = internal_state["step_sizes"]
            self._step_sizes = float(last), float(earlier)
            self._count, self._is_good = int(count), bool(is_good)

    def add_step(
        self, start: Array, mean: Array, end: Array, step: float, scale: Array | None = None
    ) -> None:
        """Store an accepted step: its v₀, v̄ and v⁺, shape (nv,), and its size h [s].

        Args:
            scale: by which errors of velocities are speeds of the surface, shape (nv,); None: 1.
        """
        if len(self._mean) != len(mean):
            self._mean, self._earlier, self._end, self._guess = np.zeros((4, len(mean)))
            self._count = 0
        if self._extrapolate(start, step):
            self._is_good = _halves_error(self._guess, self._mean, start, end, self._theta, scale)
        elif self._count and not np.array_equal(self._end, start):
            self._count, self._is_good = 0, True
        self._mean, self._earlier = self._earlier, self._mean
        self._mean[:], self._end[:] = mean, end
        self._step_sizes, self._count = (step, self._step_sizes[0]), min(2, self._count + 1)

    def guesses(self, start: Array, step: float) -> Iterator[Array]:
        """Yield initial guesses for v⁺ of a step h [s] from v₀ = `start`, the best first; valid until the next."""
        if (self._is_good or self._theta < 1.0) and self._extrapolate(start, step):
            if not self._is_good:
                _hold(self._mean, start, self._theta, self._guess)
            yield self._guess
        yield start
        if start.any():
            yield np.zeros_like(start)

    def _extrapolate(self, start: Array, step: float) -> bool:
        """Write (1) to the guess; return False without two steps, the last of which ended with v₀."""
        if self._count < 2 or len(self._end) != len(start):
            return False
        theta, (last, earlier) = self._theta, self._step_sizes
        ratio = (theta * step + (1.0 - theta) * last) / (theta * last + (1.0 - theta) * earlier)
        return bool(_extrapolate(self._mean, self._earlier, self._end, start, theta, ratio, self._guess))


@compiled
def _extrapolate(
    mean: Array, earlier: Array, end: Array, start: Array, theta: float, ratio: float, out: Array
) -> bool:
    """Write v⁺ of (1) for the quotient of its times; return False if v₀ is not the end of the last step."""
    for i in range(len(start)):
        if end[i] != start[i]:
            return False
        out[i] = ((1.0 + ratio) * mean[i] - ratio * earlier[i] - (1.0 - theta) * start[i]) / theta
    return True


@compiled
def _hold(mean: Array, start: Array, theta: float, out: Array) -> None:
    """Write v⁺ of (2)."""
    for i in range(len(start)):
        out[i] = (mean[i] - (1.0 - theta) * start[i]) / theta


@compiled
def _halves_error(
    guess: Array, mean: Array, start: Array, end: Array, theta: float, scale: Array | None
) -> bool:
    """Whether a guess of `end` misses it by at most half as much as (2) does."""
    off, held = 0.0, 0.0
    for i in range(len(end)):
        weight = 1.0 if scale is None else scale[i]
        off += (weight * (guess[i] - end[i])) ** 2
        held += (weight * ((mean[i] - (1.0 - theta) * start[i]) / theta - end[i])) ** 2
    return off <= 0.25 * held


def rehearse_guess() -> None:
    """Load what a step with two steps before it calls, in worlds with and without a scale."""
    still = np.zeros(1)
    for scale in (None, np.ones(1)):
        predictor = VelocityPredictor(1.0)
        for _ in range(3):
            predictor.add_step(still, still, still, 1.0, scale)
    _hold(still, still, 1.0, np.zeros(1))
