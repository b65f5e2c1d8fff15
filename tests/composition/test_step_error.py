"""The error of the step: half of it beside the run, extrapolated by the order one that contact has."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from corekit.cli import main
from corekit.errors import StepFailed
from corekit.scenario.load import load
from corekit.simulation.loop import Simulation
from corekit_record.step_error import estimate_step_error
from corekit_run.running import run
from corekit_study.compare import compare

G, H = 9.81, 1e-3
THROWN = """
format = "corekit-scenario/1"
name = "thrown"
time = { duration = 1.0, step = 1e-3 }
output = { every = 0.1 }
integrator = { use = "semi-implicit-euler" }
world = { obstacles = [{ name = "floor", shape = "half-space", friction = 0.5 }] }
contact = { detector = "sdf", solver = "lcp" }
[[bodies]]
name = "ball"
use = "rigid"
options = { shape = "sphere", size = [0.1], mass = 1.0 }
initial = { position = [0.0, 0.0, 0.5], velocity = [1.0, 0.0, 0.0] }
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "thrown.toml"
    path.write_text(THROWN)
    return path


def estimate(file, *overrides):
    scenario = load(file, overrides)
    return estimate_step_error(run(scenario, warn=lambda _said: None), scenario)


def test_the_error_of_a_free_fall_is_exact(file):
    """Semi-implicit Euler falls by ½·g·t·(t + h): the error is in proportion to h, as (1) takes it."""
    found = estimate(file, "time.duration=0.2")
    assert found.frame == "ball.body"
    assert found.at_s == pytest.approx(0.2)
    assert found.distance_m == pytest.approx(0.5 * G * H * 0.2, rel=1e-9)
    assert (found.parted_s, found.failed) == (None, "")
    assert found.end_m == found.distance_m


def test_the_error_of_a_turn_is_an_angle(file):
    """τ/I = 10 rad/s² turn by ½·α·t·(t + h)."""
    overrides = [
        "bodies.ball.options.inertia=[0.1, 0.1, 0.1]", "bodies.ball.options.fixed_centre=true", "time.duration=0.2",
        "bodies.ball.initial={}", "bodies.ball.base.position=[0, 0, 5]",
        "bodies.ball.inputs=[{ channel = 'wrench', signal = [0, 0, 0, 0, 0, 1.0] }]",
    ]  # fmt: skip
    found = estimate(file, *overrides)
    assert found.turned == "ball.body"
    assert found.angle_rad == pytest.approx(0.5 * 10.0 * H * 0.2, rel=1e-6)
    assert found.distance_m == 0.0


@pytest.mark.parametrize("step", [0.01, 2e-3])
def test_the_estimate_holds_the_error_of_a_ball_that_is_thrown_on_a_floor(file, step):
    """Against 0.1 ms: it slides, rolls and has lost what a fall of 0.4 m gave; half to twice of what is true."""
    fine = run(load(file, ["time.step=1e-4"]), warn=lambda _said: None)
    coarse = run(load(file, [f"time.step={step}"]), warn=lambda _said: None)
    true = np.linalg.norm(fine.frame_position[:, 0] - coarse.frame_position[:, 0], axis=1)
    found = estimate(file, f"time.step={step}")
    assert found.parted_s is None
    assert 0.5 < found.distance_m / true.max() < 2.0


def test_ten_steps_of_a_tenth_of_a_second_no_longer_look_right(file, capsys):
    assert main(["run", str(file), "--error", "--set", "time.step=0.1", "--out", "coarse"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "error of the step too large for a figure: with half the step the run parts from this one at 0.2 s"
        in told
    )
    assert main(["run", str(file), "--error", "--json", "--out", "fine"]) == 0
    found = json.loads(capsys.readouterr().out)["step_error"]
    assert found["said"].startswith("ball.body 1.01 mm at 1 s, ball.body 0.58° at 1 s, largest")
    # it stays with the run
    assert main(["info", "fine"]) == 0
    assert "ball.body 1.01 mm at 1 s" in capsys.readouterr().out


def test_a_run_of_half_the_step_that_fails_says_so(file, monkeypatch):
    results, scenario = run(load(file), warn=lambda _said: None), load(file)
    step = Simulation.step

    def fails(self):
        if self.time > 0.55:
            raise StepFailed("it is over", step=self.step_index, time=self.time)
        return step(self)

    monkeypatch.setattr(Simulation, "step", fails)
    found = estimate_step_error(results, scenario)
    assert found.at_s <= 0.5
    assert "it is over" in found.failed
    assert "with half the step the run ended early: " in str(found)


def test_it_is_a_column_of_a_comparison(file, capsys):
    assert main(["compare", str(file), "--vary", "time.step=0.1,0.001", "--error", "--quiet"]) == 0
    told = capsys.readouterr().out
    assert "error of the step" in told
    assert "parts at 0.2 s" in told
    assert "1.01 mm, 0.58°" in told
    (row,) = compare(file, "time.step=0.001", error=True).rows
    assert row.metrics is not None
    assert row.metrics.step_error is not None
    assert math.degrees(row.metrics.step_error.angle_rad) == pytest.approx(0.58, abs=0.01)


def test_what_it_does_not_go_with_is_misuse(file, capsys):
    assert main(["run", "--resume", "somewhere", "--error"]) == 2
    assert "--error does not go with --resume alone: give the scenario's FILE, too" in capsys.readouterr().err
