"""From a scenario to a run folder: compose, step with recorder, watchdog and checkpoints, say how it ended."""

from __future__ import annotations

import json
import signal
import threading
import time as clock
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, final

from corekit.data.step import StepReport
from corekit.errors import CorekitError, ResultsError, StepFailed
from corekit.hooks.installed import installed_hooks
from corekit.run.checkpoint import Checkpoint, CheckpointKeeper, newest_checkpoint, read_checkpoint
from corekit.run.differences import scenario_differences, version_differences
from corekit.run.folder import RunFolder, read_status, versions_of
from corekit.run.pace import Pace, Progress
from corekit.run.recorder import Recorder
from corekit.run.results import Results
from corekit.run.simulation import Simulation
from corekit.run.statistics import Statistics
from corekit.run.watchdog import Policies, Watchdog

__all__ = ["Progress", "Runnable", "execute", "replay", "resume"]

Tell = Callable[[Progress], object]
Warn = Callable[[str], object]


class _Times(Protocol):
    @property
    def duration(self) -> float: ...


class _Kept(Protocol):
    @property
    def every(self) -> float: ...
    @property
    def directory(self) -> str: ...


class Runnable(Protocol):
    """What is needed of a scenario."""

    @property
    def name(self) -> str: ...
    @property
    def time(self) -> _Times: ...
    @property
    def output(self) -> _Kept: ...
    @property
    def watchdog(self) -> Policies: ...
    def compose(self) -> Simulation: ...
    def given_text(self) -> str: ...
    def resolved_text(self) -> str: ...


def execute(
    scenario: Runnable,
    *,
    directory: str | Path | None = None,
    progress: Tell | None = None,
    warn: Warn | None = None,
) -> Results:
    """Run a scenario into a new folder and return its results.

    Args:
        scenario: as `corekit.load` gives it.
        directory: the run's own folder; if None, one with name and time stamp in the scenario's
            `output.directory`. A folder that holds something is left alone: a number is added.
        progress: called at most ten times a second.
        warn: told what the watchdog warns of, once a kind; if None, Python's `warnings` are.
    Raises:
        StepFailed: a step has no answer, or the watchdog stops at it. What was recorded so far is kept,
            STATUS says why, and `step-<n>.npz` replays that step alone.
        KeyboardInterrupt: the user stopped it between two steps; `resume` goes on from there.
        ResultsError: the folder cannot be made or written to.
    """
    tell = progress or _nobody
    tell(Progress("composing"))
    began = clock.perf_counter()
    simulation = scenario.compose()
    composed = clock.perf_counter() - began
    folder = RunFolder.create(
        scenario.name, Path(scenario.output.directory), None if directory is None else Path(directory)
    )
    with installed_hooks().run(folder.path, scenario, simulation), _says_how_it_ended(folder):
        versions = _all_versions(simulation)
        _describe(folder, simulation, scenario, versions, composed)
        _Run(simulation, scenario, folder, versions, tell, warn or _warn).go()
    return Results(folder.path)


def resume(
    folder: str | Path,
    scenario: Runnable | None = None,
    *,
    progress: Tell | None = None,
    warn: Warn | None = None,
) -> Results:
    """Go on with a run that was killed, interrupted or failed, from its last checkpoint to the same end.

    The results are, bit for bit, those of a run that nothing interrupted. Records after the checkpoint are
    dropped and made anew; a run that was killed before its first checkpoint begins anew.

    Args:
        folder: of the run.
        scenario: what it runs; if None, the folder's `resolved.toml`.
        progress, warn: as for `execute`.
    Raises:
        ResultsError: the folder is no run's, the run has finished or still runs, no checkpoint can be read,
            or it belongs to another scenario or to other versions. Nothing in the folder is changed.
        StepFailed, KeyboardInterrupt: as for `execute`.
    """
    tell = progress or _nobody
    tell(Progress("composing"))
    own = RunFolder(Path(folder))
    _check_unfinished(own.path)
    found, damaged = newest_checkpoint(own.path)
    if scenario is None:
        scenario = _kept_scenario(own.path / "resolved.toml")
    if found is None:
        _check_not_begun(own)
    else:
        _check_same_scenario(found, scenario, own.path)
        _check_whole(own, found)
    began = clock.perf_counter()
    simulation = scenario.compose()
    composed = clock.perf_counter() - began
    versions = _all_versions(simulation)
    if found is not None:
        _check_same_versions(found, versions, own.path)
    own.take_over()
    with installed_hooks().run(own.path, scenario, simulation), _says_how_it_ended(own):
        if found is None:
            _describe(own, simulation, scenario, versions, composed)
        else:
            own.log("resumed", step=found.step, time_s=found.time, passed_over=damaged)
        _Run(simulation, scenario, own, versions, tell, warn or _warn, found).go()
    return Results(own.path)


