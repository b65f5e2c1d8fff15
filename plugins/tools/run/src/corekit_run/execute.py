"""From a scenario to a run folder: compose, step with observers and checkpoints, record how the run ended."""

from __future__ import annotations

import json
import time as clock
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import final

from attrs import frozen

from corekit.data.step import StepReport
from corekit.errors import CorekitError, ResultsError, StepFailed
from corekit.registry.first_party import RECORDER
from corekit.simulation.loop import Simulation
from corekit_run.checkpoint import (
    Checkpoint,
    CheckpointKeeper,
    check_same_scenario,
    check_same_versions,
    newest_checkpoint,
)
from corekit_run.compilation import shown_compilation
from corekit_run.folder import STATUS, RunFolder, is_held, read_status
from corekit_run.observers import RunContext, Runnable, RunObservers
from corekit_run.progress import Progress, ProgressCallback, RunTimer
from corekit_run.run_end import Stop, record_run_end, step_file, stop_between_steps
from corekit_run.run_events import told_to_hooks
from corekit_run.versions import all_versions, decisive, version_differences

__all__ = [
    "Resumable",
    "execute",
    "find_resumable",
    "replay",
    "resume",
]

Warn = Callable[[str], object]

NO_RECORDER = (
    "no recorder is installed: log, status and checkpoints are kept, records are not, and no watchdog looks at the "
    f"steps: pip install {RECORDER}"
)


def execute(
    scenario: Runnable,
    *,
    directory: str | Path | None = None,
    progress: ProgressCallback | None = None,
    warn: Warn | None = None,
) -> RunFolder:
    """Run a scenario into a new folder and return that.

    Args:
        scenario: as `corekit.load` gives it.
        directory: the run's own folder; if None, one with name and time stamp in the scenario's
            `output.directory`. A folder that holds something is left alone: a number is added.
        progress: called at most ten times a second.
        warn: called with what an observer warns of; if None, Python's `warnings` are used.
    Raises:
        StepFailed: a step has no solution, or an observer stops at it. What was recorded so far is kept,
            STATUS says why, and `step-<n>.npz` replays that step alone.
        KeyboardInterrupt: the user stopped it between two steps; `resume` goes on from there.
        ResultsError: the folder cannot be made or written to.
    """
    report, warn = progress or _ignore, warn or _warn
    report(Progress("composing"))
    began = clock.perf_counter()
    with shown_compilation(report) as compilation:
        simulation = scenario.compose()
        composed = clock.perf_counter() - began
        folder = RunFolder.create(
            scenario.name, Path(scenario.output.directory), None if directory is None else Path(directory)
        )
        with (
            folder.held(),
            stop_between_steps() as stop,
            told_to_hooks(folder.path, scenario, simulation),
            record_run_end(folder),
        ):
            run = _Run(simulation, scenario, folder, report, warn)
            run.describe(composed)
            compilation.share(folder.path / "resolved.toml")
            run.begin()
            run.go(stop)
    return folder


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
    own = RunFolder(Path(folder))
    outcome = read_status(own.path)
    if not own.path.is_dir():
        raise ResultsError(f"cannot resume {own.path}: the folder is not there")
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
    return Resumable(own, *newest_checkpoint(own.path))


def resume(
    found: Resumable,
    scenario: Runnable,
    *,
    progress: ProgressCallback | None = None,
    warn: Warn | None = None,
) -> RunFolder:
    """Resume a run that was killed, interrupted or failed, from its last checkpoint to the same end.

    Its files are, bit for bit, those of a run that nothing interrupted. Records after the checkpoint are dropped and
    made again; a run that was killed before its first checkpoint begins again.

    Args:
        found: the run.
        scenario: what it runs.
        progress, warn: as for `execute`.
    Raises:
        ResultsError: it belongs to another scenario or to other versions, or something would be lost. Nothing in the
            folder is changed.
        StepFailed, KeyboardInterrupt: as for `execute`.
    """
    report, warn = progress or _ignore, warn or _warn
    report(Progress("composing"))
    own, checkpoint = found.folder, found.checkpoint
    if checkpoint is not None:
        check_same_scenario(checkpoint, scenario, own.path)
    began = clock.perf_counter()
    with own.held(), shown_compilation(report) as compilation:
        simulation = scenario.compose()
        composed = clock.perf_counter() - began
        run = _Run(simulation, scenario, own, report, warn)
        if checkpoint is not None:
            check_same_versions(checkpoint, run.versions, own.path)
        with _arrays_must_fit(f"the checkpoint in {own.path}", " Remove it to go on with an older one."):
            run.begin(checkpoint)
        own.claim()
        with (
            stop_between_steps() as stop,
            told_to_hooks(own.path, scenario, simulation),
            record_run_end(own),
        ):
            if checkpoint is None:
                run.describe(composed)
            else:
                own.log("resumed", step=checkpoint.step, time_s=checkpoint.time, passed_over=found.damaged)
            compilation.share(own.path / "resolved.toml")
            run.go(stop)
    return own


