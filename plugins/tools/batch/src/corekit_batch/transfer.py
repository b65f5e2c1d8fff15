"""A world of the driver as the internal state of a simulation, and back: the next step is the same in both."""

from __future__ import annotations

import math
from typing import Any, Final, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.compiled_form import CompiledForm
from corekit.roles.component import InternalState, states_below
from corekit.simulation.loop import Simulation
from corekit_batch.contact_tables import Surroundings
from corekit_batch.surroundings import CAPACITY, grown, new_memory, nothing_around
from corekit_batch.tables import Worlds
from corekit_batch.written_inputs import WrittenInputs

__all__ = ["Transfer"]

_SYSTEM: Final = "system/"
_ROWS: Final = "constraint_impulse"


@final
class Transfer:
    """Moves worlds into a simulation of the same scenario and out of it.

    Args:
        simulation: at its start.
        worlds: states of all worlds.
        around: what the driver knows of their contacts; None where it steps none.
        inputs: what was written for them.

    Attributes:
        memory: what the worlds remember of contacts.
    """

    def __init__(
        self, simulation: Simulation, worlds: Worlds, around: Surroundings | None, inputs: WrittenInputs
    ) -> None:
        self._simulation, self._worlds, self._inputs = simulation, worlds, inputs
        self._around = nothing_around(simulation.bodies) if around is None else around
        self._fresh = _without_inputs(simulation.internal_state())
        rows = len(self._fresh.get(_SYSTEM + _ROWS, ()))
        self.memory = new_memory(len(worlds.step), CAPACITY, rows, self._around)
        self._solver, self._carried = _carried(simulation, self._around)
        self._kept: list[InternalState] = [self._fresh] * len(worlds.step)
        self._start = [simulation.state.copy()] * len(worlds.step)
        self._stored_step, self._stored_time = worlds.step.copy(), np.full(len(worlds.step), simulation.time)

    def times(self, which: int | slice = slice(None)) -> Array:
        """Time of worlds [s]: where the simulation stored them, beside a grid point perhaps, else that of the grid."""
        step = self._worlds.step[which]
        grid = self._simulation.start_time + step * self._simulation.step_length
        return np.where(step == self._stored_step[which], self._stored_time[which], grid)

    def load(self, w: int) -> None:
        """Bring the simulation to the state of a world."""
        simulation, worlds, step = self._simulation, self._worlds, int(self._worlds.step[w])
        state = {
            **self._kept[w],
            "time": self.times(w),
            "step_index": np.array(step),
            "q": worlds.q[w].copy(), "v": worlds.v[w].copy(), "aux": worlds.aux[w].copy(),
        }  # fmt: skip
        if not math.isinf(self.memory.probe_time[w]):
            state |= {_SYSTEM + name: array for name, array in self._contacts(w).items()}
            state |= {f"{self._solver}/{name}": array for name, array in self._of_solver(w).items()}
        for name, channels in self._inputs.items():
            state |= {f"inputs/{name}/{channel}": value.copy() for channel, value in channels.written(w)}
        simulation.restore(state)

    def store(self, w: int) -> None:
        """Bring a world to the state of the simulation."""
        state, worlds = self._simulation.state, self._worlds
        worlds.q[w], worlds.v[w], worlds.aux[w] = state.q, state.v, state.aux
        worlds.step[w] = self._stored_step[w] = self._simulation.step_index
        self._stored_time[w] = state.time
        self._kept[w] = kept = _without_inputs(self._simulation.internal_state())
        if "system/probe_time" in kept:
            of_solver = states_below(f"{self._solver}/", kept) if self._carried else {}
            self._store_contacts(w, states_below(_SYSTEM, kept), of_solver)

    def read(self, w: int) -> None:
        """Bring a world to the state of the simulation, of which no more than the driver needs is kept."""
        simulation, worlds = self._simulation, self._worlds
        state = simulation.state
        worlds.q[w], worlds.v[w], worlds.aux[w] = state.q, state.v, state.aux
        worlds.step[w] = simulation.step_index
        if self._around.exist:
            of_solver = self._solver_now().internal_state() if self._carried else {}
            self._store_contacts(w, simulation.system.internal_state(), of_solver)

    def write_forward(self, w: int) -> None:
        """Bring the simulation, which stood at an earlier step of the same run, to the state of a world."""
        simulation, worlds, step = self._simulation, self._worlds, int(self._worlds.step[w])
        state = simulation.state
        with simulation.turn:
            state.q[:], state.v[:], state.aux[:] = worlds.q[w], worlds.v[w], worlds.aux[w]
            # the driver ends at no grid point that a breakpoint moves
            state.time = simulation.start_time + step * simulation.step_length
            simulation.step_index = step
            if self._around.exist:
                simulation.system.restore(self._contacts(w))
                if self._carried:
                    solver = self._solver_now()
                    solver.restore(solver.internal_state() | self._of_solver(w))
            simulation.system.forget()

    def _solver_now(self) -> Any:
        """The contact solver, which has a state where it carries anything."""
        return self._simulation.system.solver

    def _of_solver(self, w: int) -> InternalState:
        """What the solver of a world carries from step to step, where the driver knows it, by its own names."""
        if not self._carried:
            return {}
        (name_of_id, name), memory, n = self._carried, self.memory, int(self.memory.carried_count[w])
        return {name_of_id: memory.carried_id[w, :n].copy(), name: memory.carried[w, :n].copy()}

    def _contacts(self, w: int) -> InternalState:
        """What a world remembers, by the names of a system's internal state."""
        memory, n = self.memory, int(self.memory.count[w])
        rows = {} if memory.row_impulse.size == 0 else {_ROWS: memory.row_impulse[w].copy()}
        return rows | {
            "impulse": memory.impulse[w, : self._around.width * n].copy(),
            "impulse_id": memory.id[w, :n].copy(),
            "tangent": memory.tangent[w, :n].copy(),
            "tangent_id": memory.id[w, :n].copy(),
            "probe": memory.probe[w].copy(),
            "probe_time": np.array(memory.probe_time[w]),
        }

    def _store_contacts(self, w: int, kept: InternalState, of_solver: InternalState) -> None:
        """Let a world remember what system and solver do; −∞ for a time where the driver must not go on from it."""
        memory, known = self.memory, kept["impulse_id"]
        n = len(known)
        memory.count[w], memory.probe_time[w] = 0, -math.inf
        if not np.array_equal(known, kept["tangent_id"]) or memory.probe.shape[1:] != kept["probe"].shape:
            return
        self.reserve(n)
        memory, contacts = self.memory, self._simulation.system.pipeline
        if contacts is not None and contacts.contacts.count == n:
            memory.shape[w, :n], memory.normal[w, :n] = (
                contacts.contacts.shape[:n],
                contacts.contacts.normal[:n],
            )
        memory.count[w], memory.id[w, :n] = n, known
        memory.impulse[w, : self._around.width * n] = kept["impulse"]
        memory.tangent[w, :n] = kept["tangent"]
        memory.row_impulse[w] = kept.get(_ROWS, ())
        if self._carried:
            ids, numbers = of_solver[self._carried[0]], of_solver[self._carried[1]]
            self.reserve(len(ids))
            memory = self.memory
            memory.carried_count[w], memory.carried_id[w, : len(ids)] = len(ids), ids
            memory.carried[w, : len(ids)] = numbers
        memory.probe[w], memory.probe_time[w] = kept["probe"], float(kept["probe_time"])

    def reserve(self, capacity: int) -> None:
        """Make room for so many contacts a world."""
        if capacity > self.memory.id.shape[1]:
            self.memory = grown(self.memory, 2 * capacity, self._around)

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


def _carried(simulation: Simulation, around: Surroundings) -> tuple[str, tuple[str, ...]]:
    """Name of the contact solver, and names of what it carries by contact in its internal state."""
    if not around.is_unreduced:
        return "", ()
    solver: Any = simulation.system.solver
    form: CompiledForm = solver.compiled_form()
    (name,) = (name for name, each in simulation.components.items() if each is solver)
    return name, tuple(form.carried)


def _without_inputs(state: InternalState) -> InternalState:
    """Leave out what channels hold, which the batch knows."""
    return {name: array for name, array in state.items() if not name.startswith("inputs/")}
