"""`corekit check`: what would run, or every mistake at once."""

from __future__ import annotations

import json

import pytest

from corekit.cli import main

SCENARIO = """
format = "corekit-scenario/1"
name = "falling"
time = { duration = 0.5, step = 0.001 }
output = { every = 0.01 }
integrator = { use = "reference-semi-implicit-euler" }
world = { obstacles = [{ name = "floor", shape = "half-space", friction = 0.5 }] }
contact = { detector = "reference-detector", solver = "reference-gauss-seidel" }
[[bodies]]
name = "ball"
use = "reference-point-chain"
options = { positions = [[0.0, 0.0, 0.3]], shape = "sphere" }
"""


@pytest.fixture
def scenario_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "falling.toml"
    path.write_text(SCENARIO)
    return path


def test_check_says_what_would_run(scenario_file, capsys):
    assert main(["check", str(scenario_file)]) == 0
    told = capsys.readouterr().out
    for words in (
        "0.5 s in 500 steps",
        "body ball: reference-point-chain, 3 coordinates",
        "obstacle floor: half-space",
        "found by reference-detector, solved by reference-gauss-seidel",
    ):
        assert words in told
    assert main(["check", str(scenario_file), "--json", "--set", "time.step=0.01"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 50
    assert not (scenario_file.parent / "runs").exists()


def test_check_prints_every_mistake_at_once(scenario_file, capsys):
    text = scenario_file.read_text()
    scenario_file.write_text(text.replace("step = 0.001", "step = -1").replace("friction", "frictoin"))
    assert main(["check", str(scenario_file)]) == 1
    told = capsys.readouterr().err
    assert "time.step" in told
    assert "did you mean 'friction'?" in told
    assert main(["check", str(scenario_file), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["sound"] is False


def test_a_missing_file_is_misuse(capsys):
    assert main(["check", "nowhere.toml"]) == 2
    assert "nowhere.toml" in capsys.readouterr().err
