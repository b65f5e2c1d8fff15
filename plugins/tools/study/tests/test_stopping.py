"""A study that is stopped stops the processes that run for it, writes that down, and says how to go on."""

from __future__ import annotations

import os
import signal
import time

import pytest

from corekit_run.folder import read_status
from corekit_study.journal import OUTCOMES

pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere a process can only be killed")

LONG = ("--vary", "time.duration=1000,2000,3000", "--out", "runs", "--quiet")
VERBS = {
    "sweep in processes": ("sweep", "{file}", *LONG, "--jobs", "2"),
    "sweep in one": ("sweep", "{file}", *LONG, "--jobs", "1"),
    "compare": ("compare", "{file}", *LONG),
    "run": ("run", "{file}", "--set", "time.duration=1000", "--out", "runs/1", "--quiet"),
}


def wait_for(condition):
    patience = time.monotonic() + 300.0  # of a machine that others keep busy
    while not condition() and time.monotonic() < patience:
        time.sleep(0.01)


def begun(folder):
    """Folders of runs that have made steps, here or in folders of cases."""
    return {path.parent for path in folder.glob("**/checkpoint-*[1-9]*.npz")}


@pytest.mark.parametrize(
    ("verb", "number"),
    [*((verb, signal.SIGTERM) for verb in VERBS), ("sweep in processes", signal.SIGINT)],
    ids=lambda each: {signal.SIGTERM: "sigterm", signal.SIGINT: "ctrl-c"}.get(each, each),
)
def test_what_is_stopped_says_so_and_how_to_go_on(verb, number, shell, scenario_file):
    started = shell.start(*(word.format(file=scenario_file) for word in VERBS[verb]))
    runs, at_once = shell.folder / "runs", 2 if "processes" in verb else 1
    wait_for(lambda: len(begun(runs)) == at_once)
    os.kill(started.pid, number)
    _out, err = started.communicate(60.0)
    assert started.poll() == (143 if number == signal.SIGTERM else 130), err
    assert "Traceback" not in err
    assert err.startswith("stopped by SIGTERM" if number == signal.SIGTERM else "stopped")
    folders = begun(runs)
    assert len(folders) == at_once  # none began after the request
    assert {read_status(path).status for path in folders} == {"interrupted"}
    if verb.startswith("sweep"):
        assert err.count("To go on: ") == 1
        assert "To go on: corekit sweep --resume runs" in err
        assert not (runs / OUTCOMES).exists()
    else:
        assert f"To go on: corekit run --resume runs/{folders.pop().name}" in err
    if verb == "compare":
        assert "0 of 3 runs had ended: runs. A comparison begins anew." in err


def test_a_sweep_that_was_stopped_goes_on(shell, scenario_file):
    vary = ("--vary", "time.duration=0.1,1000", "--out", "runs", "--quiet", "--jobs", "2")
    started = shell.start("sweep", str(scenario_file), *vary)
    stored = shell.folder / "runs" / OUTCOMES
    wait_for(lambda: stored.exists() and len(begun(shell.folder / "runs")) == 2)
    os.kill(started.pid, signal.SIGTERM)
    started.communicate(60.0)
    before = stored.read_text()
    again = shell.start("sweep", "--resume", "runs", "--quiet", "--jobs", "1")
    wait_for(lambda: read_status(shell.folder / "runs" / "2-1000").status == "running")
    os.kill(again.pid, signal.SIGTERM)
    _out, err = again.communicate(60.0)
    assert again.poll() == 143, err
    assert stored.read_text() == before
    assert before.count("\n") == 1


CASES = """
from corekit.registry.spec import Case
one = Case(paper="fake", name="one", source="Fig. 1", shows="One.", target="fake_long.run:long")
two = Case(paper="fake", name="two", source="Fig. 2", shows="Two.", target="fake_long.run:long")
"""
RUN = """
from corekit_study.case_run import Job

def long(case):
    case.run_all([Job(name=str(k), scenario=FILE, overrides=("time.duration=1000",)) for k in range(3)])
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_reproduction_stops_its_cases_and_their_runs(jobs, shell, scenario_file, monkeypatch):
    monkeypatch.setenv("COREKIT_PROCESSES", "4")
    modules = {
        "fake_long/__init__.py": "",
        "fake_long/_spec.py": CASES,
        "fake_long/run.py": RUN.replace("FILE", repr(str(scenario_file))),
    }
    points = "[corekit.cases]\nfake.one = fake_long._spec:one\nfake.two = fake_long._spec:two\n"
    shell.add("fake-long", points, modules)
    started = shell.start("reproduce", "fake", "--out", "runs", "--quiet", "--jobs", jobs)
    runs = shell.folder / "runs"
    count = 3 if jobs == "1" else 4
    wait_for(lambda: len(begun(runs)) == count)
    os.kill(started.pid, signal.SIGTERM)
    _out, err = started.communicate(60.0)
    assert started.poll() == 143, err
    assert "Traceback" not in err
    assert "To go on: corekit reproduce --resume runs" in err
    folders = [path.parent for path in runs.glob("*/*/STATUS")]
    assert len(folders) == count
    assert {read_status(path).status for path in folders} == {"interrupted"}
