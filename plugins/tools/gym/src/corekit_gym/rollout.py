"""Episodes of a policy: in an environment for their reward, and as a run of the scenario that is stored and drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import CompositionError
from corekit.scenario.load import with_values
from corekit.simulation.loop import Simulation
from corekit_gym.drive import Drive
from corekit_gym.environment import Environment
from corekit_gym.readings import Readings
from corekit_gym.task import Task
from corekit_run.running import run

__all__ = ["Episode", "play", "run_episode"]

Act = Callable[[Array], Any]
"""A policy: the action for an observation."""


@frozen
class Episode:
    """How an episode went.

    Args:
        reward: sum over its actions. steps: how many actions. ended: by what. success: whether the task was done.
        last: name of every rewarded quantity → its measure at the end, in its unit.
    """

    reward: float
    steps: int
    ended: str
    success: bool
    last: Mapping[str, float]


def play(environment: Environment, policy: Act, seed: int) -> Episode:
    """Play one episode, whose draws follow from the seed alone."""
    observation, info = environment.reset(seed=seed)
    total, steps = 0.0, 0
    while True:
        observation, reward, terminated, truncated, info = environment.step(policy(observation))
        total, steps = total + reward, steps + 1
        if terminated or truncated:
            return Episode(total, steps, info["ended"], info["is_success"], environment.measures())


@final
class _Played:
    """A policy as a controller of a scenario, with the draws of an episode."""

    def __init__(self, task: Task, policy: Act, targets: Mapping[str, Array]) -> None:
        self._task, self._policy, self._given = task, policy, targets
        self._simulation: Simulation | None = None

    def __call__(self, simulation: Simulation) -> Any:
        if simulation is not self._simulation:
            self._begin(simulation)
        self._readings.update()
        observation = self._readings.observation()
        np.clip(self._policy(observation), -1.0, 1.0, out=self._action)
        period = self._task.frame_skip * simulation.step_length
        return {
            body: {channel: value.copy() for channel, value in channels.items()}
            for body, channels in self._drive.inputs(self._action, period).items()
        }

    def _begin(self, simulation: Simulation) -> None:
        self._simulation, self._drive = simulation, Drive(self._task, simulation)
        self._action = np.zeros(self._drive.size)
        self._readings = Readings(self._task, simulation, self._given, self._action)


def run_episode(task: Task, policy: Act, seed: int, folder: Path) -> Any:
    """Run the episode of a seed as a run with results, as `Scenario.run` does; states are those of `play` to the bit.

    Raises:
        CompositionError: the task begins off the scenario's start, which a run cannot.
    """
    if task.loaded is None:
        raise CompositionError(f"task {task.name!r} has no scenario: give one in `loaded`")
    environment = Environment(task)
    if environment.draws.moves_start:
        raise CompositionError(
            f"task {task.name!r} draws where bodies begin: its episodes cannot be run from a scenario"
        )
    environment.reset(seed=seed)
    targets = {name: value.copy() for name, value in environment.draws.targets.items()}
    scenario = with_values(task.loaded, {**environment.parameters, "time.duration": task.duration})
    every = task.frame_skip * scenario.time.step
    return run(
        scenario.with_controller(_Played(task, policy, targets), every=every, name="policy"), directory=folder
    )
