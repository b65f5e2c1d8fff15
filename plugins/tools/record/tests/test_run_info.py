"""`corekit info RUNDIR` tells of a run from its folder alone, at whatever point it stands."""

from __future__ import annotations

import json
import shutil

import pytest

from corekit.cli import main
from corekit.scenario.load import load
from corekit_record.results import Results

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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run that nobody changes."""
    place = tmp_path_factory.mktemp("info")
    (place / "dropped.toml").write_text(SCENARIO)
    load(place / "dropped.toml").run(directory=place / "here")
    return place / "here"


def test_a_run_is_summed_up_with_scenario_statistics_and_versions(folder, capsys):
    assert main(["info", str(folder), "--json"]) == 0
    sheet = json.loads(capsys.readouterr().out)
    assert sheet["scenario"]["bodies"] == {"ball": "reference-point-chain"}
    assert sheet["scenario"]["contact_solver"] == "reference-gauss-seidel"
    assert sheet["report"]["status"] == "finished"
    assert sheet["report"]["statistics"]["steps"] == 150
    assert sheet["records"] == 16
    assert sheet["versions"]["plugins"].keys() >= {"corekit-testing"}
    assert main(["info", str(folder)]) == 0
    told = capsys.readouterr().out
    for words in (
        "dropped",
        "0.3 s in steps of 0.002 s",
        "ball (reference-point-chain)",
        "finished",
        "real-time factor",
    ):
        assert words in told


def test_a_step_is_reported_with_who_solved_it_and_the_weight_its_contact_carries(folder, capsys):
    """A kilogram at rest presses with 9.81 N."""
    for words in (["--step", "149"], ["--at", "0.3"]):
        assert main(["info", str(folder), *words, "--json"]) == 0
        sheet = json.loads(capsys.readouterr().out)
        assert (sheet["step"], sheet["ends_s"], sheet["record_s"]) == (
            149,
            pytest.approx(0.3),
            pytest.approx(0.3),
        )
        assert (sheet["status"], sheet["contact_count"]) == ("converged", 1)
        assert sheet["answered_by"] == "projected Gauss–Seidel"
        (contact,) = sheet["contacts"]
        assert contact["between"] == ["ball.0", "floor"]
        assert contact["normal_force_N"] == pytest.approx(9.81, rel=1e-6)
    assert main(["info", str(folder), "--step", "5"]) == 0
    told = capsys.readouterr().out
    assert "step 5 of 150, ends at t = 0.012 s" in told
    assert "no contact in the record at t = 0 s" in told


def test_a_step_that_is_not_there_is_said_with_those_there_are(folder, capsys):
    for words, said in (
        (["--step", "150"], "has no step 150: it has 0 to 149"),
        (["--step", "-1"], "has no step -1"),
        (["--at", "0.4"], "has no step at 0.4 s"),
        (["--at", "-0.1"], "has no step at -0.1 s"),
        (["--at", "0.1", "--step", "3"], "not both"),
    ):
        assert main(["info", str(folder), *words]) == 2
        assert said in capsys.readouterr().err


def test_a_step_is_asked_of_a_run(capsys):
    assert main(["info", "reference-pendulum", "--step", "3"]) == 2
    assert "no folder of one" in capsys.readouterr().err


def test_a_run_without_its_small_files_is_still_reported(folder, tmp_path, capsys):
    folder = shutil.copytree(folder, tmp_path / "here")
    for name in ("STATUS", "log.jsonl", "versions.json", "resolved.toml"):
        (folder / name).unlink(missing_ok=True)
    assert main(["info", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "resolved.toml cannot be read" in told
    assert "unknown" in told


def test_a_run_that_records_every_step_says_so(tmp_path, capsys):
    path = tmp_path / "dropped.toml"
    path.write_text(SCENARIO.replace("output = { every = 0.02 }\n", ""))
    load(path, "time.duration=0.02").run(directory=tmp_path / "here")
    assert main(["info", str(tmp_path / "here")]) == 0
    assert "0.02 s in steps of 0.002 s, a record every 0.002 s" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("resolved.toml", "name = 3"),
        ("resolved.toml", 'time = 1\nbodies = "x"'),
        ("log.jsonl", '3\n{"event": 3}\n{}\nnull\n'),
        ("versions.json", "[1, 2]"),
        ("STATUS", "done"),
    ],
)
def test_small_files_that_hold_something_else_are_as_good_as_absent(folder, name, text, tmp_path, capsys):
    folder = shutil.copytree(folder, tmp_path / "here")
    (folder / name).write_text(text)
    assert main(["info", str(folder)]) == 0
    assert "records, " in capsys.readouterr().out


def test_a_run_that_was_killed_before_its_results_is_said_to_have_none(tmp_path, capsys):
    (tmp_path / "STATUS").write_text("running\nprocess 1 on elsewhere\n")
    assert main(["info", str(tmp_path)]) == 2
    assert "no results" in capsys.readouterr().err


def test_a_folder_that_is_no_run_does_not_hide_a_component(tmp_path, monkeypatch, capsys):
    (tmp_path / "pcc").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["info", "reference-pendulum"]) == 0
    assert main(["info", "pcc"]) in {0, 2}
    assert "results" not in capsys.readouterr().err


def test_a_run_says_which_of_its_steps_was_cut_shortest(tmp_path, capsys):
    """A floor that begins to rise 0.2 ms before the end of a step of 2 ms cuts that step there."""
    path = tmp_path / "cut.toml"
    moved = 'position = { kind = "ramp", from = 0.1018, to = 0.2, value = [0.0, 0.0, 0.01] }\nfriction'
    path.write_text(SCENARIO.replace("friction", moved, 1))
    load(path).run(directory=tmp_path / "cut")
    assert main(["info", str(tmp_path / "cut")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "151, 16 records; of at most 2 ms, the shortest of 0.2 ms at 0.102 s" in told


def test_a_run_whose_steps_are_mostly_unsolved_says_so(folder, capsys, monkeypatch):
    for unsolved, said in (
        (75, "status finished steps"),
        (76, "finished, but 76 of 150 steps are not solved: do not"),
    ):
        counted = {**Results(folder).statistics, "unsolved_steps": unsolved}
        with monkeypatch.context() as patch:
            patch.setattr(Results, "statistics", counted)
            main(["info", str(folder)])
        assert said in " ".join(capsys.readouterr().out.split())
