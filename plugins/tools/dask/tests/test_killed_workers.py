"""A sweep over a local cluster whose workers are killed at random: every run once, with the bits of one process."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from multiprocessing import active_children
from queue import Empty

import pytest

from corekit_dask.dask_scheduler import _Window
from corekit_run.schedulers import Lost, Task, open_scheduler
from corekit_study.batch import FAILURES
from corekit_study.journal import OUTCOMES
from corekit_study.sweep import sweep

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills processes")


class Killer(threading.Thread):
    """Kills a process that this one has started, each time when further runs are stored."""

    def __init__(self, stored, every):
        super().__init__(daemon=True)
        self._stored, self._every, self.killed, self.over = stored, every, 0, False
        self._chance = random.Random(7)

    def run(self):
        seen = 0
        while not self.over:
            time.sleep(0.02)
            lines = self._stored.read_bytes().count(b"\n") if self._stored.exists() else 0
            workers = [each.pid for each in active_children() if each.pid]
            if lines >= seen + self._every and workers:
                seen = lines
                os.kill(self._chance.choice(workers), signal.SIGKILL)
                self.killed += 1


def outcomes(folder):
    """What does not depend on the clock, by name, and how often each is stored."""
    found, count = {}, {}
    for line in (folder / OUTCOMES).read_text().splitlines():
        said = json.loads(line)
        said.pop("wall_s")
        found[said["name"]] = said
        count[said["name"]] = count.get(said["name"], 0) + 1
    return found, count


def test_every_run_is_made_once_with_the_same_bits_though_workers_are_killed(tmp_path, scenario_file):
    vary, asked = ["bodies[0].options.velocities[0][0]=-1:1"], {"samples": 240, "keep": "last"}
    one = sweep(scenario_file, vary, (), tmp_path / "one", workers=0, **asked)
    killer = Killer(tmp_path / "many" / OUTCOMES, every=40)
    killer.start()
    many = sweep(scenario_file, vary, (), tmp_path / "many", workers=2, scheduler="local", **asked)
    killer.over = True
    killer.join()
    assert killer.killed >= 3
    mine, count = outcomes(many.folder)
    assert set(count.values()) == {1}
    assert mine == outcomes(one.folder)[0]
    assert not any(point.reason for point in many.points)
    assert len(many.points) == 240


class Ended:
    """A future whose worker was lost with its answer, which is there once Dask has made the task anew."""

    def __init__(self):
        self.statuses = ["lost", "finished"]

    @property
    def status(self):
        return self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]

    def add_done_callback(self, function):
        function(self)


class Client:
    def submit(self, *_arguments, **_options):
        return Ended()


def test_an_answer_that_is_lost_before_it_is_fetched_is_waited_for_anew():
    window = _Window(Client(), "a:b", {})
    window.submit(Task(1, b"x"))
    with pytest.raises(Empty):
        window.next_ended()
    assert len(window) == 1
    future, task = window.next_ended()
    assert task == Task(1, b"x")
    assert future.status == "finished"


SUICIDE = """
import os, signal

def at_once(argument):
    if argument == b"bad":
        os.kill(os.getpid(), signal.SIGKILL)
    return argument
"""


def test_a_task_that_kills_its_worker_each_time_is_given_back_and_the_others_are_made(tmp_path, monkeypatch):
    (tmp_path / "suicide.py").write_text(SUICIDE)
    monkeypatch.syspath_prepend(str(tmp_path))
    tasks = iter([Task(1, b"good"), Task(2, b"bad"), Task(3, b"better")])
    with open_scheduler("local", 1) as scheduler:
        answers = dict(scheduler.run("suicide:at_once", lambda: next(tasks, None), print, {}))
    assert answers[1] == b"good"
    assert answers[3] == b"better"
    assert isinstance(answers[2], Lost)
    assert "lost again and again" in answers[2].reason


ONE_DIES = """
import os, signal
from corekit_study import run_chunk

usual = run_chunk.make_run

def one_dies(task, folder):
    if task.name.startswith("2-"):
        os.kill(os.getpid(), signal.SIGKILL)
    return usual(task, folder)

def make_chunk(argument):
    run_chunk.make_run = one_dies
    return run_chunk.make_chunk(argument)
"""


def test_a_run_that_is_lost_each_time_has_failed_and_is_in_the_log(tmp_path, scenario_file, monkeypatch):
    """The runs that were handed over with it are made."""
    (tmp_path / "suicide.py").write_text(ONE_DIES)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("corekit_study.batch.FUNCTION", "suicide:make_chunk")
    monkeypatch.setattr("corekit_study.batch._CHUNK_WALL", 60.0)
    found = sweep(
        scenario_file,
        ["time.duration=0.02,0.04,0.06"],
        (),
        tmp_path / "s",
        workers=1,
        scheduler="local",
        keep="table",
    )
    assert [point.metrics["status"] for point in found.points] == ["finished", "failed", "finished"]
    assert "lost again and again" in found.points[1].reason
    log = [json.loads(line) for line in (found.folder / FAILURES).read_text().splitlines()]
    assert (log[-1]["run"], log[-1]["again"]) == ("2-0.04", False)
