"""Many steps of one simulation in one compiled call, where nothing looks at a single step: for `Simulation.run`."""

from __future__ import annotations

from typing import Final, final

import numpy as np

from corekit.simulation.loop import Simulation
from corekit_batch.layout import lay_out
from corekit_batch.refusal import NotCompiled
from corekit_batch.schedule import Schedule
from corekit_batch.surroundings import new_contact_work
from corekit_batch.tables import NO_ROOM, Worlds
from corekit_batch.threads import Threads
from corekit_batch.transfer import Transfer
from corekit_batch.worlds import new_worlds
from corekit_batch.written_inputs import WrittenInputs

__all__ = ["StepsAhead", "steps_ahead"]

_LEAST: Final = 1000
"""Steps from which the driver is worth being loaded: a tenth of a second of ordinary ones."""
_AT_ONCE: Final = 4096
"""Steps that are planned at once."""


def steps_ahead(simulation: Simulation, count: int) -> StepsAhead | None:
    """Return what makes steps of a simulation; None if there are few, or the driver steps no such world."""
    if count < _LEAST:
        return None
    try:
        return StepsAhead(simulation)
    except NotCompiled:
        return None


@final
class StepsAhead:
    """Makes the steps of a simulation that the driver can make.

    Args:
        simulation: to be advanced.
    Raises:
        NotCompiled: the driver steps no such world.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation, self._layout = simulation, lay_out(simulation)
        self._schedule = Schedule(simulation)
        self._worlds: Worlds = new_worlds(simulation, 1, self._layout, self._schedule)
        self._inputs = WrittenInputs(simulation.bodies, self._worlds.written, self._worlds.is_written)
        self._transfer = Transfer(simulation, self._worlds, self._layout.around, self._inputs)
        around = self._layout.around
        self._threads = Threads(
            1, lambda room: (self._layout.new_work(), new_contact_work(simulation, room, around))
        )

    def __call__(self, until: int) -> int:
        """Advance the simulation, at most to a grid step; return how many steps were made.

        It stands before a step that must be made by `Simulation.step`, whose reports are of that step alone.
        """
        simulation, transfer = self._simulation, self._transfer
        transfer.store(0)
        self._read_inputs()
        begin = simulation.step_index
        try:
            self._advance(until)
        finally:
            made = int(self._worlds.step[0]) - begin
            if made:
                transfer.load(0)
                simulation.system.forget()
        return made

    def _read_inputs(self) -> None:
        for body in self._simulation.bodies:
            for channel, value in body.inputs.internal_state().items():
                self._inputs[body.name][channel] = value

    def _advance(self, until: int) -> None:
        worlds, transfer = self._worlds, self._transfer
        which = np.zeros(1, dtype=np.int64)
        while worlds.step[0] < until:
            begin = int(worlds.step[0])
            worlds.until[0] = min(until, begin + _AT_ONCE)
            self._schedule.cover(begin, begin + _AT_ONCE)
            self._worlds = worlds = self._schedule.plan(worlds)
            self._threads.advance(self._layout, worlds, transfer.memory, which)
            if worlds.status[0] == NO_ROOM:
                transfer.reserve(2 * transfer.memory.id.shape[1])
            elif worlds.step[0] < worlds.until[0]:
                return
