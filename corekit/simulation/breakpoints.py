"""Instants at which steps must end: inside a grid interval, or beside its end, which they replace.

A step from a grid point to a breakpoint just behind it would be so short that rounding of gaps, over it, is speed; and
a breakpoint that no step ends at is no kink of its motion. So a grid point that has a breakpoint within 1e-9·h lies at
it. Of several the nearest counts. A breakpoint that differs from a grid point by rounding of t alone (`same_instant`,
from t = 1000·h on more than 1e-9·h) is that grid point, which stays where it is.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Protocol, final

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit.data.instants import beside_grid, same_instant
from corekit.data.state import State

__all__ = ["Breakpoints", "cut_steps"]

_MOST_BESIDE = 8
"""How many breakpoints beside a grid point are looked at."""


class _Source(Protocol):
    def breakpoints(self, t0: float, t1: float) -> list[float]: ...


@final
class Breakpoints:
    """Instants at which steps must end inside a grid interval or beside its ends.

    They are those of inputs, prescribed motions and obstacle paths.

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

    def at_grid(self, now: float, point: float) -> float:
        """Return the breakpoint beside a grid point, where there is one apart from it beyond rounding, else the point.

        Args:
            now: a time before it, or at it at the start [s].
        """
        close = beside_grid(point, self._step)
        if point + close <= self.none_until:
            return point
        if point + close > self._known_until:
            self._look_ahead(now, point)
        first = bisect_left(self._stops, point - close)
        beside = [each for each in self._stops[first : first + _MOST_BESIDE] if each <= point + close]
        nearest = min(beside, key=lambda each: abs(each - point), default=point)
        return point if abs(nearest - point) <= same_instant(point) else nearest

    def begin(self, state: State, admit: Callable[[State], object]) -> None:
        """Let a state at the start lie at the breakpoint beside it, where there is one, and have it admitted."""
        begin = self.at_grid(state.time, state.time)
        if begin != state.time:
            state.time = begin
            admit(state)

    def next_stop(self, now: float, target: float) -> float:
        """Return the first breakpoint between now and target, apart from both beyond rounding, else the target."""
        if target > self._known_until:
            self._look_ahead(now, target)
        stops, behind = self._stops, now + beside_grid(now, self._step)
        while self._passed < len(stops) and stops[self._passed] <= behind:
            self._passed += 1
        if self._passed < len(stops) and stops[self._passed] < target - beside_grid(target, self._step):
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


def cut_steps(sources: Sequence[_Source], grid: Array, step: float) -> BoolArray:
    """Return which steps between grid points, shape (points,), are not one of h by `Breakpoints`, shape (points − 1,).

    A breakpoint falls into such a step or moves an end of it. Of some that the loop does not cut, since of many
    breakpoints beside a point the nearest counts, it is said too.
    """
    is_cut = np.zeros(len(grid) - 1, dtype=np.bool_)
    beside = 2.0 * beside_grid(max(abs(grid[0]), abs(grid[-1])), step)  # rounding of these sums counts too
    found = {t for each in sources for t in each.breakpoints(grid[0] - beside, grid[-1] + beside)}
    instants = np.array(sorted(found), dtype=np.float64)
    behind = np.clip(np.searchsorted(grid, instants), 1, len(grid) - 1)
    before, behind = grid[behind - 1], grid[behind]
    nearest = np.where(instants - before < behind - instants, before, behind)
    moves = np.abs(instants - nearest) > [same_instant(point) for point in nearest.tolist()]
    first = np.searchsorted(grid, instants[moves] - beside)
    last = np.searchsorted(grid, instants[moves] + beside, side="right")
    for begin, end in zip(first.tolist(), last.tolist(), strict=True):
        is_cut[max(begin - 1, 0) : end] = True
    return is_cut
