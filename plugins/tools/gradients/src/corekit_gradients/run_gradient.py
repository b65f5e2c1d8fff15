"""The gradient of a run's loss: run on with a tape, then one sweep back.

    L = ℓ(x_N) + h·Σ_k r(x_k),     k = 1 … N over the grid steps of the run                                 (1)

with a loss ℓ of the end and a running one r. Its derivative by the start, by the inputs that each step held and by
numbers of the scenario costs one sweep, whatever their number, but for a few evaluations per parameter and step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import GradientError
from corekit.roles.component import InternalState
from corekit.roles.derivatives import RunDerivative, StateCovector, SweepReport
from corekit.simulation.loop import Simulation
from corekit_gradients.adjoint.world_derivatives import derivatives_of
from corekit_gradients.checkpoints import pieces_back
from corekit_gradients.losses import ContactForces, Instant, Loss, differentiate, evaluate
from corekit_gradients.parameters import find_parameters, make_pair, start_slope, world_slope

__all__ = ["Cost", "Gradient", "Initial", "RecordedRun", "find_gradient", "tape_bytes"]


class Initial(NamedTuple):
    """Derivatives by the start of a run.

    Args:
        displacement: by δ of q(δ) = integrate(q, δ, 1), shape (nv,). velocity: by v, shape (nv,).
    """

    displacement: Array
    velocity: Array


class Cost(NamedTuple):
    """Seconds of the run with its tape and of the sweep, and bytes of the tape per step."""

    run: float
    sweep: float
    bytes_per_step: float


@frozen
class Gradient:
    """A loss and its derivatives.

    Args:
        value: L of (1). end: ℓ of it alone.
        initial: by the start.
        inputs: body → channel → by what each grid step held, shape (N, size); empty if not asked.
        parameters: path, with the index of an entry of a list → by that number.
        report: steps, impacts, kinks and what else the sweep met; see `SweepReport`.
        cost: of it.
    """

    value: float
    end: float
    initial: Initial
    inputs: dict[str, dict[str, Array]]
    parameters: dict[str, float]
    report: SweepReport
    cost: Cost


def find_gradient(
    simulation: Simulation,
    loss: Loss,
    *,
    until: float,
    running: Loss | None = None,
    inputs: bool | Sequence[str] = False,
    parameters: Sequence[str] = (),
    progress: Callable[[int], object] | None = None,
    checkpoints: int = 0,
) -> Gradient:
    """Run a simulation on and differentiate (1); it is then where the run ends.

    Args:
        simulation: at the start of what is differentiated.
        loss: ℓ, a function of an `Instant`, called at the end.
        until: the end [s], after the start time of the simulation.
        running: r, called after every grid step, or None.
        inputs: whether to differentiate by the inputs that each step held, or the names of bodies whose.
        parameters: paths of numbers in the scenario, `bodies.arm.options.stiffness`; a list has one per entry.
        progress: called with the number of steps that are left on the way back.
        checkpoints: how many states are kept along the run, and records of steps at once; 0 keeps all records. The
            memory does not grow with the run then, and steps are repeated (`corekit_gradients.checkpoints`), control
            functions asked again.
    Raises:
        GradientError: what has no derivative, in a sentence; the simulation is then where the run ends.
        StepFailed: as from `Simulation.step`.
    """
    if not isinstance(until, (int, float)) or not until > simulation.time - simulation.start_time:
        raise GradientError(
            f"until = {until!r}: the run must end after {simulation.time - simulation.start_time:g} s"
        )
    if not isinstance(checkpoints, int) or checkpoints < 0:
        raise GradientError(
            f"checkpoints = {checkpoints!r}: a whole number of states that are kept, 0 for all"
        )
    steps = round(until / simulation.step_length)
    if checkpoints:
        pieces = _Pieces(simulation, steps, checkpoints, loss, running, parameters, inputs, progress)
        return pieces.run_and_pull()
    made = RecordedRun(simulation, steps, parameters)
    h, last = simulation.step_length, len(made.states) - 1

    def run_on(world: Simulation) -> float:
        if running is None:
            return 0.0
        return h * sum(evaluate(running, Instant(world, state)) for state in made.states[1:])

    def held(world: Simulation) -> float:
        return evaluate(loss, Instant(world, made.states[last], made.contacts)) + run_on(world)

    of_end = evaluate(loss, Instant(simulation, made.states[last], made.contacts))
    value = of_end + run_on(simulation)

    def term(k: int) -> StateCovector | None:
        total: StateCovector | None = None
        for own, weight, is_here in ((loss, 1.0, k == last), (running, h, k > 0)):
            if own is None or not is_here:
                continue
            at_end = made.contacts if own is loss else None
            one = differentiate(own, simulation, made.derivatives, made.states[k].copy(), at_end)
            total = _plus(total, weight, one)
        return total

    return made.pull(term, held, value, of_end, inputs=inputs, progress=progress)


@final
class RecordedRun:
    """A run that was made on with a tape, through which losses are pulled back, one sweep each.

    Args:
        simulation: at the start; it is then where the run ends.
        steps: grid step at which the run ends.
        parameters: paths, as of `find_gradient`.

    Attributes:
        states: the start and the end of every grid step. derivatives: of the world.
        contacts: how they pushed in the last step, or None.
    """

    def __init__(self, simulation: Simulation, steps: int, parameters: Sequence[str] = ()) -> None:
        self.simulation = simulation
        self._parameters = find_parameters(simulation, parameters)
        self._pairs = [make_pair(simulation, each) for each in self._parameters]
        self._slopes = [start_slope(simulation, each) for each in self._pairs]
        began, self._ends = time.perf_counter(), []
        with simulation.record_steps() as tape:
            while simulation.step_index < steps:
                simulation.step()
                self._ends.append(len(tape) - 1)
        self._tape, self._took = tape, time.perf_counter() - began
        self.states: list[State] = [tape[0].start, *(tape[k].end for k in self._ends)]
        self.contacts = ContactForces.of(simulation).as_recorded(tape[-1])
        self.derivatives = derivatives_of(simulation.system, tape[0].start)

    def pull(
        self,
        loss: Callable[[int], StateCovector | None],
        held: Callable[[Simulation], float],
        value: float = np.nan,
        of_end: float = np.nan,
        *,
        inputs: bool | Sequence[str] = False,
        progress: Callable[[int], object] | None = None,
    ) -> Gradient:
        """The gradient of a loss by its derivatives at `states`, None where there are none.

        Args:
            loss: of the number of a state. held: the loss of `states` in another world of the scenario.
            value, of_end: of it, as they stand in the answer.
            inputs, progress: as of `find_gradient`.
        Raises:
            GradientError: a step has no derivative.
        """
        simulation = self.simulation
        number = {-1: 0} | {end: k + 1 for k, end in enumerate(self._ends)}
        kept, began = simulation.internal_state(), time.perf_counter()
        try:
            swept = self.derivatives.sweep_back(
                self._tape, lambda k: loss(number[k]) if k in number else None,
                wants_inputs=_wanted(simulation, inputs), twins=[each.twins for each in self._pairs],
                progress=progress,
            )  # fmt: skip
        finally:
            simulation.restore(kept)
        by_parameter = {
            each.name: float(
                own + world_slope(held, simulation, pair) + swept.place @ place + swept.velocity @ velocity
            )
            for each, own, pair, (place, velocity) in zip(
                self._parameters, swept.parameters, self._pairs, self._slopes, strict=True
            )
        }
        cost = Cost(self._took, time.perf_counter() - began, tape_bytes(self._tape, set()) / len(self._tape))
        by_input = {} if swept.inputs is None else _by_channel(simulation, swept.inputs, self._ends)
        return Gradient(
            value, of_end, Initial(swept.place, swept.velocity), by_input, by_parameter, swept.report, cost
        )


class _Pieces:
    """A run that is recorded and differentiated piece by piece, from the last one: see `checkpoints`.

    Args:
        simulation, loss, running, parameters, inputs, progress: as of `find_gradient`.
        steps: grid step at which the run ends. count: of states that are kept, and of grid steps a piece.
    """

    def __init__(
        self, simulation: Simulation, steps: int, count: int, loss: Loss, running: Loss | None,
        parameters: Sequence[str], inputs: bool | Sequence[str], progress: Callable[[int], object] | None,
    ) -> None:  # fmt: skip
        self._simulation, self._loss, self._running, self._count = simulation, loss, running, count
        self._first, self._last, self._inputs, self._progress = simulation.step_index, steps, inputs, progress
        self._parameters = find_parameters(simulation, parameters)
        self._pairs = [make_pair(simulation, each) for each in self._parameters]
        self._slopes = [start_slope(simulation, each) for each in self._pairs]
        self._derivatives = derivatives_of(simulation.system, simulation.state)
        self._found: RunDerivative | None = None
        self._by_parameter, self._report = np.zeros(len(self._pairs)), SweepReport(0, 0, 0, 0, 0)
        self._by_step: list[dict[str, dict[str, Array]]] = []
        self._bytes = 0

    def run_and_pull(self) -> Gradient:
        """The gradient; the simulation is then where the run ends."""
        simulation, first, count, total = self._simulation, self._first, self._count, 0.0
        start, began = simulation.internal_state(), time.perf_counter()
        while simulation.step_index < self._last:
            simulation.step()
            if self._running is not None:
                total += evaluate(self._running, Instant(simulation, simulation.state.copy()))
        of_end = evaluate(self._loss, Instant(simulation, simulation.state.copy()))
        took, end = time.perf_counter() - began, simulation.internal_state()
        simulation.restore(start)
        try:
            pieces_back(
                -(-(self._last - first) // count), count, simulation.internal_state,
                lambda kept, piece: simulation.rewind(kept, first + piece * count), self._pull,
            )  # fmt: skip
        finally:
            simulation.restore(end)
        swept = self._found
        assert swept is not None
        by_parameter = {
            each.name: float(own + swept.place @ place + swept.velocity @ velocity)
            for each, own, (place, velocity) in zip(
                self._parameters, self._by_parameter, self._slopes, strict=True
            )
        }
        by_input = {
            body: {name: np.concatenate([each[body][name] for each in self._by_step[::-1]]) for name in own}
            for body, own in (self._by_step[0] if self._by_step else {}).items()
        }
        cost = Cost(took, time.perf_counter() - began - took, self._bytes / max(self._report.steps, 1))
        return Gradient(
            of_end + simulation.step_length * total, of_end, Initial(swept.place, swept.velocity), by_input,
            by_parameter, self._report, cost,
        )  # fmt: skip

    def _pull(self, kept: InternalState, piece: int) -> None:
        """Record a piece that begins at a state, and differentiate it."""
        simulation, begin = self._simulation, self._first + piece * self._count
        simulation.rewind(kept, begin)
        ends: list[int] = []
        with simulation.record_steps(repeats=True) as tape:
            while simulation.step_index < min(begin + self._count, self._last):
                simulation.step()
                ends.append(len(tape) - 1)
        is_last, marks, h = simulation.step_index == self._last, frozenset(ends), simulation.step_length

        def term(k: int) -> StateCovector | None:
            total: StateCovector | None = None
            is_end = is_last and k == len(tape) - 1
            for own, weight, is_here in ((self._loss, 1.0, is_end), (self._running, h, k in marks)):
                if own is None or not is_here:
                    continue
                one = differentiate(own, simulation, self._derivatives, tape[k].end.copy())
                total = _plus(total, weight, one)
            return total

        tell, ahead = self._progress, begin - self._first
        self._found = swept = self._derivatives.sweep_back(
            tape, term, wants_inputs=_wanted(simulation, self._inputs), twins=[each.twins for each in self._pairs],
            after=self._found, progress=None if tell is None else lambda left: tell(ahead + left),
        )  # fmt: skip
        ended = [tape[k].end for k in ends]

        def held(world: Simulation) -> float:
            of_end = evaluate(self._loss, Instant(world, ended[-1])) if is_last else 0.0
            return of_end + h * sum(
                evaluate(self._running, Instant(world, state)) for state in ended if self._running is not None
            )

        self._by_parameter += swept.parameters + [world_slope(held, simulation, each) for each in self._pairs]
        self._report, self._bytes = self._report + swept.report, self._bytes + tape_bytes(tape, set())
        if swept.inputs is not None:
            self._by_step.append(_by_channel(simulation, swept.inputs, ends))


def _wanted(simulation: Simulation, inputs: bool | Sequence[str]) -> bool | list[int]:
    """Whether inputs are differentiated by, or of which bodies."""
    return inputs if isinstance(inputs, bool) else [simulation.body(name).index for name in inputs]


def _plus(total: StateCovector | None, weight: float, one: StateCovector) -> StateCovector:
    """The covector of a loss with another one's, of a weight; impulses are those of one loss alone."""
    place, velocity = weight * one.by_displacement, weight * one.by_velocity
    impulse = None if one.by_impulse is None else weight * one.by_impulse
    if total is None:
        return StateCovector(place, velocity, impulse)
    known = total.by_impulse if impulse is None else impulse
    return StateCovector(total.by_displacement + place, total.by_velocity + velocity, known)


