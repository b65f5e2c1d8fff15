"""Batches of runs: the same on one core as on several, stored run by run, gone on with after a kill."""

from __future__ import annotations

import json
import os
import time
from contextlib import nullcontext
from datetime import datetime, timedelta

import pytest

from corekit.cli import main
from corekit.errors import ConfigError
from corekit_record.results import Results
from corekit_run import schedulers
from corekit_run.cli.progress_line import ProgressLine
from corekit_run.progress import Progress
from corekit_study.batch import Job, run_batch
from corekit_study.journal import OUTCOMES


def jobs(file, *durations):
    return [
        Job(name=f"d{duration}", scenario=str(file), overrides=(f"time.duration={duration}",))
        for duration in durations
    ]


def lines(folder):
    return (folder / OUTCOMES).read_text().splitlines()


def counted(outcomes):
    """What does not depend on the clock."""
    return {name: (each.error, each.completed, each.statistics) for name, each in outcomes.items()}


def test_processes_give_the_same_outcomes_as_one_run_after_the_other(tmp_path, scenario_file):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    asked = jobs(scenario_file, 0.3, 0.1, 0.2)
    serial, parallel = run_batch(asked, one, workers=0), run_batch(asked, other, workers=2)
    assert list(parallel) == ["d0.3", "d0.1", "d0.2"]
    assert counted(parallel) == counted(serial)
    assert [each.statistics["steps"] for each in serial.values()] == [150, 50, 100]
    assert len(Results(other / "d0.2").time) == 11


class Told:
    def __init__(self):
        self.seen = []

    def __call__(self, progress):
        self.seen.append(progress)

    def warn(self, sentence):
        raise AssertionError(sentence)


def test_progress_counts_runs_and_foresees_the_end_from_the_rate_so_far(tmp_path, scenario_file):
    """Runs that were stored before count as done, and not for the rate."""
    run_batch(jobs(scenario_file, 0.1), tmp_path, workers=0)
    told, began = Told(), time.perf_counter()
    run_batch(jobs(scenario_file, 0.1, 0.2, 0.3), tmp_path, lambda _name: nullcontext(told), workers=0)
    wall = time.perf_counter() - began
    assert [(each.time, each.unit) for each in told.seen] == [(2.0, "runs"), (3.0, "runs")]
    assert [each.fraction for each in told.seen] == pytest.approx([2 / 3, 1.0])
    first, last = told.seen
    assert first.remaining == pytest.approx(1.0 / first.rate)
    assert last.remaining == 0.0
    assert last.rate > 2.0 / wall  # of the two that were made now


def test_a_log_tells_how_many_runs_are_done_and_until_when_the_others_last(monkeypatch, capsys):
    monkeypatch.setattr("corekit_run.cli.progress_line._EVERY", 0.0)
    before = datetime.now().astimezone()
    with ProgressLine("sweep") as line:
        line(Progress("running", 0.25, 100.0, 2.0, 150.0, None, unit="runs"))
    said = capsys.readouterr().err
    assert "sweep: 100 runs done, 2 a second, 2 min 30 s left, until " in said
    # the minute in which it ends, by the clock that was read before or after the line
    ends = {
        (each + timedelta(seconds=150)).strftime("%H:%M") for each in (before, datetime.now().astimezone())
    }
    assert said.split("until ")[1].strip() in ends


def test_a_run_that_fails_is_an_outcome_and_the_others_go_on(tmp_path, scenario_file):
    bad = Job(name="bad", scenario=str(scenario_file), overrides=("bodies[0].options.masses=[0.0]",))
    outcomes = run_batch([bad, *jobs(scenario_file, 0.1)], tmp_path, workers=0)
    assert "singular" in outcomes["bad"].error
    assert outcomes["bad"].completed == 0.0
    assert outcomes["d0.1"].completed == 1.0


