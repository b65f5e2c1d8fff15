"""Scenarios run, gone on with and replayed: the run's own files say what is run, the recorder's what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corekit.data.step import StepReport
from corekit.errors import PluginError, ResultsError
from corekit.hooks.installed import installed_hooks
from corekit.registry.first_party import RECORDER
from corekit.registry.resolve import load_target
from corekit.run import execute
from corekit.run.checkpoint import read_checkpoint
from corekit.run.folder import RunFolder
from corekit.run.runnable import Runnable
from corekit.scenario.load import load, loads

__all__ = ["replay", "results_class", "resume", "run"]


def run(scenario: Runnable, **options: Any) -> Any:
    """Run a scenario into a new folder.

    Args:
        scenario: what to run.
        options: of `corekit.run.execute.execute`.
    Returns:
        Its `corekit.Results`; its `RunFolder` where no recorder is installed.
    """
    return _results(execute.execute(scenario, **options))


def resume(
    folder: str | Path, scenario: Runnable | None = None, *, allow_code: bool = False, **options: Any
) -> Any:
    """Go on with a run that was killed, interrupted or failed, to the end it would have had.

    Args:
        folder: of the run.
        scenario: what it runs; if None, the folder's `resolved.toml`.
        allow_code: whether functions that `resolved.toml` names may be imported, as for `corekit.load`; a given
            scenario has its own.
        options: of `corekit.run.execute.resume`, which says what is raised.
    Returns:
        As `run`.
    """
    found = execute.find_resumable(folder)
    if scenario is None:
        kept = found.folder.path / "resolved.toml"
        if not kept.is_file():
            raise ResultsError(
                f"cannot resume {kept.parent}: it holds no {kept.name}, so it is no run's folder, or one that was "
                "killed before it began"
            )
        scenario = load(kept, allow_code=allow_code)
    return _results(execute.resume(found, scenario, **options))


def replay(
    path: str | Path, scenario: Runnable | None = None, *, allow_code: bool = False, **options: Any
) -> StepReport:
    """Take the one step that a `step-<n>.npz`, or the one after a checkpoint, holds; nothing is written.

    Args:
        path: of the file.
        scenario: what it belongs to; if None, the one in the file.
        allow_code: as for `resume`. options: of `corekit.run.execute.replay`, which says what is raised.
    Raises:
        ResultsError: the file is not whole, or not one of ours.
    """
    kept = read_checkpoint(Path(path))
    if scenario is None:
        scenario = loads(kept.scenario, allow_code=allow_code)
    return execute.replay(kept, scenario, name=str(path), **options)


def results_class() -> Any:
    """What `corekit.Results` is: the installed class that reads records.

    Raises:
        PluginError: none is installed.
    """
    target = installed_hooks().results()
    if not target:
        raise PluginError(
            f"corekit.Results reads records, and no recorder is installed: pip install {RECORDER}"
        )
    return load_target(target)


def _results(folder: RunFolder) -> Any:
    return results_class()(folder.path) if installed_hooks().results() else folder
