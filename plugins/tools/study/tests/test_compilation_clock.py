"""The clock of compilation counts what is compiled once, and waiting for another process."""

from __future__ import annotations

import time

from corekit.compiled import compiled, store
from corekit.compiled.watching import waiting
from corekit_study.compilation_clock import clock_compilation


def test_the_clock_runs_while_something_is_compiled_and_counts_what_it_calls_once(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "code_folder", lambda: tmp_path)  # empty in every session
    inner = compiled(lambda x: x * x + 1.0)
    outer = compiled(lambda x: inner(x) + inner(2.0 * x))
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
    compiled(lambda x: x - 1.0)(2.0)
    assert clock.seconds == first


def _half(x):
    return 0.5 * x


def test_the_clock_counts_waiting_for_another_process_that_compiles():
    half = compiled(_half)
    began = time.perf_counter()
    with clock_compilation() as clock:
        with waiting(half):
            time.sleep(0.05)
        time.sleep(0.05)
    assert 0.05 <= clock.seconds <= time.perf_counter() - began - 0.05
