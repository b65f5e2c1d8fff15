"""What must hold before a run goes on; where it does not, a ResultsError says so and nothing is changed."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corekit.errors import ResultsError
from corekit.simulation.checkpoint import Checkpoint
from corekit.simulation.folder import read_status
from corekit.simulation.runnable import Runnable
from corekit.simulation.versions import decisive, version_differences

__all__ = ["check_same_scenario", "check_same_versions", "check_unfinished", "scenario_differences"]

_ABSENT = object()
_LONGEST = 60


def check_unfinished(folder: Path) -> None:
    """The run must neither have finished nor still be running."""
    status = read_status(folder)
    if not folder.is_dir():
        raise ResultsError(f"cannot resume {folder}: the folder is not there")
    if status.word == "finished":
        raise ResultsError(f"{folder} has finished: there is nothing to go on with")
    if status.word == "running":
        raise ResultsError(
            f"{folder} is still running: {status.reason}. If that is not so, remove {folder / 'STATUS'}."
        )


def check_same_scenario(found: Checkpoint, scenario: Runnable, folder: Path) -> None:
    """The checkpoint must belong to this scenario; what differs is listed."""
    now = scenario.resolved_text()
    if now == found.scenario:
        return
    listed = scenario_differences(found.scenario, now)
    if listed:
        raise ResultsError(
            f"the checkpoint in {folder} belongs to another scenario:\n"
            + "\n".join(f"  {each}" for each in listed)
            + "\nUndo this, or run the changed scenario into a new folder."
        )


def check_same_versions(found: Checkpoint, versions: dict[str, Any], folder: Path) -> None:
    """Kernel and plugins must be those that wrote the checkpoint; what differs is listed."""
    listed = version_differences(found.versions, decisive(versions))
    if listed:
        raise ResultsError(
            f"the checkpoint in {folder} was written with other versions, which would not go on alike:\n"
            + "\n".join(f"  {each}" for each in listed)
            + "\nInstall those, or run the scenario into a new folder."
        )


def scenario_differences(then: str, now: str) -> list[str]:
    """`path: was …, is …` for every entry in which two scenarios, given as TOML, differ."""
    return [
        f"{path}: was {_shown(before)}, is {_shown(after)}"
        for path, before, after in _compare("", tomllib.loads(then), tomllib.loads(now))
    ]


def _compare(path: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            inner = f"{path}.{key}" if path else key
            yield from _compare(inner, before.get(key, _ABSENT), after.get(key, _ABSENT))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _compare(f"{path}[{i}]", old, new)
    elif type(before) is not type(after) or before != after:
        yield path, before, after


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "absent"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
