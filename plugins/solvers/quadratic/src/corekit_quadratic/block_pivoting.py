"""Block principal pivoting: every row that is not content changes sides at once.

Where the number of such rows does not fall for `patience` rounds only the last of them changes, which cannot cycle
while the rows that hold are independent. A good guess ends in one round.

Source: Júdice, Pires (1994), A block principal pivoting algorithm for large-scale strictly monotone linear
complementarity problems, Computers & Operations Research 21.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit_quadratic.sides import ANSWERED, FULL, TOO_LONG, UPPER, Rows, Search, change, hold, violations

__all__ = ["block_pivoting"]

_MISSED = 1e-9
"""What a dependent row may miss its bound by, relative to what it is computed from."""


@compiled
def _misses(rows: Rows, search: Search, m: int, scale: float) -> bool:
    """Whether a row that was left out as dependent is not where the others should put it."""
    for k in range(m):
        if search.factor[search.base[k] + k] == 0.0:
            i = search.chosen[k]
            wanted = rows.upper[i] if search.side[i] == UPPER else rows.lower[i]
            z = rows.compliance[i] * search.push[i]
            for e in range(rows.start[i], rows.start[i + 1]):
                z += rows.entry[e] * search.s[rows.at[e]]
            if abs(z - wanted) > _MISSED * (rows.length[i] * scale + abs(wanted)):
                return True
    return False


@compiled
def block_pivoting(rows: Rows, search: Search, patience: int, limit: int) -> tuple[int, int]:
    """Change sides until every row is content; returns how it ended and the rounds taken.

    TOO_LONG also where a row that should hold depends on others: the dual method knows what to do.
    """
    fewest, left = len(search.order) + 1, patience
    for done in range(1, limit + 1):
        m, dependent = hold(rows, search)
        if dependent < 0:
            return FULL, done
        found, last, scale = violations(rows, search)
        if dependent > 0 and _misses(rows, search, m, scale):
            return TOO_LONG, done
        if found == 0:
            return ANSWERED, done
        alone = -1
        if found < fewest:
            fewest, left = found, patience
        elif left > 0:
            left -= 1
        else:
            alone = last
        change(rows, search, alone)
    return TOO_LONG, limit
