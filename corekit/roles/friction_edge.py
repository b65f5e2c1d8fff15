"""The edge of the admissible friction of any law with a convex set F, as a table that compiled solvers read.

With the gauge g of a law and μ its largest coefficient, the edge of F/μ is

    f(θ) = r(θ)·u(θ),    u = (cos θ, sin θ),    r = 1/(μ·g(u)) ≤ 1                                     (1)

A table has r as polynomials of degree 7 between angles, which are halved where one misses r by more than 1e-12: so
corners of F fall between angles that are next to each other. It is made once per record, that is once per pair of
surfaces. A pyramid has directions d_k = r(θ_k)·u(θ_k), and the friction that a contact needs is the point of R·F/μ
next to t, R = μ·λ_n, whose direction is that of

    argmin_θ  R·r² − 2·r·uᵀt                                                                          (2)

At R = 0 this is the friction that most opposes the slip −t. A contact that slides steadily is at its own solution of
(2): there −w_t is normal to F, so that λ_t is next to λ_t − ρ·w_t, whatever ρ is.
"""

from __future__ import annotations

import math
from typing import NamedTuple, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.errors import PluginError
from corekit.roles.friction import FrictionLaw

__all__ = ["NO_EDGES", "EdgeTables", "FrictionEdges", "edge_radius", "nearest_direction"]

_INTERVALS = 32
"""Intervals at first; the axes of the law are among their ends."""
_DEEPEST = 36
"""How often an interval is halved."""
_ACCURATE = 1e-12
_DEGREE = 7
_AT = -np.cos(np.pi * np.arange(_DEGREE + 1) / _DEGREE)
"""Where a polynomial agrees with r, from −1 at the begin of an interval to 1 at its end."""
_SOLVE = np.linalg.inv(np.vander(_AT))
_BETWEEN = 0.5 * (_AT[:-1] + _AT[1:])
_BISECTIONS = 60
_TURN = 2.0 * math.pi


class EdgeTables(NamedTuple):
    """Tables of r, one after the other.

    Args:
        index: of the table of every contact, −1 for none, shape (m,); shape (0,) for Coulomb's law.
        first: where each table begins, and the last one ends, shape (n + 1,).
        angle: where each interval begins [rad].
        value: coefficients of r on it, which is −1 to 1, the highest power first, shape (N, 8).
    """

    index: IntArray
    first: IntArray
    angle: Array
    value: Array


NO_EDGES = EdgeTables(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0), np.zeros((0, _DEGREE + 1)))


@compiled
def _polynomial(coefficients: Array, x: float) -> tuple[float, float]:
    """A polynomial and its slope."""
    size = slope = 0.0
    for each in coefficients:
        slope = slope * x + size
        size = size * x + each
    return size, slope


@compiled
def _radius_and_slope(
    angle: Array, value: Array, begin: int, end: int, at: float
) -> tuple[float, float]:  # fmt: skip
    """r and r′ at an angle [rad], by the table that has these rows."""
    at -= math.floor(at / _TURN) * _TURN
    low, high = begin, end
    while high - low > 1:
        middle = (low + high) // 2
        if angle[middle] <= at:
            low = middle
        else:
            high = middle
    width = (angle[low + 1] if low + 1 < end else _TURN) - angle[low]
    size, slope = _polynomial(value[low], 2.0 * (at - angle[low]) / width - 1.0)
    return size, 2.0 * slope / width


@compiled
def edge_radius(
    first: IntArray, angle: Array, value: Array, table: int, along: float, across: float
) -> float:
    """The r of (1) in a direction of any length, by a table; 1 without one."""
    if table < 0:
        return 1.0
    return _radius_and_slope(angle, value, first[table], first[table + 1], math.atan2(across, along))[0]


