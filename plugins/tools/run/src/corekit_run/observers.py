"""Observers of a run: recorders, counters, watchdogs, which installed distributions bring.

A distribution names functions in the hook `corekit_run_observers`. Each is called with the `RunContext` of a run and
returns observers, which are called in the order in which they were returned::

    begin or restore    the run starts, or is resumed from a checkpoint; the simulation is at its initial state
    on_step_accepted    after every accepted step
    flush, internal_state    before a checkpoint, and for it
    close               however the run ended
    summary             after that, of a run that came to its end
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol, final

import numpy as np
from attrs import frozen

from corekit.data.status import StepReport
from corekit.errors import CorekitError, PluginError
from corekit.hooks.installed import installed_hooks
from corekit.registry.resolve import load_target
from corekit.simulation.loop import Observer, Simulation

__all__ = ["Arrays", "RunContext", "RunObserver", "RunObservers", "Runnable"]

Arrays = Mapping[str, np.ndarray[Any, Any]]


class _Times(Protocol):
    @property
    def duration(self) -> float: ...


class _OutputOptions(Protocol):
    @property
    def every(self) -> float | None: ...
    @property
    def record(self) -> tuple[str, ...]: ...
    @property
    def directory(self) -> str: ...


class Runnable(Protocol):
    """What a run needs of a scenario."""

    @property
    def name(self) -> str: ...
    @property
    def time(self) -> _Times: ...
    @property
    def output(self) -> _OutputOptions: ...
    @property
    def watchdog(self) -> Any: ...
    def compose(self) -> Simulation: ...
    def given_text(self) -> str: ...
    def resolved_text(self) -> str: ...


@frozen(eq=False)
class RunContext:
    """What an observer may use of its run.

    Args:
        scenario: what is run.
        simulation: at its initial state.
        folder: of the run; None where nothing is kept, because one step is repeated.
        log: adds an event with its data to the run's log, `log("remark", step=3)`.
        warn: shows a sentence to the user.
    """

    scenario: Runnable
    simulation: Simulation
    folder: Path | None
    log: Callable[..., object]
    warn: Callable[[str], object]


class RunObserver:
    """Sees every accepted step of one run; a base whose methods do nothing.

    Making one writes nothing: a run that cannot go on is refused with its folder unchanged.

    Attributes:
        name: names its internal state in checkpoints and its summary in the log.
    """

    name = ""

    def begin(self) -> None:
        """Start: the run begins now.

        Raises:
            ResultsError: something in the folder would be lost.
        """

    def restore(self, state: Arrays) -> None:
        """Restore what `internal_state` returned: the run is resumed from a checkpoint.

        Raises:
            ResultsError: what lies in the folder is not of that state; nothing was changed.
        """

    def on_step_accepted(self, simulation: Simulation, report: StepReport) -> None:
        """Observe a step; later observers have not been called yet.

        Raises:
            StepFailed: the run stops before this step, which can be repeated alone.
        """

    def flush(self, patience: float) -> bool:
        """Make readable what was recorded up to now, because a checkpoint follows.

        Args:
            patience: how long to wait for another program that has a file open [s].
        Returns:
            Whether it succeeded; the checkpoint is postponed if not.
        """
        del patience
        return True

    def internal_state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return everything needed to continue after a checkpoint, as named arrays; copies."""
        return {}

    def summary(self) -> Mapping[str, Any] | None:
        """Return an entry for the log at the end of a run, as JSON can hold it; None for no entry."""
        return None

    def close(self) -> None:
        """Close: the run is over, however it ended."""


@final
class RunObservers:
    """All observers that are installed, made for one run.

    Args:
        context: of the run.

    Attributes:
        versions: of the distributions that bring them.
    """

    def __init__(self, context: RunContext) -> None:
        self._simulation = context.simulation
        self._all: list[RunObserver] = []
        self.versions: dict[str, str] = {}
        for owner, target in installed_hooks().targets("corekit_run_observers"):
            make = load_target(target, f"the run observers {target} of {owner.name} {owner.version}")
            try:
                self._all += make(context)
            except CorekitError:
                raise
            except Exception as error:
                why = f"{type(error).__name__}: {error}"
                raise PluginError(
                    f"{target} of {owner.name} could not make its run observers: {why}"
                ) from error
            self.versions[owner.name] = owner.version

    def begin(self, state: Arrays | None = None) -> None:
        """Start, or restore the internal states in a checkpoint; an observer without one there starts."""
        for each in self._all:
            begin = f"{each.name}/"
            own = {
                key.removeprefix(begin): value
                for key, value in (state or {}).items()
                if key.startswith(begin)
            }
            each.restore(own) if own else each.begin()

    @property
    def steps(self) -> tuple[Observer, ...]:
        """What is called after every accepted step."""
        return tuple(each.on_step_accepted for each in self._all)

    def attach(self) -> None:
        """Call them after every accepted step from now on."""
        for each in self.steps:
            self._simulation.observe(each)

    def flush(self, patience: float) -> bool:
        """Flush all of them, and return whether that succeeded."""
        return all(each.flush(patience) for each in self._all)

    def internal_state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the internal states of all of them, each under its name."""
        return {
            f"{each.name}/{key}": array for each in self._all for key, array in each.internal_state().items()
        }

    def summaries(self) -> dict[str, Mapping[str, Any]]:
        """Return the summaries of those that have one, by their names."""
        return {each.name: said for each in self._all if (said := each.summary()) is not None}

    def close(self) -> None:
        """Close all of them, the last one first, those after one that raises too."""
        with ExitStack() as stack:
            for each in self._all:
                stack.callback(each.close)

    def __bool__(self) -> bool:
        return bool(self._all)
