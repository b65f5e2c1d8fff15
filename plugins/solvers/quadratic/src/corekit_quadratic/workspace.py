"""The compiled solver with its work arrays, which only ever grow."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.roles.problem import QPProblem
from corekit_quadratic.bands import band_of
from corekit_quadratic.compiled import solve_banded
from corekit_quadratic.sides import FULL
from corekit_quadratic.skyline import BAND
from corekit_quadratic.whiten import Places

__all__ = ["Workspace"]


@final
class Workspace:
    """Runs `solve_banded`.

    Args:
        changes: of the active set at most. patience: of block pivoting. dual: whether the dual method may take over.

    Attributes:
        report: iterations, natural residual and equation residual of the last answer.
    """

    def __init__(self, changes: int, patience: int, *, dual: bool) -> None:
        self._limits: IntArray = np.array([changes, patience, int(dual)], dtype=np.int64)
        self._sizes = (0, 0, 0)
        self._integers: IntArray = np.zeros(0, dtype=np.int64)
        self._places: Places = np.zeros(0, dtype=np.uint32)
        self._numbers: Array = np.zeros(0)
        self._entries = 0
        self.report: Array = np.zeros(3)

    def run(self, problem: QPProblem, x: Array, multiplier: Array) -> int:
        """Write x and y; returns how it ended, see `sides`."""
        h = band_of(problem.hessian)
        (n, width), k = h.shape, len(problem.lower)
        if (n, width, k) != self._sizes:
            self._room(n, width, k, 0)
        while True:
            ended = solve_banded(
                h,
                problem.gradient,
                problem.dofs,
                problem.values,
                problem.lower,
                problem.upper,
                problem.compliance,
                problem.least,
                problem.most,
                x,
                multiplier,
                self._integers,
                self._places,
                self._numbers,
                self._entries,
                self._limits,
                self.report,
            )
            if ended != FULL:
                return ended
            self._room(n, width, k, 2 * self._entries)

    def _room(self, n: int, width: int, k: int, least: int) -> None:
        """Size the work arrays; Y and the factor have room for `entries` each."""
        if (n, width) != self._sizes[:2]:
            self._entries = 0
        self._sizes = (n, width, k)
        self._entries = entries = max(self._entries, least, 12 * k + 64)
        integers = 4 * k + n + 1
        places = 3 * k + 1 + n + 3 * entries
        numbers = n * (width + 4) + 4 * k + BAND + entries + max(entries, (k + BAND) * (BAND + 1))
        if len(self._integers) < integers or len(self._places) < places or len(self._numbers) < numbers:
            self._integers = np.zeros(integers + k, dtype=np.int64)
            self._places = np.zeros(places + k, dtype=np.uint32)
            self._numbers = np.zeros(numbers + k)
