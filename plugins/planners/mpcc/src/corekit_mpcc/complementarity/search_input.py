"""Input of one search, with checks."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_mpcc.complementarity.problem import Mpcc

__all__ = ["SearchInput"]


@final
class SearchInput:
    """Input of one search, with checked shapes.

    Attributes:
        x: initial guess, shape (N, n).
        shared, own: parameters, (m,) and (N, k).
        start: x_{−1}, (n,) or (0,).
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
        start_size = 0 if program.before is None else n
        mistakes: list[Mistake] = []

        def check_array(name: str, value: Array | None, shape: tuple[int, ...]) -> Array:
            array = np.asarray(np.zeros(shape) if value is None else value, dtype=float)
            if value is None and 0 not in shape:
                mistakes.append(Mistake(name, None, f"an array of shape {shape}"))
            try:
                array = np.broadcast_to(array, shape).copy()
            except ValueError:
                mistakes.append(Mistake(name, array.shape, f"an array of shape {shape}"))
                return np.zeros(shape)
            non_finite = np.argwhere(~np.isfinite(array))
            if len(non_finite):
                index = tuple(int(i) for i in non_finite[0])
                mistakes.append(Mistake(f"{name}{list(index)}", float(array[index]), "finite"))
            return array

        self.x = check_array("x0", x, (stages, n))
        self.shared = check_array("shared", shared, (program.shared.numel(),))
        self.own = check_array("own", own, (stages, program.own.numel()))
        self.start = check_array("start", start, (start_size,))
        default = program.bounds
        self.low = np.broadcast_to(
            default[0] if low is None else np.asarray(low, dtype=float), (stages, n)
        ).copy()
        self.high = np.broadcast_to(
            default[1] if high is None else np.asarray(high, dtype=float), (stages, n)
        ).copy()
        crossed = np.argwhere(~(self.low <= self.high))
        if len(crossed):
            step, i = (int(entry) for entry in crossed[0])
            where = f"bounds of {program.variable(i)} at step {step}"
            mistakes.append(Mistake(where, (self.low[step, i], self.high[step, i]), "low ≤ high"))
        if mistakes:
            raise ConfigError(mistakes, "search")

    def with_x(self, x: Array) -> SearchInput:
        """Return the same parameters and bounds at another point."""
        copy = object.__new__(SearchInput)
        copy.x, copy.shared, copy.own, copy.start = x, self.shared, self.own, self.start
        copy.low, copy.high = self.low, self.high
        return copy
