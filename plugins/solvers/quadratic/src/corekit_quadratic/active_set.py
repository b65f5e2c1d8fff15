"""Active rows and rows with a fixed multiplier; which of them are satisfied.

In whitened coordinates (`whiten`), with λ = −y and the active rows A,

    s = u + Yᵀ·λ,   u = −L⁻¹·g,   z = Y·s + E·λ                                                  (1)
    S_AA·λ_A = target_A − Y_A·(u + Σ_fixed λ_i·Y_i)                                              (2)
"""

from __future__ import annotations

import math
from typing import NamedTuple

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_quadratic.pairs import Pairs
from corekit_quadratic.skyline import factorise_rows, solve_rows
from corekit_quadratic.whiten import Indices

__all__ = [
    "CONTRADICTORY",
    "EQUAL",
    "FIXED",
    "ITERATION_LIMIT",
    "LOWER",
    "NOT_DEFINITE",
    "SOLVED",
    "UPPER",
    "WORKSPACE_FULL",
    "Rows",
    "Search",
    "change_sides",
    "compute_violations",
    "factorise_active",
    "guess_sides",
    "impulse_range",
    "solve_active",
]

SOLVED, ITERATION_LIMIT, CONTRADICTORY, NOT_DEFINITE, WORKSPACE_FULL = range(5)
"""Outcomes of a search; WORKSPACE_FULL if its workspaces are too small."""

FIXED, LOWER, UPPER, EQUAL = range(4)
"""Sides of a row: its multiplier is fixed; or it is active at `lower`, at `upper`, or as an equality."""

_NEAR = 1e-12
"""Largest violation that counts as rounding, relative to the magnitudes that it is computed from."""

_ACCURATE = 1e-14
"""Largest error of active rows without another solve, relative to the magnitudes that they are computed from."""


# Passing a tuple of arrays to a function costs as much as many rows, so each function loops over all rows.


class Rows(NamedTuple):
    """The k rows of a program: Y by entries, bounds, bounds of y, E, and the rows' lengths √(|Y_i|² + E_i)."""

    start: Indices
    column: Indices
    entry: Array
    lower: Array
    upper: Array
    y_lower: Array
    y_upper: Array
    compliance: Array
    length: Array


class Search(NamedTuple):
    """State of a search, and its workspaces.

    Attributes:
        order: rows in the order of the chain.
        side, impulse: side and λ of every row, (k,).
        u, s: see (1), (n,).
        active: the active rows, in order.
        pairs: see `pairs`.
        first_row, dense_row, first, base, factor: see `skyline`.
        rhs, direction: workspaces, (k + BAND,) and (n,).
        violation: of each row, see `compute_violations`, (k,).
    """

    order: Indices
    side: IntArray
    impulse: Array
    u: Array
    s: Array
    active: Indices
    pairs: Pairs
    first_row: Indices
    dense_row: Array
    first: IntArray
    base: IntArray
    factor: Array
    rhs: Array
    violation: Array
    direction: Array


@compiled
def impulse_range(equal: bool, side: int, y_lower: float, y_upper: float) -> tuple[float, float]:
    """Return the bounds of λ of a row on a side."""
    if equal:
        return -y_upper, -y_lower
    return (0.0 if side == LOWER else -math.inf), (0.0 if side == UPPER else math.inf)


@compiled
def guess_sides(rows: Rows, search: Search, multiplier: Array, keep: bool) -> None:
    """Set sides from guessed multipliers, and λ of active rows to them or, unless `keep`, to 0."""
    lower, upper, y_lower, y_upper = (rows.lower, rows.upper, rows.y_lower, rows.y_upper)
    side, impulse = search.side, search.impulse
    for i in range(len(impulse)):
        guess = -multiplier[i]
        impulse[i] = 0.0
        side[i] = FIXED
        if lower[i] == upper[i]:
            lo, hi = -y_upper[i], -y_lower[i]
            if guess != 0.0 and (guess <= lo or guess >= hi):
                impulse[i] = lo if guess <= lo else hi
            else:
                side[i] = EQUAL
        elif guess > 0.0 and lower[i] > -math.inf:
            side[i] = LOWER
        elif guess < 0.0 and upper[i] < math.inf:
            side[i] = UPPER
        if keep and side[i] != FIXED:
            impulse[i] = guess


@compiled
def factorise_active(rows: Rows, search: Search) -> tuple[int, int]:
    """Factorise S of the active rows; return their number and how many depend on others, −1 if it is too big."""
    m, side, order, active = 0, search.side, search.order, search.active
    for k in range(len(order)):
        if side[order[k]] != FIXED:
            active[m] = order[k]
            m += 1
    dependent = factorise_rows(
        active, m, rows.start, rows.column, rows.entry, rows.compliance, search.pairs, search.first_row,
        search.dense_row, search.rhs, search.first, search.base, search.factor,
    )  # fmt: skip
    return m, dependent


@compiled
def _scale_of(s: Array, u: Array) -> float:
    """|s| + |u|."""
    one, two = 0.0, 0.0
    for p in range(len(s)):
        one += s[p] * s[p]
        two += u[p] * u[p]
    return math.sqrt(one) + math.sqrt(two)


