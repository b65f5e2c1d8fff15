"""Pairs of entries of Y that contribute to S, found once per pattern of the rows.

    S_ij = Σ Y_ip·Y_jp = Σ entry[left]·entry[right] over the pairs of i and j                       (1)

Rows in the order of a chain share columns only with their neighbours, so the table contains pairs of rows at
most `MAX_DISTANCE` positions apart. A row that shares a column with a more distant one is marked; if it is
active, S is formed inside its envelope instead. The pattern is that of the nonzero entries and is checked for
every program: no solution depends on earlier solves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_quadratic.whiten import Indices

__all__ = [
    "ENTRIES",
    "MAX_DISTANCE",
    "PLAIN",
    "TARGETS",
    "Pairs",
    "find_pairs",
    "form_gram",
    "same_entries",
    "update_entries",
]

MAX_DISTANCE = 16
"""Largest distance of paired rows: twice the band, because inactive rows lie between active ones."""

_END = np.uint32(0xFFFFFFFF)
"""End of a list of entries."""

# contents of `head`: number of entries of Y (−1: no pairs yet), of targets, whether every entry is a scaled one of C
ENTRIES, TARGETS, PLAIN = range(3)


class Pairs(NamedTuple):
    """Pairs of k rows, by target: a row and one that is not behind it.

    Attributes:
        head: see above.
        row, other: of every target.
        begin: first pair of every target.
        left, right: entries of every pair.
        diagonal: target of S_ii, (k,).
        far: whether a row shares a column with one beyond MAX_DISTANCE, (k,).
        source: index in C's values of an entry of Y, if `PLAIN`.
        gram: S of every target.
        position: position of a row among the active ones, −1 of others, (k,).
        counters: workspace, (2·(MAX_DISTANCE + 1),).
    """

    head: IntArray
    row: Indices
    other: Indices
    begin: Indices
    left: Indices
    right: Indices
    diagonal: Indices
    far: Indices
    source: Indices
    gram: Array
    position: IntArray
    counters: IntArray


@compiled
def find_pairs(
    pairs: Pairs, order: Indices, start: Indices, column: Indices, last: Indices, entry_lists: Indices,
) -> bool:  # fmt: skip
    """Write the pairs of ordered rows; return False if they do not fit.

    Args:
        last: workspace, last entry so far of every column.
        entry_lists: workspace, for every entry the previous one of its column, and the position of its row.
    """
    previous, row_position = entry_lists[0], entry_lists[1]
    counters, cursor = pairs.counters[: MAX_DISTANCE + 1], pairs.counters[MAX_DISTANCE + 1 :]
    for p in range(len(last)):
        last[p] = _END
    far, row_of, other_of, begin = pairs.far, pairs.row, pairs.other, pairs.begin
    left, right = pairs.left, pairs.right
    counters[:] = 0
    target, pair = 0, 0
    pairs.head[ENTRIES] = -1
    for i in range(len(order)):
        row = order[i]
        # rows couple only a few positions back, so the loops over counters end at the largest distance
        max_offset, entry_count = 0, 0
        far[row] = 0
        for e in range(start[row], start[row + 1]):
            p = column[e]
            other = last[p]
            previous[e], row_position[e], last[p] = other, i, e
            counters[0] += 1
            entry_count += 1
            while other != _END:
                offset = i - np.int64(row_position[other])
                if offset > MAX_DISTANCE:
                    # earlier entries are farther still
                    far[row] = 1
                    break
                counters[offset] += 1
                entry_count += 1
                max_offset = max(max_offset, offset)
                other = previous[other]
        if target + max_offset + 1 > len(row_of) or pair + entry_count > len(left):
            return False
        pairs.diagonal[row] = target
        for offset in range(max_offset + 1):
            cursor[offset] = pair
            if counters[offset] or offset == 0:
                row_of[target], other_of[target], begin[target] = row, order[i - offset], pair
                target, pair = target + 1, pair + counters[offset]
                counters[offset] = 0
        for e in range(start[row], start[row + 1]):
            other = np.uint32(e)
            while other != _END:
                offset = i - np.int64(row_position[other])
                if offset > MAX_DISTANCE:
                    break
                left[cursor[offset]], right[cursor[offset]] = e, other
                cursor[offset] += 1
                other = previous[other]
    pairs.begin[target] = pair
    pairs.head[ENTRIES], pairs.head[TARGETS] = start[len(order)], target
    return True


@compiled
def form_gram(pairs: Pairs, entry: Array) -> None:
    """Write S of every target by (1)."""
    gram, begin, left, right = pairs.gram, pairs.begin, pairs.left, pairs.right
    for t in range(pairs.head[TARGETS]):
        total = 0.0
        for q in range(begin[t], begin[t + 1]):
            total += entry[left[q]] * entry[right[q]]
        gram[t] = total


@compiled
def same_entries(
    pairs: Pairs, start: Indices, column: Indices, new_start: Indices, new_column: Indices
) -> bool:
    """Whether the pairs belong to the entries of Y."""
    count = new_start[len(new_start) - 1]
    if pairs.head[ENTRIES] != count:
        return False
    same = 0
    for i in range(len(start)):
        same += start[i] == new_start[i]
    for e in range(count):
        same += column[e] == new_column[e]
    return same == len(start) + count


@compiled
def update_entries(
    pairs: Pairs, inverse: Array, dofs: IntArray, values: Array, column: Indices, entry: Array
) -> bool:
    """Write Y for unchanged positions of its entries, scaled by the roots of a diagonal H; return whether they are so.

    Args:
        inverse: 1/√H_pp, (n,).
        dofs, values: C by entries, flat.
    """
    entries, entry_count, same = pairs.head[ENTRIES], 0, 0
    for q in range(len(values)):
        entry_count += values[q] != 0.0
    if entry_count != entries:
        return False
    for e in range(entries):
        q = pairs.source[e]
        same += (values[q] != 0.0) & (dofs[q] == column[e])
        entry[e] = values[q] * inverse[column[e]]
    return same == entries
