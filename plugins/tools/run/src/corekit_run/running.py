"""Run a scenario into a new folder, resume a run, or replay one step; the results as the recorder reads them."""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from corekit.data.status import StepReport
from corekit.errors import ConfigError, ResultsError
from corekit.hooks.installed import installed_hooks
from corekit.scenario.load import load, loads
from corekit.simulation.arguments import FUNCTION, PATH, TRUTH, Kind, check_arguments, or_none
from corekit.simulation.installed_tools import results_class
from corekit_run.checkpoint import (
    Checkpoint,
    check_same_scenario,
    check_same_versions,
    checkpoint_files,
    newest_checkpoint,
    read_checkpoint,
)
from corekit_run.compilation import shown_compilation
from corekit_run.folder import STATUS, RunFolder, is_held, read_status
from corekit_run.folder_run import RESOLVED, FolderRun, ignore, is_run, write_scenario
from corekit_run.observers import RunContext, Runnable, RunObservers
from corekit_run.plugin_errors import named_step_errors
from corekit_run.progress import Progress, ProgressCallback
from corekit_run.run_end import record_run_end, stop_between_steps
from corekit_run.run_events import reported_to_hooks
from corekit_run.versions import all_versions, decisive, version_differences

__all__ = ["Resumable", "find_resumable", "replay", "resume", "run"]

Warn = Callable[[str], object]
_RUNNABLE: Kind = "a scenario, as `corekit.load` gives it", lambda value: hasattr(value, "resolved_text")


def run(
    scenario: Runnable,
    *,
    directory: str | Path | None = None,
    progress: ProgressCallback | None = None,
    warn: Warn | None = None,
) -> Any:
    """Run a scenario into a new folder.

    Args:
        scenario: as `corekit.load` gives it.
        directory: the run's own folder; if None, one with name and time stamp in the scenario's
            `output.directory`. A folder that holds something is left alone: a number is added.
        progress: called at most ten times a second.
        warn: called with what an observer warns of; if None, Python's `warnings` are used.
    Returns:
        Its `corekit.Results`; its `RunFolder` where no recorder is installed.
    Raises:
        StepFailed: a step has no solution, or an observer stops at it. What was recorded so far is kept,
            STATUS says why, and `step-<n>.npz` replays that step alone.
        KeyboardInterrupt: the user stopped it between two steps; `resume` goes on from there.
        ResultsError: the folder cannot be made or written to.
    """
    check_arguments(
        "corekit_run.run", scenario=(scenario, _RUNNABLE), directory=(directory, or_none(PATH)),
        progress=(progress, or_none(FUNCTION)), warn=(warn, or_none(FUNCTION)),
    )  # fmt: skip
    report, warn = progress or ignore, warn or _warn
    report(Progress("composing"))
    began = clock.perf_counter()
    with shown_compilation(report) as compilation:
        compilation.share(scenario.resolved_text())
        simulation = scenario.compose()
        composed = clock.perf_counter() - began
        folder = RunFolder.create(
            scenario.name,
            Path(scenario.output.directory),
            None if directory is None else Path(directory),
            lambda made: write_scenario(made, scenario, simulation, composed),
        )
        with (
            folder.held(),
            stop_between_steps() as stop,
            reported_to_hooks(folder.path, scenario, simulation),
            record_run_end(folder),
        ):
            made = FolderRun(simulation, scenario, folder, report, warn)
            made.describe()
            made.begin()
            made.advance(stop)
    return _results(folder)


@frozen
class Resumable:
    """A run that has not finished, and the checkpoint from which it can be resumed.

    Args:
        folder: of the run.
        checkpoint: the newest whole one; None if it was killed before its first.
        damaged: what is wrong with newer ones.
    """

    folder: RunFolder
    checkpoint: Checkpoint | None
    damaged: list[str]


def find_resumable(folder: str | Path) -> Resumable:
    """Find the run in a folder, to resume it.

    Raises:
        ResultsError: it has finished, still runs, or no checkpoint of it can be read.
    """
    check_arguments("find_resumable", folder=(folder, PATH))
    own = RunFolder(Path(folder))
    outcome = read_status(own.path)
    if not own.path.is_dir():
        said = "it is a file, not a run's folder" if own.path.exists() else "the folder is not there"
        raise ResultsError(f"cannot resume {own.path}: {said}")
    if not any((own.path / name).exists() for name in (STATUS, RESOLVED)) and not checkpoint_files(own.path):
        raise _no_run(own.path)
    if outcome.status == "finished":
        raise ResultsError(f"{own.path} has finished: there is nothing to go on with")
    own.refuse_links()
    # a lock knows better than a process number, which may be another's by now, or of a machine renamed
    held = is_held(own.path)
    if held or (outcome.status == "running" and held is None):
        who = outcome.reason or "another process holds it"
        raise ResultsError(
            f"{own.path} is still running: {who}. If that is not so, remove {own.path / STATUS}."
        )
    found = Resumable(own, *newest_checkpoint(own.path))
    if found.checkpoint is None and not is_run(own.path):
        raise _no_run(own.path)
    return found


