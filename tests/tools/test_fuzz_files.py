"""Damaged files are made the same by the same seed, and what is no clear error is found."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("resource", reason="needs limits of memory")


@pytest.fixture
def tools(monkeypatch) -> Any:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "tools"))
    import fuzz_files
    import fuzz_kinds

    yield fuzz_files, fuzz_kinds
    for name in ("fuzz_files", "fuzz_kinds", "fuzz_mutations"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ["fit", "plan", "sweep", "memory", "ply", "robot"])
def test_some_files_of_the_quick_kinds_end_as_they_should(tools, tmp_path, name):
    files, kinds = tools
    assert [files.failure_of(kinds.KINDS[name], seed, tmp_path) for seed in range(20)] == [None] * 20


def test_a_raw_error_and_a_hang_are_failures_that_their_seed_repeats(tools, tmp_path, monkeypatch):
    files, kinds = tools
    fragile = kinds.Kind(
        "fragile", ".txt", lambda chance: chance.randbytes(1), lambda file: 1 // (file.read_bytes()[0] % 5)
    )
    found = [files.failure_of(fragile, seed, tmp_path) for seed in range(40)]
    assert any(found)
    assert not all(found)
    assert all(each is None or ("ZeroDivisionError" in each[0] and each[1][0] % 5 == 0) for each in found)
    assert found == [files.failure_of(fragile, seed, tmp_path) for seed in range(40)]

    def stay(_file):
        while True:
            pass

    def wait(_file):
        time.sleep(60.0)

    for reader in (stay, wait):
        lasting = kinds.Kind("lasting", ".txt", lambda chance: b"", reader)
        assert "Hang" in files.failure_of(lasting, 0, tmp_path, patience=0.1)[0]
    # what another process does with the processor is no hang, and here may be much
    monkeypatch.setattr(files, "STANDSTILL", 1000.0)
    beside = kinds.Kind("beside", ".txt", lambda chance: b"", lambda _file: time.sleep(0.3))
    assert files.failure_of(beside, 0, tmp_path, patience=0.1) is None
