"""A program in the form that general solvers take: scaled, sparse, with a pattern that lasts.

    min ½·xᵀHx + gᵀx,  l ≤ C·x − E·y ≤ u     becomes     min ½·x̂ᵀĤx̂ + ĝᵀx̂,  l̂ ≤ Ĉ·x̂ ≤ û           (1)

- Scaled: x = w·D·x̂ with D = diag(H)^(−½), rows by their length |C·D|, and all by the one size w that makes the largest
  of ĝ and of the finite bounds 1. Ĥ has ones on its diagonal whatever the units of length, time and mass are, so
  a solver's tolerance means the same for a robot of metres and for one of millimetres.
- A soft row has a slack t of its own: Ĥ_tt = 1 and √E in the row, so that t = −√E·y.                (2)
- An equality with bounds on y has slacks p, m ≥ 0:  C·x − E·y = l + p − m  at the cost of most·p − least·m.   (3)
- A row takes a free place whose entries stand in the same columns; a place that no row takes is empty. The
  pattern changes only where rows come that never were there before.
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
    """Brings programs into standard form, and answers back.

    Attributes:
        fresh: whether the pattern is another than that of the last program.
        size: number of variables, slacks included. places: number of rows.
        hessian_at, hessian: rows and columns (2, e) and values (e,) of both triangles of Ĥ.
        rows_at, rows: the same of Ĉ.
        gradient, lower, upper: ĝ (size,), l̂ and û (places,). equal: which places hold equalities.
        slack_most: upper bounds of the slacks of (3), which are the last variables and at least 0.
        x, multiplier: the guess in standard form.
    """

    fresh: bool
    size: int
    places: int
    hessian_at: IntArray
    hessian: Array
    rows_at: IntArray
    rows: Array
    gradient: Array
    lower: Array
    upper: Array
    equal: BoolArray
    slack_most: Array
    x: Array
    multiplier: Array

    def __init__(self) -> None:
        self._shape: tuple[object, ...] = ()
        self._forget()

    def _forget(self) -> None:
        self._columns: list[IntArray] = []
        self._kinds: list[int] = []
        self._at: dict[tuple[int, bytes], list[int]] = {}
        self._last: tuple[bytes, bytes] = (b"", b"")
        self._place: IntArray = np.zeros(0, dtype=np.int64)

    def take(self, problem: QPProblem, x: Array, multiplier: Array) -> None:
        """Bring a program and its guess into standard form."""
        n = len(problem.gradient)
        i, j, where = problem.hessian.entries()
        h = problem.hessian.data.ravel(order="K")[where]
        shape = (n, type(problem.hessian), len(h), problem.dofs.shape[1])
        self.fresh = shape != self._shape
        if self.fresh:
            self._shape = shape
            self._forget()
        equal = problem.lower == problem.upper
        weak = equal & ((problem.least > -np.inf) | (problem.most < np.inf))
        kinds = _SOFT * (problem.compliance > 0.0) + _WEAK * weak + _EQUAL * equal
        self._find_places(problem.dofs, kinds)
        if self.fresh:
            self._lay_out(n, problem.dofs.shape[1])
        self._fill(problem, h, i, j, x, multiplier)

    def _find_places(self, dofs: IntArray, kinds: IntArray) -> None:
        """The place of every row; new ones where none is free."""
        key = (dofs.tobytes(), kinds.tobytes())
        if key == self._last and not self.fresh:
            return
        self._last = key
        free = {each: list(places) for each, places in self._at.items()}
        self._place = np.zeros(len(dofs), dtype=np.int64)
        for row, (columns, kind) in enumerate(zip(dofs, kinds.tolist(), strict=True)):
            mine = (kind, columns.tobytes())
            if not free.get(mine):
                self.fresh = True
                self._at.setdefault(mine, []).append(len(self._columns))
                free.setdefault(mine, []).append(len(self._columns))
                self._columns.append(columns.copy())
                self._kinds.append(kind)
            self._place[row] = free[mine].pop(0)

    def _lay_out(self, n: int, width: int) -> None:
        """Where entries and slacks stand: n variables, the slacks (2), the slacks (3) in pairs."""
        kinds = np.array(self._kinds, dtype=np.int64)
        self.places = count = len(kinds)
        self.equal = (kinds & _EQUAL) > 0
        self._soft, self._weak = np.flatnonzero(kinds & _SOFT), np.flatnonzero(kinds & _WEAK)
        self.size = n + len(self._soft) + 2 * len(self._weak)
        columns = np.array(self._columns, dtype=np.int64).reshape(count, width)
        inside = np.repeat(np.arange(count), width)
        self.rows_at = np.vstack(
            [
                np.concatenate([inside, self._soft, self._weak, self._weak]),
                np.concatenate([columns.ravel(), np.arange(n, self.size)]),
            ]
        )

    def _fill(
        self, problem: QPProblem, h: Array, i: IntArray, j: IntArray, x: Array, multiplier: Array
    ) -> None:
        n, place, soft, weak = len(problem.gradient), self._place, self._soft, self._weak
        diagonal = np.zeros(n)
        np.add.at(diagonal, i[i == j], h[i == j])
        self._scale = scale = 1.0 / np.sqrt(np.maximum(diagonal, 1e-300))
        scaled = problem.values * scale[problem.dofs]
        length = np.sqrt(np.einsum("kw,kw->k", scaled, scaled) + problem.compliance)
        length[length == 0.0] = 1.0
        self._length = length
        gradient = scale * problem.gradient
        low, high = problem.lower / length, problem.upper / length
        known = np.concatenate([gradient, low[np.isfinite(low)], high[np.isfinite(high)]])
        self._whole = whole = float(np.max(np.abs(known), initial=0.0)) or 1.0

        stiff = np.arange(n, n + len(soft))
        self.hessian_at = np.vstack([np.concatenate([i, stiff]), np.concatenate([j, stiff])])
        self.hessian = np.concatenate([h * scale[i] * scale[j], np.ones(len(soft))])
        self.lower, self.upper = np.full(self.places, -np.inf), np.full(self.places, np.inf)
        self.lower[place], self.upper[place] = low / whole, high / whole
        idle = np.ones(self.places, dtype=bool)
        idle[place] = False
        # a row without entries is 0, whatever the bounds about it
        self.lower[idle], self.upper[idle] = (
            np.where(self.equal[idle], 0.0, -1.0),
            np.where(self.equal[idle], 0.0, 1.0),
        )
        values = np.zeros((self.places, problem.dofs.shape[1]))
        values[place] = scaled / length[:, None]
        root, least, most = np.zeros(self.places), np.zeros(self.places), np.zeros(self.places)
        root[place] = np.sqrt(problem.compliance) / length
        least[place], most[place] = problem.least * length / whole, problem.most * length / whole
        ones = np.ones(len(weak))
        self.rows = np.concatenate([values.ravel(), root[soft], -ones, ones])
        cost = np.concatenate([most[weak], -least[weak]])
        self.slack_most = np.where(np.isfinite(cost), np.inf, 0.0)
        cost = np.where(np.isfinite(cost), cost, 0.0)
        self.gradient = np.concatenate([gradient / whole, np.zeros(len(soft)), cost])
        self.multiplier = np.zeros(self.places)
        self.multiplier[place] = multiplier * length / whole
        slack = -root[soft] * self.multiplier[soft]
        self.x = np.concatenate([x / (scale * whole), slack, np.zeros(2 * len(weak))])

    def give(self, found: Array, found_multiplier: Array, x: Array, multiplier: Array) -> None:
        """Write the answer in the program's own units."""
        x[:] = found[: len(x)] * self._scale * self._whole
        multiplier[:] = found_multiplier[self._place] * self._whole / self._length
