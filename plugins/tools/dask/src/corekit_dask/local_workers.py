"""Worker processes of Dask on this computer, which are replaced where one is killed, whenever that is.

A nanny of Dask starts a worker anew too, but not one that is killed while it starts. What Dask watches of a worker for
its pages is not looked at here, or seldom: the stack of what it makes each 10 ms, whether its loop is late each 20 ms.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dask import config
from distributed import Worker

from corekit_run.processes import start_process

__all__ = ["SELDOM_WATCHED", "local_workers"]

_LOOK_EVERY = 0.2
"""Wall time between two looks at whether all live [s]."""
_QUICK = 5.0
"""A worker that lives for less [s] is not replaced at once: it may be one that cannot begin."""

SELDOM_WATCHED = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
}
"""Settings of Dask for what lives as long as a command."""


@contextmanager
def local_workers(address: str, security: Any, count: int) -> Iterator[None]:
    """Keep so many workers of one thread at work for a scheduler, within the block.

    Args:
        address: of the scheduler. security: its `distributed.Security`.
    """
    over = threading.Event()
    processes = [start_process(serve, address, security) for _ in range(count)]

    def replace() -> None:
        pause = 0.0
        while not over.wait(_LOOK_EVERY + pause):
            lost = [k for k, each in enumerate(processes) if not each.is_alive()]
            # all at once, time and again: what is wrong is not mended by haste
            pause = _QUICK if len(lost) == count and pause else _LOOK_EVERY if lost else 0.0
            for k in lost:
                processes[k].join()
                processes[k] = start_process(serve, address, security)

    supervisor = threading.Thread(target=replace, daemon=True)
    supervisor.start()
    try:
        yield
    finally:
        over.set()
        supervisor.join()
        for each in processes:
            each.kill()
        for each in processes:
            each.join()


def serve(address: str, security: Any) -> None:
    """Work for a scheduler until it closes; called in a process of its own."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with config.set(SELDOM_WATCHED):
        asyncio.run(_serve(address, security))


async def _serve(address: str, security: Any) -> None:
    worker = Worker(address, nthreads=1, security=security, host="127.0.0.1", dashboard=False)
    async with worker:
        await worker.finished()
