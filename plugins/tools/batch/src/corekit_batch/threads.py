"""Threads that run the driver without Python's lock, each with buffers of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import final

import numpy as np

from corekit.data.arrays import IntArray
from corekit_batch.driver import advance
from corekit_batch.tables import Bodies, Work, Worlds

__all__ = ["Threads", "core_count"]

_PIECES = 8
"""Pieces of work per thread: worlds in contact take longer than free ones."""
_AT_ONCE = 2000
"""Steps that the calling thread makes itself: they last less than a user notices who stops them."""


def core_count() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@final
class Threads:
    """A pool of threads that make steps.

    Args:
        count: of threads.
        new_work: allocates the buffers of one.
    """

    def __init__(self, count: int, new_work: Callable[[], Work]) -> None:
        self.count = count
        self._free: SimpleQueue[Work] = SimpleQueue()
        for _ in range(count):
            self._free.put(new_work())
        self._pool: ThreadPoolExecutor | None = None

    def advance(self, bodies: Bodies, worlds: Worlds, which: IntArray) -> None:
        """Make the steps of worlds up to `Worlds.until`; a signal ends it after the step that each world makes now."""
        is_stopped = np.zeros(1, dtype=np.bool_)
        steps = int((worlds.until[which] - worlds.step[which]).sum())
        if self.count == 1 and steps <= _AT_ONCE:
            self._advance(bodies, worlds, which, is_stopped)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.count, "corekit-batch")
        pieces: Sequence[IntArray] = np.array_split(which, min(len(which), _PIECES * self.count))
        running = [self._pool.submit(self._advance, bodies, worlds, each, is_stopped) for each in pieces]
        try:
            wait(running)
        except BaseException:  # Ctrl-C among them
            is_stopped[0] = True
            wait(running)
            raise
        for each in running:
            each.result()

    def _advance(self, bodies: Bodies, worlds: Worlds, which: IntArray, is_stopped: np.ndarray) -> None:
        work = self._free.get()
        try:
            advance(bodies, worlds, which, is_stopped, work)
        finally:
            self._free.put(work)
