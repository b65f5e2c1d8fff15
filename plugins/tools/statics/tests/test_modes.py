"""`corekit modes`: frequencies and shapes against closed forms, and what its folder holds."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from corekit.cli import main
from corekit.errors import ConfigError
from corekit.scenario.load import loads
from corekit_record.results import Results
from corekit_statics.scenario_modes import find_modes

G, LENGTH, MASS, STIFFNESS = 9.81, 0.4, 0.5, 300.0

HANGING = f"""
format = "corekit-scenario/1"
name = "hanging"
time = {{ duration = 1.0, step = 1e-3 }}
integrator = {{ use = "reference-semi-implicit-euler" }}
output = {{ every = 0.01 }}

[[bodies]]
name = "ball"
use = "reference-point-chain"
[bodies.options]
masses = [{MASS}]
positions = [[0.0, 0.0, -{LENGTH}]]
links = ["spring"]
lengths = [{LENGTH}]
stiffness = {STIFFNESS}
"""


def file_of(tmp_path, text=HANGING):
    path = tmp_path / "hanging.toml"
    path.write_text(text)
    return path


def test_a_ball_on_a_spring_swings_as_a_pendulum_and_up_and_down():
    modes = find_modes(loads(HANGING)).modes
    hanging = LENGTH + MASS * G / STIFFNESS
    swing, bounce = math.sqrt(G / hanging) / (2 * math.pi), math.sqrt(STIFFNESS / MASS) / (2 * math.pi)
    np.testing.assert_allclose(modes.frequencies, [swing, swing, bounce], rtol=1e-7)
    # of modal mass 1, and the last one upright
    np.testing.assert_allclose(np.sum(modes.shapes**2, axis=0), 1 / MASS, rtol=1e-12)
    np.testing.assert_allclose(np.abs(modes.shapes[:, 2]), [0, 0, 1 / math.sqrt(MASS)], atol=1e-9)


def test_the_mode_of_an_upright_spring_that_grows_has_no_frequency():
    upright = HANGING.replace(f"-{LENGTH}", f"{LENGTH}")
    found = find_modes(loads(upright))
    assert found.equilibrium.state.q[2] > 0.0
    assert np.isnan(found.modes.frequencies[:2]).all()
    growth = [row["growth_1_per_s"] for row in found.as_data()["modes"]]
    np.testing.assert_allclose(growth[:2], math.sqrt(G / (LENGTH - MASS * G / STIFFNESS)), rtol=1e-7)


def test_the_folder_has_a_table_netcdf_and_an_animation(tmp_path, capsys, monkeypatch):
    import h5netcdf

    monkeypatch.chdir(tmp_path)
    assert main(["modes", str(file_of(tmp_path)), "--count", "2", "--out", "out"]) == 0
    said = capsys.readouterr().out
    swing = math.sqrt(G / (LENGTH + MASS * G / STIFFNESS)) / (2 * math.pi)
    assert f"{swing:.6g} Hz" in said
    with h5netcdf.File(tmp_path / "out" / "modes.nc") as file:
        assert file["frequency"][...] == pytest.approx([swing] * 2, rel=1e-7)
        assert np.asarray(file["shape"]).shape == (2, 3)
        assert file["frequency"].attrs["units"] == "Hz"
        assert list(file["velocity"][...]) == [b"ball.vx0", b"ball.vy0", b"ball.vz0"]
    results = Results(tmp_path / "out")
    assert results.status == "finished"
    # both modes swing aside, one after the other, and pass the equilibrium in between
    rest = np.array([0.0, 0.0, -LENGTH - MASS * G / STIFFNESS])
    moved = np.linalg.norm(results.q - rest, axis=1)
    np.testing.assert_allclose(moved[[0, 20, 40, 60]], 0.0, atol=1e-9)
    assert moved[10] > 0.01
    assert moved[50] == pytest.approx(moved[10], rel=1e-6)
    assert abs(results.q[10, :2] @ results.q[50, :2]) < 1e-6 * moved[10] ** 2
    assert main(["info", str(tmp_path / "out")]) == 0
    assert f"{swing:.6g} Hz" in capsys.readouterr().out


def test_json_and_impossible_requests(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = str(file_of(tmp_path))
    assert main(["modes", file, "--json", "--out", "out"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["mode"] for row in report["modes"]] == [1, 2, 3]
    assert report["modes"][2]["largest_in"] == "ball.vz0"
    with pytest.raises(ConfigError, match="count"):
        find_modes(loads(HANGING), count=0)
    assert main(["modes", file, "--json", "--at", "-1"]) == 2
    assert json.loads(capsys.readouterr().out)["status"] == "failed"
