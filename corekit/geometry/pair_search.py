"""The pairs of shapes that a detector measures: all of a small scene, the near ones of a large one.

A large scene is sorted and swept: the bounding balls are sorted by where they begin along the axis on which they spread
most, and a ball is compared only with those that begin before it ends. A shape without end meets every other.

Source: Cohen, Lin, Manocha, Ponamgi (1995), I-COLLIDE: an interactive and exact collision detection system.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.geometry.shapes import ShapeTable

__all__ = ["PairSearch"]

_MOST_LISTED: Final = 10_000
"""Pairs up to which testing them all costs less than to sort the shapes."""
_SLACK: Final = 1e-9
"""Relative growth of a ball, far above rounding: the detector's own bound decides about a pair at the margin."""


@compiled
def _may_touch(
    i: int, j: int, kind: IntArray, served: BoolArray, body: IntArray, self_contact: BoolArray, excluded: IntArray
) -> bool:  # fmt: skip
    """Whether shapes i < j may ever touch; an obstacle is the second."""
    if body[i] < 0 or not served[kind[i], kind[j]] or (body[i] == body[j] and not self_contact[body[i]]):
        return False
    key, low, high = i * len(kind) + j, 0, len(excluded)
    while low < high:
        middle = (low + high) // 2
        if excluded[middle] < key:
            low = middle + 1
        else:
            high = middle
    return not (low < len(excluded) and excluded[low] == key)


@compiled
def _sweep(
    axis: int, order: IntArray, begin: Array, endless: IntArray, position: Array, radius: Array, margin: float,
    slack: float, kind: IntArray, served: BoolArray, body: IntArray, self_contact: BoolArray, excluded: IntArray,
    keys: IntArray,
) -> int:  # fmt: skip
    """Write i·n + j of near pairs while `keys` has space, and return how many there are.

    Args:
        order: shapes with an end, by rising begin. begin: along the axis, of every shape [m].
        endless: shapes without end, or nowhere.
        slack: rounding of `begin` [m].
    """
    n, count = len(position), 0
    for u in range(len(order)):
        i = order[u]
        end = position[i, axis] + (radius[i] + margin) * (1.0 + _SLACK) + slack
        for v in range(u + 1, len(order)):
            j = order[v]
            if begin[j] > end:
                break
            reach, square = (radius[i] + radius[j] + margin) * (1.0 + _SLACK), 0.0
            for a in range(3):
                square += (position[j, a] - position[i, a]) ** 2
            first, second = min(i, j), max(i, j)
            if square <= reach * reach and _may_touch(
                first, second, kind, served, body, self_contact, excluded
            ):
                if count < len(keys):
                    keys[count] = first * n + second
                count += 1
    is_endless = np.zeros(n, dtype=np.bool_)
    for i in endless:
        is_endless[i] = True
        for j in range(n):
            first, second = min(i, j), max(i, j)
            if not is_endless[j] and _may_touch(first, second, kind, served, body, self_contact, excluded):
                if count < len(keys):
                    keys[count] = first * n + second
                count += 1
    return count


@final
class PairSearch:
    """Finds the pairs (i, j) of a scene that may touch, i < j, in rising order.

    Args:
        table: of the shapes.
        served: kind pairs; (a, b) serves (b, a) too.

    Attributes:
        kinds: kinds of the first and the second shape of pairs that may occur.
        listed: all pairs of a small scene, shape (p, 2); None of a large one.
    """

    def __init__(self, table: ShapeTable, served: frozenset[tuple[str, str]]) -> None:
        names = sorted(set(table.kind))
        number = {name: k for k, name in enumerate(names)}
        self._kind: IntArray = np.array([number[kind] for kind in table.kind], dtype=np.int64)
        self._served: BoolArray = np.array(
            [[(a, b) in served or (b, a) in served for b in names] for a in names], dtype=bool
        ).reshape(len(names), len(names))
        self._body, self._self_contact = table.body, table.self_contact
        self.listed: IntArray | None = None
        carried = self._kind[table.body >= 0]
        if _most_pairs(table) <= _MOST_LISTED:
            self.listed = table.pairs(served)
            found = np.unique(self._kind[self.listed], axis=0)
        else:
            found = np.argwhere(self._served)
            found = found[np.isin(found[:, 0], carried)]
        self.kinds = frozenset((names[a], names[b]) for a, b in found)
        excluded = np.sort(table.excluded_pairs, axis=1)
        self._excluded: IntArray = np.unique(excluded[:, 0] * len(table) + excluded[:, 1])
        self._keys: IntArray = np.zeros(64, dtype=np.int64)

    def near(self, position: Array, radius: Array, margin: float) -> IntArray:
        """Return pairs that contain all whose bounding balls are closer than a margin, shape (p, 2).

        Args:
            position, radius: of the bounding balls [m], (n, 3) and (n,); inf for a shape without end.
            margin: [m].
        """
        if self.listed is not None:
            return self.listed
        n, reach = len(position), radius + margin
        has_end = np.isfinite(position).all(axis=1) & np.isfinite(reach)
        bounded, endless = np.flatnonzero(has_end), np.flatnonzero(~has_end)
        axis, slack, begin = 0, 0.0, np.zeros(n)
        if len(bounded):
            axis = int(np.argmax(np.ptp(position[bounded], axis=0)))
            begin[bounded] = position[bounded, axis] - radius[bounded]
            # each of the two sums that are compared is rounded once or twice
            slack = 8.0 * float(
                np.finfo(float).eps * (np.abs(position[bounded, axis]) + reach[bounded]).max()
            )
        order = bounded[np.argsort(begin[bounded])]
        while True:
            count = _sweep(
                axis, order, begin, endless, position, radius, margin, slack, self._kind, self._served, self._body,
                self._self_contact, self._excluded, self._keys,
            )  # fmt: skip
            if count <= len(self._keys):
                break
            self._keys = np.zeros(2 * count, dtype=np.int64)
        keys = np.sort(self._keys[:count])
        return np.stack(np.divmod(keys, n), axis=1)


def _most_pairs(table: ShapeTable) -> int:
    """How many pairs there are at most: shapes of one body stand together, and meet each other or do not."""
    owners = table.body[table.body >= 0]
    first = np.where(
        table.self_contact[owners], np.arange(len(owners)) + 1, np.searchsorted(owners, owners, "right")
    )
    return int((len(table) - first).sum())
