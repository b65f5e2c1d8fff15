"""What numba's private parts are overridden for, and that no other module knows them."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numba
import numpy as np
import pytest
from numba.core import registry
from numba.extending import overload

from corekit.compiled import compiled
from corekit.compiled.kernels import TESTED, is_plain
from corekit.compiled.watching import watch_compilation

ROOT = Path(__file__).parents[2]
DOCUMENTED = {"numba", "numba.extending", "numba.core.event", "llvmlite.ir"}
"""Modules that the manuals of numba and llvmlite offer to others."""

overridden = pytest.mark.skipif(is_plain(), reason="kernels are numba's own")


@pytest.fixture
def empty(monkeypatch, tmp_path):
    """No kernel is kept yet: each is compiled."""
    monkeypatch.setattr("corekit.compiled.store.code_folder", lambda: tmp_path)


def _imports(file):
    text = file.read_text()
    if "numba" not in text and "llvmlite" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for each in node.names:
                whole = f"{node.module}.{each.name}"
                yield whole if whole in DOCUMENTED or node.module == "numba.core" else node.module


def test_one_module_imports_what_numba_keeps_private():
    files = [
        *ROOT.glob("corekit/**/*.py"),
        *ROOT.glob("plugins/*/*/src/**/*.py"),
        *ROOT.glob("scenarios/**/*.py"),
    ]
    private = {
        file.relative_to(ROOT).as_posix()
        for file in files
        for name in _imports(file)
        if name.partition(".")[0] in {"numba", "llvmlite"} and name not in DOCUMENTED
    }
    assert private == {"corekit/compiled/internals.py"}


def test_the_version_that_is_installed_is_among_those_that_were_tested():
    """Fails with a new numba: try `internals` with it by its number in `TESTED`, and the tests of this folder."""
    minor = ".".join(numba.__version__.split(".")[:2])
    assert minor in TESTED or os.environ.get("COREKIT_COMPILER") == "plain"


@overridden
@pytest.mark.parametrize("damage", [b"", b"\x80\x05 no pickle", None], ids=["empty", "other", "truncated"])
def test_a_damaged_file_counts_as_none(ask, tmp_path, damage):
    ask()
    files = [each for each in (tmp_path / "cache").rglob("*.nb?") if each.is_file()]
    assert len(files) == 4  # an index and its data, of the kernel and of what it calls
    for each in files:
        each.write_bytes(each.read_bytes()[:100] if damage is None else damage)
    assert ask() == (6.5, 0)
    assert ask() == (6.5, 1)


@overridden
def test_code_that_was_kept_is_loaded_without_what_numba_compiles_with(ask, tmp_path):
    ask()
    code = "import sys; from fake_kernels.caller import whole; print(whole(3.0), 'numba.np.npyimpl' in sys.modules)"
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path / "here"),
        "COREKIT_CACHE": str(tmp_path / "cache"),
    }
    said = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert said.split() == ["6.5", "False"]


@overridden
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


@overridden
def test_one_process_compiles_while_another_waits(ask):
    ask(cache="another")  # its sources stand before the others begin
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: ask(), range(4)))
    assert sorted(answers) == [(6.5, 0), (6.5, 1), (6.5, 1), (6.5, 1)]


@overridden
def test_who_watches_hears_that_another_process_is_waited_for(monkeypatch, tmp_path):
    monkeypatch.setattr("corekit.compiled.store.code_folder", lambda: tmp_path)  # nothing is kept there
    half = compiled(_half)
    begun, ended = [], []
    with watch_compilation(begun.append, lambda: ended.append(None)):
        assert half(3.0) == 1.5
    assert begun == [_half, _half]  # it was locked, then compiled
    assert len(ended) == 2


def _half(x):
    return 0.5 * x


@overridden
def test_a_number_in_the_source_compiles_nothing_again():
    @compiled
    def power(x, exponent):
        return x**exponent

    @compiled
    def polynomial(x):
        return power(x, 2) + power(x, 3) + power(x, 4)

    assert polynomial(2.0) == 4.0 + 8.0 + 16.0
    assert len(cast("Any", power).callee.overloads) == 1


@overridden
def test_what_kernels_call_has_no_machine_code_until_python_calls_it():
    @compiled
    def twice(x):
        return 2.0 * x

    @compiled
    def shifted(x):
        return twice(x) + 1.0

    assert shifted(3.0) == 7.0
    part, whole = cast("Any", twice), cast("Any", shifted)
    assert not part.overloads
    (linked,) = part.callee.overloads.values()
    assert linked.library.get_pointer_to_function(linked.fndesc.llvm_func_name) == 0
    assert twice(3.0) == 6.0
    assert len(part.overloads) == 1
    (called,) = whole.overloads.values()
    defined = [each.name for each in called.library._get_module_for_linking().functions]
    assert called.fndesc.llvm_cpython_wrapper_name in defined


def _looks(x):
    total = 0.0
    for row in x.reshape((2, 2)).T:
        total += row[1:][0]
    return total


def _makes(x):
    return (x + 1.0)[0]


def _hands_out(x):
    return x[1:]


@overridden
@pytest.mark.parametrize(("function", "counts"), [(_looks, False), (_makes, True), (_hands_out, True)])
def test_references_are_counted_only_where_an_array_is_made_or_handed_out(function, counts, empty):
    kernel = cast("Any", compiled(function))
    kernel(np.array([3.0, 1.0, 4.0, 1.5]))
    (code,) = kernel.inspect_llvm().values()
    assert ("NRT_" in code) == counts


@overridden
def test_answers_about_operators_are_remembered_for_all_kernels(empty):
    """Fails if numba no longer asks its typing context, or keeps its state elsewhere."""
    whole = cast("Any", registry.cpu_target.typing_context)

    @compiled
    def difference(x, y):
        return x - y

    assert difference(3.0, 1) == 2.0
    known = [sig for (asked, *_), (sig, _) in whole._known_to_corekit.items() if "sub" in str(asked)]
    assert numba.float64(numba.float64, numba.float64) in known


def _share(x, y):
    return x / y


@overridden
def test_what_numba_compiles_for_a_kernel_follows_the_options_of_that_kernel(empty):
    """What is remembered of a function must not serve another kernel, in which division by zero raises."""
    overload(_share)(lambda x, y: lambda x, y: x / y)

    @compiled
    def gives_inf(x, y):
        return _share(x, y)

    @compiled(error_model="python")
    def raises(x, y):
        return _share(x, y)

    @compiled
    def gives_inf_still(x, y):
        return _share(x, y)

    assert gives_inf(1.0, 0.0) == np.inf
    with pytest.raises(ZeroDivisionError):
        raises(1.0, 0.0)
    assert gives_inf_still(1.0, 0.0) == np.inf
