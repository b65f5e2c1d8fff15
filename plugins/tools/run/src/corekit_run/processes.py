"""Processes that a command starts beside its own: how many there may be, and that none is left behind."""

from __future__ import annotations

import os
import threading
from multiprocessing import parent_process
from multiprocessing.connection import wait

__all__ = ["end_with_parent", "process_count"]


def process_count() -> int:
    """Return how many processes a command may use: the cores of this machine, or `COREKIT_PROCESSES`."""
    given = os.environ.get("COREKIT_PROCESSES", "")
    return int(given) if given.isdecimal() else os.cpu_count() or 1


def end_with_parent() -> None:
    """End this process as soon as the one that started it ends, even by a kill."""
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()


def _watch(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