def test_stored_outcomes_are_kept_and_only_the_rest_is_run(tmp_path, scenario_file):
    run_batch(jobs(scenario_file, 0.1, 0.2), tmp_path, workers=0)
    first, second = lines(tmp_path)
    marked = json.dumps({**json.loads(first), "wall_s": -1.0})
    (tmp_path / OUTCOMES).write_text(f"{marked}\n{second[: len(second) // 2]}")
    outcomes = run_batch(jobs(scenario_file, 0.1, 0.2, 0.3), tmp_path, workers=0)
    assert outcomes["d0.1"].wall_s == -1.0
    assert outcomes["d0.2"].wall_s > 0.0
    assert outcomes["d0.3"].statistics["steps"] == 150
    assert run_batch(jobs(scenario_file, 0.1, 0.2, 0.3), tmp_path, workers=0) == outcomes
    assert sum('"d0.1"' in line for line in lines(tmp_path)) == 1


def test_a_changed_scenario_is_run_anew(tmp_path, scenario_file):
    job = Job(name="same", scenario=str(scenario_file), overrides=("time.duration=0.1",))
    changed = Job(name="same", scenario=str(scenario_file), overrides=("time.duration=0.2",))
    assert run_batch([job], tmp_path)["same"].statistics["steps"] == 50
    assert run_batch([changed], tmp_path)["same"].statistics["steps"] == 100


def test_a_wrong_scenario_stops_the_batch_before_anything_runs(tmp_path, scenario_file):
    wrong = Job(name="wrong", scenario=str(scenario_file), overrides=("time.durance=1",))
    with pytest.raises(ConfigError, match="durance"):
        run_batch([*jobs(scenario_file, 0.1), wrong], tmp_path, workers=0)
    assert not (tmp_path / "d0.1").exists()
    with pytest.raises(ValueError, match="same name"):
        run_batch([*jobs(scenario_file, 0.1), *jobs(scenario_file, 0.1)], tmp_path, workers=0)


SPEC = """
from corekit.registry.spec import Case
many = Case(paper="fake", name="many", source="Fig. 1", shows="Many.", target="fake_many.run:many",
            choices=("short", "long", "other"))
"""

RUN = """
from corekit_study.case_run import Job, Row
from corekit_study.reference import OWN

def many(case):
    parts = case.only
    counts = {"short": range(1, 4), "long": range(1, 3)}
    steps = {"short": 0.01, "long": 0.2}
    jobs = [
        Job(name=f"{part}-{k}", scenario=FILE, overrides=(f"time.duration={k * steps[part]:g}",))
        for part in parts for k in counts[part]
    ]
    outcomes = case.run_all(jobs).items()
    return [Row(quantity=name, against=OWN, ours=each.statistics["steps"]) for name, each in outcomes]
"""


@pytest.fixture
def many(shell, scenario_file):
    modules = {
        "fake_many/__init__.py": "",
        "fake_many/_spec.py": SPEC,
        "fake_many/run.py": RUN.replace("FILE", repr(str(scenario_file))),
    }
    shell.add("fake-many", "[corekit.cases]\nfake.many = fake_many._spec:many\n", modules)
    return shell


FAILING = """
import time


def third_fails(argument):
    time.sleep(0.1)
    if argument == b"2":
        raise ZeroDivisionError
    return argument
"""
NESTED = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from corekit_run.schedulers import Processes, Task


def run_all():
    tasks = iter([Task(number, str(number).encode()) for number in range(20)])
    return list(Processes(2).run("failing:third_fails", lambda: next(tasks, None), print, {}))


if __name__ == "__main__":
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        print(type(pool.submit(run_all).exception()).__name__)
"""


def test_a_batch_that_breaks_off_in_a_process_of_its_own_ends(tmp_path, forked):
    """As a case of `corekit reproduce --jobs 2` does; it waited for ever for processes that waited for work."""
    (tmp_path / "failing.py").write_text(FAILING)
    (tmp_path / "nested.py").write_text(NESTED)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = forked.run(module="nested", folder=tmp_path, environment=environment, timeout=300.0)
    assert done.stdout.split() == ["ZeroDivisionError"], done.stderr


KILLED = """
import os, signal, time
from corekit_study import run_chunk

