"""Block principal pivoting: every row that is not content changes sides at once.

Where the number of such rows does not fall for `patience` rounds only the last of them changes, which cannot cycle
while the rows that hold are independent. A good guess ends in one round.

Source: Júdice, Pires (1994), A block principal pivoting algorithm for large-scale strictly monotone linear
complementarity problems, Computers & Operations Research 21.
"""

from __future__ import annotations

from numba import njit

from corekit_quadratic.sides import (
    ANSWERED,
    FULL,
    TOO_LONG,
    Rows,
    Search,
    change,
    excess,
    goal,
    hold,
    row_value,
    sizes,
)

__all__ = ["block_pivoting"]

_MISSED = 1e-9
"""What a dependent row may miss its bound by, relative to what it is computed from."""


@njit(cache=True)
def _misses(rows: Rows, search: Search, m: int, scale: float) -> bool:
    """Whether a row that was left out as dependent is not where the others should put it."""
    for k in range(m):
        if search.factor[search.base[k] + k] == 0.0:
            i = search.chosen[k]
            wanted = goal(rows, i, int(search.side[i]))
            if abs(row_value(rows, search, i) - wanted) > _MISSED * (rows.length[i] * scale + abs(wanted)):
                return True
    return False


@njit(cache=True)
def block_pivoting(rows: Rows, search: Search, patience: int, limit: int) -> tuple[int, int]:
    """Change sides until every row is content; returns how it ended and the rounds taken.

    TOO_LONG also where a row that should hold depends on others: the dual method knows what to do.
    """
    count = len(search.order)
    fewest, left = count + 1, patience
    for done in range(1, limit + 1):
        m, dependent = hold(rows, search)
        if dependent < 0:
            return FULL, done
        scale = sizes(search)
        if dependent > 0 and _misses(rows, search, m, scale):
            return TOO_LONG, done
        found, last = 0, -1
        for k in range(count):
            if excess(rows, search, search.order[k], scale) != 0.0:
                found += 1
                last = search.order[k]
        if found == 0:
            return ANSWERED, done
        alone = found >= fewest and left == 0
        if found < fewest:
            fewest, left = found, patience
        elif left > 0:
            left -= 1
        for i in range(count):
            # what a row wants depends on s and its own λ, so the order of changes does not matter
            if not alone or i == last:
                wanted = excess(rows, search, i, scale)
                if wanted != 0.0:
                    change(rows, search, i, wanted)
    return TOO_LONG, limit
