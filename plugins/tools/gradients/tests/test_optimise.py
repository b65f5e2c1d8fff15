"""Searches whose answers are known: by the mechanics of a ball, by a motion that was made with given inputs."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
import tomli_w

import corekit
from corekit.cli import FAILED, main
from corekit.errors import ConfigError
from corekit.scenario.dump import resolved_document
from corekit.scenario.load import from_document
from corekit_gradients.optimise import optimise
from corekit_gradients.optimise_file import load_optimise

GRAVITY, FRICTION, STEP, COUNT = 9.81, 0.3, 1e-3, 50
BALL = {
    "format": "corekit-scenario/1", "name": "ball", "time": {"duration": COUNT * STEP, "step": STEP},
    "world": {
        "gravity": [0.0, 0.0, -GRAVITY], "obstacles": [{"name": "floor", "shape": "half-space"}],
        "friction": [{"between": ["ball", "floor"], "value": FRICTION}],
    },
    "bodies": [{
        "name": "ball", "use": "rigid", "options": {"shape": "sphere", "size": [0.1], "mass": 2.0},
        "initial": {"position": [0.0, 0.0, 0.1], "velocity": [1.0, 0.0, 0.0]},
    }],
    "contact": {"detector": "sdf", "solver": {"use": "lcp"}},
    "integrator": {"use": "semi-implicit-euler"}, "output": {"every": STEP},
}  # fmt: skip
ARM = {
    "format": "corekit-scenario/1", "name": "arm", "time": {"duration": 0.1, "step": 2e-3},
    "world": {"gravity": [0.0, 0.0, -GRAVITY]},
    "bodies": [{
        "name": "arm", "use": "pcc",
        "options": {
            "sections": 1, "length": 0.2, "mass": [0.3], "stiffness": 200.0, "damping": 3.0, "chamber_radius": 0.03,
        },
    }],
    "integrator": {"use": "semi-implicit-euler"}, "output": {"every": 2e-3},
}  # fmt: skip
SLIDE = {
    "format": "corekit-optimise/1", "name": "slide", "scenario": "world.toml", "tolerance": 1e-10,
    "variables": [{"path": "bodies.ball.initial.velocity[0]", "low": 0.5, "high": 4.0}],
    "terms": [{"kind": "position", "frame": "ball.body", "axes": "x", "target": [0.09]}],
}  # fmt: skip


@pytest.fixture
def file_of(tmp_path):
    """Write an optimisation and its scenario; return the path of the first."""

    def write(search, scenario=BALL):
        (tmp_path / "world.toml").write_text(tomli_w.dumps(scenario), encoding="utf-8")
        path = tmp_path / "search.toml"
        path.write_text(tomli_w.dumps(search), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(("method", "calls"), [("bfgs", 3), ("gauss-newton", 4)])
def test_a_sliding_ball_is_thrown_to_its_mark(file_of, method, calls):
    """x = n·h·v₀ − μ·g·h²·n(n + 1)/2 of a ball that slides on for n steps."""
    found = optimise(load_optimise(file_of({**SLIDE, "method": method})))
    slowed = FRICTION * GRAVITY * STEP**2 * COUNT * (COUNT + 1) / 2.0
    assert found.minimum.converged
    assert found.found == pytest.approx([(0.09 + slowed) / (COUNT * STEP)], rel=1e-5)
    # one variable and a parabola that reaches 0: the first step ends at its minimum
    assert found.minimum.calls <= calls


@pytest.mark.parametrize("method", ["bfgs", "gauss-newton"])
def test_a_mark_that_no_speed_reaches_ends_at_the_bound(file_of, method):
    search = {**SLIDE, "method": method, "terms": [{**SLIDE["terms"][0], "target": [5.0]}]}
    found = optimise(load_optimise(file_of(search)))
    assert found.minimum.converged
    assert found.found == pytest.approx([4.0], rel=1e-12)


@pytest.mark.parametrize("method", ["bfgs", "l-bfgs-b", "gauss-newton"])
def test_inputs_bring_a_tip_to_where_known_ones_brought_it(file_of, tmp_path, method):
    given = {**ARM, "bodies": [{
        **ARM["bodies"][0], "inputs": [{"channel": "chamber-force", "signal": [1.0, 2.0, 0.5]}],
    }]}  # fmt: skip
    known = from_document(given).compose()
    known.run(0.1)
    target = known.frame("arm.section-1-tip").position
    search = {
        "format": "corekit-optimise/1", "name": "bend", "scenario": "world.toml", "method": method, "tolerance": 1e-9,
        "variables": [{"body": "arm", "channel": "chamber-force", "intervals": 5, "low": 0.0, "high": 6.0}],
        "terms": [{"kind": "position", "frame": "arm.section-1-tip", "target": target.tolist(), "weight": 1e4}],
    }  # fmt: skip
    folder = tmp_path / "found"
    folder.mkdir()
    found = optimise(load_optimise(file_of(search, ARM)), folder)
    assert np.sqrt(found.minimum.value / 1e4) < 1e-5
    assert ((found.found >= 0.0) & (found.found <= 6.0)).all()
    # the scenario that was written ends where the search did
    assert found.replay == pytest.approx((found.minimum.value,) * 2, rel=1e-6, abs=1e-9)
    again = corekit.load(folder / "optimised.toml").compose()
    again.run(0.1)
    assert again.frame("arm.section-1-tip").position == pytest.approx(target, abs=1e-5)


def test_an_input_begins_where_its_numbers_say(file_of):
    """A search of one iteration that may not move: the loss of the start is that of a run with these forces."""
    forces = [1.0, 2.0, 0.5]
    given = {**ARM, "bodies": [{
        **ARM["bodies"][0], "inputs": [{"channel": "chamber-force", "signal": forces}],
    }]}  # fmt: skip
    known = from_document(given).compose()
    known.run(0.1)
    search = {
        "format": "corekit-optimise/1", "name": "bend", "scenario": "world.toml",
        "variables": [{"body": "arm", "channel": "chamber-force", "intervals": 2, "start": forces}],
        "terms": [{"kind": "position", "frame": "arm.section-1-tip"}],
    }  # fmt: skip
    place = known.frame("arm.section-1-tip").position
    found = optimise(load_optimise(file_of({**search, "iterations": 1}, ARM)))
    assert found.start.tolist() == forces * 2
    assert found.first == pytest.approx(place @ place, rel=1e-12)
    search["variables"][0]["start"] = forces[:2]
    with pytest.raises(ConfigError, match="one for each of the channel's 3"):
        optimise(load_optimise(file_of(search, ARM)))


@pytest.mark.parametrize("method", ["bfgs", "gauss-newton"])
def test_change_is_weighed_against_what_it_brings(file_of, method):
    """w·(a·v − b)² + c·((v − v₀)/s)² has its minimum at v = (w·a·b + c·v₀/s²)/(w·a² + c/s²)."""
    weight, change, scale = 1e4, 3.0, 0.5
    search = {
        **SLIDE, "method": method, "variables": [{**SLIDE["variables"][0], "scale": scale}],
        "terms": [{**SLIDE["terms"][0], "weight": weight}, {"kind": "change", "weight": change}],
    }  # fmt: skip
    found = optimise(load_optimise(file_of(search)))
    slope = COUNT * STEP
    reach = 0.09 + FRICTION * GRAVITY * STEP**2 * COUNT * (COUNT + 1) / 2.0
    best = (weight * slope * reach + change * 1.0 / scale**2) / (weight * slope**2 + change / scale**2)
    assert found.found == pytest.approx([best], rel=1e-5)


def test_velocities_at_the_end_are_squares_too(file_of):
    """v = v₀ − μ·g·n·h of a ball that slides on for n steps."""
    term = {"kind": "velocity", "frame": "ball.body", "axes": "x", "target": [1.5]}
    found = optimise(load_optimise(file_of({**SLIDE, "method": "gauss-newton", "terms": [term]})))
    assert found.found == pytest.approx([1.5 + FRICTION * GRAVITY * COUNT * STEP], rel=1e-6)


def test_terms_over_the_run_and_of_functions_are_differentiated(file_of, tmp_path):
    """Of h·Σ|v|² and of the same by a function: equal, at every start."""
    (tmp_path / "losses.py").write_text(
        "def speed(instant):\n    return float(instant.v[:3] @ instant.v[:3])\n"
    )
    term = {"kind": "velocity", "frame": "ball.body", "when": "always"}
    function = {"kind": "function", "function": "losses.py:speed", "when": "always"}
    search = {**SLIDE, "iterations": 1}
    path = file_of({**search, "terms": [term]})
    one = optimise(load_optimise(path))
    path = file_of({**search, "terms": [function]})
    with pytest.raises(ConfigError, match="allow_code"):
        optimise(load_optimise(path))
    other = optimise(load_optimise(path, allow_code=True))
    assert one.minimum.value == pytest.approx(other.minimum.value, rel=1e-9)
    assert one.found == pytest.approx(other.found, rel=1e-6)


def test_the_command_leaves_all_that_it_found(file_of, tmp_path, capsys):
    path, folder = file_of(SLIDE), tmp_path / "out"
    assert not main(["optimise", str(path), "--out", str(folder)])
    told = capsys.readouterr().out
    assert "corekit run" in told
    report = json.loads((folder / "report.json").read_text())
    assert report["status"] == "finished"
    assert report["loss"]["end"] < 1e-6 * report["loss"]["start"]
    with (folder / "progress.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert float(rows[-1]["loss"]) == pytest.approx(report["loss"]["end"], abs=1e-15)
    (name,) = report["variables"]
    assert name == "bodies.ball.initial.velocity[0]"
    scenario = corekit.load(folder / "optimised.toml")
    assert (
        resolved_document(scenario)["bodies"][0]["initial"]["velocity"][0]
        == report["variables"][name]["value"]
    )
    assert corekit.Results(folder / "replay").time[-1] == pytest.approx(COUNT * STEP)
    assert (folder / "search.png").read_bytes()[:4] == b"\x89PNG"


def test_a_search_that_does_not_converge_says_so_by_its_exit_code(file_of, tmp_path, capsys):
    path = file_of({**SLIDE, "iterations": 1, "tolerance": 1e-14})
    assert main(["optimise", str(path), "--out", str(tmp_path / "out"), "--json", "--no-replay"]) == FAILED
    told = json.loads(capsys.readouterr().out)
    assert (told["status"], told["iterations"]) == ("failed", 1)
    assert not (tmp_path / "out" / "replay").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"variables": [{"path": "bodies.ball.initial.velocity", "low": 2.0, "high": 1.0}]},
            "low must be below high",
        ),
        ({"variables": [{"body": "ball"}]}, "a path, or a body and a channel"),
        ({"variables": [{"path": "bodies.ball.initial.velocity[0]", "low": 2.0}]}, "outside of its bounds"),
        ({"variables": []}, "at least one"),
        ({"terms": []}, "at least one beside change"),
        ({"terms": [{"kind": "position", "frame": "ball.body", "axes": "xx"}]}, "each once"),
        (
            {"terms": [{"kind": "position", "frame": "ball.body", "target": [1.0]}]},
            "one number for each of axes",
        ),
        ({"terms": [{"kind": "position"}]}, "frame is missing"),
        ({"terms": [{"kind": "position", "frame": "ball.bdy"}]}, "did you mean 'ball.body'"),
        ({"method": "newton"}, "bfgs"),
        (
            {"method": "gauss-newton", "terms": [{**SLIDE["terms"][0], "when": "always"}]},
            "would have them in each step: take bfgs",
        ),
        (
            {"method": "gauss-newton", "terms": [{"kind": "function", "function": "losses.py:speed"}]},
            "a function has none: take bfgs",
        ),
        (
            {"method": "gauss-newton", "terms": 22 * [{"kind": "position", "frame": "ball.body"}]},
            "at most 64, and there are 66: take bfgs",
        ),
        ({"scenario": "wrold.toml"}, "wrold.toml"),
        ({"format": "corekit-fit/1"}, "no optimisation file"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_a_mistake_is_named(file_of, change, said):
    with pytest.raises(corekit.errors.CorekitError) as caught:
        optimise(load_optimise(file_of({**SLIDE, **change})))
    assert said in str(caught.value)
