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
