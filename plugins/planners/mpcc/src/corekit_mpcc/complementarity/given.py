"""What one search is given, checked before anything is solved."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_mpcc.complementarity.problem import Mpcc

__all__ = ["Given"]


@final
class Given:
    """What one search is given, with its shapes checked.

    Attributes:
        x: start, shape (N, n). shared: (m,). own: (N, k). start: (n,) or (0,).
        low, high: bounds of x, shape (N, n).
    """

    def __init__(
        self,
        program: Mpcc,
        x: Array,
        shared: Array | None,
        own: Array | None,
        start: Array | None,
        low: Array | None,
        high: Array | None,
    ) -> None:
        stages, n = program.stages, program.size
        previous = 0 if program.before is None else n
        mistakes: list[Mistake] = []

        def take(name: str, value: Array | None, shape: tuple[int, ...]) -> Array:
            given = np.asarray(np.zeros(shape) if value is None else value, dtype=float)
            if value is None and 0 not in shape:
                mistakes.append(Mistake(name, None, f"an array of shape {shape}"))
            try:
                given = np.broadcast_to(given, shape).copy()
            except ValueError:
                mistakes.append(Mistake(name, given.shape, f"an array of shape {shape}"))
                return np.zeros(shape)
            bad = np.argwhere(~np.isfinite(given))
            if len(bad):
                at = tuple(int(i) for i in bad[0])
                mistakes.append(Mistake(f"{name}{list(at)}", float(given[at]), "finite"))
            return given

        self.x = take("x0", x, (stages, n))
        self.shared = take("shared", shared, (program.shared.numel(),))
        self.own = take("own", own, (stages, program.own.numel()))
        self.start = take("start", start, (previous,))
        default = program.bounds
        self.low = np.broadcast_to(
            default[0] if low is None else np.asarray(low, dtype=float), (stages, n)
        ).copy()
        self.high = np.broadcast_to(
            default[1] if high is None else np.asarray(high, dtype=float), (stages, n)
        ).copy()
        wrong = np.argwhere(~(self.low <= self.high))
        if len(wrong):
            step, i = (int(entry) for entry in wrong[0])
            where = f"bounds of {program.variable(i)} at step {step}"
            mistakes.append(Mistake(where, (self.low[step, i], self.high[step, i]), "low ≤ high"))
        if mistakes:
            raise ConfigError(mistakes, "search")

    def at(self, x: Array) -> Given:
        """The same parameters and bounds at another point."""
        other = object.__new__(Given)
        other.x, other.shared, other.own, other.start = x, self.shared, self.own, self.start
        other.low, other.high = self.low, self.high
        return other
