"""Prescribed coordinates of one body: q = p(t), v = ṗ(t), their acceleration, and jumps of their rate."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.instants import same_instant
from corekit.data.state import State
from corekit.errors import PluginError
from corekit.roles.body import Body

__all__ = ["PrescribedMotion", "rate_jumps"]

_JUMP = 1e-9
"""A smaller change of a rate, relative to the largest one there and around, is none."""
_AROUND = [sign * 10.0**-k for k in range(1, 6) for sign in (1.0, -1.0)]
"""Where around an instant rates are asked for, relative to it: a motion that lasts longer than 1e-5 of it is met."""
_LEAST = sys.float_info.min**0.5
"""At the start of all time nothing is relative to it."""


def rate_jumps(before: Array, time: float, behind: float, rates_at: Callable[[float], Array]) -> bool:
    """Whether rates jump at a breakpoint.

    Behind one where a motion begins smoothly they grow with the distance from it, and behind one where it ends there
    may be what rounding leaves of rates that it had.

    Args:
        before: rates in front of it. time: of it [s]. behind: an instant behind it, as near as rounding allows [s].
        rates_at: the rates of the motion.
    """
    after = rates_at(behind)
    change = np.abs(after - before)
    large = change > _JUMP * np.maximum(np.abs(before), np.abs(after)) + _LEAST
    if not large.any():
        return False
    around = np.max([np.abs(rates_at(time + share * time)) for share in _AROUND], axis=0)
    grows = np.abs(rates_at(behind + (behind - time)) - before) > 1.5 * change
    return bool((large & ~grows & (change > _JUMP * around)).any())


@final
class PrescribedMotion:
    """p(t) and ṗ(t) of a body, evaluated once per instant.

    Args:
        body: any body; most have no prescribed coordinates.

    Attributes:
        index: velocity indices, shape (p,). coordinates: coordinate indices, shape (p,).
        exists: whether there are any.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self.index, self.coordinates = (
            body.description.prescribed_velocity_index,
            body.description.prescribed_coordinate_index,
        )
        self.exists = len(self.index) > 0
        if self.exists and body.abilities.prescribed is None:
            raise PluginError(
                f"the model of body {body.name!r} describes prescribed coordinates, but its spec does not provide "
                "'prescribed': this is a mistake in the plugin"
            )
        # p and ṗ at the two instants used last: a step needs those of its trial and of its end again and again
        self._values = np.zeros((2, 2, len(self.index)))
        self._times, self._oldest = [math.nan, math.nan], 0

    def values_at(self, time: float) -> Array:
        """p and ṗ, shape (2, p); an instant that rounding puts behind a breakpoint counts as the breakpoint."""
        times = self._times
        if time == times[0]:
            return self._values[0]
        if time != times[1]:
            slot, self._oldest = self._oldest, 1 - self._oldest
            times[slot] = time
            self._evaluate(min((time, *self._body.kinks_at(time))), *self._values[slot])
            return self._values[slot]
        return self._values[1]

    def _evaluate(self, time: float, value: Array, rate: Array) -> None:
        motion = self._body.abilities.prescribed
        assert motion is not None
        motion.compute_prescribed_motion(time, value, rate)

    def forget(self) -> None:
        """Forget the values that the body's model before this one gave."""
        self._times[:] = math.nan, math.nan

    def set_coordinates(self, state: State, time: float) -> None:
        """Set the prescribed coordinates of a body's state to p(time)."""
        if self.exists:
            state.q[self.coordinates] = self.values_at(time)[0]

    def set_rates(self, state: State, time: float) -> None:
        """Set the prescribed velocities of a body's state to ṗ(time)."""
        if self.exists:
            state.v[self.index] = self.values_at(time)[1]

    def impose(self, state: State, time: float) -> None:
        """Set the prescribed coordinates and velocities of a body's state to p(time) and ṗ(time)."""
        self.set_coordinates(state, time)
        self.set_rates(state, time)

    # — where rates jump —

    def rate_after(self, time: float) -> Array | None:
        """ṗ(t⁺), shape (p,), where a motion of the body has a breakpoint at `time`; else None."""
        behind = self._behind(time)
        return None if behind is None else self._rate_at(behind)

    def jumped_rate(self, state: State) -> Array | None:
        """ṗ(t⁺), shape (p,), where it differs from the state's own rates by a jump; else None."""
        behind, before = self._behind(state.time), state.v[self.index]
        if behind is None or not rate_jumps(before, state.time, behind, self._rate_at):
            return None
        return self._rate_at(behind)

    def _behind(self, time: float) -> float | None:
        """An instant behind a breakpoint at `time`, None where there is none."""
        breakpoints = self._body.kinks_at(time)
        return max(time, *breakpoints) + 2.0 * same_instant(time) if breakpoints else None

    def _rate_at(self, time: float) -> Array:
        """ṗ(t), a new array (p,)."""
        value, rate = np.zeros((2, len(self.index)))
        self._evaluate(time, value, rate)
        return rate

    def acceleration(self, state: State, small: float) -> Array:
        """p̈(t), shape (p,), by a central difference of ṗ over ±`small` seconds.

        The difference does not cross a breakpoint of ṗ; at one it is that of the side on which the state's own rates
        are.
        """
        time = state.time
        after = self.rate_after(time)
        if after is None:
            low, high = self._between_breakpoints(time, small)
            before = self.values_at(low)[1].copy()
            return (self.values_at(high)[1] - before) / (high - low)
        before, now, ahead = (self.values_at(t)[1].copy() for t in (time - small, time, time + small))
        own = state.v[self.index]
        passed = np.abs(own - after) < np.abs(own - now)
        return np.where(passed, ahead - after, now - before) / small

    def _between_breakpoints(self, time: float, distance: float) -> tuple[float, float]:
        """The instants `distance` before and behind `time`, or nearer, without a breakpoint between them [s]."""
        low, high, near = time - distance, time + distance, 2.0 * same_instant(time)
        for motion in self._body.description.prescribed_signals:
            for breakpoint_ in motion.breakpoints(time - distance, time + distance):
                if breakpoint_ < time:
                    low = max(low, breakpoint_ + near)
                else:
                    high = min(high, breakpoint_)
        return low, high
