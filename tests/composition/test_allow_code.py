"""No verb imports what a scenario names, unless it is told to: every one is tried on a module that leaves a trace."""

from __future__ import annotations

import json
import os
import sys

import pytest

import corekit
from corekit.cli import main
from corekit.errors import ConfigError
from corekit_run.running import replay, resume
from corekit_study.fit_file import load_fit
from corekit_study.plan_file import load_plan_file

pytest.importorskip("corekit_gvs", reason="corekit-gvs is not installed")
pytest.importorskip("corekit_timestep", reason="corekit-timestep is not installed")

SCENARIO = """
format = "corekit-scenario/1"
name = "tugged"
[time]
duration = 0.03
step = 0.01
[[bodies]]
name = "arm"
use = "gvs"
[[bodies.options.links]]
name = "arm"
[[bodies.options.links.divisions]]
length = 0.3
radius = 0.015
young = 4e5
viscosity = 2e4
strain = [{ kind = "legendre", order = 1, modes = "bend-y" }]
[[bodies.options.loads]]
name = "tug"
at = "arm.tip"
function = "tugs_at_tips:tug"
[integrator]
use = "implicit-euler"
[output]
every = 0.01
"""
MODULE = """
import os
from pathlib import Path
with Path({trace!r}).open("a") as file:
    file.write(str(os.getpid()) + "\\n")

def tug(t, position, rotation, velocity):
    return (0, 0, 0, 0, 0, float("nan") if t > float(os.environ.get("TUG_FAILS_AT", "inf")) else 0.1)
"""
REFUSAL = "bodies.arm.options.loads[0].function: found 'tugs_at_tips:tug'; names a Python function"
PLAN = """
format = "corekit-plan/1"
name = "p"
scenario = "tugged.toml"
use = "ipopt-mpcc"
[options]
object = "ball"
friction = 0.5
target = { rotation = { axis = [1.0, 0.0, 0.0], angle = 0.2 } }
contacts = [{ body = "arm", frame = "arm/4" }]
horizon = { duration = 2.0, steps = 30 }
"""
FIT = """
format = "corekit-fit/1"
name = "f"
scenario = "tugged.toml"
use = "ipopt-fit"
[options]
markers = { file = "seen.csv", deviation = 1e-4 }
parameters = [{ name = "links[0].divisions[0].young", low = 1e5, high = 1e6 }]
"""


class Tugged:
    """A folder with a scenario and the module that it names."""

    def __init__(self, folder):
        self.folder, self.file, self.trace = folder, folder / "tugged.toml", folder / "trace"
        self.file.write_text(SCENARIO)
        (folder / "tugs_at_tips.py").write_text(MODULE.format(trace=str(self.trace)))
        for name, text in (("plan.toml", PLAN), ("fit.toml", FIT)):
            (folder / name).write_text(text)
        (folder / "seen.csv").write_text("time,marker,x,y,z\n0,tip,0,0,0\n")

    @property
    def imported(self):
        """How often, since asked last; the module is forgotten."""
        sys.modules.pop("tugs_at_tips", None)
        lines = self.trace.read_text().split() if self.trace.exists() else []
        self.trace.unlink(missing_ok=True)
        return len(lines)


