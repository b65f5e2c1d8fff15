"""A run that is recorded piece by piece on the way back, so that memory does not grow with its length.

Of P pieces the last one is differentiated first. c states that are kept along the run, and as many again as pieces in
front of them were passed, lead to each piece. With r repetitions of any step they reach

    P ≤ (c + r)!/(c!·r!)                                                                                  (1)

pieces, and no schedule reaches more: the first kept state stands where both sides can just be done, the later pieces
with one state less, the earlier ones with one repetition less.

Source: Griewank and Walther (2000), Algorithm 799: revolve, ACM Transactions on Mathematical Software 26.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

__all__ = ["pieces_back"]


def pieces_back(
    count: int, states: int, keep: Callable[[], Any], lead: Callable[[Any, int], object],
    pull: Callable[[Any, int], object],
) -> None:  # fmt: skip
    """Differentiate the pieces of a run from the last to the first.

    Args:
        count: P. states: c, beside that of the start, where the run stands now.
        keep: returns the state where the run stands. lead: from a state that was kept to the start of a piece.
        pull: records a piece that begins at a state, and differentiates it.
    """
    _pull_back(0, count, keep(), states, keep, lead, pull)


def _pull_back(
    first: int, last: int, kept: Any, states: int, keep: Callable[[], Any], lead: Callable[[Any, int], object],
    pull: Callable[[Any, int], object],
) -> None:  # fmt: skip
    """The pieces from the first to before the last one, of which `kept` is the start."""
    while last - first > 1:
        middle = last - 1 if states == 0 else first + _first_part(last - first, states)
        lead(kept, middle)
        _pull_back(middle, last, keep(), max(states - 1, 0), keep, lead, pull)
        last = middle
    pull(kept, first)


def _first_part(count: int, states: int) -> int:
    """How many of some pieces stand before the first state that is kept."""
    repeats = 1
    while comb(states + repeats, repeats) < count:
        repeats += 1
    # of what is beyond the later part the earlier one takes no more than it must
    return min(max(1, count - comb(states - 1 + repeats, repeats)), comb(states + repeats - 1, repeats - 1))
