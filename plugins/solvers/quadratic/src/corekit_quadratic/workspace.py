"""The compiled solver with its workspaces, which only ever grow."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.roles.problem import QPProblem
from corekit_quadratic.active_set import WORKSPACE_FULL
from corekit_quadratic.bands import is_view, lower_band
from corekit_quadratic.compiled import solve_banded, workspace_lengths

__all__ = ["Workspace"]


@final
class Workspace:
    """Runs `solve_banded`.

    Args:
        max_changes: largest number of changes of the active set.
        patience: of block pivoting.
        polish: whether a guess is only polished: its active rows are solved, from λ = 0, and nothing follows that.

    Attributes:
        report: iterations, natural residual and equation residual of the last solution.
    """

    def __init__(self, max_changes: int, patience: int, *, polish: bool) -> None:
        self._limits = max_changes, patience, int(polish)
        self._sizes = (0, 0, 0)
        self._entries = 0
        self._problem: QPProblem | None = None
        self._must_reload = False
        self.report: Array = np.zeros(3)
        self._program: tuple[Any, ...] = ()
        self._integers: IntArray = np.zeros(0, dtype=np.int64)
        self._positions: IntArray = np.zeros(0, dtype=np.int64)
        self._floats: Array = np.zeros(0)

    def solve(self, problem: QPProblem, x: Array, multiplier: Array) -> int:
        """Write x and y; return the outcome, see `active_set`."""
        if problem is not self._problem or self._must_reload:
            self._set_problem(problem)
        run: Any = solve_banded
        while True:
            outcome = run(
                *self._program, self._integers, self._positions, self._floats, self.report, self._entries, x, multiplier
            )  # fmt: skip
            if outcome != WORKSPACE_FULL:
                return outcome
            self._reserve(*self._sizes, 2 * self._entries)

    def _set_problem(self, problem: QPProblem) -> None:
        """Set the arrays of a problem; their values may change until another problem is set."""
        arrays: tuple[Any, ...] = (
            problem.gradient, problem.dofs, problem.values, problem.lower, problem.upper, problem.compliance,
            problem.multiplier_lower, problem.multiplier_upper, lower_band(problem.hessian),
        )  # fmt: skip
        self._program = tuple(np.ascontiguousarray(each) for each in arrays)
        # copies, of arrays with gaps or of a matrix that holds no band, are made anew at every solve
        self._must_reload = not is_view(problem.hessian) or any(
            own is not each for own, each in zip(self._program, arrays, strict=True)
        )
        self._problem = problem
        n, width, k = *self._program[-1].shape, len(problem.lower)
        if (n, width, k) != self._sizes:
            self._reserve(n, width, k, 0)

    def _reserve(self, n: int, width: int, k: int, min_entries: int) -> None:
        """Reserve workspaces for k rows, with at least `min_entries` for Y and the factor each; mark the pairs unknown.

        Arrays that are large enough stay: contacts come and go, and new memory costs more than a program.
        """
        if (n, width) != self._sizes[:2]:
            self._entries = 0
        self._sizes = (n, width, k)
        self._entries = max(self._entries, min_entries, _initial_entries(k))
        lengths, own = (
            workspace_lengths(n, width, k, self._entries),
            (self._integers, self._positions, self._floats),
        )
        if any(length > len(array) for length, array in zip(lengths, own, strict=True)):
            reserved_rows = k + k // 8 + 16
            self._entries = max(self._entries, _initial_entries(reserved_rows))
            integers, positions, floats = workspace_lengths(n, width, reserved_rows, self._entries)
            self._integers = np.zeros(integers, dtype=np.int64)
            self._positions = np.zeros(positions, dtype=np.int64)
            self._floats = np.zeros(floats)
        self._integers[:6] = *self._limits, -1, 0, 0


def _initial_entries(k: int) -> int:
    """Return the initial capacity for entries of k rows."""
    return 12 * k + 64
