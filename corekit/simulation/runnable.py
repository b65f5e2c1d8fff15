"""What a run takes from a scenario."""

from __future__ import annotations

from typing import Any, Protocol

from corekit.simulation.loop import Simulation

__all__ = ["Runnable"]


class _Times(Protocol):
    @property
    def duration(self) -> float: ...


class _Kept(Protocol):
    @property
    def every(self) -> float: ...
    @property
    def directory(self) -> str: ...


class Runnable(Protocol):
    """What is needed of a scenario."""

    @property
    def name(self) -> str: ...
    @property
    def time(self) -> _Times: ...
    @property
    def output(self) -> _Kept: ...
    @property
    def watchdog(self) -> Any: ...
    def compose(self) -> Simulation: ...
    def given_text(self) -> str: ...
    def resolved_text(self) -> str: ...