def replay(path: str | Path, scenario: Runnable | None = None, *, warn: Warn | None = None) -> StepReport:
    """Take the one step that a `step-<n>.npz` holds, watched as in its run; nothing is written.

    Args:
        path: of the file, or of any checkpoint: then the step after it is taken.
        scenario: what it belongs to; if None, the one in the file.
        warn: as for `execute`.
    Returns:
        The report of a step that succeeds.
    Raises:
        StepFailed: the step fails, as it did in the run.
        ResultsError: the file is not whole, or not one of ours.
    """
    tell = warn or _warn
    kept = read_checkpoint(Path(path))
    if scenario is None:
        scenario = _scenario_in(kept.scenario)
    simulation = scenario.compose()
    others = version_differences(kept.versions, _decisive(_all_versions(simulation)))
    if others:
        tell(f"{path} was written with other versions, the step may go differently: {'; '.join(others)}")
    statistics, watchdog = _observers(simulation, scenario, _nothing, tell, kept)
    simulation.remember(kept.memory)
    simulation.observe(statistics)
    simulation.observe(watchdog)
    return simulation.step()


@final
class _Run:
    """A composed simulation in its folder, from the start or from a checkpoint, to the end.

    Args:
        simulation: at its initial state, also if `found` tells where to go on.
        found: the checkpoint to go on from.
    """

    def __init__(
        self,
        simulation: Simulation,
        scenario: Runnable,
        folder: RunFolder,
        versions: dict[str, Any],
        tell: Tell,
        warn: Warn,
        found: Checkpoint | None = None,
    ) -> None:
        self._simulation, self._scenario, self._folder = simulation, scenario, folder
        duration, every = scenario.time.duration, scenario.output.every
        self._steps = round(duration / simulation.step_length)
        self._statistics, self._watchdog = _observers(simulation, scenario, folder.log, warn, found)
        resumed = None if found is None else found.part("recorder")
        title = scenario.name
        self._recorder = Recorder(folder.results, simulation, every, self._statistics, title, resumed)
        if found is not None:
            simulation.remember(found.memory)
        parts = {
            "statistics": self._statistics,
            "watchdog": self._watchdog,
            "recorder": self._recorder,
        }
        self._keeper = CheckpointKeeper(
            folder.path, simulation, scenario.resolved_text(), _decisive(versions), parts,
            self._recorder.publish,
        )  # fmt: skip
        self._pace = Pace(simulation, duration, folder.path, tell)

    def go(self) -> None:
        """Step to the end, and say so in the folder."""
        pace, folder = self._pace, self._folder
        with self._recorder, _stop_between_steps() as stop:
            # the watchdog before the recorder: a step at which it stops is not kept
            for observer in (self._statistics, self._watchdog, self._recorder, pace):
                self._simulation.observe(observer)
            self._keeper.write()
            pace.begin()
            try:
                self._step_to_the_end(stop)
            except StepFailed as error:
                self._keep_failed_step(error)
                raise
            pace.end()
            self._keeper.finish()
        counts = {"statistics": self._statistics.as_data(), "watchdog": self._watchdog.as_data()}
        folder.log("finished", **pace.as_data(), **counts)
        folder.set_status("finished")

    def _step_to_the_end(self, stop: _Stop) -> None:
        simulation, keeper, steps = self._simulation, self._keeper, self._steps
        while simulation.step_index < steps:
            simulation.step()
            keeper.after_step()
            if stop.wanted:
                keeper.write()
                raise KeyboardInterrupt

    def _keep_failed_step(self, error: StepFailed) -> None:
        """Go back to the last checkpoint and forward to the step that failed, and keep what it began with.

        Components may have changed their memory in the failed attempt, so it is not taken from there.
        """
        simulation, start = self._simulation, self._keeper.latest
        if start is None or error.step < 0:
            return
        try:
            statistics, watchdog = _observers(simulation, self._scenario, _nothing, _nothing, start)
            simulation.go_back(start.memory, error.step, (statistics, watchdog))
            run = {
                f"{part}/{name}": array
                for part, owner in (("statistics", statistics), ("watchdog", watchdog))
                for name, array in owner.memory().items()
            }
            kept = Checkpoint(start.scenario, start.versions, simulation.memory(), run)
            kept.write(_step_file(self._folder.path, error))
        except CorekitError as trouble:
            error.add_note(f"The step could not be kept for a replay: {trouble}")


def _observers(
    simulation: Simulation,
    scenario: Runnable,
    note: Callable[..., object],
    warn: Warn,
    found: Checkpoint | None,
) -> tuple[Statistics, Watchdog]:
    """What watches every step, as it stood at a checkpoint."""
    statistics = Statistics()
    watchdog = Watchdog(scenario.watchdog, simulation, statistics, scenario.output.every, note, warn)
    if found is not None:
        statistics.remember(found.part("statistics"))
        watchdog.remember(found.part("watchdog"))
    return statistics, watchdog


def _all_versions(simulation: Simulation) -> dict[str, Any]:
    models = [body.model for body in simulation.bodies]
    components = [*models, *simulation.components.values(), simulation.integrator, simulation.system.solver]
    return versions_of(component for component in components if component is not None)


