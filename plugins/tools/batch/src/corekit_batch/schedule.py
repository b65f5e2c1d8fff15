"""When grid steps begin, which of them breakpoints cut or move, and what the signals of inputs are where they begin."""

from __future__ import annotations

from typing import Final, final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.simulation.breakpoints import cut_steps
from corekit.simulation.loop import Simulation
from corekit_batch.tables import Worlds

__all__ = ["AT_ONCE", "Schedule"]

AT_ONCE: Final = 4096
"""Steps of a world that are planned at once."""
_AHEAD: Final = 1024
"""Grid steps that are looked ahead at least, so that calls for a few at a time seldom do."""


@final
class Schedule:
    """Grid steps of a simulation, as its loop makes them.

    Args:
        simulation: whose signals and breakpoints count.

    Attributes:
        first_step: number of the step with which the arrays begin, shape (1,).
        time, is_cut, inputs: as of `corekit_batch.tables.Worlds`.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._bodies = simulation.bodies
        self._start, self._step = simulation.start_time, simulation.step_length
        self._is_constant = all(body.inputs.constant for body in self._bodies)
        self.first_step: IntArray = np.zeros(1, dtype=np.int64)
        self.time: Array = np.zeros(0)
        self.is_cut: BoolArray = np.zeros(0, dtype=np.bool_)
        self.inputs: Array = self._signals(np.zeros(1))
        if not self._is_constant:
            self.inputs = self.inputs[:0]

    def cover(self, first: int, last: int) -> None:
        """Make the arrays cover the grid steps first ≤ n < last."""
        begin, end = int(self.first_step[0]), int(self.first_step[0]) + len(self.time)
        if begin <= first and last <= end:
            return
        last = max(last, first + _AHEAD)
        number = np.arange(first, last + 1)
        grid: Array = np.asarray(self._start + number * self._step, dtype=np.float64)
        time, is_cut = grid[:-1], cut_steps(self._bodies, grid, self._step)
        inputs = self.inputs if self._is_constant else self._signals(time)
        # nothing is covered until all is written: a signal may end this between any two lines
        self.time = time[:0]
        self.first_step[0] = first
        self.is_cut, self.inputs = is_cut, inputs
        self.time = time

    def plan(self, worlds: Worlds) -> Worlds:
        """Return the same worlds with the grid steps that are covered."""
        return worlds._replace(time=self.time, is_cut=self.is_cut, inputs=self.inputs)

    def _signals(self, times: Array) -> Array:
        """u of all bodies by their signals, shape (times, nu); zero for channels without."""
        return np.concatenate(
            [np.zeros((len(times), 0)), *(body.inputs.signals_at(times) for body in self._bodies)], axis=1
        )
