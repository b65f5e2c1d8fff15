"""Rows that hold and rows whose multiplier is fixed; which of them are content.

In whitened coordinates (`whiten`), with λ = −y and the rows A that hold,

    s = u + Yᵀ·λ,   u = −L⁻¹·g,   z = Y·s + E·λ                                                  (1)
    S_AA·λ_A = target_A − Y_A·(u + Σ_fixed λ_i·Y_i)                                              (2)
"""

from __future__ import annotations

import math
from typing import NamedTuple

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_quadratic.pairs import Pairs
from corekit_quadratic.skyline import factor_rows, solve_rows
from corekit_quadratic.whiten import Places

__all__ = [
    "ANSWERED",
    "CONTRADICTORY",
    "EQUAL",
    "FIXED",
    "FULL",
    "LOWER",
    "NOT_DEFINITE",
    "TOO_LONG",
    "UPPER",
    "Rows",
    "Search",
    "allowed",
    "change",
    "factor_held",
    "guess_sides",
    "hold",
    "violations",
]

ANSWERED, TOO_LONG, CONTRADICTORY, NOT_DEFINITE, FULL = range(5)
"""How a search ends; FULL where its work arrays are too small."""

FIXED, LOWER, UPPER, EQUAL = range(4)
"""Sides of a row: its multiplier is fixed; it holds at `lower`, at `upper`, or as an equality."""

_NEAR = 1e-12
"""What counts as nothing, relative to the sizes it was computed from."""

_FINE = 1e-14
"""What rows may miss their bounds by without another solve, relative to the sizes they are computed from."""


# Handing a tuple of arrays to a function costs as much as many rows: functions loop over all rows themselves.


class Rows(NamedTuple):
    """The k rows of a program: Y by entries, bounds, bounds of y, E, and the rows' lengths |Y_i|."""

    start: Places
    at: Places
    entry: Array
    lower: Array
    upper: Array
    least: Array
    most: Array
    compliance: Array
    length: Array


class Search(NamedTuple):
    """Where a search stands, and its work arrays.

    Attributes:
        order: rows in the order of the chain. side, push: side and λ of every row, (k,).
        u, s: see (1), (n,). chosen: the rows that hold, in order.
        pairs: see `pairs`. seen, work, first, base, factor: see `skyline`.
        right, direction: work, (k + BAND,) and (n,).
        wanted: what each row lacks, see `violations`, (k,).
    """

    order: Places
    side: IntArray
    push: Array
    u: Array
    s: Array
    chosen: Places
    pairs: Pairs
    seen: Places
    work: Array
    first: IntArray
    base: IntArray
    factor: Array
    right: Array
    wanted: Array
    direction: Array


@compiled
def allowed(equal: bool, side: int, least: float, most: float) -> tuple[float, float]:
    """Where λ may be while a row is on a side."""
    if equal:
        return -most, -least
    return (0.0 if side == LOWER else -math.inf), (0.0 if side == UPPER else math.inf)


@compiled
def guess_sides(rows: Rows, search: Search, multiplier: Array) -> None:
    """Sides and fixed λ from guessed multipliers; λ of rows that hold is not needed."""
    lower, upper, least, most = rows.lower, rows.upper, rows.least, rows.most
    side, push = search.side, search.push
    for i in range(len(push)):
        guess = -multiplier[i]
        push[i] = 0.0
        side[i] = FIXED
        if lower[i] == upper[i]:
            lo, hi = -most[i], -least[i]
            if guess != 0.0 and (guess <= lo or guess >= hi):
                push[i] = lo if guess <= lo else hi
            else:
                side[i] = EQUAL
        elif guess > 0.0 and lower[i] > -math.inf:
            side[i] = LOWER
        elif guess < 0.0 and upper[i] < math.inf:
            side[i] = UPPER


@compiled
def factor_held(rows: Rows, search: Search) -> tuple[int, int]:
    """Factorise S of the rows that hold; returns their number and how many depend on others, −1 if it is full."""
    m, side, order, chosen = 0, search.side, search.order, search.chosen
    for k in range(len(order)):
        if side[order[k]] != FIXED:
            chosen[m] = order[k]
            m += 1
    dependent = factor_rows(
        chosen, m, rows.start, rows.at, rows.entry, rows.compliance, search.pairs, search.seen, search.work,
        search.right, search.first, search.base, search.factor,
    )  # fmt: skip
    return m, dependent


