"""Rewards and endings: numbers of quantities, weighted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import final

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_gym.task import Ending, Reward, Task

__all__ = ["Payment", "measure"]


def measure(term: Reward | Ending, values: Mapping[str, Array]) -> Callable[[], float]:
    """Return what computes a term's number of its quantity, whose array stays the same."""
    value = values[term.quantity]
    if term.measure == "component":
        which = term.component
        return lambda: float(value[which])
    if term.measure == "square":
        return lambda: float(value @ value)
    return lambda: math.sqrt(value @ value)


@final
class Payment:
    """The reward of an action, term by term, and what ends an episode.

    Args:
        task: whose rewards and endings. values: of the quantities, arrays that stay the same.
    Raises:
        ConfigError: every component that a quantity does not have.
    """

    def __init__(self, task: Task, values: Mapping[str, Array]) -> None:
        mistakes = [
            Mistake(f"{what}[{i}].component", each.component, f"must be below {len(values[each.quantity])}")
            for what, terms in (("rewards", task.rewards), ("endings", task.endings))
            for i, each in enumerate(terms)
            if each.measure == "component" and each.component >= len(values[each.quantity])
        ]
        if mistakes:
            raise ConfigError(mistakes, f"task {task.name!r}")
        self._rewards = [(each, measure(each, values)) for each in task.rewards]
        self._endings = [(each, measure(each, values)) for each in task.endings]
        self._last = [0.0] * len(self._rewards)

    def begin(self) -> None:
        """Remember the measures at the start of an episode."""
        self._last = [read() for _, read in self._rewards]

    def terms(self) -> dict[str, float]:
        """Return the weighted terms since the last call, by their names."""
        paid: dict[str, float] = {}
        for k, (reward, read) in enumerate(self._rewards):
            value = read()
            shaped = value
            if reward.shape == "change":
                shaped = value - self._last[k]
            elif reward.shape == "bell":
                shaped = math.exp(-((value / reward.width) ** 2))
            self._last[k] = value
            paid[reward.name] = reward.weight * shaped
        return paid

    def measures(self) -> dict[str, float]:
        """Return the measure of every rewarded quantity now, by the quantity's name."""
        return {reward.quantity: read() for reward, read in self._rewards}

    def ending(self) -> Ending | None:
        """Return the first ending that holds."""
        for ending, read in self._endings:
            value = read()
            if (ending.below is not None and value < ending.below) or (
                ending.above is not None and value > ending.above
            ):
                return ending
        return None
