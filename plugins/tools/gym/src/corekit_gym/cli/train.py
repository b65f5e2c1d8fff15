"""`corekit train`: a policy for a task, searched for by trial on every core."""

from __future__ import annotations

import time as clock
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from corekit.cli.terminal import make_console, print_json

if TYPE_CHECKING:
    from corekit_gym.training import Generation, Training

__all__ = ["train"]

_EVERY = 10.0
"""Seconds between lines of progress where no line can move."""


def train(
    task: Path,
    /,
    *,
    minutes: float = 10.0,
    generations: int | None = None,
    processes: int | None = None,
    seed: int = 0,
    hidden: tuple[int, ...] = (),
    pairs: int = 16,
    spread: float = 0.15,
    rate: float = 0.1,
    episodes: int = 2,
    evaluated: int = 50,
    overrides: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    replay: bool = True,
    out: Path | None = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
    allow_code: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> None:
    """Search for a policy by an evolution strategy, and say what it is worth in episodes that the search did not see.

    The folder gets policy.npz, progress.csv, a learning curve, evaluation.json, and one episode as a run that
    `corekit render` draws. With --generations the answer depends on the arguments alone.

    Parameters
    ----------
    task
        The task file, or the name of one that is shipped: reach, turn, crawl.
    minutes
        After which no further generation begins.
    generations
        Their largest count.
    processes
        That play episodes; one a core if it is left out.
    seed
        Of everything that is drawn.
    hidden
        Sizes of the policy's hidden layers; none gives one tanh of a linear map.
    pairs
        Directions a generation, each tried forwards and backwards.
    spread
        Size of what is tried about the mean.
    rate
        Length of the mean's steps.
    episodes
        In which each candidate is tried.
    evaluated
        Episodes of the evaluation.
    overrides
        `duration=4.0`: another value for an entry of the task file; may be given several times.
    replay
        Run one episode of the evaluation into `replay` of the folder.
    out
        The folder, instead of one with name and time stamp; if it holds something, a number is added.
    quiet
        Show nothing but errors.
    allow_code
        Allow Python functions that the task or its scenario names: only if you trust them.
    as_json
        Print one JSON object instead of words.
    """
    from corekit_gym.evolution import EvolutionConfig
    from corekit_gym.task_file import load_task
    from corekit_gym.training import TaskSource
    from corekit_gym.training import train as search
    from corekit_study.new_folder import folder_with_results

    config = EvolutionConfig(pairs=pairs, spread=spread, rate=rate)
    loaded = load_task(task, overrides, allow_code=allow_code)
    console = make_console(stderr=True, quiet=quiet or as_json)
    source = TaskSource(str(loaded.source), tuple(overrides), allow_code)
    with (
        folder_with_results(loaded.name, Path("runs"), out) as folder,
        console.status(f"{loaded.name}: playing") as line,
    ):
        last = clock.monotonic()

        def show(generation: Generation) -> None:
            nonlocal last
            words = (
                f"{loaded.name}: generation {generation.number}, {generation.seconds / 60:.1f} of {minutes:g} min, "
                f"{generation.episodes} episodes, mean reward {generation.mean:.4g}"
            )
            line.update(words)
            if not console.is_terminal and clock.monotonic() - last > _EVERY:
                last = clock.monotonic()
                console.print(words, markup=False, soft_wrap=True)

        made = search(
            source, folder, minutes=minutes, generations=generations, processes=processes, seed=seed, hidden=hidden,
            episodes=episodes, evaluated=evaluated, config=config, progress=show,
        )  # fmt: skip
        note = _replay(loaded, made, seed) if replay else ""
    _tell(made, note, as_json=as_json, quiet=quiet)


def _replay(task: Any, made: Training, seed: int) -> str:
    """Run an episode; return why there is none."""
    from corekit.errors import CorekitError
    from corekit_gym.rollout import run_episode

    try:
        run_episode(task, made.policy, seed + 1_000_000, made.folder / "replay")
    except CorekitError as error:
        return f"no replay: {error}"
    return ""


def _tell(made: Training, note: str, *, as_json: bool, quiet: bool) -> None:
    before, after = made.before.as_data(), made.after.as_data()
    if as_json:
        print_json(
            {
                "folder": str(made.folder),
                "generations": len(made.generations),
                "before": before,
                "after": after,
            }
        )
        return
    if quiet:
        return
    console = make_console()
    console.print(
        f"{len(made.generations)} generations, {made.generations[-1].episodes} episodes", highlight=False
    )
    for name, told in (("before", before), ("after", after)):
        ends = ", ".join(
            f"{what} {value['median']:.3g} ({value['tenth']:.3g} … {value['nine_tenths']:.3g})"
            for what, value in told["at_the_end"].items()
        )
        console.print(
            f"{name:7} reward {told['reward']['median']:.4g}, done in {100 * told['success']:.0f} %; "
            f"at the end, median (10 … 90 %): {ends}",
            highlight=False, markup=False, soft_wrap=True,
        )  # fmt: skip
    files = {"policy": made.folder / "policy.npz", "picture": made.picture, "replay": made.folder / "replay"}
    for what, path in files.items():
        if path is not None and path.exists():
            console.print(f"{what:8} {path}", highlight=False, markup=False, soft_wrap=True)
    for words in (made.note, note):
        if words:
            console.print(words, highlight=False, markup=False, soft_wrap=True)
