"""Block principal pivoting: every violated row changes sides at once.

If the number of violated rows does not fall for `patience` rounds, only the last of them changes, which
cannot cycle while the active rows are independent, but may visit every set of rows. Where that brings nothing in about
as many rounds as the dual method needs, one per active row, it is left to that. A good guess ends in one round.

Source: Júdice, Pires (1994), A block principal pivoting algorithm for large-scale strictly monotone linear
complementarity problems, Computers & Operations Research 21.
"""

from __future__ import annotations

from corekit.compiled import check_signals, compiled
from corekit_quadratic.active_set import (
    ITERATION_LIMIT,
    SOLVED,
    UPPER,
    WORKSPACE_FULL,
    Rows,
    Search,
    change_sides,
    compute_violations,
    solve_active,
)

__all__ = ["block_pivoting"]

_MAX_DEPENDENT_ERROR = 1e-9
"""Largest error of a dependent row's bound, relative to the magnitudes that it is computed from."""

_FEW = 20
"""Rounds of single changes that are always tried."""


@compiled
def _is_dependent_row_violated(rows: Rows, search: Search, m: int, scale: float) -> bool:
    """Whether a row that was omitted as dependent is not at the bound that the others imply."""
    for k in range(m):
        if search.factor[search.base[k] + k] == 0.0:
            i = search.active[k]
            bound = rows.upper[i] if search.side[i] == UPPER else rows.lower[i]
            z = rows.compliance[i] * search.impulse[i]
            for e in range(rows.start[i], rows.start[i + 1]):
                z += rows.entry[e] * search.s[rows.column[e]]
            if abs(z - bound) > _MAX_DEPENDENT_ERROR * (rows.length[i] * scale + abs(bound)):
                return True
    return False


@compiled
def block_pivoting(rows: Rows, search: Search, patience: int, limit: int) -> tuple[int, int]:
    """Change sides until every row is satisfied; return the outcome and the number of rounds.

    The outcome is ITERATION_LIMIT also if an active row depends on others, or if rows change one by one for long: the
    dual method solves these cases.
    """
    fewest, remaining, alone = len(search.order) + 1, patience, 0
    for round_count in range(1, limit + 1):
        check_signals()
        m, dependent = solve_active(rows, search, False)
        if dependent < 0:
            return WORKSPACE_FULL, round_count
        violated_count, last_violated, scale = compute_violations(rows, search)
        if dependent > 0 and _is_dependent_row_violated(rows, search, m, scale):
            return ITERATION_LIMIT, round_count
        if violated_count == 0:
            return SOLVED, round_count
        single = -1
        if violated_count < fewest:
            fewest, remaining, alone = violated_count, patience, 0
        elif remaining > 0:
            remaining -= 1
        elif alone <= max(m, _FEW):
            single, alone = last_violated, alone + 1
        else:
            return ITERATION_LIMIT, round_count
        change_sides(rows, search, single)
    return ITERATION_LIMIT, limit
