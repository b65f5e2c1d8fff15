"""Compiling what a run needs, in two processes: one differentiates models and solves a contact, the run does the rest.

Half of the time of a first run goes into kernels of models' derivatives and of contact solvers, which need no contact.
A second process reads the run's own scenario, composes it and compiles them into the shared cache
(`corekit.compiled.store`), where the run finds them, or waits for the one that is just being compiled. It starts
only once something has to be compiled, so that every later run is one process. Beside a search whose result is
simulated afterwards it compiles all that the simulation needs.

`COREKIT_PROCESSES=1` keeps all of it in the process of the run.
"""

from __future__ import annotations

import subprocess
import tempfile
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from corekit.interpreters import python_command
from corekit_run.kernel_count import counted_compilation
from corekit_run.processes import process_count
from corekit_run.progress import Progress, ProgressCallback

__all__ = ["Compilation", "shown_compilation"]

_REPORT_EVERY = 0.1
"""Wall time between two reports of progress [s]."""


@contextmanager
def shown_compilation(report: ProgressCallback) -> Iterator[Compilation]:
    """Report what is compiled until the end of the block, and end a second process that still compiles then."""
    compilation = Compilation(report)
    with counted_compilation(compilation.begin):
        try:
            yield compilation
        finally:
            compilation.end()


@final
class Compilation:
    """Compilation for a run, and the second process that helps.

    Args:
        report: called at most ten times a second, with the phase `compiling`.
    """

    def __init__(self, report: ProgressCallback) -> None:
        self._report = report
        self._next = 0.0
        self._begun = False
        self._scenario: str | None = None
        self._step = False
        self._helper: subprocess.Popen[bytes] | None = None

    def share(self, scenario: str, *, step: bool = False) -> None:
        """Start a second process as soon as something is compiled, or at once if something was.

        Args:
            scenario: text of the run's resolved scenario.
            step: whether it compiles what a whole step needs, not models and contact solver alone.
        """
        self._scenario, self._step = scenario, step
        if self._begun:
            self._start_helper()

    def begin(self, done: int, count: int) -> None:
        """Report that a function is about to be compiled, while `done` of the `count` known to be needed are ready."""
        if not self._begun:
            self._begun = True
            self._start_helper()
        now = clock.perf_counter()
        if now >= self._next:
            self._next = now + _REPORT_EVERY
            self._report(Progress("compiling", compiled=done, kernels=count))

    def end(self) -> None:
        """Stop the second process: whatever it still compiles is not needed now."""
        helper, self._helper = self._helper, None
        if helper is not None:
            helper.terminate()
            helper.wait()

    def _start_helper(self) -> None:
        if self._scenario is None or self._helper is not None or process_count() < 2:
            return
        words = python_command("-m", "corekit_run.warm_up", *(["--step"] if self._step else []))
        try:
            # not a pipe: a long text would wait in it until the process has started
            with tempfile.TemporaryFile() as text:
                text.write(self._scenario.encode())
                text.seek(0)
                self._helper = subprocess.Popen(
                    words, stdin=text, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
        except OSError:  # the run compiles everything itself, as it would after a while
            self._scenario = None