def _decisive(versions: dict[str, Any]) -> dict[str, str]:
    """Those of the kernel and the plugins."""
    return {"corekit": versions["corekit"], **versions["plugins"]}


def _describe(
    folder: RunFolder,
    simulation: Simulation,
    scenario: Runnable,
    versions: dict[str, Any],
    composed: float,
) -> None:
    folder.write("scenario.toml", scenario.given_text())
    folder.write("resolved.toml", scenario.resolved_text())
    folder.write("versions.json", json.dumps(versions, indent=2) + "\n")
    folder.log("composed", wall_s=composed, components=sorted(simulation.components))


# — what must hold before a run goes on —


def _check_unfinished(folder: Path) -> None:
    status = read_status(folder)
    if not folder.is_dir():
        raise ResultsError(f"cannot resume {folder}: the folder is not there")
    if status.word == "finished":
        raise ResultsError(f"{folder} has finished: there is nothing to go on with")
    if status.word == "running":
        raise ResultsError(
            f"{folder} is still running: {status.reason}. If that is not so, remove {folder / 'STATUS'}."
        )


def _check_not_begun(folder: RunFolder) -> None:
    """Without a checkpoint nothing may be lost by beginning anew."""
    if folder.results.exists() and len(Results(folder.path).time) > 1:
        raise ResultsError(
            f"{folder.path} has no checkpoint-*.npz to go on from. "
            f"Run {folder.path / 'resolved.toml'} anew instead."
        )


def _check_whole(folder: RunFolder, found: Checkpoint) -> None:
    """The published results must be ours, whole, and hold what the checkpoint belongs to."""
    records, wanted = len(Results(folder.path).time), int(found.run["recorder/time_length"])
    if records < wanted:
        raise ResultsError(
            f"{folder.results} holds {records} records, the checkpoint belongs to {wanted}: "
            "it is not the file that this run wrote"
        )


def _check_same_scenario(found: Checkpoint, scenario: Runnable, folder: Path) -> None:
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


def _check_same_versions(found: Checkpoint, versions: dict[str, Any], folder: Path) -> None:
    listed = version_differences(found.versions, _decisive(versions))
    if listed:
        raise ResultsError(
            f"the checkpoint in {folder} was written with other versions, which would not go on alike:\n"
            + "\n".join(f"  {each}" for each in listed)
            + "\nInstall those, or run the scenario into a new folder."
        )


def _kept_scenario(path: Path) -> Runnable:
    from corekit.scenario.load import load

    if not path.is_file():
        raise ResultsError(
            f"cannot resume {path.parent}: it holds no {path.name}, so it is no run's folder, or one that was killed "
            "before it began"
        )
    return load(path)


def _scenario_in(text: str) -> Runnable:
    from corekit.scenario.load import loads

    return loads(text)


# — how it ended —


def _step_file(folder: Path, error: StepFailed) -> Path:
    return folder / f"step-{error.step}.npz"


@contextmanager
def _says_how_it_ended(folder: RunFolder) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        _say_how_it_ended(folder, error)
        raise


def _say_how_it_ended(folder: RunFolder, error: BaseException) -> None:
    """Leave the reason in the folder, as far as it can still be written, and the folder in the error."""
    stopped = isinstance(error, KeyboardInterrupt)
    word = "interrupted" if stopped else "failed"
    reason = "stopped by the user" if stopped else str(error) or type(error).__name__
    if not isinstance(error, CorekitError) and not stopped:
        reason = f"{type(error).__name__}: {reason}"
    what: dict[str, Any] = {"reason": reason}
    error.add_note(f"What was recorded is kept in {folder.path}")
    if isinstance(error, StepFailed):
        what |= {"step": error.step, "time_s": error.time, "body": error.body, "coordinate": error.coordinate}
        what["term"] = error.term
        if _step_file(folder.path, error).exists():
            what["replay"] = _step_file(folder.path, error).name
            error.add_note(f"That step alone: corekit run {_step_file(folder.path, error)}")
    if stopped:
        error.add_note(f"To go on: corekit run --resume {folder.path}")
    try:
        folder.log(word, **what)
        folder.set_status(word, " ".join(reason.split()))
    except (OSError, ResultsError) as trouble:
        error.add_note(f"The status could not be written: {trouble}")


@final
class _Stop:
    """Whether the user asked to stop: the run does so after the step."""

    def __init__(self) -> None:
        self.wanted = False

    def handle(self, _signal: int, _frame: FrameType | None) -> None:
        """The first Ctrl-C waits for the end of the step, a second one does not."""
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True


@contextmanager
def _stop_between_steps() -> Iterator[_Stop]:
    """Ctrl-C ends the run between two steps, so that every buffer is whole; in other threads it stays as it is."""
    stop = _Stop()
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or usual is not signal.default_int_handler:
        yield stop
        return
    signal.signal(signal.SIGINT, stop.handle)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, usual)


def _nobody(_progress: Progress) -> None:
    """Nobody wants to know."""


def _nothing(*_what: object, **_more: object) -> None:
    """What was found before is not told again."""


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=2)
