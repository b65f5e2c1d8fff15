"""Run a scenario into a new folder, resume a run, or replay one step; the results as the recorder reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corekit.data.step import StepReport
from corekit.errors import ResultsError
from corekit.hooks.installed import installed_hooks
from corekit.scenario.load import load, loads
from corekit.simulation.installed_tools import results_class
from corekit_run import execute as execution
from corekit_run.checkpoint import read_checkpoint
from corekit_run.folder import RunFolder
from corekit_run.observers import Runnable

__all__ = ["replay", "resume", "run"]


def run(scenario: Runnable, **options: Any) -> Any:
    """Run a scenario into a new folder.

    Args:
        scenario: what to run.
        options: of `corekit_run.execute.execute`, which says what is raised.
    Returns:
        Its `corekit.Results`; its `RunFolder` where no recorder is installed.
    """
    return _recorded_results(execution.execute(scenario, **options))


def resume(
    folder: str | Path, scenario: Runnable | None = None, *, allow_code: bool = False, **options: Any
) -> Any:
    """Resume a run that was killed, interrupted or failed, to the same end.

    Args:
        folder: of the run.
        scenario: what it runs; if None, the folder's `resolved.toml`.
        allow_code: whether functions that `resolved.toml` names may be imported, as for `corekit.load`; a given
            scenario has its own.
        options: of `corekit_run.execute.resume`, which says what is raised.
    Returns:
        As `run`.
    """
    found = execution.find_resumable(folder)
    if scenario is None:
        kept = found.folder.path / "resolved.toml"
        if not kept.is_file():
            raise ResultsError(
                f"cannot resume {kept.parent}: it holds no {kept.name}, so it is no run's folder, or one that was "
                "killed before it began"
            )
        scenario = load(kept, allow_code=allow_code)
    return _recorded_results(execution.resume(found, scenario, **options))


def replay(
    path: str | Path, scenario: Runnable | None = None, *, allow_code: bool = False, **options: Any
) -> StepReport:
    """Repeat the step of a `step-<n>.npz`, or the one after a checkpoint; nothing is written.

    Args:
        path: of the file.
        scenario: what it belongs to; if None, the one in the file.
        allow_code: as for `resume`. options: of `corekit_run.execute.replay`, which says what is raised.
    Raises:
        ResultsError: the file is not whole, or not one of ours.
    """
    kept = read_checkpoint(Path(path))
    if scenario is None:
        scenario = loads(kept.scenario, allow_code=allow_code)
    return execution.replay(kept, scenario, name=str(path), **options)


def _recorded_results(folder: RunFolder) -> Any:
    """Return the results in the folder of a run; the folder itself if no recorder is installed."""
    return results_class()(folder.path) if installed_hooks().target("corekit_results") else folder
