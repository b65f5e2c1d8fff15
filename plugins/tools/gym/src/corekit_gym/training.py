"""A policy for a task, searched for in processes, with what it is worth in episodes that the search did not see."""

from __future__ import annotations

import csv
import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from attrs import asdict, frozen

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit.roles.viewer import Line, LineChart, Panel
from corekit_gym.environment import Environment
from corekit_gym.evolution import Evolution, EvolutionConfig, directions
from corekit_gym.policy import Policy
from corekit_gym.rollout import Episode, play
from corekit_gym.task_file import load_task
from corekit_record.cli.pictures import draw_chart
from corekit_run.output_file import write_json, writing
from corekit_run.processes import process_count, work, worker_pool

__all__ = ["Evaluation", "Generation", "TaskSource", "Training", "evaluate", "train"]

_HELD_OUT = 1_000_000
"""Seeds of episodes for evaluation begin here; the search uses smaller ones."""


@frozen
class TaskSource:
    """Where a task comes from, for other processes: its file or shipped name, and changes to it."""

    file: str
    overrides: tuple[str, ...] = ()
    allow_code: bool = False

    def environment(self) -> Environment:
        """Make the environment."""
        return Environment(load_task(self.file, self.overrides, allow_code=self.allow_code))


@frozen
class Generation:
    """A generation: its number, seconds and episodes since the start, mean and best reward of what was tried."""

    number: int
    seconds: float
    episodes: int
    mean: float
    best: float


@frozen
class Evaluation:
    """Episodes of a policy that the search did not see.

    Args:
        episodes: each.
    """

    episodes: tuple[Episode, ...]

    def as_data(self) -> dict[str, Any]:
        """Medians, and the share of successes, as JSON takes them."""
        rewards = np.array([each.reward for each in self.episodes])
        names = list(self.episodes[0].last)
        last = {name: np.array([each.last[name] for each in self.episodes]) for name in names}
        return {
            "episodes": len(self.episodes),
            "reward": _spread(rewards),
            "success": float(np.mean([each.success for each in self.episodes])),
            "at_the_end": {name: _spread(values) for name, values in last.items()},
        }


def _spread(values: Array) -> dict[str, float]:
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
    return {"median": float(middle), "tenth": float(low), "nine_tenths": float(high)}


@frozen
class Training:
    """What was found.

    Args:
        folder: that holds it. policy: the mean of the last generation.
        before, after: evaluations of the first policy and of the last.
        generations: all. picture: of the learning curve, or None. note: why there is no picture.
    """

    folder: Path
    policy: Policy
    before: Evaluation
    after: Evaluation
    generations: tuple[Generation, ...]
    picture: Path | None
    note: str