@compiled
def nearest_direction(
    first: IntArray, angle: Array, value: Array, table: int, radius: float, along: float, across: float
) -> tuple[float, float]:  # fmt: skip
    """The u of (2) for t = (along, across) and R = `radius`, by a table."""
    begin, end = first[table], first[table + 1]
    best, least = begin, math.inf
    for k in range(begin, end):
        r = _polynomial(value[k], -1.0)[0]
        cost = radius * r * r - 2.0 * r * (math.cos(angle[k]) * along + math.sin(angle[k]) * across)
        if cost < least:
            best, least = k, cost
    low = angle[best - 1] if best > begin else angle[end - 1] - _TURN
    high = angle[best + 1] if best + 1 < end else angle[begin] + _TURN
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        r, slope = _radius_and_slope(angle, value, begin, end, middle)
        c, s = math.cos(middle), math.sin(middle)
        if slope * (radius * r - c * along - s * across) - r * (c * across - s * along) > 0.0:
            high = middle
        else:
            low = middle
    middle = 0.5 * (low + high)
    return math.cos(middle), math.sin(middle)


@compiled
def _find(records: Array, known: Array, index: IntArray) -> int:
    """Write which known record each one is, −1 for zeros; return the first that is not known, or −1."""
    for c in range(len(records)):
        index[c] = -1
        if not records[c].any():
            continue
        for k in range(len(known)):
            if (records[c] == known[k]).all():
                index[c] = k
                break
        if index[c] < 0:
            return c
    return -1


@final
class FrictionEdges:
    """Tables of a law for all records that it meets.

    Args:
        law: of all contacts.

    Attributes:
        exist: whether the law needs them; Coulomb's has a circle.
    """

    def __init__(self, law: FrictionLaw) -> None:
        self._law, self.exist = law, law.record_width > 0
        self._known, self._tables = np.zeros((0, law.record_width)), NO_EDGES

    def of_records(self, records: Array) -> EdgeTables:
        """The tables, with those of contacts by their records, shape (m, k)."""
        if not self.exist:
            return NO_EDGES
        index = np.empty(len(records), dtype=np.int64)
        while (unknown := _find(records, self._known, index)) >= 0:
            self._add(records[unknown])
        return self._tables._replace(index=index)

    def _add(self, record: Array) -> None:
        begins, values = _make_table(self._law, tuple(record.tolist()))
        tables = self._tables
        self._known = np.vstack([self._known, record])
        self._tables = EdgeTables(
            tables.index, np.append(tables.first, tables.first[-1] + len(begins)),
            np.concatenate([tables.angle, begins]), np.vstack([tables.value, values]),
        )  # fmt: skip


def _make_table(law: FrictionLaw, record: tuple[float, ...]) -> tuple[Array, Array]:
    """Where the intervals of a record begin, shape (N,), and r on them, shape (N, 8)."""
    largest = law.max_coefficient(record)

    def radius(angle: float) -> float:
        gauge = law.gauge(record, math.cos(angle), math.sin(angle))
        if not 0.0 < gauge < math.inf:
            raise PluginError(
                f"friction law {law.name!r}: its gauge is {gauge} in the direction {math.degrees(angle):.4g}° with "
                f"{dict(zip(law.coefficients, record, strict=True))}, so that its friction has no polygon: give the "
                "law some friction in every direction, or a contact solver of its own"
            )
        return 1.0 / (largest * gauge)

    begins, values = [], []
    pending = [(_TURN * k / _INTERVALS, _TURN / _INTERVALS, 0) for k in reversed(range(_INTERVALS))]
    while pending:
        begin, width, depth = pending.pop()
        middle, half = begin + 0.5 * width, 0.5 * width
        value = _SOLVE @ np.array([radius(middle + half * x) for x in _AT])
        missed = max(abs(_polynomial(value, x)[0] - radius(middle + half * x)) for x in _BETWEEN)
        if missed <= _ACCURATE or depth >= _DEEPEST:
            begins.append(begin)
            values.append(value)
        else:
            pending += [(begin + 0.5 * width, 0.5 * width, depth + 1), (begin, 0.5 * width, depth + 1)]
    return np.array(begins), np.array(values)
