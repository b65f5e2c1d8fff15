"""The wall time that compilation takes of a longer work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from corekit.compiled.watching import watch_compilation

__all__ = ["CompilationClock", "clock_compilation"]


@final
class CompilationClock:
    """Wall time spent in compiling kernels, or in waiting for a process that compiles the same.

    Attributes:
        seconds: so far, without the compilation that is going on.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth, self._began = 0, 0.0

    def begin(self, _function: object) -> None:
        """Start the clock: a kernel begins to be compiled."""
        # what a kernel calls is compiled within its own compilation
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1

    def end(self) -> None:
        """Stop the clock that the last beginning started."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began


@contextmanager
def clock_compilation() -> Iterator[CompilationClock]:
    """Measure what is compiled until the end of the block."""
    clock = CompilationClock()
    with watch_compilation(clock.begin, clock.end):
        yield clock