def resume(
    folder: str | Path,
    scenario: Runnable | None = None,
    *,
    allow_code: bool = False,
    progress: ProgressCallback | None = None,
    warn: Warn | None = None,
) -> Any:
    """Resume a run that was killed, interrupted or failed, from its last checkpoint to the same end.

    Its files are, bit for bit, those of a run that nothing interrupted. Records after the checkpoint are dropped and
    made again; a run that was killed before its first checkpoint begins again.

    Args:
        folder: of the run.
        scenario: what it runs; if None, the folder's `resolved.toml`.
        allow_code: whether functions that `resolved.toml` names may be imported, as for `corekit.load`; a given
            scenario has its own.
        progress, warn: as for `run`.
    Returns:
        As `run`.
    Raises:
        ResultsError: it belongs to another scenario or to other versions, or something would be lost. Nothing in the
            folder is changed.
        StepFailed, KeyboardInterrupt: as for `run`.
    """
    check_arguments(
        "corekit_run.resume", folder=(folder, PATH), scenario=(scenario, or_none(_RUNNABLE)),
        allow_code=(allow_code, TRUTH), progress=(progress, or_none(FUNCTION)), warn=(warn, or_none(FUNCTION)),
    )  # fmt: skip
    found = find_resumable(folder)
    own, checkpoint = found.folder, found.checkpoint
    scenario = scenario or _kept_scenario(own.path, allow_code=allow_code)
    report, warn = progress or ignore, warn or _warn
    report(Progress("composing"))
    if checkpoint is not None:
        check_same_scenario(checkpoint, scenario, own.path)
    began = clock.perf_counter()
    with own.held(), shown_compilation(report) as compilation:
        compilation.share(scenario.resolved_text())
        simulation = scenario.compose()
        composed = clock.perf_counter() - began
        made = FolderRun(simulation, scenario, own, report, warn)
        if checkpoint is not None:
            check_same_versions(checkpoint, made.versions, own.path)
        with _arrays_must_fit(f"the checkpoint in {own.path}", " Remove it to go on with an older one."):
            made.begin(checkpoint)
        own.claim()
        with (
            stop_between_steps() as stop,
            reported_to_hooks(own.path, scenario, simulation),
            record_run_end(own),
        ):
            if checkpoint is None:
                write_scenario(own, scenario, simulation, composed)
                made.describe()
            else:
                own.log("resumed", step=checkpoint.step, time_s=checkpoint.time, passed_over=found.damaged)
            made.advance(stop)
    return _results(own)


def _no_run(folder: Path) -> ResultsError:
    lacks = "neither a checkpoint nor a run in its log" if (folder / RESOLVED).exists() else f"no {RESOLVED}"
    return ResultsError(
        f"cannot resume {folder}: it holds {lacks}, so it is no run's folder, or one that was killed before it began"
    )


def _kept_scenario(folder: Path, *, allow_code: bool) -> Runnable:
    kept = folder / RESOLVED
    if not kept.is_file():
        raise _no_run(folder)
    return load(kept, allow_code=allow_code)


def replay(
    path: str | Path, scenario: Runnable | None = None, *, allow_code: bool = False, warn: Warn | None = None
) -> StepReport:
    """Repeat the step of a `step-<n>.npz`, or the one after a checkpoint, observed as in its run; nothing is written.

    Args:
        path: of the file.
        scenario: what it belongs to; if None, the one in the file.
        allow_code: as for `resume`. warn: as for `run`.
    Returns:
        The report of a step that succeeds.
    Raises:
        ResultsError: the file is not whole, or not one of ours.
        StepFailed: the step fails, as it did in the run.
    """
    check_arguments(
        "corekit_run.replay", path=(path, PATH), scenario=(scenario, or_none(_RUNNABLE)),
        allow_code=(allow_code, TRUTH), warn=(warn, or_none(FUNCTION)),
    )  # fmt: skip
    kept = read_checkpoint(Path(path))
    scenario = scenario or loads(kept.scenario, allow_code=allow_code)
    warn = warn or _warn
    simulation = scenario.compose()
    observers = RunObservers(RunContext(scenario, simulation, None, ignore, warn))
    others = version_differences(kept.versions, decisive(all_versions(simulation, observers.versions)))
    if others:
        warn(f"{path} was written with other versions, the step may go differently: {'; '.join(others)}")
    with _arrays_must_fit(str(path)):
        observers.begin(kept.run)
        simulation.restore(kept.memory)
    observers.attach()
    with named_step_errors(simulation):
        return simulation.step()


@contextmanager
def _arrays_must_fit(name: str, advice: str = "") -> Iterator[None]:
    """Report a checkpoint by what NumPy and JSON say of arrays that are not those of the scenario."""
    try:
        yield
    except (ConfigError, LookupError, OverflowError, TypeError, ValueError) as error:
        said = f"{type(error).__name__}: {error}"
        raise ResultsError(
            f"{name} was changed or damaged: its arrays are not those of the scenario ({said}).{advice}"
        ) from error


def _results(folder: RunFolder) -> Any:
    """Return the results in the folder of a run; the folder itself if no recorder is installed."""
    return results_class()(folder.path) if installed_hooks().target("corekit_results") else folder


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=2)
