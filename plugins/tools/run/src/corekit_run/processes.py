"""Processes that a command starts beside its own: how many there may be, and that none is left behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any, TypeVar

from corekit.cli import stop_at_sigterm
from corekit.cli.terminal import guard_streams
from corekit.errors import Terminated
from corekit.interpreters import safe_children

__all__ = [
    "end_with_parent",
    "process_count",
    "start_process",
    "without_the_callers_script",
    "work",
    "worker_pool",
]

_Result = TypeVar("_Result")
_HAS_SIGNALS = os.name == "posix"
"""Elsewhere a process can only be killed, and Ctrl-C reaches all of them."""
_METHOD = "forkserver" if sys.platform == "linux" else "spawn"
"""How processes start: forked from one that has done the imports, where libraries allow it; elsewhere each anew."""
_stopped = threading.Event()


def process_count() -> int:
    """Return how many processes a command may use: the cores of this machine, or `COREKIT_PROCESSES`."""
    given = os.environ.get("COREKIT_PROCESSES", "")
    return int(given) if given.isdecimal() else os.cpu_count() or 1


@contextmanager
def worker_pool(workers: int, tasks_per_child: int | None = None) -> Iterator[ProcessPoolExecutor]:
    """Processes, started afresh, to which `work` is submitted; where the block breaks off, what they run is stopped.

    A run among it is then `interrupted`, as by Ctrl-C: the request is passed on, since it may reach this process alone.
    They begin with the modules of corekit that this process has imported, and with its environment.
    """
    others = set(active_children())
    context = _context()
    with (
        safe_children(),
        ProcessPoolExecutor(
            workers, context, _begin_worker, (dict(os.environ),), max_tasks_per_child=tasks_per_child
        ) as pool,
    ):
        try:
            yield pool
        except BaseException:
            if _HAS_SIGNALS:
                for process in set(active_children()) - others:
                    process.terminate()
            # waits for what runs: a process that itself is one of a pool would else wait for ever at its end
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def start_process(function: Callable[..., object], *arguments: object) -> BaseProcess:
    """Start a process that calls a function, as those of a pool begin; it ends with this one, or is killed."""
    with safe_children(), without_the_callers_script():
        process = _context().Process(target=_call, args=(dict(os.environ), function, *arguments), daemon=True)
        process.start()
    return process


def _call(environment: Mapping[str, str], function: Callable[..., object], *arguments: object) -> None:
    _begin_worker(environment)
    function(*arguments)


def _context() -> Any:
    context = get_context(_METHOD)
    if _METHOD == "forkserver":
        context.set_forkserver_preload([name for name in sys.modules if name.startswith("corekit")])
    return context


@contextmanager
def without_the_callers_script() -> Iterator[None]:
    """Within the block, new processes do not import `__main__`, which would run a script without a guard once more."""
    script, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def work(function: Callable[..., _Result], *arguments: object) -> _Result:
    """Call a function in a process of a pool; after a request to stop none begins any more.

    Raises:
        KeyboardInterrupt: it was stopped.
    """
    if _stopped.is_set():
        raise Terminated
    signal.signal(signal.SIGTERM, stop_at_sigterm)
    try:
        return function(*arguments)
    except KeyboardInterrupt:
        _stopped.set()
        raise
    finally:
        signal.signal(signal.SIGTERM, _note_stop)


def _begin_worker(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)  # the process that it was forked from may have begun under another
    guard_streams()
    end_with_parent()
    signal.signal(signal.SIGTERM, _note_stop)
    if _HAS_SIGNALS:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # this process is stopped by the one that started it


def _note_stop(_number: int, _frame: object) -> None:
    """Handle SIGTERM while nothing is worked on: a process that ended here would break the pool for the others."""
    _stopped.set()


def end_with_parent() -> None:
    """End this process as soon as the one that started it ends, even by a kill."""
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_watch, args=(parent.sentinel,), daemon=True).start()


def _watch(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
