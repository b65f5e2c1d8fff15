"""The compiled solver with its work arrays, which only ever grow."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.linalg.array_table import ArrayTable
from corekit.roles.problem import QPProblem
from corekit_quadratic.bands import band_of, stays
from corekit_quadratic.compiled import MEETINGS, solve_banded, tell
from corekit_quadratic.pairs import REACH
from corekit_quadratic.sides import FULL
from corekit_quadratic.skyline import BAND

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
        self._limits = changes, patience, int(dual)
        self._sizes = (0, 0, 0)
        self._entries = 0
        self._problem: QPProblem | None = None
        self._moves = False
        self.report: Array = np.zeros(3)
        self._program: IntArray = np.ones((9, 4), dtype=np.int64)
        self._given: tuple[Any, ...] = ()
        self._own = ArrayTable()

    def run(self, problem: QPProblem, x: Array, multiplier: Array) -> int:
        """Write x and y; returns how it ended, see `sides`."""
        if problem is not self._problem or self._moves:
            self._take(problem)
        while True:
            ended = solve_banded(self._program, self._own.table, self._entries, x, multiplier)
            if ended != FULL:
                return ended
            self._room(*self._sizes, 2 * self._entries)

    def _take(self, problem: QPProblem) -> None:
        """Look at a problem that is not the last one, or that has to be looked at anew.

        Its arrays stay where they are, their values may change.
        """
        self._problem, self._moves = problem, not stays(problem.hessian)
        given: tuple[Any, ...] = (
            problem.gradient, problem.dofs, problem.values, problem.lower, problem.upper, problem.compliance,
            problem.least, problem.most, band_of(problem.hessian),
        )  # fmt: skip
        if not tell(self._program, *given):
            # of arrays with gaps copies, every time
            self._moves = True
            given = tuple(np.ascontiguousarray(each) for each in given)
            tell(self._program, *given)
        self._given = given
        n, width, k = *given[-1].shape, len(problem.lower)
        if (n, width, k) != self._sizes:
            self._room(n, width, k, 0)

    def _room(self, n: int, width: int, k: int, least: int) -> None:
        """Have work arrays for k rows, with `entries` for Y and the factor each; no pairs are known of them yet.

        Arrays that are large enough stay: contacts come and go, and fresh memory costs more than a program.
        """
        if (n, width) != self._sizes[:2]:
            self._entries = 0
        self._sizes = (n, width, k)
        self._entries = max(self._entries, least, _entries_of(k))
        wanted = _lengths(n, width, k, self._entries)
        if any(
            length > len(array) for length, array in zip(wanted, self._own.arrays or ((),) * 3, strict=False)
        ):
            roomy = k + k // 8 + 16
            self._entries = max(self._entries, _entries_of(roomy))
            integers, places, numbers = _lengths(n, width, roomy, self._entries)
            self._own = ArrayTable(
                np.zeros(integers, dtype=np.int64),
                np.zeros(places, dtype=np.int64),
                np.zeros(numbers),
                self.report,
            )
        self._own.arrays[0][:6] = *self._limits, -1, 0, 0


def _entries_of(k: int) -> int:
    """Room for entries that k rows begin with."""
    return 12 * k + 64


def _lengths(n: int, width: int, k: int, entries: int) -> tuple[int, int, int]:
    """Integers, pairs of places and numbers that `solve_banded` takes apart."""
    targets = (REACH + 1) * (k + 1)
    integers = 8 + 2 * REACH + 5 * k + n + 1
    places = 6 * k + 2 + n + (5 + 2 * MEETINGS) * entries + 3 * targets + 1
    numbers = n * (width + 4) + 4 * k + BAND + targets + entries + max(entries, (k + BAND) * (BAND + 1))
    return integers, places // 2 + 1, numbers
