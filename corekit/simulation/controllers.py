"""Controllers of a simulation: sampled at grid steps, their inputs held in between."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, final

import numpy as np
from attrs import define

from corekit.errors import ConfigError, ControlError, Mistake
from corekit.roles.controller import Controller, Inputs
from corekit.simulation.arguments import PERIOD, TEXT, Kind, check_arguments, or_none

__all__ = [
    "ControlFunction",
    "SampledControllers",
    "Turn",
    "check_controller",
    "period_mistake",
    "sampling_steps",
]

ControlFunction = Callable[[Any], Inputs]
"""Inputs by body and channel from a simulation; without memory, else it is a `Controller` that is `Stateful`."""

_TOLERANCE = 1e-9
_CONTROLLER: Kind = (
    "a function of the simulation, or a Controller",
    lambda value: callable(value) or isinstance(value, Controller),
)


def period_mistake(path: str, every: float, step: float) -> Mistake | None:
    """Return the mistake of a period [s] that is no whole number of steps h; None if it is one."""
    if not math.isfinite(every / step):
        return Mistake(path, every, f"must be a whole number of steps of {step:g} s", "it is too large")
    count = round(every / step)
    if count >= 1 and abs(every / step - count) <= _TOLERANCE * count:
        return None
    said = f"must be a whole number of steps of {step:g} s"
    return Mistake(path, every, said, f"nearest is {max(1, count) * step:.10g}")


def sampling_steps(every: float | None, step: float, path: str) -> int:
    """Return how many steps h a sampling period [s] is; 1 if None.

    Raises:
        ConfigError: it is no whole number of steps.
    """
    if every is None:
        return 1
    mistake = period_mistake(f"{path}.every", every, step)
    if mistake is not None:
        raise ConfigError([mistake], path)
    return round(every / step)


def check_controller(call: str, controller: object, every: object, name: object) -> None:
    """Refuse what is no controller, sampling period or name; raises ConfigError."""
    check_arguments(
        call, controller=(controller, _CONTROLLER), every=(every, or_none(PERIOD)), name=(name, TEXT)
    )


def _waiting(asked: str) -> ControlError:
    return ControlError(
        f"{asked} must not step, run, reset or restore the simulation that waits for its answer: "
        "to look ahead, compose another one of the same scenario"
    )


@final
class Turn:
    """Whose turn it is while a simulation steps or waits for an answer; meanwhile nobody else steps or restores it.

    A controller that stepped it would be asked again within the answer, and so on without end. Two threads would write
    into the same buffers.
    """

    def __init__(self) -> None:
        self._asked = ""
        self._taken, self._by = threading.Lock(), 0

    def __enter__(self) -> None:
        """Take the simulation for a step or a restored state, within the block.

        Raises:
            ControlError: it waits for an answer, or another thread has it.
        """
        me = threading.get_ident()
        if not self._taken.acquire(blocking=False):
            if self._by == me:
                self.check()
            raise ControlError(
                "another thread steps or restores this simulation now: compose one for each thread, or take turns"
            )
        self._by = me
        asked = self._asked  # once: another thread may have its answer in the meantime
        if asked:
            self._taken.release()
            raise _waiting(asked)

    def __exit__(self, *_why: object) -> None:
        self._taken.release()

    @contextmanager
    def of(self, asked: str) -> Iterator[None]:
        """Wait for someone's answer within the block."""
        before, self._asked = self._asked, asked
        try:
            yield
        finally:
            self._asked = before

    def check(self) -> None:
        """Raise ControlError if the simulation waits for an answer."""
        asked = self._asked
        if asked:
            raise _waiting(asked)


@define
class _Sampled:
    """A controller, its period in steps, the grid step of its next sample, and the channels of its last one."""

    given: Controller | ControlFunction
    compute: ControlFunction
    period: int
    next: int = 0
    driven: frozenset[tuple[str, str]] = frozenset()


@final
class SampledControllers:
    """All controllers of a simulation, by name."""

    def __init__(self) -> None:
        self._all: dict[str, _Sampled] = {}

    def add(self, name: str, controller: Controller | ControlFunction, period: int) -> None:
        """Sample a controller from the next step on, every `period` steps."""
        if name in self._all:
            raise ControlError(f"there is a controller {name!r} already: give this one another name")
        compute = controller.compute_inputs if isinstance(controller, Controller) else controller
        self._all[name] = _Sampled(controller, compute, period)

    def add_missing(self, others: SampledControllers) -> None:
        """Add those of others that are not here."""
        for name, each in others._all.items():
            self._all.setdefault(name, each)

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str) or name not in self._all:
            raise ControlError(f"there is no controller {name!r}; there are {', '.join(self._all) or 'none'}")
        return self._all[name].given

    def __bool__(self) -> bool:
        return bool(self._all)

    def sample(self, simulation: Any) -> None:
        """Write the inputs of those whose sample is due at this grid step; it may be called again at the same one."""
        simulation.turn.check()
        for name, each in self._all.items():
            if simulation.step_index < each.next:
                continue
            try:
                with simulation.turn.of(f"controller {name!r}"):
                    given = each.compute(simulation)
            except ControlError as error:
                raise ControlError(f"controller {name!r}: {error}") from error
            if not isinstance(given, Mapping) or not all(isinstance(own, Mapping) for own in given.values()):
                raise ControlError(
                    f'controller {name!r} must return inputs by body and channel, {{"arm": {{"tension": u}}}}, '
                    f"not {given!r}"
                )
            for body, values in given.items():
                inputs = simulation.body(body).inputs
                for channel, value in values.items():
                    inputs.set_channel(channel, value, f"controller {name!r}")
            now = frozenset((body, channel) for body, values in given.items() for channel in values)
            if dropped := ", ".join(sorted(f"{body}.{channel}" for body, channel in each.driven - now)):
                raise ControlError(
                    f"controller {name!r} drove {dropped} at its last sample and says nothing of it at t = "
                    f"{simulation.time:g} s: return every channel at every sample, the same number to hold it"
                )
            each.driven, each.next = now, simulation.step_index + each.period

    def restart(self) -> None:
        """Sample all of them at the next step."""
        for each in self._all.values():
            each.next, each.driven = 0, frozenset()

    def internal_state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the grid step of each one's next sample and its period in steps, by name."""
        return {name: np.array([each.next, each.period]) for name, each in self._all.items()}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore what `internal_state` returned.

        Raises:
            ControlError: it is of other controllers, or of other periods.
        """
        for name, (_, period) in internal_state.items():
            own = self._all.get(name)
            if own is None or own.period != period:
                raise ControlError(
                    f"this state was saved with the controller {name!r} sampled every {period} steps, which the "
                    f"simulation {'lacks' if own is None else f'samples every {own.period}'}: add it before with this "
                    "period (`scenario.with_controller`)"
                )
        for name, each in self._all.items():
            each.next, each.driven = int(internal_state.get(name, (0, 0))[0]), frozenset()
