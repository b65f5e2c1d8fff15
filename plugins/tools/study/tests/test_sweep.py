"""Sweeps: which values a range has, that every run is there once, and that a stopped one goes on."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import pytest

from corekit.cli import MISUSE, main
from corekit.errors import ConfigError, ResultsError
from corekit_study.batch import OUTCOMES
from corekit_study.sweep import SWEEP, resume, spread, sweep


def table(folder):
    with (folder / "sweep.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.b=0:1:5", "a.b=0,0.25,0.5,0.75,1"),
        ("a=1e-4:1e-2:3:log", "a=0.0001,0.001,0.01"),
        ("a=-8:-2:2:log", "a=-8,-2"),
        ("a=3:1:3", "a=3,2,1"),
        ("solver=lcp,qp", "solver=lcp,qp"),
        ("name=dist:plugin", "name=dist:plugin"),
        ("name=a:b:c", "name=a:b:c"),
    ],
)
def test_a_range_is_its_values_and_anything_else_stays_as_it_is(text, values):
    assert spread(text) == values


@pytest.mark.parametrize("text", ["a=1:2:1", "a=1:1:3", "a=0:1:3:log", "a=-1:1:3:log"])
def test_a_range_that_is_none_is_refused(text):
    with pytest.raises(ConfigError, match="FROM:TO:COUNT"):
        spread(text)


def test_every_combination_is_run_and_stands_in_the_table_as_it_ran(tmp_path, scenario_file):
    found = sweep(
        scenario_file,
        ["time.duration=0.1:0.3:3", "time.step=1e-3,2e-3"],
        ["seed=5"],
        tmp_path / "s",
        workers=0,
    )
    rows = table(found.folder)
    assert [(row["time.duration"], row["time.step"]) for row in rows] == [
        (duration, step) for duration in ("0.1", "0.2", "0.3") for step in ("1e-3", "2e-3")
    ]
    assert [int(row["steps"]) for row in rows] == [100, 50, 200, 100, 300, 150]
    assert {row["status"] for row in rows} == {"finished"}
    last = found.points[-1]
    assert "seed = 5" in (last.folder / "resolved.toml").read_text(encoding="utf-8")
    assert found.as_data()["runs"][-1]["values"] == {"time.duration": "0.3", "time.step": "2e-3"}


def test_a_script_without_a_guard_sweeps_in_processes_of_its_own(tmp_path, scenario_file):
    """They import this project alone: one that imported the script would sweep again, and end in an error."""
    script = tmp_path / "study.py"
    script.write_text(
        "from pathlib import Path\nfrom corekit_study.sweep import sweep\nprint('started')\n"
        f"found = sweep({str(scenario_file)!r}, ['time.duration=0.1,0.2'], directory=Path('swept'), workers=2)\n"
        "print([row['status'] for row in found.as_data()['runs']])\n"
    )
    ended = subprocess.run(
        [sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.stdout.splitlines() == ["started", "['finished', 'finished']"], ended.stderr


def test_a_stopped_sweep_repeats_only_what_is_missing(tmp_path, scenario_file):
    folder = sweep(scenario_file, ["time.duration=0.1,0.2"], (), tmp_path / "s", workers=0).folder
    first, _second = (folder / OUTCOMES).read_text(encoding="utf-8").splitlines()
    marked = json.dumps({**json.loads(first), "wall_s": -1.0})
    (folder / OUTCOMES).write_text(marked + "\n", encoding="utf-8")
    (folder / "sweep.csv").unlink()
    again = resume(folder, workers=0)
    assert again.points[0].metrics["wall_s"] == -1.0
    assert again.points[1].metrics["wall_s"] > 0.0
    assert [int(row["steps"]) for row in table(folder)] == [50, 100]


def test_a_wrong_value_is_reported_before_there_is_a_folder(tmp_path, scenario_file):
    with pytest.raises(ConfigError, match=r"time\.step"):
        sweep(scenario_file, ["time.step=1e-3,fast"], (), tmp_path / "s", workers=0)
    assert not (tmp_path / "s").exists()
    with pytest.raises(ResultsError, match=SWEEP):
        resume(tmp_path)


def test_the_verb_prints_a_row_a_run_and_goes_on(tmp_path, scenario_file, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = [
        "sweep",
        str(scenario_file),
        "--vary",
        "time.duration=0.1:0.2:2",
        "--out",
        "s",
        "--quiet",
        "--jobs",
        "1",
    ]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "50 of 50" in out
    assert "100 of 100" in out
    assert main(["sweep", "--resume", "s", "--quiet", "--json", "s.json"]) == 0
    assert len(json.loads((tmp_path / "s.json").read_text())["runs"]) == 2
    assert main(["sweep", "--resume", "s", "--vary", "time.step=1e-3"]) == MISUSE
    assert main(["sweep", str(scenario_file)]) == MISUSE
    assert main([*words[:-1], "0"]) == MISUSE
