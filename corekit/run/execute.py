"""From a scenario to a run folder: compose, step with recorder, watchdog and checkpoints, say how it ended."""

from __future__ import annotations

import json
import time as clock
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

from corekit.data.step import StepReport
from corekit.errors import CorekitError, ResultsError, StepFailed
from corekit.hooks.installed import installed_hooks
from corekit.run.checkpoint import Checkpoint, CheckpointKeeper, HasMemory, newest_checkpoint, read_checkpoint
from corekit.run.compilation import shown_compilation
from corekit.run.differences import version_differences
from corekit.run.ending import Stop, says_how_it_ended, step_file, stop_between_steps
from corekit.run.folder import RunFolder
from corekit.run.pace import Pace, Progress
from corekit.run.recorder import Recorder
from corekit.run.results import Results
from corekit.run.resumable import (
    check_not_begun,
    check_same_scenario,
    check_same_versions,
    check_unfinished,
    check_whole,
)
from corekit.run.runnable import Runnable, all_versions, decisive
from corekit.run.simulation import Simulation
from corekit.run.statistics import Statistics
from corekit.run.watchdog import Watchdog

__all__ = ["Progress", "Runnable", "execute", "replay", "resume"]

Tell = Callable[[Progress], object]
Warn = Callable[[str], object]


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
    with shown_compilation(tell) as compilation:
        simulation = scenario.compose()
        composed = clock.perf_counter() - began
        folder = RunFolder.create(
            scenario.name, Path(scenario.output.directory), None if directory is None else Path(directory)
        )
        with installed_hooks().run(folder.path, scenario, simulation), says_how_it_ended(folder):
            versions = all_versions(simulation)
            _describe(folder, simulation, scenario, versions, composed)
            compilation.share(folder.path / "resolved.toml")
            _Run(simulation, scenario, folder, versions, tell, warn or _warn).go()
    return Results(folder.path)


def resume(
    folder: str | Path,
    scenario: Runnable | None = None,
    *,
    progress: Tell | None = None,
    warn: Warn | None = None,
    allow_code: bool = False,
) -> Results:
    """Go on with a run that was killed, interrupted or failed, from its last checkpoint to the same end.

    The results are, bit for bit, those of a run that nothing interrupted. Records after the checkpoint are
    dropped and made anew; a run that was killed before its first checkpoint begins anew.

    Args:
        folder: of the run.
        scenario: what it runs; if None, the folder's `resolved.toml`.
        progress, warn: as for `execute`.
        allow_code: whether functions that `resolved.toml` names may be imported, as for `corekit.load`; a given
            scenario has its own.
    Raises:
        ResultsError: the folder is no run's, the run has finished or still runs, no checkpoint can be read,
            or it belongs to another scenario or to other versions. Nothing in the folder is changed.
        StepFailed, KeyboardInterrupt: as for `execute`.
    """
    tell = progress or _nobody
    tell(Progress("composing"))
    own = RunFolder(Path(folder))
    check_unfinished(own.path)
    found, damaged = newest_checkpoint(own.path)
    if scenario is None:
        scenario = _kept_scenario(own.path / "resolved.toml", allow_code=allow_code)
    if found is None:
        check_not_begun(own)
    else:
        check_same_scenario(found, scenario, own.path)
        check_whole(own, found)
    began = clock.perf_counter()
    with shown_compilation(tell) as compilation:
        simulation = scenario.compose()
        composed = clock.perf_counter() - began
        versions = all_versions(simulation)
        if found is not None:
            check_same_versions(found, versions, own.path)
        own.take_over()
        with installed_hooks().run(own.path, scenario, simulation), says_how_it_ended(own):
            if found is None:
                _describe(own, simulation, scenario, versions, composed)
            else:
                own.log("resumed", step=found.step, time_s=found.time, passed_over=damaged)
            compilation.share(own.path / "resolved.toml")
            _Run(simulation, scenario, own, versions, tell, warn or _warn, found).go()
    return Results(own.path)


def replay(
    path: str | Path,
    scenario: Runnable | None = None,
    *,
    warn: Warn | None = None,
    allow_code: bool = False,
) -> StepReport:
    """Take the one step that a `step-<n>.npz` holds, watched as in its run; nothing is written.

    Args:
        path: of the file, or of any checkpoint: then the step after it is taken.
        scenario: what it belongs to; if None, the one in the file.
        warn: as for `execute`. allow_code: as for `resume`.
    Returns:
        The report of a step that succeeds.
    Raises:
        StepFailed: the step fails, as it did in the run.
        ResultsError: the file is not whole, or not one of ours.
    """
    tell = warn or _warn
    kept = read_checkpoint(Path(path))
    if scenario is None:
        scenario = _scenario_in(kept.scenario, allow_code=allow_code)
    simulation = scenario.compose()
    others = version_differences(kept.versions, decisive(all_versions(simulation)))
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
        parts: dict[str, HasMemory] = {
            "statistics": self._statistics,
            "watchdog": self._watchdog,
            "recorder": self._recorder,
        }
        self._keeper = CheckpointKeeper(
            folder.path, simulation, scenario.resolved_text(), decisive(versions), parts,
            self._recorder.publish,
        )  # fmt: skip
        self._pace = Pace(simulation, duration, folder.path, tell)

    def go(self) -> None:
        """Step to the end, and say so in the folder."""
        pace, folder = self._pace, self._folder
        with self._recorder, stop_between_steps() as stop:
            # the watchdog before the recorder: a step at which it stops is not kept
            for observer in (self._statistics, self._watchdog, self._recorder, pace):
                self._simulation.observe(observer)
            self._keeper.write()
            pace.begin()
            self._simulation.warm_up()
            pace.ready()
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

    def _step_to_the_end(self, stop: Stop) -> None:
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
            kept.write(step_file(self._folder.path, error))
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


def _nobody(_progress: Progress) -> None:
    """Nobody wants to know."""


def _nothing(*_what: object, **_more: object) -> None:
    """What was found before is not told again."""


def _warn(sentence: str) -> None:
    warnings.warn(sentence, RuntimeWarning, stacklevel=2)


def _kept_scenario(path: Path, *, allow_code: bool) -> Runnable:
    from corekit.scenario.load import load

    if not path.is_file():
        raise ResultsError(
            f"cannot resume {path.parent}: it holds no {path.name}, so it is no run's folder, or one that was killed "
            "before it began"
        )
    return load(path, allow_code=allow_code)


def _scenario_in(text: str, *, allow_code: bool) -> Runnable:
    from corekit.scenario.load import loads

    return loads(text, allow_code=allow_code)