@compiled
def _sum_up(u: Array, impulse: Array, start: Indices, column: Indices, entry: Array, s: Array) -> None:
    """Write s of (1)."""
    for p in range(len(s)):
        s[p] = u[p]
    for i in range(len(impulse)):
        if impulse[i] != 0.0:
            for e in range(start[i], start[i + 1]):
                s[column[e]] += impulse[i] * entry[e]


@compiled
def solve_active(rows: Rows, search: Search, anew: bool) -> tuple[int, int]:
    """Solve (2), refine if rounding requires it, write λ and s; return the counts of active and of dependent rows.

    λ is what it was but for what is missing, unless the solve begins `anew` from 0: where rows depend on others, many
    λ solve (2), and that of the last step of a heap at rest still does.
    """
    m, dependent = factorise_active(rows, search)
    if dependent < 0:
        return m, dependent
    start, column, entry, compliance = rows.start, rows.column, rows.entry, rows.compliance
    lower, upper = rows.lower, rows.upper
    side, impulse, s, u = search.side, search.impulse, search.s, search.u
    active, rhs = search.active, search.rhs
    for i in range(len(impulse)):
        if anew and side[i] != FIXED:
            impulse[i] = 0.0
    for repetition in range(2):
        # from λ itself: a correction of a λ that was far away would leave its rounding in s
        _sum_up(u, impulse, start, column, entry, s)
        accuracy = _ACCURATE * _scale_of(s, u) if repetition else -1.0
        refined = True
        for k in range(m):
            i = active[k]
            missing = (upper[i] if side[i] == UPPER else lower[i]) - compliance[i] * impulse[i]
            for e in range(start[i], start[i + 1]):
                missing -= entry[e] * s[column[e]]
            rhs[k] = missing
            refined &= abs(missing) <= accuracy * rows.length[i]
        if refined:
            break
        solve_rows(m, search.first, search.base, search.factor, rhs)
        for k in range(m):
            i, correction = active[k], rhs[k]
            impulse[i] += correction
            if repetition:
                for e in range(start[i], start[i + 1]):
                    s[column[e]] += correction * entry[e]
    return m, dependent


@compiled
def compute_violations(rows: Rows, search: Search) -> tuple[int, int, float]:
    """Write the distance of every row from its condition: > 0 requires more λ, < 0 less; 0 within rounding.

    The unit is that of s for fixed rows, of a row's length times λ for active rows. Returns the number of violated
    rows, the last of them in order (−1: none), and the magnitude |s| + |u|, the scale of rounding.
    """
    start, column, entry, length = rows.start, rows.column, rows.entry, rows.length
    lower, upper, y_lower, y_upper = (rows.lower, rows.upper, rows.y_lower, rows.y_upper)
    side, impulse, s, u, violation = search.side, search.impulse, search.s, search.u, search.violation
    order, compliance = search.order, rows.compliance
    scale = _scale_of(s, u)
    violated_count, last = 0, -1
    for k in range(len(order)):
        i = order[k]
        equal, amount = lower[i] == upper[i], 0.0
        if equal and side[i] == EQUAL and y_lower[i] == -math.inf and y_upper[i] == math.inf:
            violation[i] = 0.0
            continue
        if side[i] != FIXED:
            lo, hi = impulse_range(equal, int(side[i]), float(y_lower[i]), float(y_upper[i]))
            rounding = _NEAR * scale
            if impulse[i] * length[i] < lo * length[i] - rounding:
                amount = (lo - impulse[i]) * length[i]
            elif impulse[i] * length[i] > hi * length[i] + rounding:
                amount = (hi - impulse[i]) * length[i]
        elif length[i] > 0.0:
            z = compliance[i] * impulse[i]
            for e in range(start[i], start[i + 1]):
                z += entry[e] * s[column[e]]
            low, high, rounding = lower[i], upper[i], _NEAR * length[i] * scale
            if z < low and low - z > rounding + _NEAR * abs(low) and (not equal or impulse[i] < -y_lower[i]):
                amount = (low - z) / length[i]
            elif (
                z > high
                and z - high > rounding + _NEAR * abs(high)
                and (not equal or impulse[i] > -y_upper[i])
            ):
                amount = (high - z) / length[i]
        violation[i] = amount
        if amount != 0.0:
            violated_count += 1
            last = i
    return violated_count, last, scale


@compiled
def change_sides(rows: Rows, search: Search, single: int) -> None:
    """Move the violated rows to their other side, or only the row `single` if it is ≥ 0."""
    side, impulse, violation = search.side, search.impulse, search.violation
    for i in range(len(side)) if single < 0 else range(single, single + 1):
        if violation[i] == 0.0:
            continue
        equal = rows.lower[i] == rows.upper[i]
        if side[i] == FIXED:
            side[i] = EQUAL if equal else (LOWER if violation[i] > 0.0 else UPPER)
        else:
            lo, hi = impulse_range(equal, int(side[i]), float(rows.y_lower[i]), float(rows.y_upper[i]))
            impulse[i] = lo if violation[i] > 0.0 else hi
            side[i] = FIXED
