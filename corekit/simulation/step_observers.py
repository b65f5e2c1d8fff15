"""What looks at the steps of a simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, final

from corekit.data.status import StepReport
from corekit.simulation.controllers import Turn

if TYPE_CHECKING:
    from corekit.simulation.loop import Simulation

__all__ = ["Observer", "StepObservers"]

Observer = Callable[["Simulation", StepReport], object]
"""Called after every accepted step, with the simulation at its new state."""


@final
class StepObservers:
    """The observers of one simulation, in the order in which they came."""

    def __init__(self) -> None:
        self._observers: tuple[Observer, ...] = ()

    def __bool__(self) -> bool:
        return bool(self._observers)

    def add(self, observer: Observer) -> None:
        """Call it from the next step on, as the last one."""
        self._observers = (*self._observers, observer)

    def call(self, simulation: Simulation, report: StepReport, turn: Turn) -> None:
        """Show them an accepted step; while it is their turn the simulation makes none."""
        if self._observers:
            with turn.of("an observer of steps"):
                for observer in self._observers:
                    observer(simulation, report)

    @contextmanager
    def also(self, observer: Observer) -> Iterator[None]:
        """Call one more for a while."""
        self.add(observer)
        try:
            yield
        finally:
            self._observers = tuple(each for each in self._observers if each is not observer)

    @contextmanager
    def replaced(self, observers: Sequence[Observer]) -> Iterator[None]:
        """Call others for a while, or none."""
        before, self._observers = self._observers, tuple(observers)
        try:
            yield
        finally:
            self._observers = before
