"""`corekit run`: run a scenario, go on with a run, or replay one step; show how far it is and how it went."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from corekit.cli import MISUSE, exit_code, print_error, seconds_so_far
from corekit.cli.terminal import print_json
from corekit.errors import CorekitError

if TYPE_CHECKING:
    from corekit_run.cli.run_report import RunReport

__all__ = ["run"]


def run(
    file: Path | None = None,
    /,
    *,
    resume: Path | None = None,
    overrides: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    out: Path | None = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
    allow_code: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    picture: Annotated[bool, Parameter(negative="")] = False,
    error: Annotated[bool, Parameter(negative="")] = False,
) -> int | None:
    """Run a scenario into a new folder, or go on with a run that was killed, interrupted or failed.

    Parameters
    ----------
    file
        The scenario file, or the name of one that is shipped (`corekit list --scenarios`); or the
        `step-<n>.npz` of a failed run, to replay that step alone.
    resume
        The folder of a run to go on with, to the end it would have had; FILE may be left out then.
    overrides
        `contact.solver.use=qp`: another value for an entry of the file; may be given several times.
    out
        The run's folder, instead of one with name and time stamp; if it holds something, a number is added.
    quiet
        Show nothing but errors.
    allow_code
        Allow the scenario to import Python functions that it names, `file.py:function`: only if you trust it.
    as_json
        Print one JSON object instead of progress and table.
    picture
        Draw the run with every installed viewer that writes pictures or replays.
    error
        Run once more with half of the step, and say how far the run is off because of its step.
    """
    from corekit_run.cli.run_report import run_report

    is_step = file is not None and file.suffix == ".npz"
    options = {"--picture": picture, "--error": error}
    wrong = _misuse(file, resume, out, is_changed=bool(overrides), is_step=is_step, options=options)
    if wrong:
        print_error(wrong)
        return MISUSE
    try:
        if file is not None and is_step:
            _replay(file, allow_code=allow_code, quiet=quiet, as_json=as_json)
            return None
        draw = run_report().prepare_pictures() if picture else None
        folder = _run(file, resume, overrides, out, allow_code=allow_code, silent=quiet or as_json)
        pictures = [] if draw is None else draw(folder)
        report = run_report()(folder)
        if error and file is not None:
            _estimate_error(report, file, overrides, allow_code=allow_code, silent=quiet or as_json)
    except CorekitError as failure:
        if not as_json:
            raise
        notes = getattr(failure, "__notes__", [])
        print_json({"status": "failed", "reason": str(failure), "notes": notes})
        return exit_code(failure)
    data = report.as_data(pictures, seconds_so_far())
    if as_json:
        print_json(data)
    elif not quiet:
        report.print_table(data)
    return None


def _misuse(
    file: Path | None,
    resume: Path | None,
    out: Path | None,
    *,
    is_changed: bool,
    is_step: bool,
    options: Mapping[str, bool],
) -> str:
    """Return what is wrong with the command line, if anything."""
    if file is None and resume is None:
        return "corekit run requires an argument: FILE, or --resume DIR"
    if resume is not None and out is not None:
        return "--out does not go with --resume: a run goes on in its own folder"
    if file is None and is_changed:
        return "--set does not go with --resume alone: a run goes on as it began"
    if file is None and options["--error"]:
        return "--error does not go with --resume alone: give the scenario's FILE, too"
    given = {
        "--resume": resume is not None,
        "--out": out is not None,
        "--set": is_changed,
        **options,
    }
    if is_step and any(given.values()):
        option = next(name for name, is_given in given.items() if is_given)
        return f"{option} does not go with {file}: a step is replayed as it was, and nothing is written"
    return ""


def _estimate_error(
    report: RunReport, file: Path, overrides: tuple[str, ...], *, allow_code: bool, silent: bool
) -> None:
    """Run the scenario with half of its step beside the records of a run."""
    from corekit.scenario.load import load
    from corekit_run.cli.progress_line import ProgressLine
    from corekit_run.progress import Progress

    scenario = load(file, overrides, allow_code=allow_code)
    duration = scenario.time.duration
    with ProgressLine(f"{scenario.name}, half the step", silent=silent) as line:
        report.estimate_step_error(scenario, lambda time: line(Progress("running", time / duration, time)))


def _replay(file: Path, *, allow_code: bool, quiet: bool, as_json: bool) -> None:
    from corekit_run.running import replay

    report = replay(file, warn=_ignore if quiet or as_json else print_error, allow_code=allow_code)
    said = report.solve_info.status.value
    if as_json:
        print_json({"status": "succeeded", "step_s": report.step_size, "solve": said})
    elif not quiet:
        print(f"{file}: the step of {report.step_size:g} s succeeds here. {said}")


def _ignore(_sentence: str) -> None:
    """Show no warning."""


def _run(
    file: Path | None,
    folder: Path | None,
    overrides: tuple[str, ...],
    out: Path | None,
    *,
    allow_code: bool,
    silent: bool,
) -> Path:
    """Run a scenario or resume a run, and return its folder."""
    from corekit.scenario.load import load
    from corekit_run.cli.progress_line import ProgressLine

    scenario = None if file is None else load(file, overrides, allow_code=allow_code)
    # what is compiled is imported once there is something to run
    from corekit_run.running import resume, run

    with ProgressLine(scenario.name if scenario is not None else str(folder), silent=silent) as line:
        if folder is not None:
            return resume(folder, scenario, progress=line, warn=line.warn, allow_code=allow_code).path
        assert scenario is not None
        return run(scenario, directory=out, progress=line, warn=line.warn).path
