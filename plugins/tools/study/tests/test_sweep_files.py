"""What a sweep keeps of its runs: forces, last states, one dataset, however runs are kept or shared out."""

from __future__ import annotations

import csv
import json
import math

import h5netcdf
import numpy as np
import pytest

from corekit.cli import MISUSE, main
from corekit.errors import ConfigError, ResultsError
from corekit_record.results import Results
from corekit_study.journal import OUTCOMES, Journal
from corekit_study.sweep import merge, resume, sweep
from corekit_study.sweep_files import SweepFiles

GRAVITY = 9.81


def rows(folder, name="sweep.csv"):
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def values(file, name):
    return np.asarray(file[name][...])


def texts(variable):
    return [text.decode() for text in variable[...]]


@pytest.fixture
def heavy_file(scenario_file):
    """A ball of 3 kg that rests on the floor at the end."""
    text = scenario_file.read_text().replace("positions =", "masses = [3.0]\npositions =")
    scenario_file.write_text(text)
    return scenario_file


def test_a_ball_at_rest_is_carried_by_its_weight_and_fell_with_more(tmp_path, heavy_file):
    """m·g at the end; at the impact (m·v + m·g·h)/h, v the speed that it brings and h the step."""
    found = sweep(
        heavy_file, ["bodies[0].options.masses=[3.0],[6.0]"], (), tmp_path / "s", workers=0, keep="table"
    )
    for row, mass in zip(rows(found.folder), (3.0, 6.0), strict=True):
        assert json.loads(row["force_z_N:ball/floor"]) == pytest.approx(mass * GRAVITY, rel=1e-9)
        assert json.loads(row["force_x_N:ball/floor"]) == pytest.approx(0.0, abs=1e-9)
        speed = math.sqrt(2.0 * GRAVITY * 0.1)
        assert json.loads(row["largest_force_N:ball/floor"]) == pytest.approx(mass * speed / 0.002, rel=0.06)


def test_the_last_state_and_the_table_are_those_of_the_records(tmp_path, scenario_file):
    vary = ["time.duration=0.06,0.2"]
    whole = sweep(scenario_file, vary, (), tmp_path / "all", workers=0)
    last = sweep(scenario_file, vary, (), tmp_path / "last", workers=0, keep="last")
    columns = [name for name in rows(whole.folder)[0] if name != "wall_s"]
    for mine, other in zip(rows(last.folder), rows(whole.folder), strict=True):
        assert [mine[name] for name in columns] == [other[name] for name in columns]
    assert not any(path.is_dir() for path in last.folder.iterdir())
    with h5netcdf.File(last.folder / "sweep.nc") as file:
        assert texts(file["coordinate"]) == ["ball.x0", "ball.y0", "ball.z0"]
        for k, point in enumerate(whole.points):
            records = Results(point.folder)
            assert values(file, "q")[k].tolist() == records.q[-1].tolist()
            assert values(file, "v")[k].tolist() == records.v[-1].tolist()
            assert values(file, "frame_position")[k].tolist() == records.frame_position[-1].tolist()
        assert values(file, "time.duration") == pytest.approx([0.06, 0.2], rel=1e-15)
        # who falls for 0.06 s has touched nothing
        assert np.isnan(values(file, "contact_force")[0]).all()
        assert values(file, "contact_force")[1, 0, 2] == pytest.approx(GRAVITY, rel=1e-9)


def test_runs_of_other_coordinates_stand_under_all_names(tmp_path, scenario_file):
    vary = [
        "bodies[0].options={positions=[[0.0,0.0,0.5]]},{positions=[[0.0,0.0,0.5],[0.3,0.0,0.5]],masses=[1.0,1.0]}"
    ]
    found = sweep(scenario_file, vary, ["time.duration=0.02"], tmp_path / "s", workers=0, keep="last")
    assert not any(point.reason for point in found.points), [point.reason for point in found.points]
    with h5netcdf.File(found.folder / "sweep.nc") as file:
        names = texts(file["coordinate"])
        assert len(names) == 6
        assert np.isfinite(values(file, "q")[0]).sum() == 3
        assert np.isfinite(values(file, "q")[1]).all()


def test_the_dataset_grows_and_says_what_waits(tmp_path, scenario_file, monkeypatch):
    seen = []
    usual = SweepFiles.publish_if_due

    def publish(self):
        self._next = 0.0
        usual(self)
        with h5netcdf.File(tmp_path / "s" / "sweep.nc") as file:
            seen.append(values(file, "status").tolist())

    monkeypatch.setattr(SweepFiles, "publish_if_due", publish)
    sweep(scenario_file, ["time.duration=0.3,0.2,0.1"], (), tmp_path / "s", workers=0, keep="table")
    assert seen[0] == [1, 0, 0]
    assert seen[-1] == [1, 1, 1]
    assert len(seen) == 3


def test_a_run_that_fails_keeps_its_folder_and_what_repeats_the_step(tmp_path, scenario_file):
    vary = ["watchdog.penetration={policy='stop', limit=1e-9},{policy='warn'}"]
    within = ["bodies[0].options.positions=[[0.0,0.0,0.05]]"]
    found = sweep(scenario_file, vary, within, tmp_path / "s", workers=0, keep="table")
    failed, finished = found.points
    assert failed.metrics["status"] == "failed"
    assert "ball.0 is 50 mm inside floor" in failed.reason
    assert failed.metrics["completed"] < 1.0
    assert (failed.folder / "log.jsonl").is_file()
    assert list(failed.folder.glob("step-*.npz"))
    assert finished.metrics["status"] == "finished"
    assert not finished.folder.exists()
    with h5netcdf.File(found.folder / "sweep.nc") as file:
        assert values(file, "status").tolist() == [2, 1]
        assert texts(file["reason"])[0] == failed.reason


