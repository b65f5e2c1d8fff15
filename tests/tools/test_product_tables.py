"""A run of tests takes few cells of a product table and says so; `--full` takes all, and a cell that is named runs."""

import os

import pytest

PLANTED = """
import pytest

@pytest.mark.product_table
@pytest.mark.parametrize("one", range(3))
@pytest.mark.parametrize("two", range(3))
@pytest.mark.parametrize("three", range(3))
def test_cell(one, two, three):
    pass

@pytest.mark.parametrize("number", range(4))
def test_other(number):
    pass
"""


@pytest.fixture
def run(tmp_path, forked):
    (tmp_path / "test_planted.py").write_text(PLANTED)
    plugins = ["-p", "corekit_testing.product_tables", "-p", "no:cacheprovider"]
    # others take longer to import than this runs
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    def run(*words):
        done = forked.run(*plugins, *words, module="pytest", folder=tmp_path, environment=alone)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.mark.parametrize("processes", ["1", "0"])
def test_it_says_how_many_cells_it_left_out(run, processes):
    said = run("-p", "xdist", "--numprocesses", processes)
    (passed,) = (number for number in range(9 + 4, 27 + 4) if f" {number} passed" in said)
    assert f"{27 + 4 - passed} cells of product tables were left out" in said


def test_full_runs_every_cell(run):
    said = run("--full")
    assert f" {27 + 4} passed" in said
    assert "left out" not in said


def test_cells_that_are_named_run(run):
    said = run(*(f"test_planted.py::test_cell[{each}]" for each in ("0-1-2", "2-2-1")))
    assert " 2 passed" in said
