"""`corekit run`: run a scenario, go on with a run, or replay one step; show how far it is and how it went."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from corekit.cli import MISUSE, exit_code, print_error, seconds_so_far
from corekit.errors import CorekitError

if TYPE_CHECKING:
    from corekit.cli.pictures import InstalledViewer
    from corekit.run.results import Results

__all__ = ["run"]

_PICTURES = (".png", ".html")


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
) -> int | None:
    """Run a scenario into a new folder, or go on with a run that was killed, interrupted or failed.

    Parameters
    ----------
    file
        The scenario file; or the `step-<n>.npz` of a failed run, to replay that step alone.
    resume
        The folder of a run to go on with, to the end it would have had; FILE may be left out then.
    overrides
        `contact.solver.use=qp`: another value for an entry of the file; may be given several times.
    out
        The run's folder, instead of one with name and time stamp; if it holds something, a number is added.
    quiet
        Show nothing but errors.
    allow_code
        Allow the scenario to import Python functions that it names, `module:function`: only if you trust it.
    as_json
        Print one JSON object instead of progress and table.
    picture
        Draw the run with every installed viewer that writes pictures or replays.
    """
    from corekit.cli.run_report import as_data, print_table

    wrong = _misuse(file, resume, out)
    if wrong:
        print_error(wrong)
        return MISUSE
    try:
        if file is not None and file.suffix == ".npz":
            _replay(file, allow_code=allow_code, silent=quiet or as_json)
            return None
        results, pictures = _run(
            file, resume, overrides, out, picture, allow_code=allow_code, silent=quiet or as_json
        )
    except CorekitError as error:
        if not as_json:
            raise
        notes = getattr(error, "__notes__", [])
        print(json.dumps({"status": "failed", "reason": str(error), "notes": notes}, ensure_ascii=False))
        return exit_code(error)
    report = as_data(results, pictures, seconds_so_far())
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
    elif not quiet:
        print_table(report)
    return None


def _misuse(file: Path | None, resume: Path | None, out: Path | None) -> str:
    """What is wrong with the words of the command line, if anything."""
    if file is None and resume is None:
        return "corekit run requires an argument: FILE, or --resume DIR"
    if resume is not None and out is not None:
        return "--out does not go with --resume: a run goes on in its own folder"
    if resume is not None and file is not None and file.suffix == ".npz":
        return f"--resume does not go with {file}: a step is replayed without its folder"
    return ""


def _replay(file: Path, *, allow_code: bool, silent: bool) -> None:
    from corekit.run.execute import replay

    report = replay(file, warn=_ignore if silent else print_error, allow_code=allow_code)
    if not silent:
        print(f"{file}: the step of {report.step:g} s succeeds here. {report.solve.status.value}")


def _ignore(_sentence: str) -> None:
    """Nobody is to be told."""


def _run(
    file: Path | None,
    folder: Path | None,
    overrides: tuple[str, ...],
    out: Path | None,
    picture: bool,
    *,
    allow_code: bool,
    silent: bool,
) -> tuple[Results, list[Path]]:
    from corekit.cli.pictures import draw, installed_viewers
    from corekit.cli.progress_line import ProgressLine
    from corekit.scenario.load import load

    scenario = None if file is None else load(file, overrides, allow_code=allow_code)
    # what is compiled is imported once there is something to run
    from corekit.run.execute import execute, resume

    # a missing viewer is said before the run, not after it
    viewers = installed_viewers() if picture else []
    with ProgressLine(scenario.name if scenario is not None else str(folder), silent=silent) as line:
        if folder is not None:
            results = resume(folder, scenario, progress=line, warn=line.warn, allow_code=allow_code)
        else:
            assert scenario is not None
            results = execute(scenario, directory=out, progress=line, warn=line.warn)
    made: list[Path] = []
    for path, viewer in _targets(results.path, results.title, viewers):
        draw(results, path, viewer)
        made.append(path)
    return results, made


def _targets(folder: Path, title: str, viewers: list[InstalledViewer]) -> list[tuple[Path, InstalledViewer]]:
    """A file for every viewer and each of the endings it writes; the second of one ending bears its name."""
    targets: dict[Path, InstalledViewer] = {}
    for each in viewers:
        for suffix in _PICTURES:
            if suffix in each.viewer.suffixes:
                path = folder / f"{title}{suffix}"
                targets[folder / f"{title}-{each.name}{suffix}" if path in targets else path] = each
    return list(targets.items())
