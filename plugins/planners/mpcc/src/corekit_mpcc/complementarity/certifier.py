"""Certifier: evaluates the original program, independent of the solver and of the relaxed program.

It evaluates into its own buffers, so the certificate of an iterate costs little more than the expressions themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, TypeAlias, final

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from corekit.data.arrays import Array, BoolArray
from corekit_mpcc.complementarity.certificate import Certificate, CertificateSummary, PairResidual
from corekit_mpcc.complementarity.problem import Family, Mpcc, Rows

__all__ = ["Certifier", "Point"]

NameArray: TypeAlias = NDArray[np.str_]


class Point(Protocol):
    """A point with its parameters and bounds.

    Attributes:
        x: physical variables, shape (N, n).
        shared, own: parameters, (m,) and (N, k).
        start: x_{−1}, shape (n,) or (0,).
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
    """Certifier of points of one program.

    Args:
        program: the original program.
        bounds_tolerance: tolerance of a variable's bounds, in units of its scale.
    """

    def __init__(self, program: Mpcc, bounds_tolerance: float = 1e-6) -> None:
        self._program = program
        self._bounds_tolerance = bounds_tolerance
        stages = program.stages
        columns = [ca.SX(program.cost), *(rows.expression for rows in program.rows)]
        columns += [family.first for family in program.families]
        columns += [family.second for family in program.families]
        expressions = ca.densify(ca.vertcat(ca.SX(0, 1), *columns))
        function = ca.Function("stated", program.arguments(), [expressions], {"cse": True}).map(stages)
        self._buffer, self._evaluate = function.buffer()
        # a column of CasADi is a row here
        self._inputs = [np.zeros((stages, function.size1_in(i))) for i in range(4)]
        self._values = np.zeros((stages, int(expressions.numel())))
        for i, values in enumerate(self._inputs):
            self._buffer.set_arg(i, values.data)
        self._buffer.set_res(0, self._values.data)
        self._limits: dict[frozenset[str], tuple[Array, Array, BoolArray | None]] = {}
        self._row_names = _group_names(program.rows)
        self._pair_names = _group_names(program.families)
        size, pairs = len(self._row_names), len(self._pair_names)
        self._ends = (1, 1 + size, 1 + size + pairs, 1 + size + 2 * pairs)
        self._low, self._high = np.full((stages, size), -np.inf), np.full((stages, size), np.inf)
        self._row_tolerance, self._pair_tolerance = np.ones(size), np.ones(pairs)
        offset = 0
        for group in program.rows:
            columns = slice(offset, offset + group.size)
            steps = {"every": slice(None), "first": slice(0, 1), "last": slice(-1, None)}[group.steps]
            self._low[steps, columns], self._high[steps, columns] = group.low, group.high
            self._row_tolerance[columns] = group.tolerance
            offset += group.size
        offset = 0
        for family in program.families:
            self._pair_tolerance[offset : offset + family.size] = family.tolerance
            offset += family.size

    def summarise(self, point: Point, excluded: frozenset[str] = frozenset()) -> CertificateSummary:
        """Return the summary of one point; `worst` is infinite if a value is NaN."""
        cost, rows, first, second = self._evaluate_at(point)
        low, high, included = self._limits_without(excluded)
        minimum = np.minimum(first, second)
        if included is not None:
            minimum = minimum[:, included]
        violation = np.maximum(low - rows, rows - high)
        outside = np.maximum(point.low - point.x, point.x - point.high)
        pair_tolerance = self._pair_tolerance if included is None else self._pair_tolerance[included]
        worst = max(
            _max_or_zero(violation / self._row_tolerance),
            _max_or_zero(np.abs(minimum / pair_tolerance)),
            _max_or_zero(outside / self._program.scales) / self._bounds_tolerance,
        )
        negative = -float(minimum.min()) if minimum.size else 0.0
        numbers = (cost, worst, _max_or_zero(violation), _max_or_zero(outside), negative)
        return CertificateSummary(
            cost=cost,
            infeasibility=max(0.0, *numbers[2:]),
            complementarity=_max_or_zero(np.abs(minimum)),
            # absent bounds give −∞; only NaN and +∞ fail the comparison
            worst=max(worst, 0.0) if all(number < math.inf for number in numbers) else math.inf,
        )

    def __call__(self, point: Point, excluded: frozenset[str] = frozenset()) -> Certificate:
        """Return the certificate of one point.

        Args:
            point: the point with its parameters and bounds.
            excluded: excluded rows and families.
        """
        program = self._program
        cost, values, first, second = self._evaluate_at(point)
        violation, natural, outside = self._violations(point, values, first, second, excluded)
        ratios: list[tuple[float, str]] = []
        rows: dict[str, tuple[float, float]] = {}
        for group in program.rows:
            group_violation = violation[:, self._row_names == group.name]
            if group.name in excluded or group.size == 0:
                continue
            step, entry = np.unravel_index(int(group_violation.argmax()), group_violation.shape)
            worst = float(group_violation[step, entry])
            rows[group.name] = (worst, group.tolerance)
            ratios.append(
                (worst / group.tolerance, f"{group.name}[{entry}] at step {step}: {worst:.3g} {group.unit}")
            )
        families: dict[str, PairResidual] = {}
        for family in program.families:
            selected = self._pair_names == family.name
            if family.name in excluded or family.size == 0:
                continue
            step, pair = np.unravel_index(int(natural[:, selected].argmax()), natural[:, selected].shape)
            worst = float(natural[:, selected][step, pair])
            families[family.name] = PairResidual(
                natural=worst,
                product=float(np.abs(first[:, selected] * second[:, selected]).max()),
                first_negative=_max_or_zero(np.maximum(-first[:, selected], 0.0)),
                second_negative=_max_or_zero(np.maximum(-second[:, selected], 0.0)),
                stage=int(step),
                pair=int(pair),
                tolerance=family.tolerance,
            )
            ratios.append(
                (worst / family.tolerance, f"{family.name}[{pair}] at step {step}: |min| = {worst:.3g}")
            )
        scaled = outside / program.scales
        step, entry = np.unravel_index(int(scaled.argmax()), scaled.shape)
        position = f"bound of {program.variable(int(entry))} at step {step}: {outside[step, entry]:.3g}"
        ratios.append((float(scaled.max()) / self._bounds_tolerance, position))
        if not np.isfinite(cost):
            ratios.append((np.inf, f"cost: {cost}"))
        worst, culprit = max(ratios, key=lambda ratio: ratio[0])
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
        """Return both sides of every family, scaled as in the nonlinear program, shape (N, pairs) each."""
        _, _, first, second = self._evaluate_at(point)
        result = {}
        for family in self._program.families:
            selected = self._pair_names == family.name
            result[family.name] = (
                family.first_scale * first[:, selected],
                family.second_scale * second[:, selected],
            )
        return result

    def _evaluate_at(self, point: Point) -> tuple[float, Array, Array, Array]:
        """Return cost, rows and both sides of all families, shape (N, …)."""
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
        self, point: Point, rows: Array, first: Array, second: Array, excluded: frozenset[str]
    ) -> tuple[Array, Array, Array]:
        """Return violations of rows, pairs and bounds; excluded entries are zero, NaN becomes infinite."""
        low, high, included = self._limits_without(excluded)
        violation = np.maximum(np.maximum(low - rows, rows - high), 0.0)
        natural = np.abs(np.minimum(first, second))
        outside = np.maximum(np.maximum(point.low - point.x, point.x - point.high), 0.0)
        for values in (violation, natural, outside):
            values[np.isnan(values)] = np.inf
        if included is not None:
            natural[:, ~included] = 0.0
        return violation, natural, outside

    def _limits_without(self, excluded: frozenset[str]) -> tuple[Array, Array, BoolArray | None]:
        """Return the bounds of the rows, and the mask of included pairs (None: all)."""
        if excluded not in self._limits:
            names = list(excluded)
            rows = np.isin(self._row_names, names)
            low, high = np.where(rows, -np.inf, self._low), np.where(rows, np.inf, self._high)
            included = ~np.isin(self._pair_names, names)
            self._limits[excluded] = (low, high, None if included.all() else included)
        return self._limits[excluded]


def _group_names(groups: Sequence[Rows | Family]) -> NameArray:
    """Return the name of the group of each entry."""
    return np.array([group.name for group in groups for _ in range(group.size)], dtype=np.str_)


def _max_or_zero(values: Array) -> float:
    return float(values.max()) if values.size else 0.0
