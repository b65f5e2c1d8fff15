"""Many worlds of one scenario in one call: `scenario.batch(n)`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.errors import ControlError, StepFailed
from corekit.registry.resolve import did_you_mean
from corekit.roles.model import Model
from corekit.simulation.loop import Simulation
from corekit_batch.ahead import StepsAhead, steps_ahead
from corekit_batch.contact_forces import sum_of_forces
from corekit_batch.contact_tables import ContactWork
from corekit_batch.layout import Layout, form_numbers, lay_out
from corekit_batch.other_numbers import MORE_THAN_NUMBERS, OtherNumbers
from corekit_batch.refusal import NotCompiled
from corekit_batch.schedule import AT_ONCE, Schedule
from corekit_batch.surroundings import new_contact_work
from corekit_batch.tables import BY_KERNEL, NO_ROOM, Work
from corekit_batch.threads import Threads, core_count
from corekit_batch.transfer import Transfer
from corekit_batch.worlds import new_worlds
from corekit_batch.written_inputs import WrittenInputs

if TYPE_CHECKING:
    from corekit.scenario.scenario import Scenario

__all__ = ["Batch"]


@final
class Batch:
    """n worlds of a scenario that differ in states, inputs and numbers of their bodies.

    The compiled driver makes the steps, in threads. A step that it cannot make (one that a breakpoint cuts, a step
    matrix that is not positive definite, a number that is not finite) is made by the kernel's ordinary step, with the
    same result, to the bit, as all steps of a world that the driver does not step at all: `refusal` says why.

    Args:
        scenario: of every world.
        count: n.
        threads: that step; one a processor if None.

    Attributes:
        simulation: the ordinary one; it stands at no world in particular.
        q, v: coordinates and velocities, shapes (n, nq) and (n, nv); written by `step`, changed by `reset`.
        refusal: why the driver steps no world of this scenario, a sentence; empty if it does.
        inputs: by body and channel: `batch.inputs["arm"]["tension"] = u` holds u, (n, size), in place of its signal.
        compiled_steps, ordinary_steps: grid steps that the driver and the kernel's ordinary step have made.
        failures: why worlds stopped, by number, until they are reset.
    """

    def __init__(self, scenario: Scenario, count: int, *, threads: int | None = None) -> None:
        for what, number in (("worlds", count), ("threads", threads)):
            if number is not None and (isinstance(number, bool) or not isinstance(number, int) or number < 1):
                raise ControlError(f"a batch has a number of {what} of 1 or more, not {number!r}")
        self.simulation: Simulation = scenario.compose()
        self.refusal, self._layout = "", None
        try:
            self._layout: Layout | None = lay_out(self.simulation)
        except NotCompiled as reason:
            self.refusal = str(reason)
        self.compiled_steps = self.ordinary_steps = 0
        self.failures: dict[int, StepFailed] = {}
        self._records: dict[int, tuple[int, ContactRecord]] = {}
        self._schedule = Schedule(self.simulation)
        self._bodies = self.simulation.bodies
        self._worlds = new_worlds(self.simulation, count, self._layout, self._schedule)
        self.inputs = WrittenInputs(self._bodies, self._worlds.written, self._worlds.is_written)
        around = None if self._layout is None else self._layout.around
        self._transfer = Transfer(self.simulation, self._worlds, around, self.inputs)
        self._models: list[tuple[Model, ...]] = [tuple(body.model for body in self._bodies)] * count
        self._renewed = OtherNumbers(scenario)
        self._threads = None
        if self._layout is not None:
            self._threads = Threads(min(threads or core_count(), count), self._new_work)

    def _new_work(self, room: int) -> tuple[Work, ContactWork]:
        layout = self._layout
        assert layout is not None
        return layout.new_work(), new_contact_work(self.simulation, room, layout.around)

    @staticmethod
    def ahead(simulation: Simulation, count: int) -> StepsAhead | None:
        """What makes many steps of a simulation at once, for `Simulation.run`; None if it is not worth it."""
        return steps_ahead(simulation, count)

    # — what there is —

    def __len__(self) -> int:
        return len(self._worlds.step)

    @property
    def q(self) -> Array:
        """Coordinates of all worlds, shape (n, nq); a view that the next step overwrites."""
        return _read_only(self._worlds.q)

    @property
    def v(self) -> Array:
        """Generalized velocities of all worlds, shape (n, nv); a view that the next step overwrites."""
        return _read_only(self._worlds.v)

    @property
    def step_index(self) -> IntArray:
        """Grid steps that each world has made since its start, shape (n,)."""
        return self._worlds.step.copy()

    @property
    def time(self) -> Array:
        """Time of every world [s], shape (n,)."""
        return self._transfer.times()

    def frame_poses(self) -> tuple[Array, Array]:
        """Compute the poses of all frames, body after body: positions (n, F, 3) [m] and rotations (n, F, 3, 3)."""
        frames = sum(len(body.description.frames) for body in self._bodies)
        position, rotation = np.zeros((len(self), frames, 3)), np.zeros((len(self), frames, 3, 3))
        state = self.simulation.system.new_state()
        for w in range(len(self)):
            state.q[:], state.v[:], state.aux[:] = (
                self._worlds.q[w],
                self._worlds.v[w],
                self._worlds.aux[w],
            )
            for body, model in zip(self._bodies, self._models[w], strict=True):
                own = slice(body.first_frame, body.first_frame + len(body.description.frames))
                model.compute_frame_poses(state.body_states[body.index], position[w, own], rotation[w, own])
        return position, rotation

    def contact_force(self, body: str, against: str | None = None) -> Array:
        """Return the sum of the mean contact forces on a body over the last step, world axes [N], shape (n, 3).

        Args:
            body: its name.
            against: name of the other body or of the obstacle; None: all.
        Raises:
            ControlError: there is no such body or obstacle.
        """
        self.simulation.body(body)
        owners = self.simulation.shape_owners
        others = {*owners, *(each.name for each in self._bodies)}
        if against is not None and against not in others:
            raise ControlError(f"nothing is called {against!r}{did_you_mean(against, others)}")
        last = {w: record for w, (step, record) in self._records.items() if step == self._worlds.step[w]}
        return sum_of_forces(self._transfer.memory, last, owners, self.simulation.step_length, body, against)

    # — resets —

    def reset(
        self,
        worlds: Iterable[int] | None = None,
        *,
        state: State | Mapping[int, State] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """Bring worlds back to the start, with the signals of the scenario in place of what was written for none.

        Args:
            worlds: numbers of them; all if None.
            state: where to begin instead, one for all or one a world: q, v and aux, at the start time.
            parameters: path in the scenario → value, for these worlds, for example
                `{"bodies.arm.options.stiffness": 200.0}`: numbers among the options of bodies.
        Raises:
            ControlError: a state that is none, or a parameter that needs another world.
        """
        numbers = self._numbers(worlds)
        if parameters is not None:
            models, start = self._renewed.with_parameters(parameters)
            of_forms = np.zeros(0) if self._layout is None else form_numbers(self._layout, models)
            if of_forms is None:
                raise ControlError(MORE_THAN_NUMBERS.format(", ".join(parameters)))
            for w in numbers:
                self._models[w] = models
                self._set_numbers(w, of_forms)
                self._transfer.set_start(w, start)
        for w in numbers:
            own = state.get(w) if isinstance(state, Mapping) else state
            self._use_models(w)
            self._transfer.reset(w, own)
            self.failures.pop(w, None)
            self._records[w] = 0, ContactRecord()

    def _set_numbers(self, w: int, numbers: Array) -> None:
        """Give a world the numbers of its models' forms."""
        known = self._worlds.numbers
        if len(known) == 1 and len(self) > 1:
            if np.array_equal(numbers, known[0]):
                return
            self._worlds = self._worlds._replace(numbers=np.tile(known, (len(self), 1)))
        self._worlds.numbers[w if len(self._worlds.numbers) > 1 else 0] = numbers

    def _use_models(self, w: int) -> None:
        """Let the ordinary simulation compute with the models of a world."""
        for body, model in zip(self._bodies, self._models[w], strict=True):
            if body.model is not model:
                self.simulation.replace_models({body.name: model})

    # — steps —

    def step(self, count: int = 1, worlds: Iterable[int] | None = None, *, on_failure: str = "raise") -> None:
        """Make grid steps in all worlds, or in some; a world that failed makes none until it is reset.

        Args:
            count: of steps in each.
            worlds: numbers of them; all if None.
            on_failure: `"raise"` the first failure once all other worlds have made their steps, or `"record"` it in
                `failures` alone.
        Raises:
            StepFailed: a step of a world has no solution; the world stays at its last good state.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ControlError(f"a number of steps is 0 or more, not {count!r}")
        if on_failure not in ("raise", "record"):
            raise ControlError(f"on_failure is 'raise' or 'record', not {on_failure!r}")
        before = set(self.failures)
        which = np.array([w for w in self._numbers(worlds) if w not in self.failures], dtype=np.int64)
        target = self._worlds.step + count
        while len(which):
            state = self._worlds
            state.until[which] = np.minimum(target[which], state.step[which] + AT_ONCE)
            if self._threads is not None:
                self._advance(which)
            else:
                state.status[which] = BY_KERNEL
            for w in which[state.status[which] == BY_KERNEL]:
                self._step_by_kernel(int(w))
            if (state.status[which] == NO_ROOM).any():
                self._transfer.reserve(2 * self._transfer.memory.id.shape[1])
            left = [w for w in which if int(w) not in self.failures and state.step[w] < target[w]]
            which = np.array(left, dtype=np.int64)
        new = [w for w in self.failures if w not in before]
        if new and on_failure == "raise":
            raise self.failures[min(new)]

    def _advance(self, which: IntArray) -> None:
        state, schedule, threads, layout = self._worlds, self._schedule, self._threads, self._layout
        assert threads is not None
        assert layout is not None
        schedule.cover(int(state.step[which].min()), int(state.until[which].max()))
        self._worlds = state = schedule.plan(state)
        made = int(state.step[which].sum())
        try:
            threads.advance(layout, state, self._transfer.memory, which)
        finally:
            self.compiled_steps += int(state.step[which].sum()) - made

    def _step_by_kernel(self, w: int) -> None:
        """Make one step of a world, or all that are left where the driver makes none."""
        simulation, state = self.simulation, self._worlds
        self._use_models(w)
        self._transfer.load(w)
        end = int(state.until[w]) if self._threads is None else int(state.step[w]) + 1
        try:
            while simulation.step_index < end:
                simulation.step()
                self.ordinary_steps += 1
        except StepFailed as failure:
            self.failures[w] = failure
        else:
            if end == state.until[w]:
                self._records[w] = end, simulation.contacts()
        self._transfer.store(w)

    def _numbers(self, worlds: Iterable[int] | None) -> list[int]:
        """Numbers of worlds, checked."""
        if worlds is None:
            return list(range(len(self)))
        numbers = [int(w) for w in worlds]
        wrong = [w for w in numbers if not 0 <= w < len(self)]
        if wrong or len(set(numbers)) != len(numbers):
            raise ControlError(f"worlds are numbered from 0 to {len(self) - 1}, each once, not {numbers}")
        return numbers


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
