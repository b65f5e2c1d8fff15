"""A simulation stepped to its end in a run folder, with observers and checkpoints."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import final

from corekit.errors import CorekitError, StepFailed
from corekit.registry.first_party import RECORDER
from corekit.simulation.loop import Simulation
from corekit_run.checkpoint import Checkpoint, CheckpointKeeper, check_same_controllers
from corekit_run.folder import LOG, RunFolder, read_log
from corekit_run.observers import RunContext, Runnable, RunObservers
from corekit_run.plugin_errors import named_errors, named_step_errors
from corekit_run.progress import ProgressCallback, RunTimer
from corekit_run.run_end import Stop, step_file
from corekit_run.versions import all_versions, decisive

__all__ = ["RESOLVED", "FolderRun", "ignore", "is_run", "write_scenario"]

RESOLVED = "resolved.toml"
NO_RECORDER = (
    "no recorder is installed: log, status and checkpoints are kept, records are not, and no watchdog looks at the "
    f"steps: pip install {RECORDER}"
)


def write_scenario(folder: RunFolder, scenario: Runnable, simulation: Simulation, composed: float) -> None:
    """Write what is run into a folder: the scenario, and the event `composed`, which tells a run from a search.

    They come before the status, so that a run can be gone on with however early it is killed; see `is_run`.

    Args:
        composed: wall time that composing it took [s].
    """
    folder.write(RESOLVED, scenario.resolved_text())
    folder.log("composed", wall_s=composed, components=sorted(simulation.components))


def is_run(folder: Path) -> bool:
    """Whether `write_scenario` began to write here, however early it was killed."""
    if any(event["event"] == "composed" for event in read_log(folder)):
        return True
    # a search begins with its status
    names = {each.name for each in folder.iterdir()}
    return RESOLVED in names and names <= {RESOLVED, LOG}


def ignore(*_arguments: object, **_options: object) -> None:
    """Do nothing with a report, warning or event."""


@contextmanager
def closed(observers: RunObservers) -> Iterator[None]:
    """Close observers at the end of a block; what ended it counts more than one that cannot be closed."""
    try:
        yield
    except BaseException as error:
        try:
            observers.close()
        except Exception as trouble:  # noqa: BLE001 - a stranger's code may raise anything
            error.add_note(f"An observer could not be closed: {type(trouble).__name__}: {trouble}")
        raise
    with named_errors():
        observers.close()


@final
class FolderRun:
    """A composed simulation in its folder, from the start or from a checkpoint, to the end.

    Args:
        simulation: at its initial state.
        scenario: what it was composed of. folder: of the run.
        report, warn: as `progress` and `warn` of `corekit_run.running.run`.

    Attributes:
        versions: of everything that is used.
    """

    def __init__(
        self,
        simulation: Simulation,
        scenario: Runnable,
        folder: RunFolder,
        report: ProgressCallback,
        warn: Callable[[str], object],
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

    def describe(self) -> None:
        """Write what was given, and by what it is run, into the folder."""
        folder = self._folder
        folder.write("scenario.toml", self._scenario.given_text())
        folder.write("versions.json", json.dumps(self.versions, indent=2) + "\n")

    def begin(self, checkpoint: Checkpoint | None = None) -> None:
        """Start the observers, or restore them and the simulation from a checkpoint."""
        if checkpoint is None:
            with named_step_errors(self._simulation):
                self._simulation.sample_controllers()  # so that the first record holds their inputs
                self._observers.begin()
            return
        check_same_controllers(checkpoint, self._simulation.internal_state(), self._folder.path)
        self._observers.begin(checkpoint.run)
        self._simulation.restore(checkpoint.memory)

    def advance(self, stop: Stop) -> None:
        """Step to the end, and record that in the folder."""
        timer, folder, observers = self._timer, self._folder, self._observers
        with closed(observers):
            observers.attach()
            self._simulation.observe(timer)
            with named_step_errors(self._simulation):
                self._keeper.write()
            timer.begin(self._simulation.time)
            with named_step_errors(self._simulation):
                self._simulation.warm_up(announce=False)
            timer.ready()
            try:
                with stop.waits(), named_step_errors(self._simulation):
                    self._step_to_the_end(stop)
            except StepFailed as error:
                self._keep_failed_step(error)
                raise
            if stop.wanted:
                self._keeper.write()
                raise stop.why
            timer.end()
            with named_errors():
                self._keeper.finish()
        with named_errors():
            summaries = observers.summaries()
        folder.log("finished", **timer.as_data(), **summaries)
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
            observers = RunObservers(RunContext(self._scenario, simulation, None, ignore, ignore))
            observers.begin(start.run)
            with named_errors():
                simulation.rewind(start.memory, error.step, observers.steps)
            kept = Checkpoint(
                start.scenario, start.versions, simulation.internal_state(), observers.internal_state()
            )
            kept.write(step_file(self._folder.path, error))
        except CorekitError as trouble:
            error.add_note(f"The step could not be kept for a replay: {trouble}")
