"""The wall time that compilation takes of a longer work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

from numba.core import event

from corekit.compiled.store import WAITING

__all__ = ["CompilationClock", "clock_compilation"]


@final
class CompilationClock(event.Listener):
    """Wall time spent in compiling, or in waiting for a process that compiles the same.

    Attributes:
        seconds: so far, without the compilation that is going on.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth, self._began = 0, 0.0

    def on_start(self, event: Any) -> None:
        # what a function calls is compiled within its own compilation
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began


@contextmanager
def clock_compilation() -> Iterator[CompilationClock]:
    """Measure what is compiled until the end of the block."""
    clock = CompilationClock()
    with event.install_listener("numba:compile", clock), event.install_listener(WAITING, clock):
        yield clock
