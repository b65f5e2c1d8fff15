"""Who measures points: the program as stated, evaluated apart from the solver and from the relaxed program.

Nothing here is taken from the solver. Evaluation writes into buffers of its own, so measuring every iterate costs
little more than the expressions themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, TypeAlias, final

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from corekit.data.arrays import Array, BoolArray
from corekit_mpcc.complementarity.certificate import Certificate, PairResidual, Verdict
from corekit_mpcc.complementarity.problem import Family, Mpcc, Rows

__all__ = ["Certifier", "Point"]

NameArray: TypeAlias = NDArray[np.str_]


class Point(Protocol):
    """A point with its parameters and bounds.

    Attributes:
        x: physical variables, shape (N, n); own: (N, k); shared: (m,); start: x_{−1}, shape (n,) or (0,).
        low, high: bounds of x, shape (N, n).
    """

    @property
    def x(self) -> Array: ...
    @property
    def shared(self) -> Array: ...
    @property
    def own(self) -> Array: ...
    @property
    def start(self) -> Array: ...
    @property
    def low(self) -> Array: ...
    @property
    def high(self) -> Array: ...


@final
class Certifier:
    """Measures points of one program.

    Args:
        program: as stated.
        bounds_tolerance: violation of a variable's bounds up to which a point is feasible, in units of its scale.
    """

    def __init__(self, program: Mpcc, bounds_tolerance: float = 1e-6) -> None:
        self._program = program
        self._bounds_tolerance = bounds_tolerance
        stages = program.stages
        columns = [ca.SX(program.cost), *(rows.expression for rows in program.rows)]
        columns += [family.first for family in program.families]
        columns += [family.second for family in program.families]
        stated = ca.densify(ca.vertcat(ca.SX(0, 1), *columns))
        function = ca.Function("stated", program.arguments(), [stated], {"cse": True}).map(stages)
        self._buffer, self._evaluate = function.buffer()
        # column-major for CasADi is one step after the other here
        self._inputs = [np.zeros((stages, function.size1_in(i))) for i in range(4)]
        self._values = np.zeros((stages, int(stated.numel())))
        for i, values in enumerate(self._inputs):
            self._buffer.set_arg(i, values.data)
        self._buffer.set_res(0, self._values.data)
        self._limits: dict[frozenset[str], tuple[Array, Array, BoolArray | None]] = {}
        self._row_names = _owners(program.rows)
        self._pair_names = _owners(program.families)
        size, pairs = len(self._row_names), len(self._pair_names)
        self._ends = (1, 1 + size, 1 + size + pairs, 1 + size + 2 * pairs)
        self._low, self._high = np.full((stages, size), -np.inf), np.full((stages, size), np.inf)
        self._row_tolerance, self._pair_tolerance = np.ones(size), np.ones(pairs)
        at = 0
        for group in program.rows:
            place = slice(at, at + group.size)
            chosen = {"every": slice(None), "first": slice(0, 1), "last": slice(-1, None)}[group.at]
            self._low[chosen, place], self._high[chosen, place] = group.low, group.high
            self._row_tolerance[place] = group.tolerance
            at += group.size
        at = 0
        for family in program.families:
            self._pair_tolerance[at : at + family.size] = family.tolerance
            at += family.size

    def verdict(self, point: Point, without: frozenset[str] = frozenset()) -> Verdict:
        """Measure one point, in four numbers; a number that is not one makes `worst` infinite."""
        cost, rows, first, second = self._at(point)
        low, high, kept = self._asked(without)
        least = np.minimum(first, second)
        if kept is not None:
            least = least[:, kept]
        off = np.maximum(low - rows, rows - high)
        outside = np.maximum(point.low - point.x, point.x - point.high)
        pair_tolerance = self._pair_tolerance if kept is None else self._pair_tolerance[kept]
        worst = max(
            _largest(off / self._row_tolerance),
            _largest(np.abs(least / pair_tolerance)),
            _largest(outside / self._program.scales) / self._bounds_tolerance,
        )
        negative = -float(least.min()) if least.size else 0.0
        numbers = (cost, worst, _largest(off), _largest(outside), negative)
        return Verdict(
            cost=cost,
            infeasibility=max(0.0, *numbers[2:]),
            complementarity=_largest(np.abs(least)),
            # bounds that are not there leave −∞; only what is not a number fails the comparison
            worst=max(worst, 0.0) if all(number < math.inf for number in numbers) else math.inf,
        )

    def __call__(self, point: Point, without: frozenset[str] = frozenset()) -> Certificate:
        """Measure one point.

        Args:
            point: where, with its parameters and bounds.
            without: rows and families that are not asked for.
        """
        program = self._program
        cost, values, first, second = self._at(point)
        off, natural, outside = self._violations(point, values, first, second, without)
        shares: list[tuple[float, str]] = []
        rows: dict[str, tuple[float, float]] = {}
        for group in program.rows:
            mine = off[:, self._row_names == group.name]
            if group.name in without or group.size == 0:
                continue
            step, entry = np.unravel_index(int(mine.argmax()), mine.shape)
            worst = float(mine[step, entry])
            rows[group.name] = (worst, group.tolerance)
            shares.append(
                (worst / group.tolerance, f"{group.name}[{entry}] at step {step}: {worst:.3g} {group.unit}")
            )
        families: dict[str, PairResidual] = {}
        for family in program.families:
            own = self._pair_names == family.name
            if family.name in without or family.size == 0:
                continue
            step, pair = np.unravel_index(int(natural[:, own].argmax()), natural[:, own].shape)
            worst = float(natural[:, own][step, pair])
            families[family.name] = PairResidual(
                natural=worst,
                product=float(np.abs(first[:, own] * second[:, own]).max()),
                first_negative=_largest(np.maximum(-first[:, own], 0.0)),
                second_negative=_largest(np.maximum(-second[:, own], 0.0)),
                stage=int(step),
                pair=int(pair),
                tolerance=family.tolerance,
            )
            shares.append(
                (worst / family.tolerance, f"{family.name}[{pair}] at step {step}: |min| = {worst:.3g}")
            )
        scaled = outside / program.scales
        step, entry = np.unravel_index(int(scaled.argmax()), scaled.shape)
        where = f"bound of {program.variable(int(entry))} at step {step}: {outside[step, entry]:.3g}"
        shares.append((float(scaled.max()) / self._bounds_tolerance, where))
        if not np.isfinite(cost):
            shares.append((np.inf, f"cost: {cost}"))
        worst, culprit = max(shares, key=lambda share: share[0])
        finite = bool(np.isfinite(cost) and np.isfinite(worst))
        return Certificate(
            cost=cost,
            rows=rows,
            families=families,
            bounds=float(outside.max()),
            finite=finite,
            culprit=culprit if worst > 0.0 else "",
            worst=worst if finite else np.inf,
        )

    def sides(self, point: Point) -> dict[str, tuple[Array, Array]]:
        """Both sides of every family, in the scales of the nonlinear program, shape (N, pairs) each."""
        _, _, first, second = self._at(point)
        told = {}
        for family in self._program.families:
            own = self._pair_names == family.name
            told[family.name] = (family.first_scale * first[:, own], family.second_scale * second[:, own])
        return told

    def _at(self, point: Point) -> tuple[float, Array, Array, Array]:
        """Cost, rows and both sides of all families, shape (N, …)."""
        before, x, shared, own = self._inputs
        x[:], shared[:], own[:] = point.x, point.shared, point.own
        if before.shape[1]:
            before[0], before[1:] = point.start, point.x[:-1]
        self._evaluate()
        ends = self._ends
        values = self._values
        return (
            float(values[:, 0].sum()),
            values[:, ends[0] : ends[1]],
            values[:, ends[1] : ends[2]],
            values[:, ends[2] : ends[3]],
        )

    def _violations(
        self, point: Point, rows: Array, first: Array, second: Array, without: frozenset[str]
    ) -> tuple[Array, Array, Array]:
        """Of rows, of complementarity and of bounds; what is left out is zero, what is not a number infinite."""
        low, high, kept = self._asked(without)
        off = np.maximum(np.maximum(low - rows, rows - high), 0.0)
        natural = np.abs(np.minimum(first, second))
        outside = np.maximum(np.maximum(point.low - point.x, point.x - point.high), 0.0)
        for values in (off, natural, outside):
            values[np.isnan(values)] = np.inf
        if kept is not None:
            natural[:, ~kept] = 0.0
        return off, natural, outside

    def _asked(self, without: frozenset[str]) -> tuple[Array, Array, BoolArray | None]:
        """Bounds of the rows, and which pairs are kept (None: all)."""
        if without not in self._limits:
            left_out = list(without)
            rows = np.isin(self._row_names, left_out)
            low, high = np.where(rows, -np.inf, self._low), np.where(rows, np.inf, self._high)
            kept = ~np.isin(self._pair_names, left_out)
            self._limits[without] = (low, high, None if kept.all() else kept)
        return self._limits[without]


def _owners(groups: Sequence[Rows | Family]) -> NameArray:
    """The name of the group that each entry belongs to."""
    return np.array([group.name for group in groups for _ in range(group.size)], dtype=np.str_)


def _largest(values: Array) -> float:
    return float(values.max()) if values.size else 0.0
