"""One run as hooks see it: blocks of steps while it goes, and its end."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

__all__ = ["RunWatch"]

BLOCK = 0.25
"""Wall time of a block of steps, at least [s]."""


@final
class RunWatch:
    """An observer of every step that speaks only once a block.

    Args:
        tell: calls a hook by its name.
        folder: of the run.
        simulation: that runs.
    """

    def __init__(self, tell: Callable[..., None], folder: Path, simulation: Any) -> None:
        self._tell, self._folder, self._simulation = tell, folder, simulation
        self._steps = 0
        self._next = clock.perf_counter() + BLOCK

    def __call__(self, _simulation: Any, _report: Any) -> None:
        self._steps += 1
        if clock.perf_counter() >= self._next:
            self._finish_block()

    def ended(self, error: BaseException | None = None) -> None:
        """The run is over: the last block, then the end."""
        if self._steps:
            self._finish_block()
        self._tell("corekit_run_ended", folder=self._folder, error=error)

    def _finish_block(self) -> None:
        steps, self._steps = self._steps, 0
        self._tell("corekit_block_finished", folder=self._folder, simulation=self._simulation, steps=steps)
        # a slow hook does not make the next block shorter
        self._next = clock.perf_counter() + BLOCK
