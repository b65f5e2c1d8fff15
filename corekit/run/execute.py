"""From a scenario to a run folder: compose, step with recorder and statistics, say how it ended."""

from __future__ import annotations

import json
import signal
import threading
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any, Protocol, final

from attrs import frozen

from corekit.data.step import StepReport
from corekit.errors import CorekitError, StepFailed
from corekit.run.folder import RunFolder, versions_of
from corekit.run.recorder import Recorder
from corekit.run.results import Results
from corekit.run.simulation import Simulation
from corekit.run.statistics import Statistics

__all__ = ["Progress", "Runnable", "execute"]

_TELL_EVERY = 0.1
"""Wall time between two reports of progress [s]."""


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
    def compose(self) -> Simulation: ...
    def given_text(self) -> str: ...
    def resolved_text(self) -> str: ...


@frozen
class Progress:
    """How far a run is.

    Args:
        phase: `composing`, `first step` or `running`: kernels are compiled in the first two, once an install.
        fraction: of the duration, 0 to 1.
        time: simulated [s].
        rate: simulated time per wall time [-], nan until known.
        remaining: wall time to go [s], nan until known.
        folder: of the run, None while composing.
    """

    phase: str
    fraction: float = 0.0
    time: float = 0.0
    rate: float = float("nan")
    remaining: float = float("nan")
    folder: Path | None = None


def execute(
    scenario: Runnable,
    *,
    directory: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Results:
    """Run a scenario into a new folder and return its results.

    Args:
        scenario: as `corekit.load` gives it.
        directory: the run's own folder; if None, one with name and time stamp in the scenario's
            `output.directory`. A folder that holds something is left alone: a number is added.
        progress: called at most ten times a second.
    Raises:
        StepFailed: a step has no answer. What was recorded so far is kept, STATUS says why.
        KeyboardInterrupt: the user stopped it between two steps; what was recorded is kept.
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
    try:
        _describe(folder, simulation, scenario, composed)
        _run(simulation, scenario, folder, tell)
    except BaseException as error:
        _say_how_it_ended(folder, error)
        raise
    return Results(folder.path)


def _describe(folder: RunFolder, simulation: Simulation, scenario: Runnable, composed: float) -> None:
    folder.write("scenario.toml", scenario.given_text())
    folder.write("resolved.toml", scenario.resolved_text())
    models = [body.model for body in simulation.bodies]
    components = [*models, *simulation.components.values(), simulation.integrator, simulation.system.solver]
    versions = versions_of(component for component in components if component is not None)
    folder.write("versions.json", json.dumps(versions, indent=2) + "\n")
    folder.log("composed", wall_s=composed, components=sorted(simulation.components))


def _run(
    simulation: Simulation,
    scenario: Runnable,
    folder: RunFolder,
    tell: Callable[[Progress], None],
) -> None:
    statistics = Statistics()
    pace = _Pace(simulation, scenario.time.duration, folder.path, tell)
    recorder = Recorder(folder.results, simulation, scenario.output.every, statistics, scenario.name)
    with recorder, _stop_between_steps() as stop:
        for observer in (statistics, recorder, pace, stop):
            simulation.observe(observer)
        pace.begin()
        simulation.run(scenario.time.duration)
    pace.end()
    folder.log("finished", **pace.as_data(statistics), statistics=statistics.as_data())
    folder.set_status("finished")


def _say_how_it_ended(folder: RunFolder, error: BaseException) -> None:
    """Leave the reason in the folder, as far as it can still be written, and the folder in the error."""
    stopped = isinstance(error, KeyboardInterrupt)
    word = "interrupted" if stopped else "failed"
    reason = "stopped by the user" if stopped else str(error) or type(error).__name__
    if not isinstance(error, CorekitError) and not stopped:
        reason = f"{type(error).__name__}: {reason}"
    what: dict[str, Any] = {"reason": reason}
    if isinstance(error, StepFailed):
        what |= {"step": error.step, "time_s": error.time, "body": error.body, "coordinate": error.coordinate}
    try:
        folder.log(word, **what)
        folder.set_status(word, " ".join(reason.split()))
    except OSError as trouble:
        error.add_note(f"The status could not be written: {trouble}")
    error.add_note(f"What was recorded is kept in {folder.path}")


@final
class _Pace:
    """An observer that knows how fast the run goes.

    The time of a step is the median over stretches of a tenth of a second, so that kernels compiled on
    their first use, whenever that is, do not count as the pace of the run.
    """

    def __init__(
        self, simulation: Simulation, duration: float, folder: Path, tell: Callable[[Progress], None]
    ) -> None:
        self._start, self._duration = simulation.time, duration
        self._folder, self._tell = folder, tell
        self._began = self._first = self._ended = clock.perf_counter()
        self._next = -1.0
        self._first_time = simulation.time
        self._steps = 0
        self._last, self._last_steps = self._began, 0
        self._paces: list[float] = []

    def begin(self) -> None:
        """The clock starts."""
        self._began = self._first = self._ended = clock.perf_counter()
        self._tell(Progress("first step", folder=self._folder))

    def __call__(self, simulation: Simulation, report: StepReport) -> None:
        self._steps += 1
        now = clock.perf_counter()
        if now < self._next:
            return
        if self._next < 0:
            # the first step compiles: the pace is that of the others
            self._first, self._first_time = now, simulation.time
        else:
            self._paces.append((now - self._last) / (self._steps - self._last_steps))
        self._last, self._last_steps = now, self._steps
        self._next = now + _TELL_EVERY
        elapsed, gone = now - self._first, simulation.time - self._first_time
        rate = gone / elapsed if gone > 0 and elapsed > 0 else float("nan")
        left = self._start + self._duration - simulation.time
        fraction = min(1.0, max(0.0, 1.0 - left / self._duration)) if self._duration > 0 else 1.0
        self._tell(Progress("running", fraction, simulation.time, rate, max(0.0, left) / rate, self._folder))

    def end(self) -> None:
        """The clock stops."""
        self._ended = clock.perf_counter()

    def as_data(self, statistics: Statistics) -> dict[str, float | None]:
        """Wall times [s]: of the whole run, of the first step, and the median of a step."""
        steps = statistics.whole.steps
        if self._paces:
            step: float | None = median(self._paces)
        else:
            step = (self._ended - self._first) / (steps - 1) if steps > 1 else None
        return {
            "wall_s": self._ended - self._began,
            "first_step_s": self._first - self._began,
            "step_s": step,
            "real_time_factor": self._duration / (steps * step) if step else None,
        }


@final
class _Stop:
    """An observer that ends a run after the step in which the user asked for it."""

    def __init__(self) -> None:
        self.wanted = False

    def __call__(self, _simulation: Simulation, _report: StepReport) -> None:
        if self.wanted:
            raise KeyboardInterrupt

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
