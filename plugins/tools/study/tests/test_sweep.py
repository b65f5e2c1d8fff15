"""Sweeps: which values a range has, that every run is there once, and that a stopped one goes on."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import pytest

from corekit.cli import MISUSE, main
from corekit.errors import ConfigError, ResultsError
from corekit_record.results import Results
from corekit_run.folder import RunFolder
from corekit_study.journal import OUTCOMES
from corekit_study.sweep import SWEEP, resume, sweep
from corekit_study.variants import spread


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


def test_a_range_without_a_count_asks_for_one():
    with pytest.raises(ConfigError, match="or have --samples COUNT beside it"):
        spread("contact.friction=0.1:0.9")


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
    """They import this project alone: one of them that imported the script would sweep again, and end in an error."""
    script = tmp_path / "study.py"
    script.write_text(
        "from pathlib import Path\nfrom corekit_study.sweep import sweep\nprint('started')\n"
        f"found = sweep({str(scenario_file)!r}, ['time.duration=0.1,0.2'], directory=Path('swept'), workers=1)\n"
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


def test_shards_share_a_folder_and_are_merged_by_resuming_it(tmp_path, scenario_file):
    vary = ["time.duration=0.05:0.2:4"]
    parts = [sweep(scenario_file, vary, (), tmp_path / "s", workers=0, shard=(k, 3)) for k in (1, 2, 3)]
    assert {part.folder for part in parts} == {tmp_path / "s"}
    durations = [[point.variant.label for point in part.points] for part in parts]
    assert durations == [["0.05", "0.2"], ["0.1"], ["0.15"]]
    whole = resume(tmp_path / "s", workers=0)
    assert [row["time.duration"] for row in table(whole.folder)] == ["0.05", "0.1", "0.15", "0.2"]
    assert not (whole.folder / OUTCOMES).exists()  # nothing was run again
    with pytest.raises(ResultsError, match="another sweep"):
        sweep(scenario_file, ["time.step=1e-3,2e-3"], (), tmp_path / "s", workers=0, shard=(1, 2))
    with pytest.raises(ConfigError, match="K-th of N parts"):
        sweep(scenario_file, vary, (), tmp_path / "t", workers=0, shard=(4, 3))


def test_the_table_alone_is_kept_and_is_the_same(tmp_path, scenario_file):
    vary = ["time.duration=0.05,0.1", "time.step=1e-3,2e-3"]
    kept = sweep(scenario_file, vary, (), tmp_path / "kept", workers=0)
    bare = sweep(scenario_file, vary, (), tmp_path / "bare", workers=0, keep="table")
    assert {path.name for path in bare.folder.iterdir()} == {SWEEP, OUTCOMES, "sweep.csv", "sweep.nc"}
    assert all(point.folder.is_dir() for point in kept.points)
    columns = [name for name in table(kept.folder)[0] if name != "wall_s"]
    for mine, other in zip(table(bare.folder), table(kept.folder), strict=True):
        assert [mine[name] for name in columns] == [other[name] for name in columns]
    last = Results(kept.points[-1].folder)
    row = table(bare.folder)[-1]
    assert last.tip is not None
    assert row["tip_frame"] == last.frames[last.tip]
    # a text is read by JSON alike in every rounding mode
    assert json.loads(row["tip_z_m"]) == last.frame_position[-1, last.tip, 2]
    assert json.loads(row["energy_J"]) == last.energy.total[-1]
    assert resume(bare.folder, workers=0).points[0].metrics["wall_s"] == bare.points[0].metrics["wall_s"]


def test_random_points_are_run_and_go_on_from_their_folder(tmp_path, scenario_file):
    asked = {"samples": 4, "seed": 3, "workers": 0}
    with pytest.raises(ConfigError, match="LOW:HIGH"):
        sweep(scenario_file, ["time.duration=0.4:0.2"], (), tmp_path / "s", **asked)
    assert not (tmp_path / "s").exists()
    vary = ["time.step=1e-3,2e-3", "world.obstacles[0].friction=0.1:0.9"]
    found = sweep(scenario_file, vary, ["time.duration=0.05"], tmp_path / "s", **asked)
    assert [int(row["steps"]) for row in table(found.folder)].count(50) == 2
    again = resume(found.folder, workers=0)
    assert [each.variant for each in again.points] == [each.variant for each in found.points]
    assert [each.metrics for each in again.points] == [each.metrics for each in found.points]


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


@pytest.mark.parametrize(
    ("vary", "given"),
    [
        ("time.duration=0.1,0.2", "time.duration=0.3"),
        ("time.duration=0.1,0.2", " time.duration = 0.3"),
        ("contact.solver={use='a'},{use='b'}", "contact.solver.use=c"),
        ("bodies[0].options.shape=sphere", "bodies[0].options.shape=box"),
    ],
)
@pytest.mark.parametrize("verb", ["sweep", "compare"])
def test_setting_what_is_varied_is_refused(verb, vary, given, tmp_path, scenario_file, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([verb, str(scenario_file), "--vary", vary, "--set", given, "--out", "s"]) == MISUSE
    said = capsys.readouterr().err
    assert f"--set: found {given!r}; --vary varies {vary.partition('=')[0]}: leave this out" in said
    assert not (tmp_path / "s").exists()


def test_a_varied_entry_may_lie_inside_of_one_that_is_set(tmp_path, scenario_file):
    found = sweep(
        scenario_file, ["time.duration=0.1,0.2"], ["time={duration=9.0, step=2e-3}"], tmp_path / "s"
    )
    assert [int(row["steps"]) for row in table(found.folder)] == [50, 100]


def test_going_on_with_a_folder_that_is_none_of_a_sweep_says_what_it_is(tmp_path, scenario_file):
    folder = sweep(scenario_file, ["time.duration=0.1,0.2"], (), tmp_path / "s", workers=0).folder
    inside = folder / "1-0.1"
    with pytest.raises(ResultsError, match=rf"It is the folder of a run: corekit run --resume {inside}"):
        resume(inside)
    with pytest.raises(ResultsError, match="the folder is not there"):
        resume(tmp_path / "nowhere")
    with pytest.raises(ResultsError, match=r"holds no sweep\.json\. Give the folder that"):
        resume(tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ["{file}", "--vary", "time.step=1e-3,2e-3", "--seed", "3"],
        ["{file}", "--vary", "time.step=1e-3:2e-3", "--samples", "2", "--seed", "-1"],
        ["{file}", "--vary", "time.step=1e-3:2e-3", "--samples", "1.5"],
        ["{file}", "--vary", "time.step=1e-3,2e-3", "--jobs", "1.5"],
        ["{file}", "--vary", "time.step=1e-3,2e-3", "--shard", "3/3"],
        ["--resume", "s", "--seed", "1"],
        ["--resume", "s", "--keep", "table"],
    ],
)
def test_options_that_would_count_for_nothing_or_be_rounded_are_misuse(
    words, tmp_path, scenario_file, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", *(word.format(file=scenario_file) for word in words)]) == MISUSE
    assert [each.name for each in tmp_path.iterdir()] == ["dropped.toml"]


def test_a_full_disk_is_no_outcome_of_a_run_but_ends_the_sweep(tmp_path, scenario_file, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    as_usual = RunFolder.write

    def write(self, name, text):
        if self.path.name.startswith("2"):
            raise ResultsError(f"cannot write {self.path / name}: No space left on device")
        as_usual(self, name, text)

    monkeypatch.setattr(RunFolder, "write", write)
    words = [
        "sweep",
        str(scenario_file),
        "--vary",
        "time.duration=0.1,0.2",
        "--out",
        "s",
        "--quiet",
        "--jobs",
        "1",
    ]
    assert main(words) == MISUSE
    said = capsys.readouterr().err
    assert said.startswith("cannot write s/2-0.2/resolved.toml: No space left on device")
    assert said.strip().endswith("Runs that have ended are stored in s. To go on: corekit sweep --resume s")
    monkeypatch.undo()
    assert {row.metrics["status"] for row in resume(tmp_path / "s", workers=0).points} == {"finished"}


def test_a_table_that_cannot_be_written_is_told_with_how_to_write_it(tmp_path, scenario_file):
    folder = sweep(scenario_file, ["time.duration=0.1,0.2"], (), tmp_path / "s", workers=0).folder
    (folder / "sweep.csv").unlink()
    (folder / "sweep.csv").mkdir()
    with pytest.raises(
        ResultsError, match=rf"sweep\.csv: Is a directory\. All outcomes are stored.*--resume {folder}\."
    ):
        resume(folder, workers=0)
