"""Telling hooks of a run: its start, its blocks of steps, its end."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import final

from corekit.data.status import StepReport
from corekit.hooks.installed import Hooks, installed_hooks
from corekit.simulation.loop import Simulation
from corekit_run.observers import Runnable

__all__ = ["reported_to_hooks"]

BLOCK = 0.25
"""Wall time of a block of steps, at least [s]."""


@contextmanager
def reported_to_hooks(folder: Path, scenario: Runnable, simulation: Simulation) -> Iterator[None]:
    """Report to hooks that a run starts, its blocks of steps, and how the context ended."""
    hooks = installed_hooks()
    hooks.report("corekit_run_started", folder=folder, scenario=scenario, simulation=simulation)
    watch = _Watch(hooks, folder, simulation)
    if hooks.is_implemented("corekit_block_finished"):
        simulation.observe(watch)
    try:
        yield
    except BaseException as error:
        watch.ended(error)
        raise
    watch.ended()


@final
class _Watch:
    """An observer of every step that speaks only once a block."""

    def __init__(self, hooks: Hooks, folder: Path, simulation: Simulation) -> None:
        self._hooks, self._folder, self._simulation = hooks, folder, simulation
        self._steps = 0
        self._next = clock.perf_counter() + BLOCK

    def __call__(self, _simulation: Simulation, _report: StepReport) -> None:
        self._steps += 1
        if clock.perf_counter() >= self._next:
            self._finish_block()

    def ended(self, error: BaseException | None = None) -> None:
        """The run is over: the last block, then the end."""
        if self._steps:
            self._finish_block()
        self._hooks.report("corekit_run_ended", folder=self._folder, error=error)

    def _finish_block(self) -> None:
        steps, self._steps = self._steps, 0
        self._hooks.report(
            "corekit_block_finished", folder=self._folder, simulation=self._simulation, steps=steps
        )
        # a slow hook does not make the next block shorter
        self._next = clock.perf_counter() + BLOCK
