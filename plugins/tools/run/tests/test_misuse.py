"""What a command line of `corekit run` asks for counts, or is refused; a folder that is no run's is left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corekit.cli import MISUSE, main
from corekit_run.folder import RunFolder

SCENARIO = """
format = "corekit-scenario/1"
name = "dropped"
time = { duration = 0.3, step = 0.002 }
integrator = { use = "reference-semi-implicit-euler" }
output = { every = 0.02 }
[[world.obstacles]]
name = "floor"
shape = "half-space"
friction = 0.5
[contact]
detector = { use = "reference-detector" }
solver = { use = "reference-gauss-seidel" }
[[bodies]]
name = "ball"
use = "reference-point-chain"
[bodies.options]
positions = [[0.0, 0.0, 0.2]]
velocities = [[0.5, 0.0, 0.0]]
shape = "sphere"
"""


@pytest.fixture
def ran(tmp_path, monkeypatch):
    """A run in the folder `r`, and its checkpoint."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dropped.toml").write_text(SCENARIO)
    assert main(["run", "dropped.toml", "--out", "r", "--quiet", "--set", "time.duration=0.1"]) == 0
    (checkpoint,) = (tmp_path / "r").glob("checkpoint-*.npz")
    return str(checkpoint)


@pytest.mark.parametrize("option", [["--out", "x"], ["--set", "seed=3"], ["--picture"], ["--resume", "r"]])
def test_a_step_is_replayed_as_it_was(option, ran, capsys):
    assert main(["run", ran, *option]) == MISUSE
    assert f"{option[0]} does not go with {ran}" in capsys.readouterr().err


def test_a_replay_as_json_is_an_object(ran, capsys):
    assert main(["run", ran, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["status"], said["step_s"]) == ("succeeded", 0.002)


def test_a_file_is_no_folder_to_resume(ran, capsys):
    assert main(["run", "--resume", ran]) == MISUSE
    assert "it is a file, not a run's folder" in capsys.readouterr().err


def test_other_values_for_a_run_that_goes_on_are_refused(ran, capsys):
    RunFolder(Path("r")).set_status("interrupted")
    assert main(["run", "--resume", "r", "--set", "time.duration=3"]) == MISUSE
    assert "--set does not go with --resume alone" in capsys.readouterr().err
    assert main(["run", "--resume", "r", "--quiet"]) == 0


@pytest.mark.parametrize("file", [["dropped.toml"], []])
def test_a_folder_that_is_no_run_s_is_not_written_to(file, ran, tmp_path, capsys):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "scenario.toml").write_text("mine")
    assert main(["run", *file, "--resume", "other"]) == MISUSE
    assert (
        "cannot resume other: it holds no resolved.toml, so it is no run's folder" in capsys.readouterr().err
    )
    assert [each.read_text() for each in (tmp_path / "other").iterdir()] == ["mine"]


@pytest.mark.parametrize(("every", "last"), [("0.2", "0.2 s"), ("7", "0 s"), ("0.1", None)])
def test_an_end_that_is_not_recorded_is_said(every, last, ran, capsys):
    assert main(["run", "dropped.toml", "--quiet", "--set", f"output.every={every}"]) == 0
    assert main(["check", "dropped.toml", "--set", f"output.every={every}"]) == 0
    said = capsys.readouterr().err
    sentence = f"does not divide the run: the last record is of {last}, the end at 0.3 s has none"
    assert (sentence in said) is (last is not None)
