"""What a plugin raises at run time ends the run in one error that names plugin, instant and what it raised."""

from __future__ import annotations

from pathlib import Path

import pytest

import corekit
from corekit.cli import main
from corekit.errors import PluginFailed, StepFailed
from corekit.hooks.installed import installed_hooks
from corekit_run.folder import read_log, read_status
from corekit_run.plugin_errors import named_errors
from corekit_run.running import run
from corekit_testing.fake_site import FakeSite

from .test_observers import SCENARIO

HOOKS = """
from corekit.hooks.specs import hookimpl

@hookimpl
def corekit_run_observers():
    return ["lab_tools.watch:observe"]
"""
WATCH = """
from corekit_run.observers import RunObserver

class Watch(RunObserver):
    name = "lab"
    at, method = 0.0405, "on_step_accepted"

    def __init__(self, context):
        self.context = context

    def fail(self, method):
        if self.method == method and self.context.simulation.time > self.at:
            raise KeyError("tip")

    def begin(self): self.fail("begin")
    def on_step_accepted(self, simulation, report): self.fail("on_step_accepted")
    def flush(self, patience): self.fail("flush"); return True
    def internal_state(self): self.fail("internal_state"); return {}
    def summary(self): self.fail("summary")
    def close(self): self.fail("close")

def observe(context):
    return [Watch(context)]
"""


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A distribution `lab-tools` with an observer, in the process of the test; and a scenario."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "falling.toml").write_text(SCENARIO)
    site = FakeSite(tmp_path / "site", None)
    modules = {"lab_tools/__init__.py": "", "lab_tools/hooks.py": HOOKS, "lab_tools/watch.py": WATCH}
    with site.seen_here():
        site.add("lab-tools", {"hooks": {"lab": "lab_tools.hooks"}}, modules)
        installed_hooks.cache_clear()
        yield site
    installed_hooks.cache_clear()


def watch():
    from importlib import import_module

    return import_module("lab_tools.watch").Watch


def test_an_observer_that_raises_is_named_with_the_instant_and_what_it_raised(lab, tmp_path, capsys):
    assert main(["run", "falling.toml", "--quiet", "--out", "here"]) == 1
    said, kept, alone = capsys.readouterr().err.splitlines()
    assert said.startswith("step 40 from t = 0.04 s: lab-tools 1.0 raised KeyError: 'tip' (Watch.fail, line ")
    assert said.endswith("watch.py)")
    assert kept == "What was recorded is kept in here"
    assert "step-40.npz" in alone
    assert read_status(tmp_path / "here").status == "failed"
    failed = read_log(tmp_path / "here")[-1]
    assert (failed["event"], failed["step"]) == ("failed", 40)
    assert "self.fail(" in failed["traceback"]


def test_what_was_recorded_until_then_can_be_read(lab):
    pytest.importorskip("corekit_record")
    with pytest.raises(StepFailed, match="lab-tools"):
        run(corekit.load("falling.toml"), directory="here")
    times = corekit.Results("here").time
    assert float(times[-1]) == pytest.approx(0.04)


def test_its_traceback_is_shown_to_who_asks_for_it(lab, monkeypatch, capsys):
    monkeypatch.setenv("COREKIT_TRACEBACK", "1")
    main(["run", "falling.toml", "--quiet", "--out", "here"])
    assert "self.fail(" in capsys.readouterr().err


def test_the_step_alone_fails_in_the_same_way_and_passes_once_the_observer_is_repaired(lab, capsys):
    main(["run", "falling.toml", "--quiet", "--out", "here"])
    capsys.readouterr()
    assert main(["run", "here/step-40.npz"]) == 1
    assert "lab-tools 1.0 raised KeyError: 'tip'" in capsys.readouterr().err
    watch().method = "never"
    assert main(["run", "here/step-40.npz"]) == 0


@pytest.mark.parametrize(
    ("method", "at"),
    [("begin", -1.0), ("flush", -1.0), ("internal_state", -1.0), ("summary", 0.05), ("close", 0.05)],
)
def test_so_is_one_that_raises_at_the_begin_for_a_checkpoint_or_at_the_end(lab, monkeypatch, method, at):
    installed_hooks()
    monkeypatch.setattr(watch(), "method", method)
    monkeypatch.setattr(watch(), "at", at)
    with pytest.raises(
        (StepFailed, PluginFailed), match=r"lab-tools 1.0 raised KeyError: 'tip' \(Watch.fail"
    ):
        run(corekit.load("falling.toml"), directory="here")
    assert read_status(Path("here")).status == "failed"


def test_one_that_cannot_be_closed_hides_nothing(lab, monkeypatch):
    def close(_self):
        raise OSError("no disk")

    monkeypatch.setattr(watch(), "close", close)
    with pytest.raises(StepFailed, match="raised KeyError: 'tip'") as caught:
        run(corekit.load("falling.toml"), directory="here")
    assert "An observer could not be closed: OSError: no disk" in caught.value.__notes__


def test_a_controller_of_python_that_raises_is_named(lab, monkeypatch):
    monkeypatch.setattr(watch(), "method", "never")

    def drive(simulation):
        if simulation.time > 0.0305:
            raise RuntimeError("no signal")
        return {}

    scenario = corekit.load("falling.toml").with_controller(drive)
    with pytest.raises(StepFailed, match=r"step 31 .*the function 'drive' raised RuntimeError: no signal"):
        run(scenario, directory="here")


def test_an_error_of_the_kernel_and_one_of_corekit_stay_what_they_are():
    with pytest.raises(StepFailed, match="of its own"), named_errors():
        raise StepFailed("of its own")
    within = "with named_errors():\n    raise ValueError('not a number')\n"
    with pytest.raises(ValueError, match="not a number"):
        exec(
            compile(within, "<string>", "exec"), {"__name__": "corekit.within", "named_errors": named_errors}
        )
