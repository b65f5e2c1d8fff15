"""The clock of compilation counts what is compiled once, and waiting for another process."""

from __future__ import annotations

import itertools
import time
from types import SimpleNamespace

from corekit.compiled import compiled, store
from corekit.compiled.watching import waiting
from corekit_study import compilation_clock
from corekit_study.compilation_clock import clock_compilation


def test_the_clock_runs_while_something_is_compiled_and_counts_what_it_calls_once(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "code_folder", lambda: tmp_path)  # empty in every session
    inner = compiled(lambda x: x * x + 1.0)
    outer = compiled(lambda x: inner(x) + inner(2.0 * x))
    # a clock that goes on by 1 s whenever it is looked at: the work of this machine changes nothing
    looks = itertools.count()
    monkeypatch.setattr(compilation_clock, "time", SimpleNamespace(perf_counter=lambda: float(next(looks))))
    with clock_compilation() as clock:
        assert clock.seconds == 0.0
        assert outer(3.0) == 47.0
        # looked at where it starts and where it stops; a span within a span, counted too, would make more
        spans = clock.seconds
        assert spans >= 1.0
        assert next(looks) == 2.0 * spans
        outer(4.0)
        assert clock.seconds == spans
    compiled(lambda x: x - 1.0)(2.0)
    assert clock.seconds == spans


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
