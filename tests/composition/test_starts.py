"""Searches from several starts, shared out: the best of them is what one search from all starts finds."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import corekit
from corekit.cli import MISUSE, main

pytest.importorskip("corekit_fit", reason="corekit-fit is not installed")

SWING = """
format = "corekit-scenario/1"
name = "swing"
time = { duration = 0.4, step = 0.02 }
world = { gravity = [0.0, 0.0, 0.0] }
[[bodies]]
name = "robot"
use = "vine"
options = { bodies = 4, length = 0.4, bending_stiffness = 0.02, bending_damping = 4e-4, collision = "none" }
initial = { bend = [0.03, 0.03] }
[integrator]
use = "implicit-midpoint"
"""
FIT = """
format = "corekit-fit/1"
name = "swing"
scenario = "swing.toml"
use = "simulation-fit"
[options]
starts = 3
markers = { file = "seen.csv", deviation = 1e-4, attached = [{ marker = "TIP", frame = "TIP" }] }
parameters = [{ name = "bending_stiffness", start = 0.008, low = 1e-3, high = 0.2 }]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "swing.toml").write_text(SWING)
    simulation = corekit.load(tmp_path / "swing.toml").compose()
    tip = simulation.bodies[0].description.frames[-1]
    with (tmp_path / "seen.csv").open("w", newline="") as seen:
        table = csv.writer(seen)
        table.writerow(["time", "marker", "x", "z"])
        for _ in range(20):
            simulation.step()
            table.writerow(
                [simulation.time, tip, *simulation.frame(f"robot.{tip}").position[[0, 2]].tolist()]
            )
    path = tmp_path / "fit.toml"
    path.write_text(FIT.replace("TIP", tip))
    return path


@pytest.mark.parametrize("scheduler", ["processes", "local"])
def test_the_best_of_shared_starts_is_the_fit_from_all_of_them(
    scheduler, file, tmp_path, monkeypatch, capsys
):
    """Over `local`, where no disk is taken for shared, files come back as data."""
    if scheduler == "local":
        pytest.importorskip("corekit_dask", reason="corekit-dask is not installed")
    monkeypatch.chdir(tmp_path)
    assert main(["fit", str(file), "--out", "one", "--json"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert main(["fit", str(file), "--out", "many", "--json", "--scheduler", scheduler, "--jobs", "1"]) == 0
    many = json.loads(capsys.readouterr().out)
    assert many["parameters"][0]["value"] == one["parameters"][0]["value"]
    assert many["parameters"][0]["value"] == pytest.approx(0.02, rel=1e-3)
    assert [each["name"] for each in many["starts"]] == ["start-1", "start-2", "start-3"]
    costs = {each["cost"] for each in many["starts"]}
    assert len(costs) == 3  # from other places
    assert many["figures"]["objective"] == min(costs)
    for name in ("report.json", "fitted.toml", "residuals.csv", "starts.json", "start-2/report.json"):
        assert (tmp_path / "many" / name).is_file(), name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--jobs", "2"], "with --scheduler beside it"),
        (["--scheduler", "proceses"], "did you mean 'processes'"),
        (["--scheduler", "processes", "--jobs", "0"], "must be at least 1"),
    ],
)
def test_what_cannot_be_shared_is_misuse_before_anything_is_written(
    words, said, file, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert main(["fit", str(file), "--out", "s", *words]) == MISUSE
    assert said in capsys.readouterr().err
    assert not (tmp_path / "s").exists()


def test_a_fit_of_one_start_is_not_shared_and_a_start_that_there_is_not_is_refused(file, tmp_path, capsys):
    text = file.read_text()
    file.write_text(text.replace("starts = 3\n", ""))
    assert main(["fit", str(file), "--out", str(tmp_path / "s"), "--scheduler", "processes"]) == MISUSE
    assert "options.starts: found 1; must be 2 or more to be shared out" in capsys.readouterr().err
    file.write_text(text.replace("starts = 3\n", "starts = 3\nonly_start = 4\n"))
    assert main(["fit", str(file), "--out", str(tmp_path / "s")]) == MISUSE
    assert "only_start: found 4; must be at most 3" in capsys.readouterr().err
