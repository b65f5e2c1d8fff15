"""How many functions are ready and needed, as a run shows it while it compiles."""

from __future__ import annotations

import gc
from typing import Any, cast

import numpy as np

from corekit.compiled import compiled, store
from corekit.compiled.watching import ready_functions
from corekit_run.kernel_count import counted_compilation


def _double(x):
    return 2.0 * x


def _triple(x):
    return 3.0 * x


def test_a_function_that_another_process_compiled_counts_as_ready(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "code_folder", lambda: tmp_path)  # empty in every session
    compiled(_double)(1.0)  # its kernel goes, as that of another process
    gc.collect()
    assert _double not in ready_functions()
    reports: list[tuple[int, int]] = []
    with counted_compilation(lambda done, count: reports.append((done, count))):
        loaded = cast("Any", compiled(_double))
        loaded(1.0)
        assert sum(loaded.stats.cache_hits.values()) == 1
        ready = ready_functions()
        assert _double in ready
        compiled(_triple)(np.float32(1.0))
    done = reports[0][0]
    assert set(reports) == {(done, done + 1)}  # perhaps twice: it is locked, then compiled
    assert done >= len(ready)


def _fourfold(x):
    return _doubled(_doubled(x))


def _doubled(x):
    return 2.0 * x


def _eightfold(x):
    return _fourfold(_doubled(x))


def test_what_a_kernel_calls_is_known_to_be_needed_when_it_begins(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "code_folder", lambda: tmp_path)  # empty in every session
    for function in (_doubled, _fourfold, _eightfold):
        monkeypatch.setitem(globals(), function.__name__, compiled(function))
    reports: list[tuple[int, int]] = []
    with counted_compilation(lambda done, count: reports.append((done, count))):
        _fourfold(1.0)
        _eightfold(1.0)
        compiled(lambda x: 9.0 * x)(1.0)
    begun = reports[0][0]
    needed = [count - begun for _, count in reports]
    # two of the first kernel, then one more, then the one that tells that all before are ready
    assert list(dict.fromkeys(needed)) == [2, 3, 4]
    assert reports[-1] == (begun + 3, begun + 4)
