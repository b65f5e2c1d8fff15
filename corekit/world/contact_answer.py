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
    """

    def __init__(self, bounded: int) -> None:
        self.bounded = bounded
        self.count = 0
        self._hold(np.zeros(0, dtype=np.int64), np.zeros(bounded))

    def _hold(self, id: IntArray, impulse: Array) -> None:
        self.id, self.impulse, self.room = id, impulse, len(id)
        self._arrays = ArrayTable(id, impulse)
        self.table = self._arrays.table
        self._view = impulse

    def reserve(self, count: int, width: int) -> None:
        """Make room for m contacts, without keeping anything."""
        if count > self.room:
            self._hold(np.zeros(2 * count, dtype=np.int64), np.zeros(2 * count * width + self.bounded))

    def set(self, id: IntArray, contact: Array, bounded: Array) -> None:
        """Become these impulses."""
        self.count = len(id)
        self._hold(id.astype(np.int64), np.concatenate([contact, bounded]))

    def first(self, rows: int) -> Array:
        """λ of the first so many rows, a view."""
        if len(self._view) != rows:
            self._view = self.impulse[:rows]
        return self._view
