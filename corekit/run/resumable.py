"""What must hold before a run goes on; where it does not, a ResultsError says so and nothing is changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corekit.errors import ResultsError
from corekit.run.checkpoint import Checkpoint
from corekit.run.differences import scenario_differences, version_differences
from corekit.run.folder import read_status
from corekit.run.runnable import Runnable, decisive

__all__ = ["check_same_scenario", "check_same_versions", "check_unfinished"]


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
