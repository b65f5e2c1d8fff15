"""The clock of compilation counts what is compiled once, and waiting for another process."""

from __future__ import annotations

import time

import numba
from filelock import FileLock
from numba.core import event

from corekit.compiled import compiled, store
from corekit_study.compilation_clock import CompilationClock, clock_compilation


def test_the_clock_runs_while_something_is_compiled_and_counts_what_it_calls_once():
    inner = numba.njit(lambda x: x * x + 1.0)
    outer = numba.njit(lambda x: inner(x) + inner(2.0 * x))
    with clock_compilation() as clock:
        time.sleep(0.01)
        assert clock.seconds == 0.0
        began = time.perf_counter()
        assert outer(3.0) == 47.0
        took = time.perf_counter() - began
        # the call is compilation but for some microseconds; counted twice, the inner one would exceed it
        assert 0.9 * took < clock.seconds <= took
        first = clock.seconds
        outer(4.0)
        assert clock.seconds == first
    numba.njit(lambda x: x - 1.0)(2.0)
    assert clock.seconds == first


def _half(x):
    return 0.5 * x


def test_the_clock_counts_waiting_for_another_process_that_compiles(monkeypatch, tmp_path):
    class Held(FileLock):
        """A lock that another process holds for a while."""

        def acquire(self, *given, **options):
            time.sleep(0.05)
            return super().acquire(*given, **options)

    monkeypatch.setattr(store, "code_folder", lambda: tmp_path)  # empty in every session
    monkeypatch.setattr(store, "FileLock", Held)
    half = compiled(_half)
    compiling = CompilationClock()
    with clock_compilation() as clock, event.install_listener("numba:compile", compiling):
        assert half(3.0) == 1.5
    assert clock.seconds - compiling.seconds >= 0.05
