"""Piles that form in a run: more contacts than the solver serves are told once, as `corekit check` does."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from corekit.data.status import StepReport
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation
from corekit_inspect.piles import pile_doubts
from corekit_run.observers import RunContext, RunObserver

__all__ = ["watch_piles"]


@final
class PileWatch(RunObserver):
    """Warns of a pile.

    It looks after 1, 2, 4 … steps: a pile that slows a run down is told before it lasts twice as long.
    """

    name = "piles"

    def __init__(self, scenario: Scenario, warn: Callable[[str], object]) -> None:
        self._scenario, self._warn = scenario, warn
        self._next, self._count, self._has_told = 1, 0, False

    def on_step_accepted(self, simulation: Simulation, report: StepReport) -> None:
        """Look at the contacts, if it is time to; see `RunObserver.on_step_accepted`."""
        del report
        self._count += 1
        if self._has_told or self._count < self._next:
            return
        self._next *= 2
        when = f"at {simulation.time:g} s"
        for sentence in pile_doubts(self._scenario, simulation, simulation.contacts(), when):
            self._has_told = True
            self._warn(sentence)


def watch_piles(context: RunContext) -> list[RunObserver]:
    """Make the watch of a run whose contacts are solved."""
    scenario = context.scenario
    if (
        context.folder is None
        or context.simulation.system.pipeline is None
        or not isinstance(scenario, Scenario)
    ):
        return []
    return [PileWatch(scenario, context.warn)]
