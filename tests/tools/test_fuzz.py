"""Property tests: the same examples in every run, others on demand, and a failure that can be repeated."""

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hypothesis", reason="hypothesis is not installed")

ROOT = Path(__file__).resolve().parents[2]
PLANTED = """
from hypothesis import given, strategies as st

@given(st.integers(0, 10**6))
def test_planted(n):
    assert n % 7 != 3

def test_without_draws():
    raise RuntimeError("this one draws nothing and is not asked")
"""
DRAWN = """
from hypothesis import given, strategies as st

@given(st.integers(0, 10**9))
def test_drawn(n):
    print("drew", n)
"""


@pytest.fixture
def workspace(tmp_path, monkeypatch) -> Path:
    """A workspace with the settings of this one and tests of its own."""
    for name in ("pyproject.toml", "conftest.py"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.setenv("HYPOTHESIS_STORAGE_DIRECTORY", str(tmp_path / "examples"))
    return tmp_path


@pytest.fixture
def fuzz(workspace, monkeypatch) -> Any:
    spec: Any = importlib.util.spec_from_file_location("fuzz", ROOT / "tools" / "fuzz.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", workspace)
    return module


def drawn(workspace: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "test_drawn.py"],
        cwd=workspace, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    return re.findall(r"drew (\d+)", done.stdout)


def test_examples_are_the_same_in_every_run(workspace):
    (workspace / "test_drawn.py").write_text(DRAWN)
    first = drawn(workspace)
    assert len(first) >= 100
    assert drawn(workspace) == first


def test_what_fails_at_random_is_named_with_the_command_that_repeats_it(workspace, fuzz, capsys):
    (workspace / "test_planted.py").write_text(PLANTED)
    # it ends when no test is left that has not failed, however slow the machine
    assert fuzz.main(["--minutes", "10", "--seed", "7", str(workspace / "test_planted.py")]) == 1
    told = capsys.readouterr().out
    assert told.count("failed with seed 7: test_planted.py::test_planted") == 1
    assert "1 tests failed" in told
    command = re.search(r"again: (.*)", told)
    assert command is not None
    again = subprocess.run(
        shlex.split(command[1]), cwd=workspace, capture_output=True, text=True, check=False, timeout=300
    )
    assert again.returncode == 1
    example = re.compile(r"n=\d+")
    log = (workspace / "build" / "fuzz" / "7.log").read_text()
    assert example.findall(again.stdout)[-1] == example.findall(log)[-1]


TWO = """
from hypothesis import given, strategies as st

@given(st.integers(0, 10**6))
def test_rods(n):
    assert n < 0

@given(st.integers(0, 10**6))
def test_rods_in_space(n):
    assert n >= 0
"""


def test_a_test_that_failed_is_left_out_without_those_whose_names_begin_so(workspace, fuzz):
    (workspace / "test_two.py").write_text(TWO)
    log = workspace / "round.log"
    failed, code = fuzz.one_round(["test_two.py"], ["test_two.py::test_rods"], 7, 100.0, log)
    assert (failed, code) == ([], 0)
    assert "1 passed, 1 deselected" in log.read_text()


def test_files_without_draws_are_left_out(workspace, fuzz):
    (workspace / "test_planted.py").write_text(PLANTED)
    (workspace / "test_plain.py").write_text("def test_plain():\n    pass\n")
    assert [Path(found).name for found in fuzz.drawing_tests([str(workspace)])] == ["test_planted.py"]
