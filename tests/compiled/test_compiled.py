"""Machine code is shared by equal sources, and no edit is missed."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core import event

from corekit.compiled import compiled


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
    for kept in (tmp_path / "cache/machine-code").glob("*/fake_kernels.caller-*/*"):
        kept.unlink()
    assert ask() == (6.5, 0)


def test_of_many_states_of_a_module_the_newest_are_kept(ask, tmp_path):
    folder = tmp_path / "cache/machine-code" / f"numba-{numba.__version__}"
    for age in range(5):
        old = folder / f"fake_kernels.parts-{age}"
        old.mkdir(parents=True)
        os.utime(old, (1e9 - age, 1e9 - age))
    ask()
    kept = {path.name.rpartition("-")[2] for path in folder.glob("fake_kernels.parts-*")}
    assert {"0", "1", "2"} < kept
    assert len(kept) == 4


def test_versions_of_numba_keep_their_machine_code_side_by_side(ask, tmp_path):
    own = tmp_path / "cache/machine-code" / f"numba-{numba.__version__}"
    other = own.with_name("numba-0.1")
    ask()
    own.rename(other)
    assert ask() == (6.5, 0)  # what another version compiled is not loaded
    assert ask() == (6.5, 1)
    assert list(other.glob("fake_kernels.caller-*"))  # and not thrown away


def test_a_folder_that_cannot_be_written_costs_only_the_keeping(ask, said, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert ask() == (6.5, 0)
    assert "cannot be written" in said[-1]
    assert "COREKIT_CACHE" in said[-1]


NO_HOME = """
import os, pwd
def unknown(_): raise KeyError
pwd.getpwuid = pwd.getpwnam = unknown
"""


@pytest.mark.skipif(os.name == "nt", reason="on Windows the system knows the user's folders")
@pytest.mark.parametrize("before", ["", NO_HOME], ids=["unwritable home", "no home"])
def test_without_a_home_the_compiled_is_kept_for_the_process_which_says_so_once(before, tmp_path):
    unset = {"HOME", "XDG_CACHE_HOME", "COREKIT_CACHE"}
    environment = {key: value for key, value in os.environ.items() if key not in unset}
    environment |= {"TMPDIR": str(tmp_path)} | ({} if before else {"HOME": "/dev/null/nowhere"})
    asked = "from corekit.compiled.store import code_folder as root\nassert root() == root() and root().is_dir()\n"
    done = subprocess.run(
        [sys.executable, "-c", before + asked], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("COREKIT_CACHE") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps a user's folders to the user")
def test_a_folder_that_others_may_write_to_is_not_trusted(ask, said, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    assert ask() == (6.5, 0)
    assert "may be written by other users" in said[-1]
    assert not list((tmp_path / "cache").glob("machine-code/*/fake*"))
    (tmp_path / "cache").chmod(0o755)
    ask()
    assert ask() == (6.5, 1)
    assert not said[-1]


def test_an_error_in_what_a_kernel_calls_reaches_python():
    @compiled
    def checked(x):
        if x < 0.0:
            raise ValueError("negative")
        return x

    @compiled
    def root(x):
        return np.sqrt(checked(x))

    assert root(4.0) == 2.0
    with pytest.raises(ValueError, match="negative"):
        root(-4.0)


def test_a_kernel_that_calls_itself_is_compiled_once():
    @compiled
    def factorial(n):
        if n < 2:
            return 1
        return n * factorial(n - 1)

    assert factorial(5) == 120


def test_a_kernel_that_cannot_be_compiled_says_so_each_time_without_waiting():
    @compiled
    def wrong(x):
        return x.nothing

    for _ in range(2):
        with pytest.raises(numba.TypingError, match="nothing"):
            wrong(1.0)


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


def test_garbage_is_collected_seldom_while_compiling_and_as_before_afterwards(thresholds):
    gc.set_threshold(10, 20, 30)
    inner = numba.njit(lambda x: x + 1.0)
    assert numba.njit(lambda x: 2.0 * inner(x))(1.0) == 4.0
    with pytest.raises(numba.TypingError):
        compiled(lambda x: x.nothing)(1.0)
    assert len(thresholds) >= 3
    assert min(thresholds) >= 100_000
    assert gc.get_threshold() == (10, 20, 30)


@pytest.mark.parametrize("fails", ["on_start", "on_end"])
def test_garbage_is_collected_as_ever_after_another_listener_failed(thresholds, fails):
    """What keeps a beginning or an end from the one that counts them left it waiting for the other."""

    class Failing(event.Listener):
        def on_start(self, event):
            if fails == "on_start":
                raise RuntimeError("fails")

        def on_end(self, event):
            if fails == "on_end":
                raise RuntimeError("fails")

    failing = Failing()
    event.register("numba:compile", failing)
    event._registered["numba:compile"].sort(key=lambda each: each is not failing)
    try:
        with pytest.raises(RuntimeError, match="fails"):
            numba.njit(lambda x: x - 1.0)(1.0)
    finally:
        event.unregister("numba:compile", failing)
    thresholds.clear()
    gc.set_threshold(10, 20, 30)
    assert numba.njit(lambda x: x + 1.0)(1.0) == 2.0
    assert min(thresholds) >= 100_000
    assert gc.get_threshold() == (10, 20, 30)


def test_a_disabled_garbage_collector_stays_disabled(thresholds):
    gc.set_threshold(0, 20, 30)
    numba.njit(lambda x: x)(1.0)
    assert set(thresholds) == {0}
    assert gc.get_threshold() == (0, 20, 30)


TYPED = r"""
from corekit.compiled import compiled
def cell(text):
    exec(compile(text, "<cell>", "exec"), globals())
cell("@compiled\ndef part(x):\n    return 2.0 * x")
cell("@compiled\ndef whole(x):\n    return part(x) + 1.0")
print(whole(3.0))
cell("@compiled\ndef part(x):\n    return 4.0 * x")
cell("@compiled\ndef whole(x):\n    return part(x) + 1.0")
print(whole(3.0))
"""


def test_what_was_typed_into_a_notebook_is_never_confused_with_what_stood_there_before(tmp_path, forked):
    (tmp_path / "notebook.py").write_text(TYPED)
    environment = {**os.environ, "COREKIT_CACHE": str(tmp_path / "cache")}
    for _ in range(2):
        done = forked.run(module="notebook", folder=tmp_path, environment=environment)
        assert done.stdout.split() == ["7.0", "13.0"], done.stderr


def test_a_place_that_a_user_gave_numba_for_other_code_is_not_used(ask, tmp_path):
    """numba keeps code there by the time stamp of one file: an edit of a callee would not reach its caller."""
    given = {
        "NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator",
        "NUMBA_CACHE_DIR": str(tmp_path / "other"),
    }
    assert ask(**given) == (6.5, 0)
    assert ask(factor=4.0, **given) == (12.5, 0)
    assert not (tmp_path / "other").exists()
