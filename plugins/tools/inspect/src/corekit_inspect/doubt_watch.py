"""A run warns of what `corekit check` warns of: as it begins, and once a pile forms that its solver does not serve."""

from __future__ import annotations

from typing import final

from corekit.data.status import StepReport
from corekit.scenario.doubts import find_doubts
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation
from corekit_inspect.piles import contacts_at_start, pile_doubts
from corekit_run.observers import RunContext, RunObserver

__all__ = ["watch_doubts"]


@final
class DoubtWatch(RunObserver):
    """Warns, and keeps each sentence in the log.

    It looks for piles after 1, 2, 4 … steps: one that slows a run down is reported before it lasts twice as long.
    """

    name = "doubts"

    def __init__(self, context: RunContext, scenario: Scenario) -> None:
        self._context, self._scenario = context, scenario
        self._next, self._count = 1, 0
        self._looks_for_piles = context.simulation.system.pipeline is not None

    def begin(self) -> None:
        """Warn of what is improbable at the start. Looking changes nothing of the run; a resumed one has warned."""
        simulation = self._context.simulation
        before = simulation.internal_state()
        doubts = find_doubts(self._scenario, simulation)
        contacts = contacts_at_start(simulation)
        if contacts is not None and any(pile_doubts(self._scenario, simulation, contacts)):
            self._looks_for_piles = False
        simulation.restore(before)
        simulation.system.forget()
        self._warn(doubts)

    def on_step_accepted(self, simulation: Simulation, report: StepReport) -> None:
        """Look at the contacts, if it is time to; see `RunObserver.on_step_accepted`."""
        del report
        self._count += 1
        if not self._looks_for_piles or self._count < self._next:
            return
        self._next *= 2
        when = f"at {simulation.time:g} s"
        found = list(pile_doubts(self._scenario, simulation, simulation.contacts(), when))
        self._looks_for_piles = not found
        self._warn(found)

    def _warn(self, sentences: list[str]) -> None:
        for sentence in sentences:
            self._context.log("doubt", doubt=sentence)
            self._context.warn(sentence)


def watch_doubts(context: RunContext) -> list[RunObserver]:
    """Make the watch of a run that is kept."""
    scenario = context.scenario
    if context.folder is None or not isinstance(scenario, Scenario):
        return []
    return [DoubtWatch(context, scenario)]
