"""Few cells of a large table that still hold every pair of values: a covering array of strength two.

A table of f factors has as many cells as the product of their numbers of values, which is more than a quick run of
tests can afford; the pairs of values are no more than the cells of its two largest factors need. What fails, fails
nearly always for one value or for two that meet (Kuhn, Wallace, Gallo, IEEE Trans. Softw. Eng. 30, 2004, 418-421).
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Sequence
from itertools import combinations

__all__ = ["covering_cells"]


def covering_cells(cells: Sequence[Sequence[Hashable]]) -> list[int]:
    """Numbers of cells, rising, that together hold every pair of values that any cell holds.

    Greedy: the cell with the most pairs that no chosen one holds comes next, the first of equals, so that the choice
    hangs on the order of the cells alone. A table of one factor is chosen whole.

    Args:
        cells: the values of every cell, in one order of the factors. Cells of the full product may be missing.
    """
    held = [set(combinations(enumerate(cell), min(2, len(cell)))) for cell in cells]
    covered: set[tuple[tuple[int, Hashable], ...]] = set()
    chosen = []
    # what a cell adds only shrinks: one whose number is still right when it leads is the best
    turns = [(-len(pairs), number) for number, pairs in enumerate(held)]
    heapq.heapify(turns)
    while turns:
        promised, number = heapq.heappop(turns)
        added = len(held[number] - covered)
        if added and added == -promised:
            covered |= held[number]
            chosen.append(number)
        elif added:
            heapq.heappush(turns, (-added, number))
    return sorted(chosen)
