"""Machine code is shared by equal sources, and no edit is missed."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import numba
import numpy as np
import pytest
from numba.core import event

from corekit.compiled import compiled
from corekit.compiled.kernels import Kernel

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
ASK = "from fake_kernels.caller import whole\nprint(whole(3.0), sum(whole.stats.cache_hits.values()))\n"


@pytest.fixture
def said():
    """What each process that `ask` started wrote to its error stream."""
    return []


@pytest.fixture
def ask(tmp_path, said, forked):
    """Write the package into a folder, call its kernel in a new process: the value and how often it was kept."""

    def asked(folder="here", *, factor=2.0, shift=0.5, cache="cache", **environment):
        package = tmp_path / folder / "fake_kernels"
        package.mkdir(parents=True, exist_ok=True)
        (package / "__init__.py").touch()
        sources = {"asking": ASK, "caller": CALLER, "parts": PART.format(factor=factor, shift=shift)}
        for name, source in sources.items():
            file = package / f"{name}.py"
            # a file that is written again is empty for a moment, in which a process beside would read it
            if not file.exists() or file.read_text() != source:
                file.write_text(source)
        # Python's own cache tells a source by size and whole seconds, and an edit here may change neither
        given = {
            **os.environ, "PYTHONPATH": str(package.parent), "COREKIT_CACHE": str(tmp_path / cache),
            "PYTHONDONTWRITEBYTECODE": "1", **environment,
        }  # fmt: skip
        done = forked.run(module="fake_kernels.asking", folder=tmp_path, environment=given)
        assert done.returncode == 0, done.stderr
        said.append(done.stderr)
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


@pytest.mark.parametrize("damage", [b"", b"\x80\x05 no pickle", None], ids=["empty", "other", "truncated"])
def test_a_damaged_file_counts_as_none(ask, tmp_path, damage):
    ask()
    files = [each for each in (tmp_path / "cache").rglob("*.nb?") if each.is_file()]
    assert len(files) == 4  # an index and its data, of the kernel and of what it calls
    for each in files:
        each.write_bytes(each.read_bytes()[:100] if damage is None else damage)
    assert ask() == (6.5, 0)
    assert ask() == (6.5, 1)


@pytest.mark.parametrize("part", ["machine code", "index"])
def test_a_bit_that_the_disk_turned_counts_as_none(ask, tmp_path, part):
    """A bit in the middle, which is a letter of a name or an instruction: unpickling does not notice it."""
    ask()
    for each in (tmp_path / "cache").rglob("*.nbc" if part == "machine code" else "*.nbi"):
        data = bytearray(each.read_bytes())
        data[len(data) // 2] ^= 1
        each.write_bytes(data)
    assert ask() == (6.5, 0)
    assert ask() == (6.5, 1)


def test_one_process_compiles_while_another_waits(ask):
    ask(cache="another")  # its sources stand before the others begin
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: ask(), range(4)))
    assert sorted(answers) == [(6.5, 0), (6.5, 1), (6.5, 1), (6.5, 1)]


@pytest.fixture
def kernel():
    """The decorator, with the attributes of what it makes."""

    def decorated(function) -> Kernel:
        return cast("Kernel", compiled(function))

    return decorated


def test_a_number_in_the_source_compiles_nothing_again(kernel):
    @kernel
    def power(x, exponent):
        return x**exponent

    @kernel
    def polynomial(x):
        return power(x, 2) + power(x, 3) + power(x, 4)

    assert polynomial(2.0) == 4.0 + 8.0 + 16.0
    assert len(power.callee.overloads) == 1


def test_what_kernels_call_has_no_machine_code_until_python_calls_it(kernel):
    @kernel
    def twice(x):
        return 2.0 * x

    @kernel
    def shifted(x):
        return twice(x) + 1.0

    assert shifted(3.0) == 7.0
    assert not twice.overloads
    (linked,) = twice.callee.overloads.values()
    assert linked.library.get_pointer_to_function(linked.fndesc.llvm_func_name) == 0
    assert twice(3.0) == 6.0
    assert len(twice.overloads) == 1
    (called,) = shifted.overloads.values()
    defined = [each.name for each in called.library._get_module_for_linking().functions]
    assert called.fndesc.llvm_cpython_wrapper_name in defined


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


def test_a_disabled_garbage_collector_stays_disabled(thresholds):
    gc.set_threshold(0, 20, 30)
    numba.njit(lambda x: x)(1.0)
    assert set(thresholds) == {0}
    assert gc.get_threshold() == (0, 20, 30)
