"""Who hears that a kernel is compiled, by the events that numba documents for it."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from types import FunctionType
from typing import Any, final
from weakref import WeakSet

from numba.core import event
from numba.extending import is_jitted

__all__ = [
    "announced_compilation",
    "is_kernel",
    "made_kernel",
    "ready_functions",
    "say_at_first_compilation",
    "waiting",
    "watch_compilation",
]

_COMPILING, _WAITING = "numba:compile", "corekit:waiting"
_LOG = logging.getLogger("corekit")
_kernels: WeakSet[Any] = WeakSet()


def made_kernel(kernel: Any) -> None:
    """Count a dispatcher of numba among those of corekit."""
    _kernels.add(kernel)


def is_kernel(value: Any) -> bool:
    """Whether something is a compiled function."""
    return is_jitted(value)


def ready_functions() -> set[FunctionType]:
    """Return the functions with code in this process, which compiled it or loaded what another one compiled."""
    return {each.py_func for each in set(_kernels) if each.signatures}


def waiting(kernel: Any) -> AbstractContextManager[None]:
    """Tell those who watch that another process compiles what is needed here."""
    return event.trigger_event(_WAITING, data={"dispatcher": kernel})


_SELDOM = 200_000
"""New objects before a collection while a kernel is compiled."""


@final
class _SeldomCollection(event.Listener):
    """Listener that makes Python collect garbage seldom while numba compiles.

    Nearly all that numba makes lives on: the usual threshold takes a tenth of the time of a compilation.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._usual = gc.get_threshold()
        self._set = -1

    def on_start(self, event: Any) -> None:
        now = gc.get_threshold()
        # another listener that raises may keep a beginning or an end from this one
        if self._depth <= 0 or now[0] != self._set:
            self._depth, self._usual = 0, now
            self._set = max(_SELDOM, now[0]) if now[0] else 0  # 0 is never
            gc.set_threshold(self._set, *now[1:])
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._usual)


event.register(_COMPILING, _SeldomCollection())


@contextmanager
def watch_compilation(
    begin: Callable[[FunctionType], object], end: Callable[[], object] = lambda: None
) -> Iterator[None]:
    """Call `begin` with every kernel that begins to be compiled, here or by a process waited for, in the block.

    Args:
        end: called when one of these is compiled, or cannot be. A kernel that is called by another begins and ends
            within that one.
    """
    listener = _Listener(begin, end)
    with event.install_listener(_COMPILING, listener), event.install_listener(_WAITING, listener):
        yield


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Log once, by the logger `corekit`, if anything is compiled in the block; Python prints that on stderr."""
    with watch_compilation(
        _log_once("compiling kernels, once for this installation: this takes up to a minute …")
    ):
        yield


def say_at_first_compilation(sentence: str) -> None:
    """Log a sentence before the first kernel that this process compiles."""
    event.register(_COMPILING, _Listener(_log_once(sentence), lambda: None))


def _log_once(sentence: str) -> Callable[[FunctionType], None]:
    log = cache(lambda: _LOG.warning(sentence))
    return lambda _function: log()


@final
class _Listener(event.Listener):
    def __init__(self, begin: Callable[[FunctionType], object], end: Callable[[], object]) -> None:
        self._begin, self._end = begin, end

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"] in _kernels:
            self._begin(event.data["dispatcher"].py_func)

    def on_end(self, event: Any) -> None:
        if event.data["dispatcher"] in _kernels:
            self._end()