def replay(kept: Checkpoint, scenario: Runnable, *, name: str = "it", warn: Warn | None = None) -> StepReport:
    """Repeat the one step after a checkpoint, observed as in its run; nothing is written.

    Args:
        kept: what a `step-<n>.npz` holds, or any other checkpoint.
        scenario: what it belongs to.
        name: of the file, for a warning that other versions wrote it.
        warn: as for `execute`.
    Returns:
        The report of a step that succeeds.
    Raises:
        StepFailed: the step fails, as it did in the run.
    """
    warn = warn or _warn
    simulation = scenario.compose()
    observers = RunObservers(RunContext(scenario, simulation, None, _ignore, warn))
    others = version_differences(kept.versions, decisive(all_versions(simulation, observers.versions)))
    if others:
        warn(f"{name} was written with other versions, the step may go differently: {'; '.join(others)}")
    with _arrays_must_fit(name):
        observers.begin(kept.run)
        simulation.restore(kept.memory)
    observers.attach()
    return simulation.step()


@contextmanager
def _arrays_must_fit(name: str, advice: str = "") -> Iterator[None]:
    """Report a checkpoint by what NumPy and JSON say of arrays that are not those of the scenario."""
    try:
        yield
    except (LookupError, OverflowError, TypeError, ValueError) as error:
        said = f"{type(error).__name__}: {error}"
        raise ResultsError(
            f"{name} was changed or damaged: its arrays are not those of the scenario ({said}).{advice}"
        ) from error


@final
class _Run:
    """A composed simulation in its folder, from the start or from a checkpoint, to the end.

    Args:
        simulation: at its initial state.

    Attributes:
        versions: of everything that takes part.
    """

    def __init__(
        self,
        simulation: Simulation,
        scenario: Runnable,
        folder: RunFolder,
        report: ProgressCallback,
        warn: Warn,
    ) -> None:
        self._simulation, self._scenario, self._folder = simulation, scenario, folder
        for body in simulation.bodies:
            body.inputs.warn = warn
        self._observers = RunObservers(RunContext(scenario, simulation, folder.path, folder.log, warn))
        if not self._observers:
            warn(NO_RECORDER)
        self.versions = all_versions(simulation, self._observers.versions)
        duration = scenario.time.duration
        self._steps = round(duration / simulation.step_length)
        self._keeper = CheckpointKeeper(
            folder.path, simulation, scenario.resolved_text(), decisive(self.versions), self._observers
        )
        self._timer = RunTimer(simulation, duration, folder.path, report)

    def describe(self, composed: float) -> None:
        """Write what is run, and by what, into the folder."""
        folder, scenario = self._folder, self._scenario
        folder.write("scenario.toml", scenario.given_text())
        folder.write("resolved.toml", scenario.resolved_text())
        folder.write("versions.json", json.dumps(self.versions, indent=2) + "\n")
        folder.log("composed", wall_s=composed, components=sorted(self._simulation.components))

    def begin(self, checkpoint: Checkpoint | None = None) -> None:
        """Start the observers, or restore them and the simulation from a checkpoint."""
        if checkpoint is None:
            self._simulation.sample_controllers()  # so that the first record holds their inputs
        self._observers.begin(None if checkpoint is None else checkpoint.run)
        if checkpoint is not None:
            self._simulation.restore(checkpoint.memory)

    def go(self, stop: Stop) -> None:
        """Step to the end, and record that in the folder."""
        timer, folder, observers = self._timer, self._folder, self._observers
        with closing(observers):
            observers.attach()
            self._simulation.observe(timer)
            self._keeper.write()
            timer.begin()
            self._simulation.warm_up(announce=False)
            timer.ready()
            try:
                with stop.waits():
                    self._step_to_the_end(stop)
            except StepFailed as error:
                self._keep_failed_step(error)
                raise
            if stop.wanted:
                self._keeper.write()
                raise KeyboardInterrupt(*stop.why)
            timer.end()
            self._keeper.finish()
        folder.log("finished", **timer.as_data(), **observers.summaries())
        folder.set_status("finished")

    def _step_to_the_end(self, stop: Stop) -> None:
        simulation, keeper, steps = self._simulation, self._keeper, self._steps
        while simulation.step_index < steps:
            simulation.step()
            keeper.after_step()
            if stop.wanted:
                break

    def _keep_failed_step(self, error: StepFailed) -> None:
        """Write the internal state with which the failed step began: restore the last checkpoint and step from there.

        Components may have changed their internal state in the failed attempt, so that one is not used.
        """
        simulation, start = self._simulation, self._keeper.latest
        if start is None or error.step < 0:
            return
        try:
            observers = RunObservers(RunContext(self._scenario, simulation, None, _ignore, _ignore))
            observers.begin(start.run)
            simulation.rewind(start.memory, error.step, observers.steps)
            kept = Checkpoint(
                start.scenario, start.versions, simulation.internal_state(), observers.internal_state()
            )
            kept.write(step_file(self._folder.path, error))
        except CorekitError as trouble:
            error.add_note(f"The step could not be kept for a replay: {trouble}")


def _ignore(*_arguments: object, **_options: object) -> None:
    """Do nothing with a report, warning or event."""


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=2)
