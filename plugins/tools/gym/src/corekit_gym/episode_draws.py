"""What differs from episode to episode: targets, numbers of the scenario, and where bodies begin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit.registry.resolve import did_you_mean
from corekit.simulation.loop import Simulation
from corekit_gym.task import Task

__all__ = ["EpisodeDraws"]


@final
class EpisodeDraws:
    """Draws what a task varies, in the order of the file, from one generator.

    Args:
        task: whose targets, draws and starts. simulation: of its scenario.
    Attributes:
        targets: name → array of the vector that was drawn last.
    Raises:
        ConfigError: every start of what is not there.
    """

    def __init__(self, task: Task, simulation: Simulation) -> None:
        self._task = task
        self.targets: dict[str, Array] = {
            each.name: np.zeros(len(each.low or each.choices[0])) for each in task.targets
        }
        self._starts: list[tuple[str, np.ndarray[Any, Any], float, float]] = []
        mistakes: list[Mistake] = []
        for i, start in enumerate(task.starts):
            body = next((each for each in simulation.bodies if each.name == start.body), None)
            if body is None:
                names = [each.name for each in simulation.bodies]
                said = f"must be a body{did_you_mean(start.body, names)}: {', '.join(names)}"
                mistakes.append(Mistake(f"starts[{i}].body", start.body, said))
                continue
            is_q = start.of == "coordinates"
            about = body.description.coordinates if is_q else body.description.velocities
            names = [each.name for each in about]
            for entry in start.entries:
                if entry not in names:
                    said = f"must be one of the {start.of}{did_you_mean(entry, names)}: {', '.join(names)}"
                    mistakes.append(Mistake(f"starts[{i}].entries", entry, said))
            chosen = [names.index(each) for each in start.entries or names if each in names]
            first = body.first_q if is_q else body.first_v
            which = first + np.array(chosen, dtype=np.int64)
            self._starts.append(("q" if is_q else "v", which, start.low, start.high))
        if mistakes:
            raise ConfigError(mistakes, f"task {task.name!r}")

    @property
    def moves_start(self) -> bool:
        """Whether bodies begin off the scenario's start."""
        return bool(self._starts)

    def draw_targets(self, random: np.random.Generator, given: Mapping[str, Any]) -> None:
        """Draw the targets, but those that are given."""
        for each in self._task.targets:
            if each.choices:
                drawn = np.array(each.choices[int(random.integers(len(each.choices)))], dtype=float)
            else:
                drawn = uniform(random, np.array(each.low), np.array(each.high))
            self.targets[each.name][:] = given.get(each.name, drawn)

    def draw_parameters(self, random: np.random.Generator) -> dict[str, float]:
        """Return a value for each path of the scenario that is varied."""
        drawn: dict[str, float] = {}
        for each in self._task.draws:
            if each.scale == "log":
                drawn[each.path] = math.exp(uniform(random, math.log(each.low), math.log(each.high)))
            else:
                drawn[each.path] = float(uniform(random, each.low, each.high))
        return drawn

    def move_start(self, random: np.random.Generator, state: State) -> None:
        """Change q and v of a state."""
        for part, which, low, high in self._starts:
            getattr(state, part)[which] += uniform(
                random, np.full(len(which), low), np.full(len(which), high)
            )


def uniform(random: np.random.Generator, low: Any, high: Any) -> Any:
    """Draw uniformly in [low, high], also where both are the same."""
    return low + (high - low) * random.random(np.shape(low) or None)
