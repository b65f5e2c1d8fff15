"""`adjoint` from file to file: what runs in contact were simulated with comes back, and what it refuses."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

import corekit
from corekit.errors import ConfigError, CorekitError, GradientError, PluginError
from corekit.scenario.load import from_document
from corekit_study.fit import FitResult, fit, task_of
from corekit_study.fit_file import load_fit

for module in (
    "corekit_fit",
    "corekit_gradients",
    "corekit_rigid",
    "corekit_pcc",
    "corekit_sdf",
    "corekit_lcp",
):
    pytest.importorskip(module)
pytest.importorskip("casadi", reason="casadi is not installed")

STEP, RADIUS = 4e-3, 0.1
FRICTION, SPEED = 0.3, 1.0
STANDING = {"use": "lcp", "options": {"aligned": False}}
"""Pyramids that stand: sweeps take half of the time."""
BALL: Any = {
    "format": "corekit-scenario/1", "name": "ball", "time": {"duration": 0.12, "step": STEP},
    "world": {
        "gravity": [0.0, 0.0, -9.81], "obstacles": [{"name": "floor", "shape": "half-space"}],
        "friction": [{"between": ["ball", "floor"], "value": FRICTION}],
    },
    "bodies": [{
        "name": "ball", "use": "rigid", "options": {"shape": "sphere", "size": [RADIUS], "mass": 2.0},
        "initial": {"position": [0.0, 0.0, RADIUS], "velocity": [SPEED, 0.0, 0.0]},
    }],
    "contact": {"detector": "sdf", "solver": STANDING},
    "integrator": {"use": "semi-implicit-euler"}, "output": {"every": STEP},
}  # fmt: skip
ARM: Any = {
    "format": "corekit-scenario/1", "name": "arm", "time": {"duration": 0.16, "step": STEP},
    "world": {
        "gravity": [0.0, 0.0, -9.81],
        "obstacles": [{
            "name": "box", "shape": "box", "size": [0.4, 0.8, 0.1], "position": [0.0, -0.127, -0.297],
            "rotation_rpy": [0.7853981633974483, 0.0, 0.0], "friction": 0.4,
        }],
    },
    "bodies": [{
        "name": "arm", "use": "pcc", "base": {"rotation_rpy": [2.234, 0.0, 0.0]},
        "options": {
            "sections": 1, "length": 0.3, "mass": 0.6, "stiffness": 150.0, "damping": 5.0, "chamber_radius": 0.05,
            "disks": 3, "disk_radius": 0.06,
        },
        "inputs": [{
            "channel": "chamber-force",
            "signal": {"kind": "ramp", "from": 0.0, "to": 0.1, "value": [0.0, 20.0, 20.0]},
        }],
    }],
    "contact": {
        "detector": "sdf", "solver": "lcp", "stabilisation": {"push_out": 100.0},
    },
    "integrator": {"use": "semi-implicit-euler"}, "output": {"every": STEP},
}  # fmt: skip


def film(scenario: Any, path: Path, frames: dict[str, tuple[str, list[float]]], noise: float = 0.0) -> None:
    """Write where points of frames are after every fifth step, and between steps."""
    simulation, rng = scenario.compose(), np.random.default_rng(0)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["time", "marker", "x", "y", "z"])

        def places() -> list[np.ndarray]:
            found = [(simulation.frame(frame), local) for frame, local in frames.values()]
            return [each.position + each.rotation @ np.array(local) for each, local in found]

        for k in range(round(scenario.time.duration / STEP)):
            before = places()
            simulation.step()
            if k % 5 == 4:
                share = 1.0 if k % 10 == 4 else 0.3
                for name, one, other in zip(frames, before, places(), strict=True):
                    seen = one + share * (other - one) + noise * rng.normal(size=3)
                    table.writerow([simulation.time - (1.0 - share) * STEP, name, *seen.tolist()])


def fitted(
    folder: Path, document: Any, frames: Any, parameters: list[dict[str, Any]], **options: Any
) -> FitResult:
    """Write the files of a fit, and make it."""
    (folder / "world.toml").write_text(tomli_w.dumps(document))
    attached = [
        {"marker": name, "frame": frame.partition(".")[2], "local": local}
        for name, (frame, local) in frames.items()
    ]
    table = {
        "format": "corekit-fit/1", "name": "film", "scenario": "world.toml", "use": options.pop("use", "adjoint"),
        "options": {
            "markers": {"file": "film.csv", "deviation": options.pop("deviation", 1e-4), "attached": attached},
            "parameters": parameters, **options,
        },
    }  # fmt: skip
    (folder / "fit.toml").write_text(tomli_w.dumps(table))
    out = folder / "found"
    out.mkdir(exist_ok=True)
    return fit(load_fit(folder / "fit.toml"), out)


def values(found: FitResult) -> dict[str, float]:
    return {each.name: each.value for each in found.estimate.fitted}


BALL_MARKERS = {"centre": ("ball.body", [0.0, 0.0, 0.0]), "top": ("ball.body", [0.0, 0.0, RADIUS])}
BALL_PARAMETERS: Any = [
    {"name": "world.friction[0].value", "start": 0.15, "low": 0.05, "high": 1.0},
    {"name": "bodies.ball.initial.velocity[0]", "start": 1.4, "low": 0.2, "high": 3.0},
]


def test_a_ball_that_slides_and_then_rolls_tells_friction_and_its_speed(tmp_path):
    """It rolls from t = 2·v₀/(7·μ·g) = 0.097 s on; half of the markers are between steps, one turns with the ball.

    The guess and a start that is drawn end at the same minimum.
    """
    film(from_document(BALL), tmp_path / "film.csv", BALL_MARKERS)
    found = fitted(tmp_path, BALL, BALL_MARKERS, BALL_PARAMETERS, tolerance=1e-15, starts=2, seed=1)
    assert found.info.status.solved
    assert values(found) == pytest.approx(
        {"world.friction[0].value": FRICTION, "bodies.ball.initial.velocity[0]": SPEED}, rel=1e-6
    )
    assert [each.verdict for each in found.estimate.fitted] == ["identified"] * 2
    assert found.estimate.metrics["starts_that_end_at_the_best"] == 2.0
    again = corekit.load(tmp_path / "found/fitted.toml")
    assert again.world.pairs[0].value == pytest.approx(FRICTION, rel=1e-6)


ARM_MARKERS = {"tip": ("arm.section-1-tip", [0.0, 0.0, 0.0]), "rim": ("arm.section-1-tip", [0.0, 0.06, 0.0])}
ARM_PARAMETERS: Any = [
    {"name": "stiffness", "start": 220.0, "low": 50.0, "high": 500.0},
    {"name": "world.obstacles.box.friction", "start": 0.25, "low": 0.05, "high": 1.0},
]


def test_an_arm_on_a_box_tells_its_stiffness_and_friction(tmp_path):
    film(from_document(ARM), tmp_path / "film.csv", ARM_MARKERS)
    found = fitted(tmp_path, ARM, ARM_MARKERS, ARM_PARAMETERS, tolerance=1e-15)
    assert found.info.status.solved
    assert values(found) == pytest.approx({"stiffness": 150.0, "world.obstacles.box.friction": 0.4}, rel=1e-6)
    assert [each.verdict for each in found.estimate.fitted] == ["identified"] * 2


def test_noisy_markers_have_the_minimum_of_least_squares(tmp_path):
    """The same film, priors and bounds by `simulation-fit`: the same values, intervals and misfit."""
    film(from_document(BALL), tmp_path / "film.csv", BALL_MARKERS, noise=1e-3)
    parameters = [{**BALL_PARAMETERS[0], "prior": 0.32, "prior_deviation": 0.05}, BALL_PARAMETERS[1]]
    one, other = (
        fitted(tmp_path, BALL, BALL_MARKERS, parameters, deviation=1e-3, use=use)
        for use in ("adjoint", "simulation-fit")
    )
    assert one.estimate.metrics["objective"] == pytest.approx(other.estimate.metrics["objective"], rel=1e-8)
    assert values(one) == pytest.approx(values(other), rel=1e-5)
    for mine, its in zip(one.estimate.fitted, other.estimate.fitted, strict=True):
        assert (mine.low, mine.high) == pytest.approx((its.low, its.high), rel=1e-3)
        assert mine.verdict == its.verdict == "identified"


@pytest.mark.parametrize("document", [BALL, ARM], ids=["ball", "arm"])
def test_the_gradient_of_a_misfit_is_that_of_its_differences(document):
    """Of a function that third parties give, in all entries of places and axes."""
    task, rng = task_of(from_document(document), document["bodies"][0]["name"]), np.random.default_rng(3)
    times, frames = np.array([0.0301, 0.05, 0.0777]), len(task.model.description.frames)
    by_place, by_axes = rng.normal(size=(3, frames, 3)), rng.normal(size=(3, frames, 3, 3))

    def misfit(position, rotation):
        return (
            float(np.vdot(by_place, position) + 0.5 * np.vdot(by_axes, rotation**2)),
            by_place,
            by_axes * rotation,
        )

    of = BALL_PARAMETERS if document is BALL else ARM_PARAMETERS
    at = {each["name"]: 1.1 * each["start"] for each in of}
    value, slopes = task.differentiate((), at, times, misfit)
    assert value == pytest.approx(misfit(*task.simulate((), at, times))[0], rel=1e-12)
    for name, number in at.items():
        size = 1e-6 * number
        ends = [misfit(*task.simulate((), at | {name: number + side * size}, times))[0] for side in (1, -1)]
        assert slopes[name] == pytest.approx((ends[0] - ends[1]) / (2 * size), rel=1e-5)


def test_a_second_experiment_without_derivatives_is_refused_like_the_first(tmp_path):
    film(from_document(BALL), tmp_path / "film.csv", BALL_MARKERS)
    attached = [
        {"marker": name, "frame": frame.partition(".")[2], "local": local}
        for name, (frame, local) in BALL_MARKERS.items()
    ]
    markers = {"file": "film.csv", "deviation": 1e-4, "attached": attached}
    experiments = [{"markers": markers}, {"markers": markers, "set": ["integrator.use='verlet'"]}]
    table = {
        "format": "corekit-fit/1", "name": "film", "scenario": "world.toml", "use": "adjoint",
        "options": {"experiments": experiments, "parameters": BALL_PARAMETERS},
    }  # fmt: skip
    (tmp_path / "world.toml").write_text(tomli_w.dumps(BALL))
    (tmp_path / "fit.toml").write_text(tomli_w.dumps(table))
    (tmp_path / "found").mkdir()
    with pytest.raises(GradientError, match="verlet"):
        fit(load_fit(tmp_path / "fit.toml"), tmp_path / "found")


def test_the_place_of_a_base_is_found_by_what_it_carries_along(tmp_path):
    """The motion does not hang on it: the gradient is that of the frames at the same coordinates alone."""
    lower = {
        **ARM,
        "contact": {"detector": "sdf", "solver": STANDING},
        "world": {"gravity": [0.0, 0.0, -9.81]},
    }
    lower["bodies"] = [
        {**ARM["bodies"][0], "base": {"rotation_rpy": [2.234, 0.0, 0.0], "position": [0.0, 0.0, 0.05]}}
    ]
    film(from_document(lower), tmp_path / "film.csv", ARM_MARKERS)
    parameters = [
        {"name": "bodies.arm.base.position[2]", "start": 0.0, "low": -0.2, "high": 0.2, "scale": "linear"}
    ]
    found = fitted(tmp_path, lower, ARM_MARKERS, parameters)
    assert values(found) == pytest.approx({"bodies.arm.base.position[2]": 0.05}, abs=1e-7)


def test_without_what_differentiates_runs_it_is_refused_in_a_sentence(tmp_path, monkeypatch):
    film(from_document(BALL), tmp_path / "film.csv", BALL_MARKERS)
    from corekit.hooks.installed import installed_hooks

    target = installed_hooks().target
    monkeypatch.setattr(
        type(installed_hooks()), "target",
        lambda self, hook: "" if hook == "corekit_gradient_tool" else target(hook),
    )  # fmt: skip
    with pytest.raises(PluginError, match="pip install corekit-gradients"):
        fitted(tmp_path, BALL, BALL_MARKERS, BALL_PARAMETERS)


@pytest.mark.parametrize(
    ("document", "parameters", "error", "said"),
    [
        (BALL, [{"name": "world.frction[0].value"}], ConfigError, "path of another number of it"),
        (BALL, [{"name": "world.friction[3].value"}], ConfigError, "world.friction[3].value"),
        (BALL, [{"name": "time.step", "start": 1e-3}], GradientError, "lengths of steps are data of a run"),
        ({**BALL, "integrator": {"use": "verlet"}}, BALL_PARAMETERS, GradientError, "verlet"),
    ],
)
def test_a_mistake_is_named(tmp_path, document, parameters, error, said):
    film(from_document(BALL), tmp_path / "film.csv", BALL_MARKERS)
    with pytest.raises(CorekitError) as caught:
        fitted(tmp_path, document, BALL_MARKERS, parameters)
    assert isinstance(caught.value, error)
    assert said in str(caught.value)
