"""Program in the form of general solvers: scaled, sparse, with a stable pattern.

    min ½·xᵀHx + gᵀx,  l ≤ C·x − E·y ≤ u     becomes     min ½·x̂ᵀĤx̂ + ĝᵀx̂,  l̂ ≤ Ĉ·x̂ ≤ û           (1)

- Scaled: x = w·D·x̂ with D = diag(H)^(−½), rows by their length |C·D|, and all by the one size w that makes
  the largest of ĝ and of the finite bounds 1. Ĥ has ones on its diagonal in any units of length, time and
  mass. A solver's tolerance therefore means the same for a robot of metres and for one of millimetres.
- A soft row has its own slack t: Ĥ_tt = 1 and √E in the row, so that t = −√E·y.                (2)
- An equality with bounds on y has slacks p, m ≥ 0:  C·x − E·y = l + p − m  at the cost of y_upper·p − y_lower·m.   (3)
- A row uses a free position whose entries are in the same columns; an unused position is empty. The pattern
  changes only if a row needs a new position.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.roles.problem import QPProblem

__all__ = ["StandardForm"]

_SOFT, _WEAK, _EQUAL = 1, 2, 4


@final
class StandardForm:
    """Converts programs to standard form and solutions back.

    Attributes:
        has_new_pattern: whether the pattern differs from that of the last program.
        size: number of variables, slacks included.
        row_count: number of rows.
        hessian_index, hessian: rows and columns (2, e) and values (e,) of both triangles of Ĥ.
        rows_index, rows: the same of Ĉ.
        gradient, lower, upper: ĝ (size,), l̂ and û (row_count,).
        equal: which rows are equalities.
        slack_upper: upper bounds of the slacks of (3), which are the last variables and at least 0.
        x, multiplier: the guess in standard form.
    """

    has_new_pattern: bool
    size: int
    row_count: int
    hessian_index: IntArray
    hessian: Array
    rows_index: IntArray
    rows: Array
    gradient: Array
    lower: Array
    upper: Array
    equal: BoolArray
    slack_upper: Array
    x: Array
    multiplier: Array

    def __init__(self) -> None:
        self._shape: tuple[object, ...] = ()
        self._reset()

    def _reset(self) -> None:
        self._columns: list[IntArray] = []
        self._kinds: list[int] = []
        self._positions: dict[tuple[int, bytes], list[int]] = {}
        self._last: tuple[bytes, bytes] = (b"", b"")
        self._position: IntArray = np.zeros(0, dtype=np.int64)

    def set_problem(self, problem: QPProblem, x: Array, multiplier: Array) -> None:
        """Convert a program and its guess to standard form."""
        n = len(problem.gradient)
        i, j, where = problem.hessian.entries()
        h = problem.hessian.data.ravel(order="K")[where]
        shape = (n, problem.hessian.layout, problem.dofs.shape[1])
        self.has_new_pattern = shape != self._shape
        if self.has_new_pattern:
            self._shape = shape
            self._reset()
        equal = problem.lower == problem.upper
        weak = equal & ((problem.multiplier_lower > -np.inf) | (problem.multiplier_upper < np.inf))
        kinds = _SOFT * (problem.compliance > 0.0) + _WEAK * weak + _EQUAL * equal
        self._assign_rows(problem.dofs, kinds)
        if self.has_new_pattern:
            self._build_pattern(n, problem.dofs.shape[1])
        self._fill(problem, h, i, j, x, multiplier)

    def _assign_rows(self, dofs: IntArray, kinds: IntArray) -> None:
        """Assign a position to every row; add positions if none is free."""
        arrays_key = (dofs.tobytes(), kinds.tobytes())
        if arrays_key == self._last and not self.has_new_pattern:
            return
        self._last = arrays_key
        free = {each: list(positions) for each, positions in self._positions.items()}
        self._position = np.zeros(len(dofs), dtype=np.int64)
        for row, (columns, kind) in enumerate(zip(dofs, kinds.tolist(), strict=True)):
            row_kind = (kind, columns.tobytes())
            if not free.get(row_kind):
                self.has_new_pattern = True
                self._positions.setdefault(row_kind, []).append(len(self._columns))
                free.setdefault(row_kind, []).append(len(self._columns))
                self._columns.append(columns.copy())
                self._kinds.append(kind)
            self._position[row] = free[row_kind].pop(0)

    def _build_pattern(self, n: int, width: int) -> None:
        """Compute the positions of entries and slacks: n variables, the slacks (2), the slacks (3) in pairs."""
        kinds = np.array(self._kinds, dtype=np.int64)
        self.row_count = count = len(kinds)
        self.equal = (kinds & _EQUAL) > 0
        self._soft, self._weak = np.flatnonzero(kinds & _SOFT), np.flatnonzero(kinds & _WEAK)
        self.size = n + len(self._soft) + 2 * len(self._weak)
        columns = np.array(self._columns, dtype=np.int64).reshape(count, width)
        row_index = np.repeat(np.arange(count), width)
        self.rows_index = np.vstack(
            [
                np.concatenate([row_index, self._soft, self._weak, self._weak]),
                np.concatenate([columns.ravel(), np.arange(n, self.size)]),
            ]
        )

    def _fill(
        self, problem: QPProblem, h: Array, i: IntArray, j: IntArray, x: Array, multiplier: Array
    ) -> None:
        n, position, soft, weak = len(problem.gradient), self._position, self._soft, self._weak
        diagonal = np.zeros(n)
        np.add.at(diagonal, i[i == j], h[i == j])
        self._scale = scale = 1.0 / np.sqrt(np.maximum(diagonal, 1e-300))
        scaled = problem.values * scale[problem.dofs]
        length = np.sqrt(np.einsum("kw,kw->k", scaled, scaled) + problem.compliance)
        length[length == 0.0] = 1.0
        self._length = length
        gradient = scale * problem.gradient
        low, high = problem.lower / length, problem.upper / length
        magnitudes = np.concatenate([gradient, low[np.isfinite(low)], high[np.isfinite(high)]])
        self._common_scale = common_scale = float(np.max(np.abs(magnitudes), initial=0.0)) or 1.0

        soft_slack = np.arange(n, n + len(soft))
        self.hessian_index = np.vstack([np.concatenate([i, soft_slack]), np.concatenate([j, soft_slack])])
        self.hessian = np.concatenate([h * scale[i] * scale[j], np.ones(len(soft))])
        self.lower, self.upper = np.full(self.row_count, -np.inf), np.full(self.row_count, np.inf)
        self.lower[position], self.upper[position] = low / common_scale, high / common_scale
        unused = np.ones(self.row_count, dtype=bool)
        bound = np.isfinite(low) | np.isfinite(high)
        unused[position[bound]] = False
        # a row that is unused, or bound by nothing, has no entries, so its value is 0, within these bounds
        self.lower[unused], self.upper[unused] = (
            np.where(self.equal[unused], 0.0, -1.0),
            np.where(self.equal[unused], 0.0, 1.0),
        )
        values = np.zeros((self.row_count, problem.dofs.shape[1]))
        values[position[bound]] = (scaled / length[:, None])[bound]
        root, y_lower, y_upper = np.zeros(self.row_count), np.zeros(self.row_count), np.zeros(self.row_count)
        root[position[bound]] = (np.sqrt(problem.compliance) / length)[bound]
        y_lower[position], y_upper[position] = (
            problem.multiplier_lower * length / common_scale,
            problem.multiplier_upper * length / common_scale,
        )
        ones = np.ones(len(weak))
        self.rows = np.concatenate([values.ravel(), root[soft], -ones, ones])
        cost = np.concatenate([y_upper[weak], -y_lower[weak]])
        self.slack_upper = np.where(np.isfinite(cost), np.inf, 0.0)
        cost = np.where(np.isfinite(cost), cost, 0.0)
        self.gradient = np.concatenate([gradient / common_scale, np.zeros(len(soft)), cost])
        self.multiplier = np.zeros(self.row_count)
        self.multiplier[position] = multiplier * length / common_scale
        slack = -root[soft] * self.multiplier[soft]
        self.x = np.concatenate([x / (scale * common_scale), slack, np.zeros(2 * len(weak))])

    def write_solution(self, scaled_x: Array, scaled_multiplier: Array, x: Array, multiplier: Array) -> None:
        """Write the solution in the program's own units."""
        x[:] = scaled_x[: len(x)] * self._scale * self._common_scale
        multiplier[:] = scaled_multiplier[self._position] * self._common_scale / self._length
