"""A world of the driver as the internal state of a simulation, and back: the next step is the same in both."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.state import State
from corekit.roles.component import InternalState
from corekit.simulation.loop import Simulation
from corekit_batch.tables import Worlds
from corekit_batch.written_inputs import WrittenInputs

__all__ = ["Transfer"]


@final
class Transfer:
    """Moves worlds into a simulation of the same scenario and out of it.

    Args:
        simulation: at its start.
        worlds: states of all worlds.
        inputs: what was written for them.
    """

    def __init__(self, simulation: Simulation, worlds: Worlds, inputs: WrittenInputs) -> None:
        self._simulation, self._worlds, self._inputs = simulation, worlds, inputs
        self._fresh = _without_inputs(simulation.internal_state())
        self._kept: list[InternalState] = [self._fresh] * len(worlds.step)
        self._start = [simulation.state.copy()] * len(worlds.step)

    def load(self, w: int) -> None:
        """Bring the simulation to the state of a world."""
        simulation, worlds, step = self._simulation, self._worlds, int(self._worlds.step[w])
        state = {
            **self._kept[w],
            "time": np.array(simulation.start_time + step * simulation.step_length),
            "step_index": np.array(step),
            "q": worlds.q[w].copy(), "v": worlds.v[w].copy(), "aux": worlds.aux[w].copy(),
        }  # fmt: skip
        for name, channels in self._inputs.items():
            state |= {f"inputs/{name}/{channel}": value.copy() for channel, value in channels.written(w)}
        simulation.restore(state)

    def store(self, w: int) -> None:
        """Bring a world to the state of the simulation."""
        state, worlds = self._simulation.state, self._worlds
        worlds.q[w], worlds.v[w], worlds.aux[w] = state.q, state.v, state.aux
        worlds.step[w] = self._simulation.step_index
        self._kept[w] = _without_inputs(self._simulation.internal_state())

    def reset(self, w: int, state: State | None) -> None:
        """Bring a world to the start, or to q, v and aux of a state at the start time.

        Raises:
            ControlError: the state is of another world, or has an orientation that is none.
        """
        simulation, start = self._simulation, self._start[w] if state is None else state
        simulation.restore(self._fresh)
        simulation.reset(state=start)
        self.store(w)

    def set_start(self, w: int, start: State) -> None:
        """Let a world begin at another state."""
        self._start[w] = start


def _without_inputs(state: InternalState) -> InternalState:
    """Leave out what channels hold, which the batch knows."""
    return {name: array for name, array in state.items() if not name.startswith("inputs/")}
