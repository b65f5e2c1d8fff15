"""Rows that hold and rows whose multiplier is fixed; which of them are content.

In whitened coordinates (`whiten`), with λ = −y and the rows A that hold,

    s = u + Yᵀ·λ,   u = −L⁻¹·g,   z = Y·s + E·λ                                                  (1)
    S_AA·λ_A = target_A − Y_A·(u + Σ_fixed λ_i·Y_i)                                              (2)
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit

from corekit.data.arrays import Array, IntArray
from corekit_quadratic.skyline import dot_row, factor_rows, solve_rows

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
    "add_row",
    "allowed",
    "change",
    "excess",
    "factor_held",
    "goal",
    "guess_sides",
    "hold",
    "row_value",
    "sizes",
]

ANSWERED, TOO_LONG, CONTRADICTORY, NOT_DEFINITE, FULL = range(5)
"""How a search ends; FULL where its work arrays are too small."""

FIXED, LOWER, UPPER, EQUAL = range(4)
"""Sides of a row: its multiplier is fixed; it holds at `lower`, at `upper`, or as an equality."""

_NEAR = 1e-12
"""What counts as nothing, relative to the sizes it was computed from."""


class Rows(NamedTuple):
    """The k rows of a program: Y by entries, bounds, bounds of y, E, and the rows' lengths |Y_i|."""

    start: IntArray
    at: IntArray
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
        seen, work, first, base, factor: see `skyline`. right, direction: (k,), (n,).
    """

    order: IntArray
    side: IntArray
    push: Array
    u: Array
    s: Array
    chosen: IntArray
    seen: IntArray
    work: Array
    first: IntArray
    base: IntArray
    factor: Array
    right: Array
    direction: Array


@njit(cache=True)
def allowed(rows: Rows, i: int, side: int) -> tuple[float, float]:
    """Where λ may be while row i is on a side."""
    if rows.lower[i] == rows.upper[i]:
        return -rows.most[i], -rows.least[i]
    return (0.0 if side == LOWER else -math.inf), (0.0 if side == UPPER else math.inf)


@njit(cache=True)
def goal(rows: Rows, i: int, side: int) -> float:
    """The bound at which a row that holds is."""
    return rows.upper[i] if side == UPPER else rows.lower[i]


@njit(cache=True)
def row_value(rows: Rows, search: Search, i: int) -> float:
    """z_i."""
    return dot_row(rows.start, rows.at, rows.entry, i, search.s) + rows.compliance[i] * search.push[i]


@njit(cache=True)
def add_row(rows: Rows, i: int, factor: float, s: Array) -> None:
    """s += factor·Y_i."""
    for e in range(rows.start[i], rows.start[i + 1]):
        s[rows.at[e]] += factor * rows.entry[e]


@njit(cache=True)
def sizes(search: Search) -> float:
    """|s| + |u|, what rounding is measured against."""
    one, two = 0.0, 0.0
    for p in range(len(search.s)):
        one += search.s[p] * search.s[p]
        two += search.u[p] * search.u[p]
    return math.sqrt(one) + math.sqrt(two)


@njit(cache=True)
def guess_sides(rows: Rows, search: Search, multiplier: Array) -> None:
    """Sides and fixed λ from guessed multipliers; λ of rows that hold is not needed."""
    for i in range(len(search.order)):
        guess = -multiplier[i]
        search.push[i] = 0.0
        search.side[i] = FIXED
        if rows.lower[i] == rows.upper[i]:
            lo, hi = -rows.most[i], -rows.least[i]
            if guess != 0.0 and (guess <= lo or guess >= hi):
                search.push[i] = lo if guess <= lo else hi
            else:
                search.side[i] = EQUAL
        elif guess > 0.0 and rows.lower[i] > -math.inf:
            search.side[i] = LOWER
        elif guess < 0.0 and rows.upper[i] < math.inf:
            search.side[i] = UPPER


@njit(cache=True)
def factor_held(rows: Rows, search: Search) -> tuple[int, int]:
    """Factorise S of the rows that hold; returns their number and how many depend on others, −1 if it is full."""
    m = 0
    for k in range(len(search.order)):
        if search.side[search.order[k]] != FIXED:
            search.chosen[m] = search.order[k]
            m += 1
    dependent = factor_rows(
        search.chosen, m, rows.start, rows.at, rows.entry, rows.compliance, search.seen, search.work,
        search.first, search.base, search.factor,
    )  # fmt: skip
    return m, dependent


@njit(cache=True)
def hold(rows: Rows, search: Search) -> tuple[int, int]:
    """Solve (2), once refined; write λ and s. Returns how many rows hold and how many of them depend on others."""
    m, dependent = factor_held(rows, search)
    if dependent < 0:
        return m, dependent
    search.s[:] = search.u
    for i in range(len(search.order)):
        if search.side[i] != FIXED:
            search.push[i] = 0.0
        elif search.push[i] != 0.0:
            add_row(rows, i, search.push[i], search.s)
    for _ in range(2):
        for k in range(m):
            i = search.chosen[k]
            search.right[k] = goal(rows, i, int(search.side[i])) - row_value(rows, search, i)
        solve_rows(m, search.first, search.base, search.factor, search.right)
        for k in range(m):
            i = search.chosen[k]
            search.push[i] += search.right[k]
            add_row(rows, i, search.right[k], search.s)
    return m, dependent


@njit(cache=True)
def excess(rows: Rows, search: Search, i: int, scale: float) -> float:
    """How far a row is from its condition, signed: > 0 wants more λ, < 0 less; 0 within rounding.

    In units of s for fixed rows, of |Y_i|·λ for rows that hold; `scale` is that of `sizes`.
    """
    length, push = rows.length[i], search.push[i]
    if search.side[i] != FIXED:
        lo, hi = allowed(rows, i, int(search.side[i]))
        near = _NEAR * scale
        if push * length < lo * length - near:
            return (lo - push) * length
        if push * length > hi * length + near:
            return (hi - push) * length
        return 0.0
    if length == 0.0:
        return 0.0
    equal = rows.lower[i] == rows.upper[i]
    z = row_value(rows, search, i)
    low, high = rows.lower[i], rows.upper[i]
    if z < low and low - z > _NEAR * (length * scale + abs(low)) and (not equal or push < -rows.least[i]):
        return (low - z) / length
    if z > high and z - high > _NEAR * (length * scale + abs(high)) and (not equal or push > -rows.most[i]):
        return (high - z) / length
    return 0.0


@njit(cache=True)
def change(rows: Rows, search: Search, i: int, wanted: float) -> None:
    """Put row i, whose excess is `wanted`, on the other side."""
    if search.side[i] == FIXED:
        search.side[i] = LOWER if wanted > 0.0 else UPPER
        if rows.lower[i] == rows.upper[i]:
            search.side[i] = EQUAL
        return
    lo, hi = allowed(rows, i, int(search.side[i]))
    search.push[i] = lo if wanted > 0.0 else hi
    search.side[i] = FIXED
