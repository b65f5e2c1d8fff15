"""What a user waits for once: the functions that are compiled."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, final

from numba.core import event

from corekit.compiled.kernels import Callee, Kernel
from corekit.compiled.store import WAITING

__all__ = ["announced_compilation", "watch_compilation"]

_LOG = logging.getLogger("corekit")


@contextmanager
def watch_compilation(begin: Callable[[FunctionType], object]) -> Iterator[None]:
    """Call `begin` with every function that begins to be compiled, here or by a process waited for, in the block."""
    listener = _Listener(begin)
    with event.install_listener("numba:compile", listener), event.install_listener(WAITING, listener):
        yield


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Log once, by the logger `corekit`, if anything is compiled in the block; Python prints that on stderr."""
    reported = False

    def report(_function: FunctionType) -> None:
        nonlocal reported
        if not reported:
            reported = True
            _LOG.warning("compiling kernels, once for this installation: this takes up to a minute …")

    with watch_compilation(report):
        yield


@final
class _Listener(event.Listener):
    def __init__(self, begin: Callable[[FunctionType], object]) -> None:
        self._begin = begin

    def on_start(self, event: Any) -> None:
        if event.kind == WAITING:
            self._begin(event.data["function"])
        elif isinstance(event.data["dispatcher"], Kernel | Callee):
            self._begin(event.data["dispatcher"].py_func)

    def on_end(self, event: Any) -> None:
        """Do nothing: numba's listener requires the method."""
