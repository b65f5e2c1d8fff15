"""Threads that run the driver without Python's lock, each with buffers of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import final

import numpy as np

from corekit.data.arrays import BoolArray, IntArray
from corekit_batch.contact_tables import ContactMemory, ContactWork
from corekit_batch.driver import advance
from corekit_batch.layout import Layout
from corekit_batch.tables import Work, Worlds

__all__ = ["Threads", "core_count"]

_PIECES = 8
"""Pieces of work per thread: worlds in contact take longer than free ones."""
_AT_ONCE = 500
"""Steps that the calling thread makes itself: they last less than a user notices who stops them."""


def core_count() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@final
class Threads:
    """A pool of threads that make steps.

    Args:
        count: of threads.
        new_work: allocates the buffers of one, with room for a number of contacts.
    """

    def __init__(self, count: int, new_work: Callable[[int], tuple[Work, ContactWork]]) -> None:
        self.count = count
        self._new_work, self._room = new_work, -1
        self._free: SimpleQueue[tuple[Work, ContactWork]] = SimpleQueue()
        self._pool: ThreadPoolExecutor | None = None

    def advance(self, layout: Layout, worlds: Worlds, memory: ContactMemory, which: IntArray) -> None:
        """Make the steps of worlds up to `Worlds.until`; a signal ends it after the step that each world makes now."""
        self._reserve(memory.id.shape[1])
        is_stopped = np.zeros(1, dtype=np.bool_)
        steps = int((worlds.until[which] - worlds.step[which]).sum())
        if self.count == 1 and steps <= _AT_ONCE:
            self._advance(layout, worlds, memory, which, is_stopped)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.count, "corekit-batch")
        pieces: Sequence[IntArray] = np.array_split(which, min(len(which), _PIECES * self.count))
        running: list[Future[None]] = []
        try:
            running += [
                self._pool.submit(self._advance, layout, worlds, memory, each, is_stopped) for each in pieces
            ]
            wait(running)
        except (
            BaseException
        ):  # Ctrl-C among them, wherever it falls: no thread steps on behind the caller's back
            is_stopped[0] = True
            self._pool.shutdown()
            self._pool = None
            raise
        for each in running:
            each.result()

    def _reserve(self, room: int) -> None:
        if room > self._room:
            self._room, self._free = room, SimpleQueue()
            for _ in range(self.count):
                self._free.put(self._new_work(room))

    def _advance(
        self, layout: Layout, worlds: Worlds, memory: ContactMemory, which: IntArray, is_stopped: BoolArray
    ) -> None:
        work, of_contacts = self._free.get()
        try:
            advance(layout.bodies, layout.around, worlds, memory, which, is_stopped, work, of_contacts)
        finally:
            self._free.put((work, of_contacts))
