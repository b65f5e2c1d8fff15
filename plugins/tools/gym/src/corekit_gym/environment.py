"""A scenario as an environment of Gymnasium."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, final

import gymnasium
import numpy as np

from corekit.errors import CompositionError, ControlError, StepFailed
from corekit.registry.resolve import did_you_mean
from corekit.simulation.arguments import TABLE, TRUTH, check_arguments, or_none
from corekit.simulation.installed_tools import steps_ahead
from corekit_gym.drive import Drive
from corekit_gym.episode_draws import EpisodeDraws
from corekit_gym.payment import Payment
from corekit_gym.readings import Readings
from corekit_gym.rendering import Picture, Window
from corekit_gym.task import Task
from corekit_gym.task_file import load_task

__all__ = ["Environment"]

_OPTIONS = ("parameters", "targets")
_EPISODES = 1_000_000
"""Grid steps that an environment is expected to make."""


@final
class Environment(gymnasium.Env[Any, Any]):
    """Episodes of a task: actions in −1 … 1, observations in ± `Task.bound`, both boxes of float32.

    An observation is what the task observes in the order of its quantities, each divided by its scale and cut at the
    bound. A reward is the sum of the task's terms. An episode is *terminated* by an ending, or by a step that failed
    where the task says what that costs, and *truncated* at its duration.

    `info` holds `rewards` (term by term), `time` [s], and `unsolved` (grid steps since the reset whose contact problem
    was not solved to its tolerance). At the end it holds `ended`, the name of the ending or `duration` or `failure`,
    and `is_success`.

    Args:
        task: a `Task`, the path of a task file, or the name of a shipped one.
        render_mode: "rgb_array" gives pictures, "human" shows the episode in a browser; None neither.
        render_size: width and height of pictures [pixels].
        overrides: changes to a task file, as `load_task` takes them.
        allow_code: for a task file, as for `corekit.load`.
    Attributes:
        task, simulation: what it was made of. draws: what is drawn; `draws.targets` are the vectors now.
        sizes: how many numbers an observation and an action have.
        parameters: path → value of what was drawn of the scenario.
    Raises:
        ConfigError: every mistake of the task. CompositionError: a task without scenario, or one that does not compose.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "human"], "render_fps": 30}  # noqa: RUF012 - as Gymnasium

    def __init__(
        self,
        task: Task | str | Path,
        *,
        render_mode: str | None = None,
        render_size: tuple[int, int] = (640, 480),
        overrides: Iterable[str] = (),
        allow_code: bool = False,
    ) -> None:
        check_arguments("Environment", allow_code=(allow_code, TRUTH))
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ControlError(f"render_mode is 'rgb_array', 'human' or None, not {render_mode!r}")
        self.task = task if isinstance(task, Task) else load_task(task, overrides, allow_code=allow_code)
        if self.task.loaded is None:
            raise CompositionError(f"task {self.task.name!r} has no scenario: give one in `loaded`")
        self.simulation = self.task.loaded.compose()
        self._ahead = steps_ahead(self.simulation, _EPISODES)
        self._drive = Drive(self.task, self.simulation)
        self._action = np.zeros(self._drive.size)
        self.draws = EpisodeDraws(self.task, self.simulation)
        self._readings = Readings(self.task, self.simulation, self.draws.targets, self._action)
        self._payment = Payment(self.task, self._readings.values)
        bound, size = self.task.bound, self._readings.observation().size
        self.sizes = size, self._drive.size
        self.observation_space = gymnasium.spaces.Box(-bound, bound, (size,), np.float32)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (self._drive.size,), np.float32)
        self._period = self.task.frame_skip * self.simulation.step_length
        self._last_step = max(1, round(self.task.duration / self._period)) * self.task.frame_skip
        self.metadata = {**self.metadata, "render_fps": max(1, round(1.0 / self._period))}
        self.render_mode, self._render_size = render_mode, render_size
        self._drawer: Picture | Window | None = None
        self._unsolved = 0
        self.parameters: dict[str, Any] = {}
        self._is_over = True

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray[Any, Any], dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: of all that is drawn from now on; goes on with the stream if None.
            options: `targets` and `parameters`, name or path → value, in place of what would be drawn.
        """
        super().reset(seed=seed)
        check_arguments("Environment.reset", options=(options, or_none(TABLE)))
        given = dict(options or {})
        self._check_options(given)
        random = self.np_random
        self.draws.draw_targets(random, given.get("targets", {}))
        self.parameters = self.draws.draw_parameters(random) | dict(given.get("parameters", {}))
        simulation, noise = self.simulation, int(random.integers(2**31))
        simulation.reset(seed=noise, parameters=self.parameters or None)
        if self.draws.moves_start:
            now = simulation.state
            moved = type(now)(now.q.copy(), now.v.copy(), now.aux.copy(), now.time)
            self.draws.move_start(random, moved)
            simulation.reset(seed=noise, state=moved)
        self._drive.begin()
        self._action[:] = 0.0
        self._drive.hold(self._action, self._period)
        self._unsolved = 0
        self._is_over = False
        self._readings.update()
        self._payment.begin()
        observation = self._readings.observation()
        if isinstance(self._drawer, Window):
            self._drawer.show()
        return observation, self._info({})

    def step(self, action: Any) -> tuple[np.ndarray[Any, Any], float, bool, bool, dict[str, Any]]:
        """Hold an action for `frame_skip` grid steps.

        Raises:
            ControlError: no episode has begun, or the action is not what the space holds.
            StepFailed: a step failed, and the task does not say what that costs.
        """
        if self._is_over:
            raise ControlError("no episode goes on: call reset() first")
        given = np.asarray(action, dtype=float)
        if given.shape != self._action.shape or not np.isfinite(given).all():
            raise ControlError(
                f"an action is {len(self._action)} finite numbers in −1 … 1, not {np.array2string(given, threshold=9)}"
            )
        np.clip(given, -1.0, 1.0, out=self._action)
        self._drive.hold(self._action, self._period)
        simulation, failed = self.simulation, ""
        try:
            self._make_steps(simulation.step_index + self.task.frame_skip)
        except StepFailed as error:
            if self.task.failure_reward is None:
                raise
            failed = str(error)
        self._readings.update()
        paid = self._payment.terms()
        reward, info = sum(paid.values()), self._info(paid)
        terminated = bool(failed)
        if failed:
            assert self.task.failure_reward is not None
            reward += self.task.failure_reward
            info |= {"ended": "failure", "failure": failed, "is_success": False}
        else:
            ending = self._payment.ending()
            if ending is not None:
                terminated = True
                reward += ending.reward
                info |= {"ended": ending.name, "is_success": ending.success}
        truncated = not terminated and simulation.step_index >= self._last_step
        if truncated:
            info |= {"ended": "duration", "is_success": False}
        self._is_over = terminated or truncated
        observation = self._readings.observation()
        if isinstance(self._drawer, Window):
            self._drawer.show()
        return observation, float(reward), terminated, truncated, info

    def _make_steps(self, end: int) -> None:
        """Make grid steps up to a number of them; the last, which is observed, is an ordinary one."""
        simulation = self.simulation
        while simulation.step_index < end:
            if self._ahead is not None:
                self._ahead(end - 1)
            if not simulation.step().solve_info.status.solved:
                self._unsolved += 1

    def render(self) -> Any:
        """Return a picture now, uint8 of shape (height, width, 3), in mode "rgb_array"; show the page in "human".

        Raises:
            PluginError: no viewer is installed that can.
        """
        if self.render_mode is None:
            gymnasium.logger.warn(
                'no render_mode was given: make the environment with render_mode="rgb_array"'
            )
            return None
        if self._drawer is None:
            world = self.simulation, self.task, self.draws.targets
            is_picture = self.render_mode == "rgb_array"
            self._drawer = Picture(*world, self._render_size) if is_picture else Window(*world)
        return self._drawer.show()

    def measures(self) -> dict[str, float]:
        """Return the measure of every rewarded quantity now, by the quantity's name, in its unit."""
        return self._payment.measures()

    def close(self) -> None:
        """End what was opened for drawing."""
        if self._drawer is not None:
            self._drawer.close()
            self._drawer = None

    def _info(self, paid: Mapping[str, float]) -> dict[str, Any]:
        return {"rewards": paid, "time": self.simulation.time, "unsolved": self._unsolved}

    def _check_options(self, given: Mapping[str, Any]) -> None:
        for key in given:
            if key not in _OPTIONS:
                raise ControlError(
                    f"options of reset: {key!r} is unknown{did_you_mean(key, _OPTIONS)}; "
                    f"there are {' and '.join(_OPTIONS)}"
                )
        targets = given.get("targets", {})
        for name, value in targets.items():
            known = self.draws.targets.get(name)
            if known is None or np.shape(value) != known.shape or not np.isfinite(value).all():
                there = ", ".join(
                    f"{each} ({len(array)} numbers)" for each, array in self.draws.targets.items()
                )
                raise ControlError(
                    f"options of reset: targets.{name} = {value!r}; there are {there or 'none'}"
                )
