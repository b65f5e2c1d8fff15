"""From the numbers of a policy to the values of input channels."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit.registry.resolve import did_you_mean
from corekit.roles.controller import Inputs
from corekit.roles.model import Channel
from corekit.simulation.loop import Simulation
from corekit_gym.task import Action, Task

__all__ = ["Drive"]


@frozen(eq=False)
class _Driven:
    """A channel, the slice of the policy's numbers that drive it, and how.

    Args:
        rows: (k, n) value that each of k numbers adds at 1. offset: (n,) value without action.
        low, high: (n,) bounds. rate: 1/s of a channel whose rate is set; 0 where the value itself is.
        held: (n,) the value now.
    """

    body: str
    channel: str
    numbers: slice
    rows: Array
    offset: Array
    low: Array
    high: Array
    rate: float
    held: Array

    def advance(self, action: Array, period: float) -> Array:
        """Return the value that holds for a period [s], from the numbers of a policy: the same array at every call."""
        change, held = action[self.numbers] @ self.rows, self.held
        if self.rate:
            change *= self.rate * period
            held += change
            np.maximum(held, self.low, out=held)
            np.minimum(held, self.high, out=held)
        else:
            np.add(self.offset, change, out=held)
        return held


@final
class Drive:
    """Values of the driven channels from the numbers of a policy.

    Args:
        task: whose actions. simulation: of its scenario.
    Attributes:
        size: how many numbers a policy gives.
    Raises:
        ConfigError: every action that drives what is not there, or beyond its bounds.
    """

    def __init__(self, task: Task, simulation: Simulation) -> None:
        mistakes: list[Mistake] = []
        self._simulation = simulation
        self._driven: list[_Driven] = []
        self.size = 0
        for i, action in enumerate(task.actions):
            made = _driven(action, simulation, self.size, f"actions[{i}]", mistakes)
            if made is not None:
                self._driven.append(made)
                self.size = made.numbers.stop
        if mistakes:
            raise ConfigError(mistakes, f"task {task.name!r}")

    def begin(self) -> None:
        """Go back to the values without action."""
        for each in self._driven:
            each.held[:] = each.offset

    def inputs(self, action: Array, period: float) -> Inputs:
        """Return the inputs that hold for a period [s], from numbers in −1 … 1, shape (size,)."""
        found: dict[str, dict[str, Any]] = {}
        for each in self._driven:
            found.setdefault(each.body, {})[each.channel] = each.advance(action, period)
        return found

    def hold(self, action: Array, period: float) -> None:
        """Write the same to the simulation.

        Raises:
            ControlError: a controller drives the channel.
        """
        bodies = self._simulation.inputs
        for each in self._driven:
            bodies[each.body][each.channel] = each.advance(action, period)


def _driven(
    action: Action, simulation: Simulation, first: int, path: str, mistakes: list[Mistake]
) -> _Driven | None:
    """Return what an action drives, whose numbers begin at `first`; None where it cannot."""
    body = next((each for each in simulation.bodies if each.name == action.body), None)
    if body is None:
        names = [each.name for each in simulation.bodies]
        said = f"must be a body{did_you_mean(action.body, names)}: {', '.join(names)}"
        mistakes.append(Mistake(f"{path}.body", action.body, said))
        return None
    channels = {each.name: each for each in body.description.inputs}
    channel = channels.get(action.channel)
    if channel is None:
        said = f"must be a channel{did_you_mean(action.channel, channels)}: {', '.join(channels) or 'none'}"
        mistakes.append(Mistake(f"{path}.channel", action.channel, said))
        return None
    before = len(mistakes)
    low = channel.lower if action.low is None else action.low
    high = channel.upper if action.high is None else action.high
    _check_bounds(action, channel, (low, high), path, mistakes)
    if len(mistakes) > before:
        return None
    count = channel.size
    if action.rows:
        rows = np.array(action.rows, dtype=float)
        offset = np.array(action.offset or (0.0,) * count, dtype=float)
        reach = np.abs(rows).sum(axis=0)
        outside = (offset - reach < channel.lower) | (offset + reach > channel.upper)
        if not action.rate and outside.any():
            said = f"leaves the channel's bounds [{channel.lower:g}, {channel.upper:g}] {channel.unit} at −1 or 1"
            mistakes.append(Mistake(f"{path}.rows", action.rows, said))
            return None
    else:
        rows = 0.5 * (high - low) * np.eye(count)
        offset = np.full(count, 0.5 * (low + high))
        if action.rate:
            offset = np.clip(np.zeros(count), low, high)
    numbers = slice(first, first + len(rows))
    bounds = np.full(count, low), np.full(count, high)
    return _Driven(action.body, action.channel, numbers, rows, offset, *bounds, action.rate, offset.copy())


def _check_bounds(
    action: Action, channel: Channel, bounds: tuple[float, float], path: str, mistakes: list[Mistake]
) -> None:
    low, high = bounds
    needed = not action.rows or action.rate > 0.0
    if needed and not (np.isfinite(low) and np.isfinite(high)):
        said = f"must be given: the channel has no bounds of its own [{channel.unit}]"
        mistakes.append(Mistake(f"{path}.low" if not np.isfinite(low) else f"{path}.high", None, said))
    elif low > high or low < channel.lower or high > channel.upper:
        said = (
            f"must hold low ≤ high within the channel's bounds [{channel.lower:g}, {channel.upper:g}] "
            f"{channel.unit}"
        )
        mistakes.append(Mistake(path, f"{low:g} … {high:g}", said))
    for what, lists in (("rows", action.rows), ("offset", (action.offset,) if action.offset else ())):
        for each in lists:
            if len(each) != channel.size:
                said = f"must have the channel's {channel.size} numbers, not {len(each)}"
                mistakes.append(Mistake(f"{path}.{what}", list(each), said))
    if action.offset and not action.rows:
        mistakes.append(
            Mistake(f"{path}.offset", list(action.offset), "is of rows: give rows, or low and high")
        )
