"""Many steps of one simulation in one compiled call, where nothing looks at a single step: for `Simulation.run`."""

from __future__ import annotations

from typing import Any, Final, final

import numpy as np

from corekit.roles.model import Model
from corekit.simulation.loop import Simulation
from corekit_batch.layout import form_numbers, lay_out
from corekit_batch.refusal import NotCompiled
from corekit_batch.schedule import AT_ONCE, Schedule
from corekit_batch.surroundings import new_contact_work
from corekit_batch.tables import NO_ROOM, Worlds
from corekit_batch.threads import Threads
from corekit_batch.transfer import Transfer
from corekit_batch.worlds import new_worlds
from corekit_batch.written_inputs import WrittenInputs

__all__ = ["StepsAhead", "steps_ahead"]

_LEAST: Final = 1000
"""Steps from which the driver is worth being loaded: a tenth of a second of ordinary ones."""


def steps_ahead(simulation: Simulation, count: int) -> StepsAhead | None:
    """Return what makes steps of a simulation; None if there are few, or the driver steps no such world."""
    if count < _LEAST or simulation.is_observed:
        return None
    ahead = StepsAhead(simulation)
    return None if ahead.refusal else ahead


@final
class StepsAhead:
    """Makes the steps of a simulation that the driver can make.

    Args:
        simulation: to be advanced.

    Attributes:
        refusal: why the driver steps no such world, a sentence; empty if it does.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation, self.refusal = simulation, ""
        self._system: Any = None
        self._models: list[Model] = []
        self._prepare()

    def _prepare(self) -> None:
        """Lay the world out as it is now."""
        simulation = self._simulation
        self._system, self._models = simulation.system, [body.model for body in simulation.bodies]
        try:
            self._layout = lay_out(simulation)
        except NotCompiled as reason:
            self.refusal = str(reason)
            return
        self.refusal, layout = "", self._layout
        self._schedule = Schedule(simulation)
        self._worlds: Worlds = new_worlds(simulation, 1, layout, self._schedule)
        self._inputs = WrittenInputs(simulation.bodies, self._worlds.written, self._worlds.is_written)
        self._transfer = Transfer(simulation, self._worlds, layout.around, self._inputs)
        self._threads = Threads(
            1, lambda room: (layout.new_work(), new_contact_work(simulation, room, layout.around))
        )

    def _follow(self) -> None:
        """Take up that the simulation became another one, or that its bodies have other models."""
        models = [body.model for body in self._simulation.bodies]
        if self._system is not self._simulation.system:
            self._prepare()
        elif any(new is not old for new, old in zip(models, self._models, strict=True)):
            numbers = None if self.refusal else form_numbers(self._layout, models)
            if numbers is None:
                self._prepare()
            else:
                self._worlds.numbers[0], self._models = numbers, models

    def __call__(self, until: int) -> int:
        """Advance the simulation, at most to a grid step; return how many steps were made.

        It stands before a step that must be made by `Simulation.step`, whose reports are of that step alone.
        """
        simulation, begin = self._simulation, self._simulation.step_index
        self._follow()
        if begin >= until or self.refusal or simulation.is_observed:
            return 0
        self._transfer.read(0)
        self._read_inputs()
        try:
            self._advance(until)
        finally:
            made = int(self._worlds.step[0]) - begin
            if made:
                self._transfer.write_forward(0)
        return made

    def _read_inputs(self) -> None:
        self._worlds.is_written[:] = False
        for body in self._simulation.bodies:
            for channel, value in body.inputs.internal_state().items():
                self._inputs[body.name][channel] = value

    def _advance(self, until: int) -> None:
        worlds, transfer = self._worlds, self._transfer
        which = np.zeros(1, dtype=np.int64)
        while worlds.step[0] < until:
            begin = int(worlds.step[0])
            worlds.until[0] = end = min(until, begin + AT_ONCE)
            self._schedule.cover(begin, end)
            self._worlds = worlds = self._schedule.plan(worlds)
            self._threads.advance(self._layout, worlds, transfer.memory, which)
            if worlds.status[0] == NO_ROOM:
                transfer.reserve(2 * transfer.memory.id.shape[1])
            elif worlds.step[0] < end:
                return