def train(
    source: TaskSource,
    folder: Path,
    *,
    minutes: float = 10.0,
    generations: int | None = None,
    processes: int | None = None,
    seed: int = 0,
    hidden: tuple[int, ...] = (),
    episodes: int = 2,
    evaluated: int = 50,
    config: EvolutionConfig | None = None,
    progress: Callable[[Generation], object] | None = None,
) -> Training:
    """Search for a policy by `corekit_gym.evolution`, and write it with its learning curve into a folder.

    With a given count of generations the answer depends on the arguments alone, not on the count of processes.

    Args:
        source: of the task. folder: that exists, for policy.npz, progress.csv, learning.png and evaluation.json.
        minutes: after which the last generation begins no more. generations: their largest count.
        processes: that play; one a core if None. seed: of everything that is drawn.
        hidden: sizes of the policy's hidden layers. episodes: in which each candidate is tried.
        evaluated: episodes before and after that the search does not see.
        config: of the search. progress: called after each generation.
    Raises:
        ConfigError: a number that cannot be.
    """
    _check(
        minutes=minutes, episodes=episodes, evaluated=evaluated, processes=processes, generations=generations
    )
    config = config or EvolutionConfig()
    environment = source.environment()
    seen, given = environment.sizes
    random = np.random.default_rng(seed)
    policy = Policy.random((seen, *hidden, given), random)
    count = processes or process_count()
    search, done, began, played = (
        Evolution(policy.numbers, config),
        list[Generation](),
        clock.perf_counter(),
        0,
    )
    with worker_pool(count) as pool, _Table(folder / "progress.csv") as write:
        held_out = list(range(_HELD_OUT + seed, _HELD_OUT + seed + evaluated))

        def judge(numbers: Array) -> Evaluation:
            parts = [part.tolist() for part in np.array_split(held_out, min(count, evaluated))]
            told = [pool.submit(work, _play_all, source, policy.sizes, numbers, part) for part in parts]
            return Evaluation(tuple(each for future in told for each in future.result()))

        before = judge(search.mean)
        while True:
            drawn = int(random.integers(2**62))
            seeds = [int(each) for each in random.integers(_HELD_OUT, size=episodes)]
            parts = np.array_split(np.arange(config.pairs), min(config.pairs, 2 * count))
            told = [
                pool.submit(
                    work, _try_all, source, policy.sizes, search.mean, config, drawn, part.tolist(), seeds
                )
                for part in parts
            ]
            rewards = np.concatenate([future.result() for future in told])
            search.move(directions(drawn, config.pairs, len(search.mean)), rewards)
            played += 2 * config.pairs * episodes
            done.append(
                Generation(
                    len(done) + 1,
                    clock.perf_counter() - began,
                    played,
                    float(rewards.mean()),
                    float(rewards.max()),
                )
            )
            write(done[-1])
            if progress is not None:
                progress(done[-1])
            if len(done) == generations or done[-1].seconds > 60.0 * minutes:
                break
        after = judge(search.mean)
    found = Policy(policy.sizes, search.mean)
    found.save(folder / "policy.npz")
    write_json(folder / "evaluation.json", {"before": before.as_data(), "after": after.as_data()})
    picture, note = _draw(done, folder / "learning", environment.task.name)
    return Training(folder, found, before, after, tuple(done), picture, note)


def evaluate(environment: Environment, policy: Policy, episodes: int, seed: int = 0) -> Evaluation:
    """Play episodes that no search with this seed sees."""
    return Evaluation(tuple(play(environment, policy, _HELD_OUT + seed + k) for k in range(episodes)))


_environments: dict[TaskSource, Environment] = {}
"""Of this process, composed once."""


def _environment(source: TaskSource) -> Environment:
    if source not in _environments:
        _environments[source] = source.environment()
    return _environments[source]


def _play_all(source: TaskSource, sizes: tuple[int, ...], numbers: Array, seeds: list[int]) -> list[Episode]:
    environment, policy = _environment(source), Policy(sizes, numbers)
    return [play(environment, policy, seed) for seed in seeds]


def _try_all(
    source: TaskSource,
    sizes: tuple[int, ...],
    mean: Array,
    config: EvolutionConfig,
    drawn: int,
    which: list[int],
    seeds: list[int],
) -> Array:
    """Mean rewards of some directions, forwards and backwards, (n, 2)."""
    environment, tried = _environment(source), directions(drawn, config.pairs, len(mean))
    rewards = np.zeros((len(which), 2))
    for row, k in enumerate(which):
        for column, sign in enumerate((1.0, -1.0)):
            policy = Policy(sizes, mean + sign * config.spread * tried[k])
            rewards[row, column] = np.mean([play(environment, policy, seed).reward for seed in seeds])
    return rewards


class _Table:
    """A CSV file that grows by a line a generation."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> Callable[[Generation], None]:
        with writing(self._path):
            self._file = self._path.open("w", newline="", encoding="utf-8")
        table = csv.writer(self._file)
        table.writerow(["generation", "seconds", "episodes", "mean_reward", "best_reward"])

        def write(generation: Generation) -> None:
            with writing(self._path):
                table.writerow(list(asdict(generation).values()))
                self._file.flush()

        return write

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _draw(done: list[Generation], stem: Path, name: str) -> tuple[Path | None, str]:
    played = np.array([float(each.episodes) for each in done])
    lines = tuple(
        Line(label, played, np.array([getattr(each, what) for each in done]))
        for label, what in (("mean of what was tried", "mean"), ("best", "best"))
    )
    return draw_chart(
        LineChart(f"{name}: reward of an episode", (Panel("episodes played", "reward [–]", lines),)), stem
    )


def _check(**given: float | None) -> None:
    mistakes = [
        Mistake(name, value, "must be above 0")
        for name, value in given.items()
        if value is not None and not value > 0
    ]
    if mistakes:
        raise ConfigError(mistakes, "the training")
