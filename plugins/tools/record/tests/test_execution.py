"""A run leaves a folder that says how it ended, whatever happened to it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import time
import tomllib
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import h5py
import numpy as np
import pytest

from corekit.errors import ResultsError, StepFailed
from corekit.scenario.load import loads
from corekit.scenario.schema import RECORDED, Watchdog
from corekit_record.digest import seal
from corekit_record.results import Results
from corekit_run.folder import RunFolder, read_status
from corekit_run.progress import Progress
from corekit_run.running import resume, run


class Scene:
    """What `run` needs of a scenario, around a hand-made simulation."""

    name = "tiny"
    time: Any = SimpleNamespace(duration=0.1)
    output: Any = SimpleNamespace(every=0.01, directory="runs", record=RECORDED)
    watchdog = Watchdog()

    def __init__(self, simulation):
        self._simulation = simulation

    def compose(self):
        return self._simulation

    def given_text(self):
        return "# as given\n"

    def resolved_text(self):
        return "name = 'tiny'\n"


def test_a_run_leaves_every_file_and_says_finished(tiny, scenario_file, tmp_path):
    from corekit.scenario.load import load

    results = load(scenario_file, ["time.duration=0.1"]).run(directory=tmp_path / "out")
    assert results.path == tmp_path / "out"
    names = {path.name for path in results.path.iterdir()}
    assert names == {
        "scenario.toml", "resolved.toml", "results.nc", "log.jsonl", "versions.json", "STATUS",
        "checkpoint-000000000100.npz",
    }  # fmt: skip
    assert results.status == "finished"
    versions = json.loads((results.path / "versions.json").read_text())
    observers = {name: version(name) for name in ("corekit-inspect", "corekit-record")}
    assert versions["plugins"] == {**observers, "tiny-plugin": "1.0"}
    assert versions["libraries"]["numpy"] == np.__version__
    assert [event["event"] for event in results.events] == ["composed", "finished"]
    assert results.events[-1]["statistics"] == results.statistics


def test_both_scenario_files_of_a_run_make_the_same_run(tiny, scenario_file, tmp_path):
    from corekit.scenario.load import load

    first = load(scenario_file, ["time.duration=0.25", "bodies.ball.options.mass=3.0"]).run()
    assert first.path.parent.name == "runs"
    given = load(first.path / "scenario.toml")
    assert given.time.duration == 0.25
    again = given.run(directory=tmp_path / "again")
    third = load(first.path / "resolved.toml").run(directory=tmp_path / "third")
    for name in ("time", "q", "v", "contact_normal_impulse"):
        assert np.array_equal(first[name], again[name])
        assert np.array_equal(first[name], third[name])


def test_an_unchanged_scenario_is_kept_word_for_word(tiny, scenario_file, tmp_path):
    from corekit.scenario.load import load

    scenario_file.write_text("# my notes\n" + scenario_file.read_text())
    scenario = load(scenario_file)
    assert scenario.given_text() == scenario_file.read_text()
    assert tomllib.loads(scenario.resolved_text())["contact"]["margin"] > 0


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_taken_folder_is_left_alone(world, tmp_path):
    taken = tmp_path / "out"
    taken.mkdir()
    (taken / "thesis.txt").write_text("mine")
    paths = [run(Scene(world()), directory=taken).path.name for _ in range(2)]
    assert paths == ["out-2", "out-3"]
    assert [path.name for path in taken.iterdir()] == ["thesis.txt"]


def test_two_runs_in_the_same_second_get_two_folders(tmp_path):
    folders = {RunFolder.create("tiny", tmp_path).path for _ in range(3)}
    assert len(folders) == 3


def test_a_read_only_folder_is_one_clear_error(world, monkeypatch):
    def refuse(path, **_):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(ResultsError, match=r"cannot make the run folder .*Permission denied.*--out DIR"):
        run(Scene(world()))


def test_a_full_disk_stops_the_run_with_one_clear_error(world, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("corekit_record.store.copy_and_seal", refuse)
    with pytest.raises(ResultsError, match=r"cannot write .*results\.nc: No space left on device") as caught:
        run(Scene(world()))
    assert "What was recorded is kept in" in caught.value.__notes__[0]


def test_a_folder_that_is_a_file_is_one_clear_error(world, tmp_path):
    (tmp_path / "runs").write_text("not a folder")
    with pytest.raises(ResultsError, match="cannot make the run folder"):
        run(Scene(world()))
    with pytest.raises(ResultsError, match="it is a file"):
        run(Scene(world()), directory=tmp_path / "runs")
    assert [each.name for each in tmp_path.iterdir()] == ["runs"]


def test_a_failed_step_keeps_the_records_before_it_and_names_the_cause(world):
    with pytest.raises(StepFailed, match=r"'vy' of body 'ball' became nan") as caught:
        run(Scene(world(breaks_at=0.055)))
    note = caught.value.__notes__[0]
    results = Results(note.removeprefix("What was recorded is kept in "))
    assert results.status == "failed"
    assert "'push'" in results.outcome.reason
    assert results.time[-1] == pytest.approx(0.05)
    assert np.isfinite(results.q).all()
    assert results.events[-1]["coordinate"] == "vy"


def test_a_plugin_that_raises_leaves_a_failed_run_too(world, monkeypatch):
    simulation = world()
    monkeypatch.setattr(simulation.integrator, "step", lambda *_: 1 / 0)
    with pytest.raises(StepFailed, match="raised ZeroDivisionError: division by zero") as caught:
        run(Scene(simulation))
    results = Results(caught.value.__notes__[0].removeprefix("What was recorded is kept in "))
    assert "raised ZeroDivisionError: division by zero" in results.outcome.reason
    assert len(results.time) == 1


def test_ctrl_c_ends_the_run_between_two_steps(world, ctrl_c):
    simulation = world()
    inside: list[int] = []

    def press(simulation, _report):
        if simulation.step_index == 57:
            ctrl_c()
            inside.append(simulation.step_index)  # it goes on to the end of this step

    simulation.observe(press)
    with pytest.raises(KeyboardInterrupt) as caught:
        run(Scene(simulation))
    results = Results(caught.value.__notes__[0].removeprefix("What was recorded is kept in "))
    assert results.status == "interrupted"
    assert inside == [57]
    assert results.statistics["steps"] == 58
    assert results.time[-1] == pytest.approx(0.05)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_sigterm_ends_the_run_as_ctrl_c_does_and_says_so(world, tmp_path):
    simulation = world()

    def end(simulation, _report):
        if simulation.step_index == 57:
            os.kill(os.getpid(), signal.SIGTERM)

    simulation.observe(end)
    # without a handler the process would end here, and the tests with it
    guard = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(Scene(simulation), directory=tmp_path / "ended")
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, guard)
    status = read_status(tmp_path / "ended")
    assert (status.status, status.reason) == ("interrupted", "stopped by SIGTERM")
    assert Results(tmp_path / "ended").statistics["steps"] == 58


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")
@pytest.mark.parametrize("where", ["while kernels compile", "within a step that does not end"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_a_request_to_stop_ends_a_run_within_a_second(number, where, world, tmp_path, ctrl_c, monkeypatch):
    simulation, began = world(), []

    def stay(*_, **__):
        if where == "while kernels compile" or simulation.step_index == 57:
            began.append(time.process_time())  # what others do with the processor does not count
            os.kill(os.getpid(), number)
            while time.process_time() - began[0] < 60.0:
                pass

    if where == "while kernels compile":
        monkeypatch.setattr(simulation, "warm_up", stay)
    else:
        simulation.observe(stay)
    # without a handler SIGTERM would end the tests
    guard = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(Scene(simulation), directory=tmp_path / "run")
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, guard)
    assert time.process_time() - began[0] < 1.0
    assert read_status(tmp_path / "run").status == "interrupted"
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL
    assert resume(tmp_path / "run", Scene(world())).status == "finished"


def test_progress_rises_to_the_end_and_knows_the_pace(world, monkeypatch):
    monkeypatch.setattr("corekit_run.progress._REPORT_EVERY", 0.0)
    told: list[Progress] = []
    run(Scene(world()), progress=told.append)
    assert [each.phase for each in told[:3]] == ["composing", "first step", "running"]
    fractions = [each.fraction for each in told]
    assert fractions == sorted(fractions)
    assert told[-1].fraction == pytest.approx(1.0)
    assert told[-1].rate > 0
    assert told[-1].remaining == pytest.approx(0.0, abs=1e-6)


# — files that are not whole, not ours, or not there —


@pytest.fixture(scope="module")
def whole_run(tiny_site, tmp_path_factory):
    """A run that was made once."""
    site, text = tiny_site
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(site))
        scenario = loads(text, ["time.duration=0.3"])
        return scenario.run(directory=tmp_path_factory.mktemp("whole") / "run").path


@pytest.fixture
def run_folder(whole_run, tmp_path):
    return Path(shutil.copytree(whole_run, tmp_path / "run"))


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(ResultsError, match="the folder is not there"):
        Results(tmp_path / "nowhere")
    with pytest.raises(ResultsError, match=r"holds no results\.nc"):
        Results(tmp_path)


def test_a_truncated_file_is_said_to_be_so(run_folder):
    file = run_folder / "results.nc"
    file.write_bytes(file.read_bytes()[:20_000])
    with pytest.raises(ResultsError, match="not a whole results file"):
        Results(run_folder)


@pytest.mark.parametrize("content", [b"", b"time,q\n0,1\n"])
def test_a_file_of_another_kind_is_said_to_be_so(run_folder, content):
    (run_folder / "results.nc").write_bytes(content)
    with pytest.raises(ResultsError, match="not a whole results file"):
        Results(run_folder)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ("corekit-results/9", "another version of corekit wrote it"),
        ("someone-else/1", "something else wrote it"),
        (None, "something else wrote it"),
    ],
)
def test_a_file_of_another_format_is_refused_by_name(run_folder, found, words):
    with h5py.File(run_folder / "results.nc", "r+") as file:
        del file.attrs["format"]
        if found is not None:
            file.attrs["format"] = found
    seal(run_folder / "results.nc")
    with pytest.raises(ResultsError, match=words):
        Results(run_folder)


def test_the_file_names_components_as_the_scenario_does(tiny, scenario_file, tmp_path):
    from corekit.scenario.load import load

    results = run(load(scenario_file, ["time.duration=0.01"]), directory=tmp_path / "run")
    with h5py.File(results.path / "results.nc") as file:
        assert file.attrs["integrator"] == "tiny-euler"
        assert file.attrs["contact_solver"] == "tiny-sweeps"
        # what the model declares of its derivatives
        assert file["body_derivative_error"][:] == [1e-3]


def test_results_can_be_opened_by_their_file(run_folder):
    assert Results(run_folder / "results.nc").status == "finished"


def test_a_log_cut_by_a_kill_loses_its_last_line_only(run_folder):
    with (run_folder / "log.jsonl").open("a") as file:
        file.write('{"event": "hal')
    assert [event["event"] for event in Results(run_folder).events] == ["composed", "finished"]


# — kills —


def test_a_run_on_another_machine_is_not_thought_dead(tmp_path):
    (tmp_path / "STATUS").write_text("running\nprocess 1 on some-other-machine\n")
    assert read_status(tmp_path).status == "running"