def test_shards_of_folders_of_their_own_are_merged_to_the_sweep_of_one(tmp_path, scenario_file):
    vary = ["time.duration=0.05:0.2:4"]
    one = sweep(scenario_file, vary, (), tmp_path / "one", workers=0, keep="last")
    parts = [tmp_path / f"part-{k}" for k in (1, 2, 3)]
    for k, part in enumerate(parts, start=1):
        sweep(scenario_file, vary, (), part, workers=0, keep="last", shard=(k, 3))
    with pytest.raises(
        ResultsError, match=r"lacks 1 of 4 runs: 2-0\.1\. Give --merge the folders of the other shards"
    ):
        merge(parts[0], [parts[2]])
    whole = merge(parts[0], parts[1:])
    columns = [name for name in rows(one.folder)[0] if name != "wall_s"]
    for mine, other in zip(rows(whole.folder), rows(one.folder), strict=True):
        assert [mine[name] for name in columns] == [other[name] for name in columns]
    with h5netcdf.File(whole.folder / "sweep.nc") as mine, h5netcdf.File(one.folder / "sweep.nc") as other:
        assert values(mine, "q").tolist() == values(other, "q").tolist()
    other = sweep(scenario_file, ["time.duration=0.1,0.2"], (), tmp_path / "other", workers=0)
    with pytest.raises(ResultsError, match=r"other is of another sweep than .*part-1"):
        merge(parts[0], [other.folder])


def test_a_shard_whose_folder_was_changed_is_not_mixed_with_another(tmp_path, scenario_file):
    parts = [tmp_path / name for name in "ab"]
    for part in parts:
        sweep(scenario_file, ["time.duration=0.05,0.1"], (), part, workers=0, keep="table", shard=(1, 2))
    with pytest.raises(ResultsError, match="are of one shard and differ"):  # their wall times do
        merge(parts[0], parts[1:])


def test_points_of_a_file_are_run_in_its_order(tmp_path, scenario_file):
    points = tmp_path / "points.csv"
    points.write_text("time.duration,contact.friction\n0.1,0.3\n\n0.02,0.7\n")
    found = sweep(scenario_file, (), (), tmp_path / "s", workers=0, points=points, keep="table")
    assert [(row["time.duration"], row["contact.friction"], row["steps"]) for row in rows(found.folder)] == [
        ("0.1", "0.3", "50"), ("0.02", "0.7", "10"),
    ]  # fmt: skip
    points.unlink()  # the folder knows them
    assert [point.metrics["steps"] for point in resume(found.folder, workers=0).points] == [50, 10]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("time.duration\n", r"must have the paths in its first line"),
        ("time.duration,time.duration\n1,2\n", "each once"),
        ("time.duration,\n1,2\n", "must be a path"),
        (
            "time.duration,time.step\n1\n",
            r"line 2: found '1'; must have a value for each of time.duration, time.step",
        ),
        ("time.durance\n1\n", "durance"),
    ],
)
def test_a_file_of_points_that_is_none_is_refused_with_its_line(text, said, tmp_path, scenario_file):
    points = tmp_path / "points.csv"
    points.write_text(text)
    with pytest.raises(ConfigError, match=said):
        sweep(scenario_file, (), (), tmp_path / "s", workers=0, points=points)
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["{file}", "--points", "p.csv", "--vary", "time.step=1e-3"],
        ["{file}", "--points", "p.csv", "--samples", "3"],
        ["{file}", "--points", "nowhere.csv"],
        ["{file}", "--vary", "time.step=1e-3,2e-3", "--sampling", "sobol"],
        ["{file}", "--vary", "time.step=1e-3:2e-3", "--samples", "2", "--sampling", "sobel"],
        ["{file}", "--vary", "time.step=1e-3,2e-3", "--at", "1.0"],
        ["{file}", "--vary", "time.step=1e-3,2e-3", "--keep", "tabel"],
        ["{file}", "--vary", "time.step=1e-3,2e-3", "--scheduler", "proceses"],
        ["--merge", "s", "--jobs", "2"],
        ["--merge", "s"],
    ],
)
def test_what_cannot_be_asked_together_is_misuse_before_anything_is_written(
    words, tmp_path, scenario_file, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text("time.step\n1e-3\n")
    assert main(["sweep", *(word.format(file=scenario_file) for word in words)]) == MISUSE
    assert capsys.readouterr().err.strip()
    assert {each.name for each in tmp_path.iterdir()} == {"dropped.toml", "p.csv"}


def test_an_outcome_that_is_cut_or_of_another_kind_counts_as_none(tmp_path, scenario_file):
    folder = sweep(
        scenario_file, ["time.duration=0.1,0.2"], (), tmp_path / "s", workers=0, keep="table"
    ).folder
    first, second = (folder / OUTCOMES).read_text().splitlines()
    broken = json.dumps({**json.loads(first), "statistics": 3})
    (folder / OUTCOMES).write_text(f"{first}\n{broken}\n[]\nnonsense\n{second[:-7]}")
    journal = Journal(folder)
    name, digest = (json.loads(first)[each] for each in ("name", "digest"))
    assert journal.holds(name, digest)
    assert not journal.holds(json.loads(second)["name"], json.loads(second)["digest"])
    assert journal.read(name).statistics == json.loads(first)["statistics"]
    again = resume(folder, workers=0)
    assert [point.metrics["steps"] for point in again.points] == [50, 100]
