"""What must hold before a run goes on; where it does not, a ResultsError says so and nothing is changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corekit.errors import ResultsError
from corekit.run.checkpoint import Checkpoint
from corekit.run.differences import scenario_differences, version_differences
from corekit.run.folder import RunFolder, read_status
from corekit.run.results import Results
from corekit.run.runnable import Runnable, decisive

__all__ = ["check_not_begun", "check_same_scenario", "check_same_versions", "check_unfinished", "check_whole"]


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


def check_not_begun(folder: RunFolder) -> None:
    """Without a checkpoint nothing may be lost by beginning anew."""
    if folder.results.exists() and len(Results(folder.path).time) > 1:
        raise ResultsError(
            f"{folder.path} has no checkpoint-*.npz to go on from. "
            f"Run {folder.path / 'resolved.toml'} anew instead."
        )


def check_whole(folder: RunFolder, found: Checkpoint) -> None:
    """The published results must be ours, whole, and hold what the checkpoint belongs to."""
    records, wanted = len(Results(folder.path).time), int(found.run["recorder/time_length"])
    if records < wanted:
        raise ResultsError(
            f"{folder.results} holds {records} records, the checkpoint belongs to {wanted}: "
            "it is not the file that this run wrote"
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