def _by_channel(simulation: Simulation, inputs: Array, ends: Sequence[int]) -> dict[str, dict[str, Array]]:
    """Derivatives by what grid steps held, of those by what the steps of a tape held."""
    starts = [0, *(end + 1 for end in ends[:-1])]
    per_step = np.add.reduceat(inputs, starts, axis=0)
    out: dict[str, dict[str, Array]] = {}
    first = 0
    for body in simulation.bodies:
        own: dict[str, Array] = {}
        for channel in body.description.inputs:
            own[channel.name] = per_step[:, first : first + channel.size]
            first += channel.size
        if own:
            out[body.name] = own
    return out


def tape_bytes(value: Any, seen: set[int]) -> int:
    """Bytes of the arrays of a tape, those that several records share once."""
    if isinstance(value, np.ndarray):
        owner = value if value.base is None else value.base
        if id(owner) in seen:
            return 0
        seen.add(id(owner))
        return int(owner.nbytes)
    if isinstance(value, State):
        return tape_bytes(value.qv if value.qv.size else value.q, seen) + tape_bytes(value.aux, seen)
    if isinstance(value, (tuple, list, dict)):
        parts = value.values() if isinstance(value, dict) else value
        return sum(tape_bytes(each, seen) for each in parts)
    own = getattr(value, "__attrs_attrs__", ())
    return sum(tape_bytes(getattr(value, each.name), seen) for each in own)