usual = run_chunk.make_run

def tried(mark):
    return mark.read_text() if mark.exists() else ""

def some_are_killed(task, folder):
    name = task.name
    mark = folder / f"{name}.tried"
    tries = tried(mark)
    mark.write_text(tries + "x")
    killed = name == "d0.2" or (name == "d0.1" and not tries)
    while killed and not all(tried(folder / f"{each}.tried") for each in ("d0.1", "d0.2")):
        time.sleep(0.01)  # who is killed first ends the pool: the other would be tried for the first time when alone
    if killed:
        os.kill(os.getpid(), signal.SIGKILL)
    return usual(task, folder)

def make_chunk(argument):
    run_chunk.make_run = some_are_killed
    return run_chunk.make_chunk(argument)
"""
SWEPT = """
import sys
from pathlib import Path
from corekit_study import batch

batch.FUNCTION = "killed:make_chunk"
if __name__ == "__main__":
    folder = Path(sys.argv[2])
    names = ("0.1", "0.2", "0.3")
    jobs = [batch.Job(name=f"d{d}", scenario=sys.argv[1], overrides=(f"time.duration={d}",)) for d in names]
    for name, outcome in batch.run_batch(jobs, folder, workers=2).items():
        print(name, outcome.completed, outcome.error)
"""


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
def test_a_run_whose_process_is_killed_is_tried_again_and_fails_alone(tmp_path, forked, scenario_file):
    """The first is killed once, the second each time; the others lose nothing."""
    (tmp_path / "killed.py").write_text(KILLED)
    (tmp_path / "swept.py").write_text(SWEPT)
    (tmp_path / "runs").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    words = (str(scenario_file), str(tmp_path / "runs"))
    done = forked.run(*words, module="swept", folder=tmp_path, environment=environment, timeout=240.0)
    told = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert list(told) == ["d0.1", "d0.2", "d0.3"], done.stderr
    assert {told.pop("d0.2")} == {f"0.0 {schedulers._KILLED}, with nothing else beside it"}
    assert set(told.values()) == {"1.0 "}
    assert (tmp_path / "runs" / "d0.2.tried").read_text() == "xx"
    assert len(lines(tmp_path / "runs")) == 3


def test_a_killed_reproduction_goes_on_where_it_was(many):
    chosen = ("reproduce", "fake/many", "--only", "short", "--only", "long")
    started = many.start(*chosen, "--out", "here", "--quiet")
    folder = many.folder / "here" / "fake-many"
    stored, patience = folder / OUTCOMES, time.monotonic() + 60.0
    while not (stored.exists() and len(lines(folder)) >= 2) and time.monotonic() < patience:
        time.sleep(2e-3)
    started.kill()
    started.communicate(30.0)
    before = lines(folder)
    whole = before if stored.read_text().endswith("\n") else before[:-1]
    assert 0 < len(whole) < 5
    told = many.corekit(*chosen, "--resume", str(folder), "--json", "many.json")
    assert told.returncode == 0, told.stderr
    assert lines(folder)[: len(whole)] == whole
    (report,) = json.loads((many.folder / "many.json").read_text())["cases"]
    assert [row["ours"] for row in report["rows"]] == [5, 10, 15, 100, 200]


def test_a_wrong_part_or_folder_is_misuse(capsys, tmp_path):
    assert main(["reproduce", "cusp/ablation", "--only", "lemk", "--out", str(tmp_path)]) == 2
    assert "did you mean 'lemke'?" in capsys.readouterr().err
    assert main(["reproduce", "cusp/inclined-box", "--only", "lemke", "--out", str(tmp_path)]) == 2
    assert "it has no choices" in capsys.readouterr().err
    assert main(["reproduce", "cusp/ablation", "--resume", str(tmp_path / "nowhere")]) == 2
    assert "--resume goes on in a folder that is there" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
