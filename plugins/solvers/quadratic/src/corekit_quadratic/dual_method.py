"""The dual active set method: mends the worst violated row, then the next.

From the answer with equalities alone it raises the multiplier of a violated row p along

    λ_A ← λ_A − t·r,   λ_p ← λ_p + t,   s ← s + t·d,   r = S_AA⁻¹·Y_A·Y_pᵀ,   d = Y_p − Σ r_i·Y_i   (1)

until the row holds, dropping on the way each row whose multiplier would pass its bound. Where d vanishes, rows are
only exchanged; where then none can be dropped, no multipliers mend the row: the rows contradict each other.

Source: Goldfarb, Idnani (1983), A numerically stable dual method for solving strictly convex quadratic programs,
Mathematical Programming 27.
"""

from __future__ import annotations

import math

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit_quadratic.sides import (
    ANSWERED,
    CONTRADICTORY,
    EQUAL,
    FIXED,
    FULL,
    LOWER,
    TOO_LONG,
    UPPER,
    Rows,
    Search,
    allowed,
    change,
    factor_held,
    hold,
    violations,
)
from corekit_quadratic.skyline import dot_row, solve_rows

__all__ = ["dual_method"]

_VANISHED = 1e-11
"""|d|² that counts as zero, relative to |Y_p|²."""


@compiled
def _begin(rows: Rows, search: Search) -> bool:
    """Let equalities alone hold, those that follow from others left out; False if the work arrays are too small."""
    for i in range(len(search.order)):
        search.side[i], search.push[i] = FIXED, 0.0
        if rows.lower[i] == rows.upper[i]:
            if rows.least[i] == -math.inf and rows.most[i] == math.inf:
                search.side[i] = EQUAL
            else:
                search.push[i] = min(max(0.0, -rows.most[i]), -rows.least[i])
    m, dependent = hold(rows, search)
    for k in range(m if dependent > 0 else 0):
        if search.factor[search.base[k] + k] == 0.0:
            search.side[search.chosen[k]] = FIXED
    return dependent >= 0


@compiled
def _worst(rows: Rows, search: Search) -> int:
    """The fixed row that is farthest from its condition; −1 if all are content."""
    violations(rows, search)
    found, size = -1, 0.0
    for i in range(len(search.order)):
        if search.side[i] == FIXED and abs(search.wanted[i]) > size:
            found, size = i, abs(search.wanted[i])
    return found


@compiled
def _add(rows: Rows, i: int, factor: float, s: Array) -> None:
    """s += factor·Y_i."""
    for e in range(rows.start[i], rows.start[i + 1]):
        s[rows.at[e]] += factor * rows.entry[e]


@compiled
def _direct(rows: Rows, search: Search, p: int, m: int) -> float:
    """Write r and d of (1); returns |d|² + E_p + Σ E_i·r_i², what z_p gains by a unit of λ_p."""
    direction, right = search.direction, search.right
    direction[:] = 0.0
    _add(rows, p, 1.0, direction)
    for k in range(m):
        right[k] = dot_row(rows.start, rows.at, rows.entry, search.chosen[k], direction)
    solve_rows(m, search.first, search.base, search.factor, right)
    gain = rows.compliance[p]
    for k in range(m):
        i = search.chosen[k]
        gain += rows.compliance[i] * right[k] * right[k]
        _add(rows, i, -right[k], direction)
    for q in range(len(direction)):
        gain += direction[q] * direction[q]
    return gain


@compiled
def _first_to_leave(
    rows: Rows, search: Search, p: int, m: int, sign: float, step: float
) -> tuple[int, float]:
    """The row whose λ meets its bound before t = `step`, −1 if none does, and that t."""
    leaving = -1
    for k in range(m):
        i = search.chosen[k]
        lo, hi = allowed(
            rows.lower[i] == rows.upper[i], int(search.side[i]), float(rows.least[i]), float(rows.most[i])
        )
        rate = -sign * search.right[k]
        small = 1e-12 * rows.length[p] / max(rows.length[i], 1e-300)
        room = math.inf
        if rate < -small:
            room = max((search.push[i] - lo) / -rate, 0.0)
        elif rate > small:
            room = max((hi - search.push[i]) / rate, 0.0)
        if room < step:
            step, leaving = room, i
    return leaving, step


@compiled
def _mend(rows: Rows, search: Search, p: int, limit: int) -> tuple[int, int]:
    """Raise (or lower) λ_p until row p is content; returns how it ended and the changes made."""
    sign = 1.0 if search.wanted[p] > 0.0 else -1.0
    side = LOWER if sign > 0.0 else UPPER
    own_low, own_high = allowed(
        bool(rows.lower[p] == rows.upper[p]), side, float(rows.least[p]), float(rows.most[p])
    )
    target = rows.upper[p] if side == UPPER else rows.lower[p]
    size = rows.length[p] * rows.length[p] + rows.compliance[p]
    for done in range(1, limit + 1):
        m, dependent = factor_held(rows, search)
        if dependent < 0:
            return FULL, done
        gain = _direct(rows, search, p, m)
        moves = gain > _VANISHED * size
        step = math.inf
        if moves:
            z = dot_row(rows.start, rows.at, rows.entry, p, search.s) + rows.compliance[p] * search.push[p]
            step = max((target - z) * sign / gain, 0.0)
        room = own_high - search.push[p] if sign > 0.0 else search.push[p] - own_low
        bounded = room < step
        leaving, step = _first_to_leave(rows, search, p, m, sign, min(step, room))
        if step == math.inf:
            return CONTRADICTORY, done
        for k in range(m):
            search.push[search.chosen[k]] -= sign * step * search.right[k]
        search.push[p] += sign * step
        if moves:
            for q in range(len(search.s)):
                search.s[q] += sign * step * search.direction[q]
        if leaving < 0:
            if bounded:
                search.push[p] = own_high if sign > 0.0 else own_low
            else:
                change(rows, search, p)
            return ANSWERED, done
        equal = rows.lower[leaving] == rows.upper[leaving]
        lo, hi = allowed(
            equal, int(search.side[leaving]), float(rows.least[leaving]), float(rows.most[leaving])
        )
        nearer = abs(search.push[leaving] - lo) <= abs(search.push[leaving] - hi)
        search.push[leaving] = lo if nearer else hi
        search.side[leaving] = FIXED
    return TOO_LONG, limit


@compiled
def dual_method(rows: Rows, search: Search, limit: int) -> tuple[int, int]:
    """Mend row after row; returns how it ended and the changes made."""
    if not _begin(rows, search):
        return FULL, 0
    changes = 0
    while changes < limit:
        p = _worst(rows, search)
        if p < 0:
            # once more from the sides found, without what many steps added up
            return (ANSWERED if hold(rows, search)[1] >= 0 else FULL), changes
        ended, made = _mend(rows, search, p, limit - changes)
        changes += made
        if ended != ANSWERED:
            return ended, changes
    return TOO_LONG, changes
