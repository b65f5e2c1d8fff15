"""Machine code is shared by equal sources, and no edit is missed."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import numba
import pytest
from numba.core import event

from corekit.compiled import compiled

CALLER = """
from corekit.compiled import compiled
from fake_kernels import parts
from fake_kernels.parts import part

@compiled
def whole(x):
    return part(x) + parts.SHIFT
"""
PART = """
from corekit.compiled import compiled

SHIFT = {shift}

@compiled
def part(x):
    return {factor} * x
"""
ASK = "from fake_kernels.caller import whole; print(whole(3.0), sum(whole.stats.cache_hits.values()))"


@pytest.fixture
def ask(tmp_path):
    """Write the package into a folder, call its kernel in a new process: the value and how often it was kept."""

    def asked(folder="here", *, factor=2.0, shift=0.5, cache="cache", **environment):
        package = tmp_path / folder / "fake_kernels"
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").touch()
        (package / "caller.py").write_text(CALLER)
        (package / "parts.py").write_text(PART.format(factor=factor, shift=shift))
        given = {
            **os.environ, "PYTHONPATH": str(package.parent), "COREKIT_CACHE": str(tmp_path / cache), **environment
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", ASK], env=given, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        value, hits = done.stdout.split()
        return float(value), int(hits)

    return asked


def test_equal_sources_elsewhere_find_the_machine_code(ask):
    assert ask("here") == (6.5, 0)
    assert ask("here") == (6.5, 1)
    assert ask("there") == (6.5, 1)


def test_an_edit_of_a_callee_or_of_a_constant_reaches_the_caller(ask):
    ask()
    assert ask(factor=4.0) == (12.5, 0)
    assert ask(factor=4.0, shift=1.0) == (13.0, 0)
    assert ask() == (6.5, 1)  # and back again, what was kept is still there


def test_a_new_caller_is_compiled_from_a_callee_that_was_kept(ask, tmp_path):
    assert ask() == (6.5, 0)
    for kept in (tmp_path / "cache/machine-code").glob("fake_kernels.caller-*/*"):
        kept.unlink()
    assert ask() == (6.5, 0)


def test_of_many_states_of_a_module_the_newest_are_kept(ask, tmp_path):
    folder = tmp_path / "cache/machine-code"
    for age in range(5):
        old = folder / f"fake_kernels.parts-{age}"
        old.mkdir(parents=True)
        os.utime(old, (1e9 - age, 1e9 - age))
    ask()
    kept = {path.name.rpartition("-")[2] for path in folder.glob("fake_kernels.parts-*")}
    assert {"0", "1", "2"} < kept
    assert len(kept) == 4


def test_a_folder_that_cannot_be_written_costs_only_the_keeping(ask, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert ask() == (6.5, 0)


@pytest.fixture
def thresholds():
    """How many new objects are awaited before garbage is searched for, at each compilation that begins."""
    before, seen = gc.get_threshold(), []

    class Watch(event.Listener):
        def on_start(self, event):
            seen.append(gc.get_threshold()[0])

        def on_end(self, event):
            pass

    with event.install_listener("numba:compile", Watch()):
        yield seen
    gc.set_threshold(*before)


def test_garbage_is_searched_for_seldom_while_compiling_and_as_before_after(thresholds):
    gc.set_threshold(10, 20, 30)
    inner = numba.njit(lambda x: x + 1.0)
    assert numba.njit(lambda x: 2.0 * inner(x))(1.0) == 4.0
    with pytest.raises(numba.TypingError):
        compiled(lambda x: x.nothing)(1.0)
    assert len(thresholds) >= 3
    assert min(thresholds) >= 100_000
    assert gc.get_threshold() == (10, 20, 30)


def test_who_never_searches_for_garbage_is_left_alone(thresholds):
    gc.set_threshold(0, 20, 30)
    numba.njit(lambda x: x)(1.0)
    assert set(thresholds) == {0}
    assert gc.get_threshold() == (0, 20, 30)
