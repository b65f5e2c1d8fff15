"""Impulses of the last step, found again by contact identity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from corekit.data.arrays import Array, IntArray
from corekit.roles.component import Memory

__all__ = ["Remembered"]


@njit(cache=True)
def matched(
    identity: IntArray, known: IntArray, known_impulse: Array, width: int, first: int, impulse: Array
) -> None:
    """Copy `width` impulses of every identity that is known; the i-th goes to row first + i·width."""
    for i in range(identity.size):
        for j in range(known.size):
            if known[j] == identity[i]:
                for a in range(width):
                    impulse[first + i * width + a] = known_impulse[j * width + a]
                break


class Remembered:
    """The last impulses of contacts and bounded rows, by their persistent ids: only ever a guess."""

    def __init__(self) -> None:
        self._width = 0
        self._id = np.zeros(0, dtype=np.int64)
        self._impulse = np.zeros(0)
        self._bounded_id = np.zeros(0, dtype=np.int64)
        self._bounded_impulse = np.zeros(0)

    def recall(self, identity: IntArray, bounded_id: IntArray, width: int, impulse: Array) -> None:
        """Write the known impulses into `impulse`, shape (R,), which is zero before."""
        if self._id.size and width == self._width:
            matched(identity, self._id, self._impulse, width, 0, impulse)
        if self._bounded_id.size and bounded_id.size:
            matched(bounded_id, self._bounded_id, self._bounded_impulse, 1, identity.size * width, impulse)

    def keep(self, identity: IntArray, bounded_id: IntArray, width: int, impulse: Array) -> None:
        """Remember the impulses of a solved step, shape (R,)."""
        rows = identity.size * width
        same = (self._id.size, self._bounded_id.size, self._width) == (identity.size, bounded_id.size, width)
        if same:
            self._id[:], self._bounded_id[:] = identity, bounded_id
            self._impulse[:], self._bounded_impulse[:] = impulse[:rows], impulse[rows:]
            return
        self._width = width
        self._id, self._bounded_id = identity.copy(), bounded_id.copy()
        self._impulse, self._bounded_impulse = impulse[:rows].copy(), impulse[rows:].copy()

    def arrays(self) -> Memory:
        """Named copies."""
        return {
            "id": self._id.copy(),
            "impulse": self._impulse.reshape(self._id.size, -1 if self._id.size else self._width).copy(),
            "bounded_id": self._bounded_id.copy(),
            "bounded_impulse": self._bounded_impulse.copy(),
        }

    def take_over(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over what `arrays` gave; an empty mapping forgets everything."""
        self.__init__()
        if not memory:
            return
        self._id = np.array(memory["id"], dtype=np.int64)
        impulse = np.array(memory["impulse"], dtype=np.float64)
        self._width = impulse.shape[1]
        self._impulse = impulse.ravel()
        self._bounded_id = np.array(memory["bounded_id"], dtype=np.int64)
        self._bounded_impulse = np.array(memory["bounded_impulse"], dtype=np.float64)
