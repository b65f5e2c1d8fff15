"""How far a run is and how fast it goes."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import final

from attrs import frozen

from corekit.data.step import StepReport
from corekit.simulation.loop import Simulation

__all__ = ["Pace", "Progress"]

_TELL_EVERY = 0.1
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
        compiled, kernels: functions with machine code so far, whichever process compiled it, and all that are
            known to be needed; these grow, since only the run's calls tell which it needs.
    """

    phase: str
    fraction: float = 0.0
    time: float = 0.0
    rate: float = float("nan")
    remaining: float = float("nan")
    folder: Path | None = None
    compiled: int = 0
    kernels: int = 0


@final
class Pace:
    """An observer that knows how fast the run goes.

    The time of a step is the median over stretches of a tenth of a second, so that kernels compiled on
    their first use, whenever that is, do not count as the pace of the run.
    """

    def __init__(
        self, simulation: Simulation, duration: float, folder: Path, tell: Callable[[Progress], object]
    ) -> None:
        self._start, self._duration = simulation.start_time, duration
        self._folder, self._tell = folder, tell
        self._began = self._ready = self._first = self._ended = clock.perf_counter()
        self._next = -1.0
        self._first_time = self._begun_at = self._reached = simulation.time
        self._steps = 0
        self._last, self._last_steps = self._began, 0
        self._paces: list[float] = []

    def begin(self) -> None:
        """The clock starts."""
        self._began = self._ready = self._first = self._ended = clock.perf_counter()
        self._tell(Progress("first step", folder=self._folder))

    def ready(self) -> None:
        """The steps begin: what comes before them is loaded."""
        self._ready = clock.perf_counter()

    def __call__(self, simulation: Simulation, report: StepReport) -> None:
        self._steps += 1
        self._reached = simulation.time
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

    def as_data(self) -> dict[str, float | None]:
        """Wall times [s]: with what is loaded first, of the steps alone, of the first one, and the median of one."""
        steps = self._steps
        if self._paces:
            step: float | None = median(self._paces)
        else:
            step = (self._ended - self._first) / (steps - 1) if steps > 1 else None
        return {
            "wall_s": self._ended - self._began,
            "loop_s": self._ended - self._ready,
            "first_step_s": self._first - self._began,
            "step_s": step,
            "real_time_factor": (self._reached - self._begun_at) / (steps * step) if step else None,
        }
