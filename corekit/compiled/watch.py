"""Count of the functions with machine code, for a user who waits for the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, final

from numba.core import event

from corekit.compiled.kernels import Callee, Kernel
from corekit.compiled.store import WAITING

__all__ = ["watch_compilation"]

Report = Callable[[int, int], object]


@contextmanager
def watch_compilation(report: Report) -> Iterator[None]:
    """Call `report` whenever a function begins to be compiled, here or by a process waited for, until the block ends.

    Args:
        report: called with the number of functions whose machine code this process has, whichever process compiled
            it, and with that of all in the imported modules. Calls decide which of the latter a run needs, so their
            number bounds the former and is not known beforehand.
    """
    listener = _Listener(report)
    with event.install_listener("numba:compile", listener), event.install_listener(WAITING, listener):
        yield


@final
class _Listener(event.Listener):
    def __init__(self, report: Report) -> None:
        self._report = report

    def on_start(self, event: Any) -> None:
        if event.kind == WAITING or _is_ours(event):
            self._report(len(Kernel.ready), Kernel.count)

    def on_end(self, event: Any) -> None:
        """Do nothing: numba's listener requires the method."""


def _is_ours(event: Any) -> bool:
    return isinstance(event.data["dispatcher"], Kernel | Callee)
