"""`corekit plan`: a motion through contact, certified, simulated and drawn."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from corekit.cli import FAILED, exit_code, seconds_so_far
from corekit.cli.terminal import make_console, print_json
from corekit.errors import CorekitError, PluginError, ResultsError

if TYPE_CHECKING:
    from corekit.roles.planner import Plan
    from corekit_study.plan import PlanResult
    from corekit_study.plan_file import PlanFile

__all__ = ["plan"]

_EVERY = 5.0
"""Seconds between lines of progress where no line can move."""


def plan(
    file: Path,
    /,
    *,
    overrides: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    vary: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    scheduler: str = "processes",
    jobs: int | None = None,
    begin_from: Annotated[Path | None, Parameter(name="--from")] = None,
    replay: bool = True,
    pictures: bool = True,
    out: Path | None = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
    allow_code: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int | None:
    """Find a motion that does what a plan file wants, say what it is worth, and simulate it.

    The certificate measures every equation and every contact condition in physical units; the simulation says where the
    object ends when the planned inputs drive the scenario, alone and with the feedback that the file gives.

    Parameters
    ----------
    file
        The plan file, or the name of one that is shipped.
    overrides
        `options.target.rotation.angle=0.5`: another value for an entry of the file; may be given several times.
    vary
        `options.search.rolling_first=true,false`: search from every combination of such values of the file, at once.
        The folder has one for each, and the results of the best: arrived and certified, of the least cost.
    scheduler
        Where these searches are made: `processes` of this computer, as without it; with corekit-dask also `local`,
        `tcp://HOST:PORT` and `slurm`.
    jobs
        How many of them at once; one a core without it.
    begin_from
        The folder of an earlier plan to begin from.
    replay
        Simulate the plan as the file's `replay` says.
    pictures
        Draw key frames (PNG) and a replay (HTML) of the plan with the viewers that are installed.
    out
        The folder for the results, instead of one with name and time stamp; if it holds something, a number is added.
    quiet
        Show nothing but errors.
    allow_code
        Allow the scenario to import Python functions that it names, `file.py:function`: only if you trust it.
    as_json
        Print one JSON object instead of a table.
    """
    from corekit_study.new_folder import folder_with_results
    from corekit_study.plan_file import load_plan_file
    from corekit_study.plan_folder import read_warm_start

    silent = quiet or as_json
    try:
        plan_file = load_plan_file(file, overrides, allow_code=allow_code)
        if vary or scheduler != "processes" or jobs is not None:
            if begin_from is not None:
                raise PluginError("--from begins one search from an earlier plan, and --vary makes several")
            return _plan_starts(
                plan_file.name, file, overrides, vary, scheduler, jobs, out,
                replay=replay, allow_code=allow_code, quiet=quiet, as_json=as_json,
            )  # fmt: skip
        earlier = None if begin_from is None else read_warm_start(begin_from)
        with folder_with_results(plan_file.name, Path("runs"), out) as folder:
            made, drawn = _make(plan_file, earlier, folder, replay=replay, pictures=pictures, silent=silent)
    except CorekitError as error:
        if not as_json:
            raise
        print_json({"status": "failed", "reason": str(error)})
        return exit_code(error)
    if as_json:
        print_json({**made.as_data(), "pictures": drawn}, default=str)
    elif not quiet:
        from corekit_study.cli.plan_report import print_plan

        print_plan(made, drawn)
    return None if made.solved else FAILED


def _plan_starts(
    name: str,
    file: Path,
    overrides: tuple[str, ...],
    vary: tuple[str, ...],
    scheduler: str,
    jobs: int | None,
    out: Path | None,
    *,
    replay: bool,
    allow_code: bool,
    quiet: bool,
    as_json: bool,
) -> int | None:
    """Plan from every combination of what is varied where a scheduler makes them, and report the best."""
    from corekit.errors import ConfigError, Mistake
    from corekit.scenario.load import find_shipped
    from corekit_run.schedulers import check_scheduler
    from corekit_study.new_folder import folder_with_results
    from corekit_study.plan_file import load_plan_file
    from corekit_study.progress_display import progress_line
    from corekit_study.starts import PLAN, best_start, make_starts
    from corekit_study.variants import check_overrides, spread, variants

    if not vary or (jobs is not None and jobs < 1):
        said = "at least 1" if vary else "--vary beside it: one search is not shared out"
        raise ConfigError(
            [Mistake("--jobs" if jobs is not None else "--scheduler", jobs or scheduler, f"needs {said}")]
        )
    check_scheduler(scheduler)
    check_overrides(vary, overrides)
    chosen = variants([spread(text) for text in vary])
    for variant in chosen:  # mistakes are reported before there is a folder
        load_plan_file(file, (*overrides, *variant.overrides), allow_code=allow_code)
    place = file.resolve() if file.is_file() else find_shipped(file.as_posix()) or file
    asked = [
        {
            "file": str(place),
            "overrides": [*overrides, *each.overrides],
            "allow_code": allow_code,
            "replay": replay,
        }
        for each in chosen
    ]
    show = None if quiet or as_json else progress_line
    with folder_with_results(name, Path("runs"), out) as folder:
        starts = make_starts(PLAN, asked, folder, scheduler, jobs, show)
    best = best_start(starts)
    rows = [
        {"start": each.name, "values": dict(variant.values), "cost": each.cost if each.cost == each.cost else None,
         "solved": each.solved, "reason": each.reason} for each, variant in zip(starts, chosen, strict=True)
    ]  # fmt: skip
    if as_json:
        print_json({**best.report, "folder": str(folder), "best": best.name, "starts": rows}, default=str)
    elif not quiet:
        from corekit_study.cli.plan_report import print_starts

        print_starts(name, rows, best.name, folder)
    return None if best.solved else FAILED


def _make(
    plan_file: PlanFile,
    earlier: Plan | None,
    folder: Path,
    *,
    replay: bool,
    pictures: bool,
    silent: bool,
) -> tuple[PlanResult, list[str]]:
    from attrs import evolve

    from corekit_run.cli.progress_line import ProgressLine
    from corekit_run.compilation import shown_compilation
    from corekit_study.plan import make_plan, simulate, write_report

    def show(name: str) -> Any:
        return ProgressLine(name, silent=silent)

    started = seconds_so_far()
    console = make_console(stderr=True, quiet=silent)
    # what the simulations need is compiled in a second process while the planner searches
    with shown_compilation(_ignore) as compilation, console.status(f"{plan_file.name}: planning") as line:
        last = clock.monotonic()

        def report_numbers(numbers: Mapping[str, float]) -> None:
            nonlocal last
            words = _words(plan_file.name, numbers)
            line.update(words)
            if not console.is_terminal and clock.monotonic() - last > _EVERY:
                last = clock.monotonic()
                report(words)

        def report(sentence: str) -> None:
            console.print(sentence, markup=False, soft_wrap=True)

        def share(scenario: str) -> None:
            compilation.share(scenario, step=True)

        made = make_plan(
            plan_file, folder, report_numbers, earlier=earlier, report=report, share=share if replay else None
        )
        began = seconds_so_far()
        drawn = _draw(made) if pictures else []
        made = evolve(made, seconds={"start": started, **made.seconds, "pictures": seconds_so_far() - began})
    made = simulate(made, show) if replay else made
    write_report(made)
    return made, drawn


def _ignore(_progress: object) -> None:
    """Report no compilation: the line shows the search."""


def _words(name: str, numbers: Mapping[str, float]) -> str:
    return f"{name}: " + ", ".join(f"{what} {value:.4g}" for what, value in numbers.items())


def _draw(made: PlanResult) -> list[str]:
    """Key frames and replay of the plan; a viewer that is not installed draws nothing, and that is said."""
    from corekit_record.cli.pictures import installed_viewers, viewer_for
    from corekit_study.plan_drawing import plan_as_replay

    drawn: list[str] = []
    if made.folder is None:
        return drawn
    motion = plan_as_replay(made.plan, made.bodies, made.file.name)
    for ending in (".png", ".html"):
        path = made.folder / f"plan{ending}"
        try:
            viewer_for(path, installed_viewers()).viewer.render(motion, path)
        except (PluginError, ResultsError) as error:
            drawn.append(f"no {path.name}: {error}")
        else:
            drawn.append(str(path))
    return drawn