@pytest.fixture
def tugged(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    made = Tugged(tmp_path)
    yield made
    sys.modules.pop("tugs_at_tips", None)


@pytest.fixture
def failed(tugged, monkeypatch):
    """The folder of a run whose load stopped being a number, and what keeps that step."""
    monkeypatch.setenv("TUG_FAILS_AT", "0.015")
    assert main(["run", str(tugged.file), "--allow-code", "--out", "failed", "--quiet"]) == 1
    assert tugged.imported == 1
    (step,) = (tugged.folder / "failed").glob("step-*.npz")
    return tugged.folder / "failed", step


def refused(tugged, capsys, *words):
    """Whether the verb ends with the refusal, on either stream, and imports nothing."""
    code = main(list(words))
    said = capsys.readouterr()
    assert code != 0, said
    assert REFUSAL in " ".join((said.err + said.out).split())
    assert "--allow-code" in said.err + said.out
    assert tugged.imported == 0


@pytest.mark.parametrize("verb", ["check", "run", "statics"])
def test_a_verb_on_a_scenario_asks(tugged, capsys, verb):
    refused(tugged, capsys, verb, str(tugged.file))
    assert main([verb, str(tugged.file), "--allow-code"]) == 0
    assert tugged.imported == 1


@pytest.mark.parametrize("verb", ["compare", "sweep"])
def test_runs_of_many_variants_ask(tugged, capsys, verb):
    jobs = ["--jobs", "1"] if verb == "sweep" else []
    words = [verb, str(tugged.file), "--vary", "world.gravity=[0,0,-9.81],[0,0,-1.62]", "--quiet", *jobs]
    refused(tugged, capsys, *words, "--json", "no.json")
    assert main([*words, "--allow-code", "--json", "yes.json"]) == 0
    assert tugged.imported == 1
    found = json.loads((tugged.folder / "yes.json").read_text())
    assert {run["status"] for run in found["rows" if verb == "compare" else "runs"]} == {"finished"}


def test_going_on_with_a_sweep_asks_anew(tugged, capsys):
    words = [
        "sweep",
        str(tugged.file),
        "--vary",
        "world.gravity=[0,0,-9.81],[0,0,-1.62]",
        "--out",
        "swept",
        "--quiet",
    ]
    assert main([*words, "--jobs", "2", "--allow-code"]) == 0
    assert tugged.imported == 2  # once in each process
    (tugged.folder / "swept" / "outcomes.jsonl").unlink()
    refused(tugged, capsys, "sweep", "--resume", "swept", "--jobs", "1", "--quiet")
    assert main(["sweep", "--resume", "swept", "--jobs", "1", "--allow-code", "--quiet"]) == 0


def test_the_folder_records_that_code_was_allowed_and_allows_nothing(failed, tugged, capsys):
    folder, _ = failed
    first = (folder / "resolved.toml").read_text().splitlines()[0]
    assert first.startswith("# Python functions named in this file were allowed")
    refused(tugged, capsys, "run", str(folder / "resolved.toml"))


def test_resuming_asks_anew(failed, tugged, capsys, monkeypatch):
    folder, _ = failed
    monkeypatch.delenv("TUG_FAILS_AT")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    refused(tugged, capsys, "run", "--resume", str(folder))
    refused(tugged, capsys, "run", str(tugged.file), "--resume", str(folder))
    with pytest.raises(ConfigError, match="allow_code=True"):
        resume(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert main(["run", "--resume", str(folder), "--allow-code", "--quiet"]) == 0
    assert tugged.imported == 1
    assert corekit.Results(folder).time[-1] == pytest.approx(0.03)


def test_replaying_a_step_asks_anew(failed, tugged, capsys, monkeypatch):
    _, step = failed
    monkeypatch.delenv("TUG_FAILS_AT")
    refused(tugged, capsys, "run", str(step))
    with pytest.raises(ConfigError, match="allow_code=True"):
        replay(step)
    assert main(["run", str(step), "--allow-code"]) == 0
    assert tugged.imported == 1
    assert replay(step, allow_code=True).step_size == pytest.approx(0.01)


@pytest.mark.parametrize("verb", ["plan", "fit"])
def test_plans_and_fits_ask_for_their_scenario(tugged, capsys, verb):
    pytest.importorskip("casadi", reason="planning and fitting need casadi")
    refused(tugged, capsys, verb, f"{verb}.toml", "--out", "made")
    read = {"plan": load_plan_file, "fit": load_fit}[verb]
    scenario = read(f"{verb}.toml", allow_code=True).loaded
    assert scenario is not None
    scenario.compose()
    assert tugged.imported == 1


def test_in_python_it_is_an_argument_of_load_that_a_scenario_keeps(tugged):
    scenario = corekit.load(tugged.file)
    with pytest.raises(ConfigError, match="allow_code=True"):
        scenario.compose()
    assert tugged.imported == 0
    allowed = corekit.load(tugged.file, allow_code=True)
    allowed.compose()
    assert allowed.models_without_gravity() is not None
    assert tugged.imported == 1
    with pytest.raises(ConfigError, match="allow_code=True"):
        corekit.load(tugged.file).compose()


def test_no_entry_of_a_scenario_allows_its_code(tugged):
    with pytest.raises(ConfigError, match="allow_code"):
        corekit.load(tugged.file, ["allow_code=true"])


def test_a_function_of_a_file_beside_the_scenario_is_found_from_anywhere(tmp_path, monkeypatch, capsys):
    made, elsewhere = tmp_path / "made", tmp_path / "elsewhere"
    made.mkdir()
    elsewhere.mkdir()
    tugged = Tugged(made)
    tugged.file.write_text(SCENARIO.replace("tugs_at_tips:tug", "tugs_at_tips.py:tug"))
    monkeypatch.chdir(elsewhere)
    assert main(["run", str(tugged.file), "--quiet", "--out", "here"]) != 0
    assert "names a Python function" in capsys.readouterr().err
    assert tugged.imported == 0
    monkeypatch.setenv("TUG_FAILS_AT", "0.015")
    assert main(["run", str(tugged.file), "--quiet", "--out", "here", "--allow-code"]) == 1
    assert tugged.imported == 1
    (step,) = (elsewhere / "here").glob("step-*.npz")
    monkeypatch.setenv("TUG_FAILS_AT", "inf")
    assert replay(step, allow_code=True).accepted  # its scenario lies in the folder of the run
    resumed = resume(elsewhere / "here", allow_code=True)
    assert corekit.Results(resumed.path).time[-1] == pytest.approx(0.03)


def test_a_changed_file_is_read_anew_and_one_that_is_not_there_is_named(tmp_path):
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO.replace("tugs_at_tips:tug", "mine.py:tug"))
    with pytest.raises(ConfigError, match=r"mine\.py:tug'; must name .* FileNotFoundError"):
        corekit.load(file, allow_code=True).compose()
    tips = []
    for force in (0.1, 0.2222):  # a file of another length: its time stamp may be too coarse
        (tmp_path / "mine.py").write_text(
            f"def tug(t, position, rotation, velocity): return (0, 0, 0, 0, 0, {force})"
        )
        simulation = corekit.load(file, allow_code=True).compose()
        simulation.run(0.03)
        tips.append(simulation.frame("arm.arm.tip").position[2])
    assert tips[1] > tips[0]
