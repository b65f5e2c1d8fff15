"""Dual active set method: satisfies the most violated row, then the next.

From the solution with equalities alone it raises the multiplier of a violated row p along

    λ_A ← λ_A − t·r,   λ_p ← λ_p + t,   s ← s + t·d,   r = S_AA⁻¹·Y_A·Y_pᵀ,   d = Y_p − Σ r_i·Y_i   (1)

until the row is satisfied, and drops each row whose multiplier would pass its bound. If d vanishes, rows are
only exchanged. If none can be dropped then, no multipliers satisfy the row: the rows contradict each other.

Source: Goldfarb, Idnani (1983), A numerically stable dual method for solving strictly convex quadratic
programs, Mathematical Programming 27.
"""

from __future__ import annotations

import math

from corekit.compiled import check_signals, compiled
from corekit.data.arrays import Array
from corekit_quadratic.active_set import (
    CONTRADICTORY,
    EQUAL,
    FIXED,
    ITERATION_LIMIT,
    LOWER,
    SOLVED,
    UPPER,
    WORKSPACE_FULL,
    Rows,
    Search,
    change_sides,
    compute_violations,
    factorise_active,
    impulse_range,
    solve_active,
)
from corekit_quadratic.skyline import dot_row, solve_rows

__all__ = ["dual_method"]

_VANISHED = 1e-11
"""Largest |d|² that counts as zero, relative to |Y_p|²."""


@compiled
def _activate_equalities(rows: Rows, search: Search) -> bool:
    """Activate the independent equalities alone; return False if the workspaces are too small."""
    for i in range(len(search.order)):
        search.side[i], search.impulse[i] = FIXED, 0.0
        if rows.lower[i] == rows.upper[i]:
            if rows.y_lower[i] == -math.inf and rows.y_upper[i] == math.inf:
                search.side[i] = EQUAL
            else:
                search.impulse[i] = min(max(0.0, -rows.y_upper[i]), -rows.y_lower[i])
    m, dependent = solve_active(rows, search, True)
    for k in range(m if dependent > 0 else 0):
        if search.factor[search.base[k] + k] == 0.0:
            search.side[search.active[k]] = FIXED
    return dependent >= 0


@compiled
def _most_violated_row(rows: Rows, search: Search) -> int:
    """Return the fixed row that is farthest from its condition; −1 if all are satisfied."""
    compute_violations(rows, search)
    row, size = -1, 0.0
    for i in range(len(search.order)):
        if search.side[i] == FIXED and abs(search.violation[i]) > size:
            row, size = i, abs(search.violation[i])
    return row


@compiled
def _add_row(rows: Rows, i: int, factor: float, s: Array) -> None:
    """s += factor·Y_i."""
    for e in range(rows.start[i], rows.start[i + 1]):
        s[rows.column[e]] += factor * rows.entry[e]


@compiled
def _compute_direction(rows: Rows, search: Search, p: int, m: int) -> float:
    """Write r and d of (1); return |d|² + E_p + Σ E_i·r_i², the increase of z_p per unit of λ_p."""
    direction, rhs = search.direction, search.rhs
    direction[:] = 0.0
    _add_row(rows, p, 1.0, direction)
    for k in range(m):
        rhs[k] = dot_row(rows.start, rows.column, rows.entry, search.active[k], direction)
    solve_rows(m, search.first, search.base, search.factor, rhs)
    gain = rows.compliance[p]
    for k in range(m):
        i = search.active[k]
        gain += rows.compliance[i] * rhs[k] * rhs[k]
        _add_row(rows, i, -rhs[k], direction)
    for q in range(len(direction)):
        gain += direction[q] * direction[q]
    return gain


@compiled
def _find_leaving_row(
    rows: Rows, search: Search, p: int, m: int, sign: float, step: float
) -> tuple[int, float]:
    """Return the row whose λ meets its bound before t = `step`, −1 if none does, and that t."""
    leaving = -1
    for k in range(m):
        i = search.active[k]
        lo, hi = impulse_range(
            rows.lower[i] == rows.upper[i],
            int(search.side[i]),
            float(rows.y_lower[i]),
            float(rows.y_upper[i]),
        )
        rate = -sign * search.rhs[k]
        small = 1e-12 * rows.length[p] / max(rows.length[i], 1e-300)
        allowance = math.inf
        if rate < -small:
            allowance = max((search.impulse[i] - lo) / -rate, 0.0)
        elif rate > small:
            allowance = max((hi - search.impulse[i]) / rate, 0.0)
        if allowance < step:
            step, leaving = allowance, i
    return leaving, step


@compiled
def _satisfy_row(rows: Rows, search: Search, p: int, limit: int) -> tuple[int, int]:
    """Raise (or lower) λ_p until row p is satisfied; return the outcome and the number of changes."""
    sign = 1.0 if search.violation[p] > 0.0 else -1.0
    side = LOWER if sign > 0.0 else UPPER
    impulse_low, impulse_high = impulse_range(
        bool(rows.lower[p] == rows.upper[p]), side, float(rows.y_lower[p]), float(rows.y_upper[p])
    )
    target = rows.upper[p] if side == UPPER else rows.lower[p]
    size = rows.length[p] * rows.length[p]
    for change_count in range(1, limit + 1):
        check_signals()
        m, dependent = factorise_active(rows, search)
        if dependent < 0:
            return WORKSPACE_FULL, change_count
        gain = _compute_direction(rows, search, p, m)
        is_independent = gain > _VANISHED * size
        step = math.inf
        if is_independent:
            z = (
                dot_row(rows.start, rows.column, rows.entry, p, search.s)
                + rows.compliance[p] * search.impulse[p]
            )
            step = max((target - z) * sign / gain, 0.0)
        allowance = impulse_high - search.impulse[p] if sign > 0.0 else search.impulse[p] - impulse_low
        bounded = allowance < step
        leaving, step = _find_leaving_row(rows, search, p, m, sign, min(step, allowance))
        if step == math.inf:
            return CONTRADICTORY, change_count
        for k in range(m):
            search.impulse[search.active[k]] -= sign * step * search.rhs[k]
        search.impulse[p] += sign * step
        if is_independent:
            for q in range(len(search.s)):
                search.s[q] += sign * step * search.direction[q]
        if leaving < 0:
            if bounded:
                search.impulse[p] = impulse_high if sign > 0.0 else impulse_low
            else:
                change_sides(rows, search, p)
            return SOLVED, change_count
        equal = rows.lower[leaving] == rows.upper[leaving]
        lo, hi = impulse_range(
            equal, int(search.side[leaving]), float(rows.y_lower[leaving]), float(rows.y_upper[leaving])
        )
        nearer = abs(search.impulse[leaving] - lo) <= abs(search.impulse[leaving] - hi)
        search.impulse[leaving] = lo if nearer else hi
        search.side[leaving] = FIXED
    return ITERATION_LIMIT, limit


@compiled
def dual_method(rows: Rows, search: Search, limit: int) -> tuple[int, int]:
    """Satisfy row after row; return the outcome and the number of changes."""
    if not _activate_equalities(rows, search):
        return WORKSPACE_FULL, 0
    changes = 0
    while changes < limit:
        check_signals()
        p = _most_violated_row(rows, search)
        if p < 0:
            # solve again from the final sides, without the rounding of many steps
            return (SOLVED if solve_active(rows, search, True)[1] >= 0 else WORKSPACE_FULL), changes
        outcome, change_count = _satisfy_row(rows, search, p, limit - changes)
        changes += change_count
        if outcome != SOLVED:
            return outcome, changes
    return ITERATION_LIMIT, changes
