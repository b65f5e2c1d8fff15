"""Cables and chambers are drawn where they run: against the file's formulas and the model's own lengths."""

from __future__ import annotations

import numpy as np
import pytest

import corekit
from corekit.cli import main


def length(points):
    return np.linalg.norm(np.diff(points, axis=0), axis=1).sum()


def lines(simulation):
    (body, *_), (state, *_) = simulation.bodies, simulation.state.body_states
    return body.model.compute_outline(state).actuators


def test_cables_of_a_straight_arm_follow_their_formulas():
    found = lines(corekit.load("gvs/cable-manipulator").compose())
    assert [name for name, _ in found] == ["left", "right", "helix", "helix", "oblique", "oblique"]
    for (name, points), start in zip(found, (0.0, 0.15, 0.0, 0.15, 0.0, 0.15), strict=True):
        s = points[:, 0]
        np.testing.assert_allclose([s.min(), s.max()], [start, start + 0.15], atol=1e-12)
        y = {"left": 0.01, "right": -0.01, "helix": 0.01 * np.sin(50 * s)}.get(name)
        if y is not None:
            np.testing.assert_allclose(points[:, 1], y, atol=1e-9)
        if name == "helix":
            np.testing.assert_allclose(points[:, 2], 0.01 * np.cos(50 * s), atol=1e-9)


def test_a_chamber_is_drawn_as_long_as_the_arm_s_coordinate_says():
    simulation = corekit.load("cusp/inclined-box").compose()
    for _ in range(60):
        simulation.step()
    found = dict(lines(simulation))
    (state,) = simulation.state.body_states
    backbone = simulation.bodies[0].model.compute_outline(state).points
    names = [coordinate.name for coordinate in simulation.bodies[0].description.coordinates]
    assert len(found) == len(names) == 9
    at_rest = {
        name: length(points)
        for name, points in lines(
            corekit.load("cusp/inclined-box", ["bodies.arm.initial.elongation=0.0"]).compose()
        )
    }
    for k, (name, points) in enumerate(found.items()):
        assert name == f"chamber-{k // 3 + 1}-{k % 3 + 1}"
        # coordinates are what chambers are longer than at rest; polylines of small arcs are that long to their square
        assert length(points) - at_rest[name] == pytest.approx(state.q[k], abs=1e-4)
    assert np.ptp(backbone, axis=0).max() > 0.3


def test_pictures_show_actuators_that_were_recorded_and_refuse_where_there_are_none(tmp_path, capsys):
    run = corekit.load("gvs/cable-manipulator", ["time.duration=0.2"]).run(directory=tmp_path / "run")
    assert run.labels("actuator")[0] == "arm.left"
    plain, shown = tmp_path / "plain.png", tmp_path / "shown.png"
    assert main(["render", str(run.path), "-o", str(plain)]) == 0
    assert main(["render", str(run.path), "-o", str(shown), "--show", "actuators"]) == 0
    assert shown.read_bytes() != plain.read_bytes()
    other = corekit.load("teaching/balls-in-a-tray", ["time.duration=0.02"]).run(directory=tmp_path / "other")
    capsys.readouterr()
    assert main(["render", str(other.path), "-o", str(plain), "--show", "actuators"]) == 2
    assert "has no actuators to show" in capsys.readouterr().err
