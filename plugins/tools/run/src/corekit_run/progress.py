"""Progress of a run: how far it is, and how fast it goes."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import final

from attrs import frozen

from corekit.data.status import StepReport
from corekit.simulation.loop import Simulation

__all__ = ["Progress", "ProgressCallback", "RunTimer"]

_REPORT_EVERY = 0.1
"""Wall time between two reports of progress [s]."""


@frozen
class Progress:
    """How far a run is.

    Args:
        phase: `composing`, `compiling`, `first step` or `running`.
        fraction: of the duration, 0 to 1.
        time: simulated [s].
        rate: simulated time per wall time [-], nan until known.
        remaining: wall time to go [s], nan until known.
        folder: of the run, None while composing.
        unit: what `time` counts where that is no simulated time, `runs`; `rate` is then of them per second.
        compiled, kernels: functions with machine code so far, whichever process compiled it, and all that are
            known to be needed; these grow, because only the calls of the run show which it needs.
    """

    phase: str
    fraction: float = 0.0
    time: float = 0.0
    rate: float = float("nan")
    remaining: float = float("nan")
    folder: Path | None = None
    compiled: int = 0
    kernels: int = 0
    unit: str = ""


ProgressCallback = Callable[[Progress], object]
"""Called with the progress of a run at most ten times a second."""


@final
class RunTimer:
    """Observer that measures the wall times of a run and reports its progress.

    The time of a step is the median over stretches of a tenth of a second, so that kernels compiled on
    their first use, whenever that is, do not count.
    """

    def __init__(
        self, simulation: Simulation, duration: float, folder: Path, report: ProgressCallback
    ) -> None:
        self._start, self._duration = simulation.start_time, duration
        self._folder, self._report = folder, report
        self._began = self._ready = self._first = self._ended = clock.perf_counter()
        self._next = -1.0
        self._first_time = self._begun_at = self._reached = simulation.start_time
        self._steps = 0
        self._last, self._last_steps = self._began, 0
        self._step_times: list[float] = []

    def begin(self, time: float) -> None:
        """Start the clock, at a simulated time [s]: that of the checkpoint where a run goes on."""
        self._first_time = self._begun_at = self._reached = time
        self._began = self._ready = self._first = self._ended = clock.perf_counter()
        self._report(Progress("first step", folder=self._folder))

    def ready(self) -> None:
        """Mark the begin of the steps: what comes before them is loaded."""
        self._ready = clock.perf_counter()

    def __call__(self, simulation: Simulation, report: StepReport) -> None:
        self._steps += 1
        self._reached = simulation.time
        now = clock.perf_counter()
        if now < self._next:
            return
        if self._next < 0:
            # the first step compiles, so the rate is that of the others
            self._first, self._first_time = now, simulation.time
        else:
            self._step_times.append((now - self._last) / (self._steps - self._last_steps))
        self._last, self._last_steps = now, self._steps
        self._next = now + _REPORT_EVERY
        elapsed, gone = now - self._first, simulation.time - self._first_time
        rate = gone / elapsed if gone > 0 and elapsed > 0 else float("nan")
        left = self._start + self._duration - simulation.time
        fraction = min(1.0, max(0.0, 1.0 - left / self._duration)) if self._duration > 0 else 1.0
        self._report(
            Progress("running", fraction, simulation.time, rate, max(0.0, left) / rate, self._folder)
        )

    def end(self) -> None:
        """Stop the clock."""
        self._ended = clock.perf_counter()

    def as_data(self) -> dict[str, float | None]:
        """Return wall times [s]: with loading, of the steps alone, of the first step, and the median of a step.

        The real-time factor is simulated time per wall time of the steps.
        """
        steps = self._steps
        if self._step_times:
            step: float | None = median(self._step_times)
        else:
            step = (self._ended - self._first) / (steps - 1) if steps > 1 else None
        return {
            "wall_s": self._ended - self._began,
            "loop_s": self._ended - self._ready,
            "first_step_s": self._first - self._began,
            "step_s": step,
            "real_time_factor": (self._reached - self._begun_at) / (self._ended - self._ready)
            if steps
            else None,
        }
