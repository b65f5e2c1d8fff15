"""Functions that a scenario names are imported where its user allows code, and nowhere else."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from corekit.errors import ConfigError
from corekit.roles.code import code_allowed, import_function, names_function

PATH = "bodies.arm.options.load"


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that leaves a file behind when it is imported."""
    source = (
        f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\ndef f(): return 3\nnumber = 4\n"
    )
    (tmp_path / "leaves_a_trace.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    yield "leaves_a_trace"
    sys.modules.pop("leaves_a_trace", None)


def refused(name):
    with pytest.raises(ConfigError) as caught:
        import_function(name, PATH)
    (mistake,) = caught.value.mistakes
    assert (mistake.path, mistake.found) == (PATH, name)
    return mistake.allowed


def test_by_default_nothing_is_imported_and_one_sentence_says_how_to_allow_it(module, tmp_path):
    said = refused(f"{module}:f")
    assert "--allow-code" in said
    assert "allow_code=True" in said
    assert not (tmp_path / "ran").exists()


def test_a_permission_ends_with_its_block(module, tmp_path):
    with code_allowed(True):
        with code_allowed(False):
            assert "--allow-code" in refused(f"{module}:f")
        assert not (tmp_path / "ran").exists()
        assert import_function(f"{module}:f", PATH)() == 3
    assert (tmp_path / "ran").exists()
    with pytest.raises(RuntimeError), code_allowed(True):
        raise RuntimeError
    assert "--allow-code" in refused(f"{module}:f")


def test_a_permission_does_not_reach_another_thread(module):
    with code_allowed(True), ThreadPoolExecutor(1) as pool:
        assert "--allow-code" in pool.submit(refused, f"{module}:f").result()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("leaves_a_trace:number", "none called 'number'"),
        ("leaves_a_trace:g", "none called 'g'"),
        ("no_such_module:f", "ModuleNotFoundError"),
        ("no such file.py:f", "FileNotFoundError"),
        ("f", "must name a Python function"),
        ("a b:f", "must name a Python function"),
    ],
)
def test_what_is_no_function_s_name_is_reported(module, name, said):
    with code_allowed(True):
        assert said in refused(name)


def test_names_are_distinguished_from_formulas():
    assert all(map(names_function, ["m:f", "a.b_1:f2", " m:f ", "my loads.py:f", "/a/b.py:f"]))
    assert not any(
        map(names_function, ["X**2", "m:f()", "m.py:f()", "a/b:f", "m:", ":f", "a:b:c", 3, None, len])
    )