@compiled
def _size(s: Array, u: Array) -> float:
    """|s| + |u|."""
    one, two = 0.0, 0.0
    for p in range(len(s)):
        one += s[p] * s[p]
        two += u[p] * u[p]
    return math.sqrt(one) + math.sqrt(two)


@compiled
def hold(rows: Rows, search: Search) -> tuple[int, int]:
    """Solve (2), refined where rounding tells; write λ and s. Returns how many rows hold, how many of them depend."""
    m, dependent = factor_held(rows, search)
    if dependent < 0:
        return m, dependent
    start, at, entry, compliance = rows.start, rows.at, rows.entry, rows.compliance
    lower, upper = rows.lower, rows.upper
    side, push, s, u = search.side, search.push, search.s, search.u
    chosen, right = search.chosen, search.right
    for p in range(len(s)):
        s[p] = u[p]
    for i in range(len(push)):
        if side[i] != FIXED:
            push[i] = 0.0
        elif push[i] != 0.0:
            for e in range(start[i], start[i + 1]):
                s[at[e]] += push[i] * entry[e]
    for again in range(2):
        fine = _FINE * _size(s, u) if again else -1.0
        refined = True
        for k in range(m):
            i = chosen[k]
            left = (upper[i] if side[i] == UPPER else lower[i]) - compliance[i] * push[i]
            for e in range(start[i], start[i + 1]):
                left -= entry[e] * s[at[e]]
            right[k] = left
            refined &= abs(left) <= fine * rows.length[i]
        if refined:
            break
        solve_rows(m, search.first, search.base, search.factor, right)
        for k in range(m):
            i, more = chosen[k], right[k]
            push[i] += more
            for e in range(start[i], start[i + 1]):
                s[at[e]] += more * entry[e]
    return m, dependent


@compiled
def violations(rows: Rows, search: Search) -> tuple[int, int, float]:
    """Write how far every row is from its condition: > 0 wants more λ, < 0 less; 0 within rounding.

    In units of s for fixed rows, of |Y_i|·λ for rows that hold. Returns how many rows are not content, the last of
    them in order (−1: none), and the size |s| + |u| that rounding is measured against.
    """
    start, at, entry, length = rows.start, rows.at, rows.entry, rows.length
    lower, upper, least, most = rows.lower, rows.upper, rows.least, rows.most
    side, push, s, u, wanted = search.side, search.push, search.s, search.u, search.wanted
    order, compliance = search.order, rows.compliance
    scale = _size(s, u)
    found, last = 0, -1
    for k in range(len(order)):
        i = order[k]
        equal, lacks = lower[i] == upper[i], 0.0
        if equal and side[i] == EQUAL and least[i] == -math.inf and most[i] == math.inf:
            wanted[i] = 0.0
            continue
        if side[i] != FIXED:
            lo, hi = allowed(equal, int(side[i]), float(least[i]), float(most[i]))
            near = _NEAR * scale
            if push[i] * length[i] < lo * length[i] - near:
                lacks = (lo - push[i]) * length[i]
            elif push[i] * length[i] > hi * length[i] + near:
                lacks = (hi - push[i]) * length[i]
        elif length[i] > 0.0:
            z = compliance[i] * push[i]
            for e in range(start[i], start[i + 1]):
                z += entry[e] * s[at[e]]
            low, high, near = lower[i], upper[i], _NEAR * length[i] * scale
            if z < low and low - z > near + _NEAR * abs(low) and (not equal or push[i] < -least[i]):
                lacks = (low - z) / length[i]
            elif z > high and z - high > near + _NEAR * abs(high) and (not equal or push[i] > -most[i]):
                lacks = (high - z) / length[i]
        wanted[i] = lacks
        if lacks != 0.0:
            found += 1
            last = i
    return found, last, scale


@compiled
def change(rows: Rows, search: Search, alone: int) -> None:
    """Put the rows that are not content on their other side, or the row `alone` of them if it is ≥ 0."""
    side, push, wanted = search.side, search.push, search.wanted
    for i in range(len(side)) if alone < 0 else range(alone, alone + 1):
        if wanted[i] == 0.0:
            continue
        equal = rows.lower[i] == rows.upper[i]
        if side[i] == FIXED:
            side[i] = EQUAL if equal else (LOWER if wanted[i] > 0.0 else UPPER)
        else:
            lo, hi = allowed(equal, int(side[i]), float(rows.least[i]), float(rows.most[i]))
            push[i] = lo if wanted[i] > 0.0 else hi
            side[i] = FIXED
