"""A quick run leaves out the tests that a list names, and says so; a plain one runs all; the list is measured."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLANTED = """
import time
import pytest

@pytest.mark.parametrize("seconds", [0.0, 0.3])
@pytest.mark.xdist_group("one")
def test_wait(seconds):
    time.sleep(seconds)

def test_other():
    pass
"""
PLUGINS = ("corekit_testing.slow_tests", "corekit_testing.product_tables", "no:cacheprovider")
PYTEST = [f"-p{each}" for each in PLUGINS]
ALONE = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""What other plugins there are takes longer to import than the tests here."""
SLOW = "planted/test_planted.py::test_wait[0.3]"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "planted").mkdir()
    (tmp_path / "planted" / "test_planted.py").write_text(PLANTED)
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = planted\nslow_tests = slow.txt\n")
    (tmp_path / "slow.txt").write_text(f"{SLOW}\n")
    return tmp_path


@pytest.fixture
def ask(forked, folder):
    """Run pytest with some words in the folder."""

    def ask(*words):
        xdist = ("-p", "xdist") if "--numprocesses" in words else ()
        return forked.run(*PYTEST, *xdist, *words, module="pytest", folder=folder, environment=ALONE)

    return ask


@pytest.fixture
def run(ask):
    """What a run says in which nothing fails."""

    def run(*words):
        done = ask(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("words", [("--numprocesses", "2", "--dist", "loadgroup"), ()])
def test_it_is_left_out_and_that_is_said(run, words):
    said = run("--quick", *words)
    assert " 2 passed" in said
    assert "1 slow tests were left out" in said


@pytest.mark.parametrize("words", [("planted",), ("-k", "_"), ("--full", "--numprocesses", "2")])
def test_a_choice_of_tests_can_be_quick_too(run, words):
    said = run("--quick", *words)
    assert " 2 passed" in said
    assert "1 slow tests were left out" in said


@pytest.mark.parametrize(
    "words", [(), ("--full",), ("planted",), ("-k", "_"), (SLOW,), ("--numprocesses", "2")]
)
def test_a_plain_run_leaves_nothing_out(run, words):
    said = run(*words)
    assert f" {1 if SLOW in words else 3} passed" in said
    assert "left out" not in said


@pytest.mark.parametrize("words", [("--numprocesses", "2", "--dist", "loadgroup"), ()])
def test_the_list_is_measured(folder, run, words):
    (folder / "slow.txt").write_text("planted/test_planted.py::test_wait[0.0]\n")
    assert " 3 passed" in run(*words, "--slow-above", "0.2")
    assert (folder / "slow.txt").read_text() == f"{SLOW}\n"


@pytest.mark.parametrize(
    ("words", "broken"),
    [(("planted",), False), (("-k", "wait"), False), (("--quick",), False), ((), True)],
    ids=["path", "k", "quick", "failed"],
)
def test_a_part_of_the_tests_writes_no_list(folder, ask, words, broken):
    if broken:
        (folder / "planted" / "test_broken.py").write_text("def test_broken():\n    assert False\n")
    (folder / "slow.txt").write_text("kept\n")
    done = ask(*words, "--slow-above", "0")
    assert done.returncode == (1 if broken else 4)
    assert broken or "it goes with no choice of tests" in done.stderr
    assert (folder / "slow.txt").read_text() == "kept\n"


def test_every_test_of_our_lists_is_there():
    lists = (ROOT / "tests" / "slow_tests.txt").read_text(encoding="utf-8").splitlines()
    longest = re.findall(
        r"^\| `(\S+::\w+)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(longest) == 10
    for line in lists + longest:
        file, _, rest = line.partition("::")
        name = re.escape(rest.partition("[")[0])
        text = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"def {name}\(|^{name} = |, {name} = ", text, re.MULTILINE), line
