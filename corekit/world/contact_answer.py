"""Impulses of one solve, by whose they are: what a step's problem begins with, and leaves to the next."""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.linalg.array_table import ArrayTable

__all__ = ["ContactAnswer"]


@final
class ContactAnswer:
    """Impulses of one solve, or the guess for one: contacts with their ids, then the bounded rows.

    Attributes:
        count: contacts m.
        id: whose impulses, room for `room` contacts.
        impulse: λ, `width` numbers a contact, then those of the p bounded rows [N·s].
        table: both, for `contact_calls`.
        next: the one after it in its ring.
    """

    __slots__ = ("_arrays", "_bounded", "_view", "_width", "count", "id", "impulse", "next", "room", "table")

    def __init__(self, width: int, bounded: int) -> None:
        self._width, self._bounded = width, bounded
        self.count = 0
        self.next = self
        self._hold(np.zeros(0, dtype=np.int64), np.zeros(bounded))

    @classmethod
    def ring(cls, size: int, width: int, bounded: int) -> ContactAnswer:
        """One of so many that take turns, each followed by the `next`; room in one is room in all."""
        first = cls(width, bounded)
        for _ in range(size - 1):
            other = cls(width, bounded)
            other.next, first.next = first.next, other
        return first

    def _hold(self, id: IntArray, impulse: Array) -> None:
        self.id, self.impulse, self.room = id, impulse, len(id)
        self._arrays = ArrayTable(id, impulse)
        self.table = self._arrays.table
        self._view = impulse

    def reserve(self, room: int) -> None:
        """Have room for so many contacts, in the others of the ring too; what they hold stays."""
        each = self
        while each.room < room:
            ids, impulse = each.id, each.impulse
            each._hold(np.zeros(room, dtype=np.int64), np.zeros(room * each._width + each._bounded))
            each.id[: len(ids)], each.impulse[: len(impulse)] = ids, impulse
            each = each.next

    def set(self, id: IntArray, contact: Array, bounded: Array) -> None:
        """Become these impulses."""
        self.count = count = len(id)
        self.reserve(count)
        end = count * self._width
        self.id[:count], self.impulse[:end] = id, contact
        self.impulse[end : end + self._bounded] = bounded

    def first(self, rows: int) -> Array:
        """λ of the first so many rows, a view."""
        if len(self._view) != rows:
            self._view = self.impulse[:rows]
        return self._view
