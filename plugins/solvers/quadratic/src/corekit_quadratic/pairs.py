"""Which entries of Y meet in the rows' own matrix: found once for rows that keep their pattern.

    S_ij = Σ Y_ip·Y_jp = Σ entry[left]·entry[right] over the pairs of i and j                       (1)

Rows in the order of a chain meet their neighbours only, so pairs are kept of rows at most `REACH` places apart; a row
that meets a farther one is marked, and where it holds S is formed inside its envelope instead. The pattern is that of
the entries that are not zero, looked at anew for every program: answers never depend on what was solved before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_quadratic.whiten import Places

__all__ = [
    "ENTRIES",
    "PLAIN",
    "REACH",
    "TARGETS",
    "Pairs",
    "find_pairs",
    "form_gram",
    "same_entries",
    "take_entries",
]

REACH = 16
"""How many places apart rows are of which pairs are kept: twice the band, as rows that do not hold stand between."""

_END = np.uint32(0xFFFFFFFF)
"""End of a list of entries."""

# what `head` tells: entries of Y (−1: nothing is known), targets, whether every entry is one of C, scaled
ENTRIES, TARGETS, PLAIN = range(3)


class Pairs(NamedTuple):
    """The pairs of k rows, by target: a row and one that is not behind it.

    Attributes:
        head: see above. row, other: of every target. begin: its first pair. left, right: entries of every pair.
        own: target of S_ii, (k,). far: whether a row meets one beyond reach, (k,).
        source: where in C's values an entry of Y comes from, if `PLAIN`.
        gram: S of every target.
        position: place of a row among those that hold, −1 of others, (k,).
        number: work, (2·(REACH + 1),).
    """

    head: IntArray
    row: Places
    other: Places
    begin: Places
    left: Places
    right: Places
    own: Places
    far: Places
    source: Places
    gram: Array
    position: IntArray
    number: IntArray


@compiled
def find_pairs(pairs: Pairs, order: Places, start: Places, at: Places, last: Places, listed: Places) -> bool:
    """Write the pairs of rows in an order; False if they do not fit.

    Args:
        last, listed: work: of every index its last entry so far; of every entry the one before it, and its place.
    """
    before, place = listed[0], listed[1]
    number, cursor = pairs.number[: REACH + 1], pairs.number[REACH + 1 :]
    for p in range(len(last)):
        last[p] = _END
    far, row_of, other_of, begin = pairs.far, pairs.row, pairs.other, pairs.begin
    left, right = pairs.left, pairs.right
    number[:] = 0
    target, pair = 0, 0
    pairs.head[ENTRIES] = -1
    for i in range(len(order)):
        row = order[i]
        # rows reach back a few places only: what is counted is looked at no farther than that
        most, found = 0, 0
        far[row] = 0
        for e in range(start[row], start[row + 1]):
            p = at[e]
            other = last[p]
            before[e], place[e], last[p] = other, i, e
            number[0] += 1
            found += 1
            while other != _END:
                apart = i - np.int64(place[other])
                if apart > REACH:
                    # those before are farther still
                    far[row] = 1
                    break
                number[apart] += 1
                found += 1
                most = max(most, apart)
                other = before[other]
        if target + most + 1 > len(row_of) or pair + found > len(left):
            return False
        pairs.own[row] = target
        for apart in range(most + 1):
            cursor[apart] = pair
            if number[apart] or apart == 0:
                row_of[target], other_of[target], begin[target] = row, order[i - apart], pair
                target, pair = target + 1, pair + number[apart]
                number[apart] = 0
        for e in range(start[row], start[row + 1]):
            other = np.uint32(e)
            while other != _END:
                apart = i - np.int64(place[other])
                if apart > REACH:
                    break
                left[cursor[apart]], right[cursor[apart]] = e, other
                cursor[apart] += 1
                other = before[other]
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
def same_entries(pairs: Pairs, start: Places, at: Places, new_start: Places, new_at: Places) -> bool:
    """Whether Y has the entries that the pairs were found for."""
    count = new_start[len(new_start) - 1]
    if pairs.head[ENTRIES] != count:
        return False
    same = 0
    for i in range(len(start)):
        same += start[i] == new_start[i]
    for e in range(count):
        same += at[e] == new_at[e]
    return same == len(start) + count


@compiled
def take_entries(
    pairs: Pairs, inverse: Array, dofs: IntArray, values: Array, at: Places, entry: Array
) -> bool:
    """Write Y of rows whose entries stand where they did, scaled by the roots of a diagonal H; False if they do not.

    Args:
        inverse: 1/√H_pp, (n,). dofs, values: C by entries, flat.
    """
    entries, found, same = pairs.head[ENTRIES], 0, 0
    for q in range(len(values)):
        found += values[q] != 0.0
    if found != entries:
        return False
    for e in range(entries):
        q = pairs.source[e]
        same += (values[q] != 0.0) & (dofs[q] == at[e])
        entry[e] = values[q] * inverse[at[e]]
    return same == entries
