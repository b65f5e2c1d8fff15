"""A loss of a scenario's run as a function of variables, with its gradient, for `scipy.optimize`.

    minimize(objective, objective.start, jac=True)

A variable is a path of numbers in the scenario, or `Held`: the values of an input channel on equal parts of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import GradientError
from corekit.roles.derivatives import StateCovector
from corekit.scenario.load import with_values
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation
from corekit_gradients.losses import ContactForces, Instant, Loss, evaluate
from corekit_gradients.parameters import Parameter, find_parameters
from corekit_gradients.run_gradient import Gradient, RecordedRun, find_gradient

__all__ = ["Held", "Objective"]


@frozen
class Held:
    """Values of an input channel, each held for one of equal parts of the run.

    Args:
        body, channel: which one. intervals: number of parts.
    """

    body: str
    channel: str
    intervals: int = 1


@final
class Objective:
    """Called with variables x, shape (n,), it returns the loss and its gradient, shape (n,).

    Args:
        scenario: of the run.
        loss, running: as of `find_gradient`.
        variables: paths and `Held`s, whose numbers are x one after the other.
        until: the end of the run [s]; the duration of the scenario if None.

    Attributes:
        start: x as the scenario has it, shape (n,); zero for inputs.
        names: of the entries of x. parts: where the entries of each variable stand.
        last: the `Gradient` of the last call, None before it.
        calls: how many there were.
    """

    def __init__(
        self,
        scenario: Scenario,
        loss: Loss,
        variables: Sequence[str | Held],
        *,
        running: Loss | None = None,
        until: float | None = None,
    ) -> None:
        self._scenario, self._loss, self._running = scenario, loss, running
        self._until = scenario.time.duration if until is None else until
        variables = (variables,) if isinstance(variables, (str, Held)) else tuple(variables)
        self._paths = [each for each in variables if isinstance(each, str)]
        simulation = scenario.compose()
        parameters = find_parameters(simulation, self._paths)
        self._parts: list[tuple[str | Held, slice, list[Parameter]]] = []
        names: list[str] = []
        start: list[float] = []
        for each in variables:
            first = len(names)
            own = [one for one in parameters if one.path == each]
            if isinstance(each, Held):
                size = _channel_size(simulation, each)
                names += [
                    f"{each.body}.{each.channel}[{k}][{i}]"
                    for k in range(each.intervals)
                    for i in range(size)
                ]
                start += [0.0] * (each.intervals * size)
            else:
                names += [one.name for one in own]
                start += [one.number for one in own]
            self._parts.append((each, slice(first, len(names)), own))
        self.names, self.start = tuple(names), np.array(start)
        self.parts = tuple(where for _, where, _ in self._parts)
        self.last: Gradient | None = None
        self.calls = 0

    def values(self, x: Array) -> dict[str, Any]:
        """Path → number or list of the variables that are no inputs."""
        values: dict[str, Any] = {}
        for variable, where, own in self._parts:
            if isinstance(variable, str):
                shape = np.shape(own[0].value)
                values[variable] = np.reshape(x[where], shape).tolist() if shape else float(x[where][0])
        return values

    def schedules(self, x: Array, steps: int) -> dict[tuple[str, str], Array]:
        """Body and channel → what grid step k holds, and the last one after the end, shape (steps + 1, size)."""
        part = np.minimum(np.arange(steps + 1), steps - 1)
        return {
            (each.body, each.channel): x[where].reshape(each.intervals, -1)[part * each.intervals // steps]
            for each, where, _ in self._parts
            if isinstance(each, Held)
        }

    def simulation(self, x: Array) -> Simulation:
        """The scenario composed with the variables x that are no inputs."""
        values = self.values(x)
        return (with_values(self._scenario, values) if values else self._scenario).compose()

    def __call__(self, x: Array) -> tuple[float, Array]:
        """The loss and its gradient.

        Raises:
            GradientError: x has another length, or a run has no derivative.
        """
        simulation = self._composed(x)
        self.last = found = find_gradient(
            simulation, self._loss, until=self._until, running=self._running, inputs=self._bodies,
            parameters=self._paths,
        )  # fmt: skip
        self.calls += 1
        return found.value, self._gather(found)

    def value(self, x: Array) -> float:
        """The loss alone, by a run without a tape.

        Raises:
            GradientError: x has another length.
        """
        simulation, total = self._composed(x), 0.0
        for _ in range(round(self._until / simulation.step_length)):
            simulation.step()
            if self._running is not None:
                total += evaluate(self._running, Instant(simulation, simulation.state))
        of_end = evaluate(self._loss, Instant(simulation, simulation.state, ContactForces.of(simulation)))
        return of_end + simulation.step_length * total

    def record(self, x: Array) -> RecordedRun:
        """The run at x, through which any losses can be pulled back.

        Raises:
            GradientError: as of a call.
        """
        simulation = self._composed(x)
        self.calls += 1
        return RecordedRun(simulation, round(self._until / simulation.step_length), self._paths)

    def pull(
        self,
        run: RecordedRun,
        loss: Callable[[int], StateCovector | None],
        held: Callable[[Simulation], float],
    ) -> Array:
        """The derivative by x of a loss of a run that was recorded, as of `RecordedRun.pull`, shape (n,)."""
        return self._gather(run.pull(loss, held, inputs=self._bodies))

    @property
    def _bodies(self) -> list[str]:
        """Whose inputs are variables."""
        return sorted({each.body for each, _, _ in self._parts if isinstance(each, Held)})

    def _composed(self, x: Array) -> Simulation:
        """The simulation at x, with the inputs that x holds."""
        x = np.asarray(x, dtype=float)
        if x.shape != self.start.shape or not np.isfinite(x).all():
            raise GradientError(
                f"there are {len(self.start)} variables, finite numbers; x has the shape {x.shape}"
            )
        simulation = self.simulation(x)
        steps = round(self._until / simulation.step_length)
        held = [(each, where) for each, where, _ in self._parts if isinstance(each, Held)]
        if held:
            simulation.add_controller(_Schedule(held, x, steps), name="variables")
        return simulation

    def _gather(self, found: Gradient) -> Array:
        """Derivatives of a run as those by x, shape (n,)."""
        out = np.zeros(len(self.start))
        for variable, where, own in self._parts:
            if isinstance(variable, Held):
                per_step = found.inputs[variable.body][variable.channel]
                part = np.arange(len(per_step)) * variable.intervals // len(per_step)
                total = np.zeros((variable.intervals, per_step.shape[1]))
                np.add.at(total, part, per_step)
                out[where] = total.ravel()
            else:
                out[where] = [found.parameters[one.name] for one in own]
        return out


@final
class _Schedule:
    """A control function that holds the values of x."""

    def __init__(self, held: Sequence[tuple[Held, slice]], x: Array, steps: int) -> None:
        self._held, self._x, self._steps = held, x, steps

    def __call__(self, simulation: Simulation) -> dict[str, dict[str, Array]]:
        out: dict[str, dict[str, Array]] = {}
        for each, where in self._held:
            part = min(simulation.step_index * each.intervals // self._steps, each.intervals - 1)
            out.setdefault(each.body, {})[each.channel] = self._x[where].reshape(each.intervals, -1)[part]
        return out


def _channel_size(simulation: Simulation, held: Held) -> int:
    """Numbers of a channel.

    Raises:
        GradientError: there is none, or it has no intervals.
    """
    for channel in simulation.body(held.body).description.inputs:
        if channel.name == held.channel:
            if held.intervals < 1:
                raise GradientError(f"{held}: intervals must be at least 1")
            return channel.size
    known = ", ".join(each.name for each in simulation.body(held.body).description.inputs) or "none"
    raise GradientError(f"body {held.body!r} has no channel {held.channel!r}; it has {known}")
