"""How many functions were compiled so far, for a user who waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, final

from numba.core import event

from corekit.compiled.kernels import Callee, Kernel

__all__ = ["watch_compilation"]

Report = Callable[[int, int], object]


@contextmanager
def watch_compilation(report: Report) -> Iterator[None]:
    """Call `report` whenever a function begins to be compiled, until the end of the block.

    Args:
        report: called with the number of functions that were compiled since the block began, and with that of all
            that the imported modules have. A run needs some of the latter.
    """
    with event.install_listener("numba:compile", _Listener(report)):
        yield


@final
class _Listener(event.Listener):
    def __init__(self, report: Report) -> None:
        self._report, self._done = report, set[Any]()

    def on_start(self, event: Any) -> None:
        if isinstance(event.data["dispatcher"], Kernel | Callee):
            self._report(len(self._done), Kernel.count)

    def on_end(self, event: Any) -> None:
        if isinstance(event.data["dispatcher"], Kernel | Callee):
            self._done.add(event.data["dispatcher"].py_func)
