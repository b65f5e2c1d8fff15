"""A run warns of what `corekit check` warns of: as it begins, and once it comes to be in the run.

That is a pile that its solver does not serve, a body that turns too fast for the step, or is bent as nothing can be,
friction that edges leave a moment of out, and what models say of their states.
"""

from __future__ import annotations

from typing import final

from corekit.data.status import StepReport
from corekit.scenario.doubts import find_doubts
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation
from corekit_inspect.edge_friction import edge_friction_doubts
from corekit_inspect.piles import contacts_at_start, pile_doubts
from corekit_inspect.sharp_bends import bend_doubts
from corekit_inspect.turning import Turning
from corekit_run.observers import RunContext, RunObserver

__all__ = ["watch_doubts"]


@final
class DoubtWatch(RunObserver):
    """Warns, and keeps each sentence in the log.

    It looks for piles, bends, friction of edges and doubts of models after 1, 2, 4 … steps, and for all but piles at
    the end: a pile that slows a run down is reported before it lasts twice as long. At turns it looks in every step,
    which takes two microseconds.
    """

    name = "doubts"

    def __init__(self, context: RunContext, scenario: Scenario) -> None:
        self._context, self._scenario = context, scenario
        self._next, self._count = 1, 0
        self._looks_for_piles = context.simulation.system.pipeline is not None
        self._turning: Turning | None = Turning(context.simulation)
        self._looks_for_bends = True
        self._looks_at_edges = self._looks_for_piles
        self._silent = [body for body in context.simulation.bodies if body.abilities.state_doubts is not None]

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
        """Look at what turns, and at contacts and bends if it is time to; see `RunObserver.on_step_accepted`."""
        self._count += 1
        if self._turning is not None and (
            found := self._turning.doubts(report.step_size, f"at {simulation.time:g} s")
        ):
            self._turning = None
            self._warn(found)
        if self._count < self._next:
            return
        self._next *= 2
        self._look_at_states()
        if self._looks_for_piles:
            points = simulation.system.record(by_point=True)
            found = list(pile_doubts(self._scenario, simulation, points, f"at {simulation.time:g} s"))
            self._looks_for_piles = not found
            self._warn(found)

    def summary(self) -> None:
        """Look at the states of bodies at the end; every doubt has an entry of its own."""
        self._look_at_states()

    def _look_at_states(self) -> None:
        simulation = self._context.simulation
        when = f"at {simulation.time:g} s"
        if self._looks_for_bends:
            found = list(bend_doubts(simulation, when))
            self._looks_for_bends = not found
            self._warn(found)
        if self._looks_at_edges:
            found = list(edge_friction_doubts(simulation, when))
            self._looks_at_edges = not found
            self._warn(found)
        for body in list(self._silent):
            asked = body.abilities.state_doubts
            assert asked is not None
            inputs = body.inputs.value_at(simulation.time)
            said = asked.find_state_doubts(simulation.state.body_states[body.index], inputs)
            if said:
                self._silent.remove(body)
            self._warn([f"bodies.{body.name}: {when} {each}" for each in said])

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
