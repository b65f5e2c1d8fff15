"""`corekit run`: run a scenario into a new folder, show how far it is, and report how it went."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from corekit.cli import exit_code
from corekit.errors import CorekitError

if TYPE_CHECKING:
    from corekit.roles.viewer import Viewer
    from corekit.run.results import Results

__all__ = ["run"]

_PICTURES = (".png", ".html")


def run(
    file: Path,
    /,
    *,
    overrides: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    out: Path | None = None,
    quiet: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
    picture: Annotated[bool, Parameter(negative="")] = False,
) -> int | None:
    """Run a scenario into a new folder.

    Parameters
    ----------
    file
        The scenario file.
    overrides
        `contact.solver.use=qp`: another value for an entry of the file; may be given several times.
    out
        The run's folder, instead of one with name and time stamp; if it holds something, a number is added.
    quiet
        Show nothing but errors.
    as_json
        Print one JSON object instead of progress and table.
    picture
        Draw the run with every installed viewer that writes pictures or replays.
    """
    from corekit.cli.run_report import as_data, print_table

    try:
        results, pictures = _run(file, overrides, out, picture, silent=quiet or as_json)
    except CorekitError as error:
        if not as_json:
            raise
        notes = getattr(error, "__notes__", [])
        print(json.dumps({"status": "failed", "reason": str(error), "notes": notes}, ensure_ascii=False))
        return exit_code(error)
    report = as_data(results, pictures)
    if as_json:
        print(json.dumps(report, ensure_ascii=False))
    elif not quiet:
        print_table(report)
    return None


def _run(
    file: Path, overrides: tuple[str, ...], out: Path | None, picture: bool, *, silent: bool
) -> tuple[Results, list[Path]]:
    from corekit.cli.pictures import draw, installed_viewers
    from corekit.cli.progress_line import ProgressLine
    from corekit.run.execute import execute
    from corekit.scenario.load import load

    scenario = load(file, overrides)
    # a missing viewer is said before the run, not after it
    viewers = installed_viewers() if picture else []
    if silent:
        results = execute(scenario, directory=out)
    else:
        with ProgressLine(scenario.name) as line:
            results = execute(scenario, directory=out, progress=line)
    made: list[Path] = []
    for path, viewer in _targets(results.path, results.title, viewers):
        draw(results, path, viewer)
        made.append(path)
    return results, made


def _targets(folder: Path, title: str, viewers: list[tuple[str, Viewer]]) -> list[tuple[Path, Viewer]]:
    """A file for every viewer and each of the endings it writes; the second of one ending bears its name."""
    targets: dict[Path, Viewer] = {}
    for name, viewer in viewers:
        for suffix in _PICTURES:
            if suffix in viewer.suffixes:
                path = folder / f"{title}{suffix}"
                targets[folder / f"{title}-{name}{suffix}" if path in targets else path] = viewer
    return list(targets.items())
