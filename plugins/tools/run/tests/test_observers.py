"""Who takes part in a run: an observer of a distribution of one's own; and a kernel without any."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import corekit
from corekit.cli import main
from corekit.distributions import EntryPoint
from corekit.errors import PluginError, ResultsError, StepFailed
from corekit.hooks.installed import GROUP, installed_hooks
from corekit.hooks.specs import hookimpl
from corekit.scenario.load import load
from corekit_run.cli.run_report import run_report
from corekit_run.folder import RunFolder, read_log, read_status
from corekit_run.observers import RunObserver
from corekit_run.running import replay, resume, run

SCENARIO = """
format = "corekit-scenario/1"
name = "falling"
time = { duration = 0.1, step = 0.001 }
output = { every = 0.01 }
integrator = { use = "reference-semi-implicit-euler" }
world = { gravity = [0.0, 0.0, -2.0] }
[[bodies]]
name = "ball"
use = "reference-point-chain"
"""


class Witness(RunObserver):
    """Adds up the times of all steps, and notes what it is asked for."""

    name = "witness"
    stop_at = np.inf
    flushes = True
    calls: list[tuple]

    def __init__(self, context):
        self.context, self.total = context, 0.0

    def begin(self):
        self.note("begin", self.context.simulation.step_index)

    def restore(self, state):
        self.total = float(state["total"])
        self.note("restore", self.context.simulation.step_index)

    def on_step_accepted(self, simulation, report):
        if simulation.time > self.stop_at:
            raise StepFailed("the witness has seen enough", step=simulation.step_index, time=simulation.time)
        self.total += simulation.time

    def flush(self, patience):
        self.note("flush", patience)
        return self.flushes

    def internal_state(self):
        return {"total": np.array(self.total)}

    def summary(self):
        return {"total_s": self.total}

    def close(self):
        self.note("close", self.total)

    def note(self, *what):
        if self.context.folder is not None:
            self.calls.append(what)


@pytest.fixture
def hooks(monkeypatch):
    """Replace the installed hooks by those of this distribution and of a module made of these functions."""

    def install(**functions):
        entries = [EntryPoint("run", "corekit_run.hooks", GROUP)]
        if functions:
            module = ModuleType("lab_hooks")
            for name, function in functions.items():
                setattr(module, name, hookimpl(function))
            monkeypatch.setitem(sys.modules, "lab_hooks", module)
            entries.append(EntryPoint("lab", "lab_hooks", GROUP))
        monkeypatch.setattr("corekit.hooks.installed.entry_points", lambda _: entries)
        installed_hooks.cache_clear()

    yield install
    installed_hooks.cache_clear()


@pytest.fixture
def witness(hooks, monkeypatch):
    """A class of observers that takes part in every run."""

    class Own(Witness):
        calls: list[tuple] = []  # noqa: RUF012 - of this test alone

    lab = ModuleType("lab")
    lab.__dict__["observe"] = lambda context: [Own(context)]
    monkeypatch.setitem(sys.modules, "lab", lab)
    hooks(corekit_run_observers=lambda: ["lab:observe"])
    return Own


@pytest.fixture
def scenario(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "falling.toml").write_text(SCENARIO)
    return load("falling.toml")


TOTAL = sum(0.001 * k for k in range(1, 101))
"""Of the times of 100 steps [s]; adding them up rounds at most 100 times: 100·2⁻⁵³ ≈ 1e-14 of it."""


def test_an_observer_sees_every_step_and_its_summary_is_in_the_log(witness, scenario):
    folder = run(scenario, directory="here")
    assert isinstance(folder, RunFolder)
    (finished,) = [event for event in read_log(folder.path) if event["event"] == "finished"]
    assert finished["witness"]["total_s"] == pytest.approx(TOTAL, rel=1e-13)
    names = [name for name, _ in witness.calls]
    assert names[0] == "begin"
    assert names[1] == names[-2] == "flush"  # of the checkpoint at the start and of that at the end
    assert names[-1] == "close"
    versions = json.loads((folder.path / "versions.json").read_text())
    assert versions["plugins"]["lab"] == "unknown"  # no distribution brings it here


def test_a_resumed_observer_goes_on_from_its_state_in_the_checkpoint(witness, scenario, monkeypatch):
    def stop(simulation, report):
        if simulation.step_index == 60:
            raise KeyboardInterrupt

    monkeypatch.setattr("corekit_run.checkpoint._EVERY", 0.0)
    monkeypatch.setattr("corekit_run.checkpoint._SHARE", 1e9)
    compose = type(scenario).compose

    def watched(self):
        simulation = compose(self)
        simulation.observe(stop)
        return simulation

    with monkeypatch.context() as patch:
        patch.setattr(type(scenario), "compose", watched)
        with pytest.raises(KeyboardInterrupt):
            run(scenario, directory="here")
    assert ("restore", 0) not in witness.calls
    folder = resume("here")
    assert ("restore", 0) in witness.calls
    assert read_log(folder.path)[-1]["witness"]["total_s"] == pytest.approx(TOTAL, rel=1e-13)


def test_an_observer_stops_a_run_before_a_step_that_can_be_repeated(witness, scenario, tmp_path):
    witness.stop_at = 0.0505
    with pytest.raises(StepFailed, match="the witness has seen enough"):
        run(scenario, directory="here")
    assert read_status(tmp_path / "here").status == "failed"
    assert witness.calls[-1][0] == "close"
    calls = len(witness.calls)
    with pytest.raises(StepFailed, match="the witness has seen enough"):
        replay("here/step-50.npz")
    witness.stop_at = np.inf
    assert replay("here/step-50.npz").step_size == pytest.approx(0.001)
    assert len(witness.calls) == calls  # a replay writes nothing: its observer has no folder


def test_no_checkpoint_is_written_while_an_observer_cannot_flush(witness, scenario, tmp_path):
    witness.flushes = False
    run(scenario, directory="here")
    assert list((tmp_path / "here").glob("checkpoint-*")) == []
    # a slow run asks more often; only at its end is there time to wait
    waits = [patience > 0 for name, patience in witness.calls if name == "flush"]
    assert waits[-1]
    assert not any(waits[:-1])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ResultsError("no room"), "no room"),
        (RuntimeError("oops"), "lab:observe of lab .* RuntimeError: oops"),
    ],
)
def test_an_observer_that_cannot_be_made_ends_the_run_with_its_reason(
    witness, scenario, tmp_path, error, told
):
    def fail(_context):
        raise error

    sys.modules["lab"].__dict__["observe"] = fail
    with pytest.raises((ResultsError, PluginError), match=told):
        run(scenario, directory="here")
    assert read_status(tmp_path / "here").status == "failed"


def test_a_kernel_without_a_recorder_runs_and_says_so_in_one_line(hooks, scenario, tmp_path, capsys):
    hooks()
    assert main(["run", "falling.toml", "--out", "here"]) == 0
    told = capsys.readouterr()
    assert told.err.count("no recorder is installed") == 1
    assert "pip install corekit-record" in told.err
    assert told.out == "finished; log and checkpoints are in here\n"
    assert {path.name for path in (tmp_path / "here").iterdir()} == {
        "scenario.toml", "resolved.toml", "log.jsonl", "versions.json", "STATUS", "checkpoint-000000000100.npz",
    }  # fmt: skip
    assert main(["run", "falling.toml", "--quiet", "--out", "there"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["run", "falling.toml", "--json", "--out", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "finished"


def test_without_a_recorder_the_report_of_a_run_is_its_status(hooks, scenario, capsys):
    hooks()
    main(["run", "falling.toml", "--quiet", "--out", "here"])
    report = run_report()(Path("here"))
    report.show(as_json=False)
    assert capsys.readouterr().out == "finished; log and checkpoints are in here\n"
    report.show(as_json=True)
    assert json.loads(capsys.readouterr().out) == {"status": "finished", "reason": "", "folder": "here"}


def test_without_a_recorder_what_needs_records_names_the_distribution(hooks, scenario, tmp_path, capsys):
    hooks()
    with pytest.raises(PluginError, match=r"corekit\.Results reads records.*pip install corekit-record"):
        _ = corekit.Results
    assert main(["run", "falling.toml", "--out", "here", "--picture"]) == 2
    assert "pip install corekit-record" in capsys.readouterr().err
    assert not (tmp_path / "here").exists()  # said before the run
    main(["run", "falling.toml", "--quiet", "--out", "here"])
    with pytest.raises(PluginError, match="pip install corekit-record"):
        run_report()(Path("here")).show_step(3, None, as_json=False)
    for words in (["view", "here"], ["render", "here", "-o", "x.png"]):
        assert main(words) == 2
        assert "pip install corekit-record" in capsys.readouterr().err
