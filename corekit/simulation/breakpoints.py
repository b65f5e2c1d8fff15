"""Instants at which steps must end inside a grid interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, final

__all__ = ["Breakpoints"]


class _Source(Protocol):
    def breakpoints(self, t0: float, t1: float) -> list[float]: ...


@final
class Breakpoints:
    """Instants at which steps must end inside a grid interval: of inputs, prescribed motions and obstacle paths.

    Args:
        sources: bodies and obstacles.
        step: h [s].

    Attributes:
        none_until: time up to which there is none to come [s].
    """

    def __init__(self, sources: Sequence[_Source], step: float) -> None:
        self._sources, self._step = tuple(sources), step
        self._known_until = -math.inf
        self._stops: list[float] = []
        self._passed = 0
        self.none_until = -math.inf

    def next_stop(self, now: float, target: float) -> float:
        """Return the first breakpoint between now and target, apart from both beyond rounding, else the target."""
        if target > self._known_until:
            self._look_ahead(now, target)
        stops, close = self._stops, 1e-9 * self._step
        while self._passed < len(stops) and stops[self._passed] <= now + close:
            self._passed += 1
        if self._passed < len(stops) and stops[self._passed] < target - close:
            return stops[self._passed]
        return target

    def _look_ahead(self, now: float, target: float) -> None:
        """Collect the breakpoints of the next thousand steps at once."""
        until = target + 1000.0 * self._step
        found: set[float] = set()
        for source in self._sources:
            found.update(source.breakpoints(now, until))
        self._stops, self._passed = sorted(found), 0
        self._known_until = until
        self.none_until = until if not found else -math.inf
