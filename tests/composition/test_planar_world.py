"""Planar obstacles through the whole stack: a ball in a groove, vines on planar and on solid ones alike."""

import math
from pathlib import Path

import numpy as np
import pytest

import corekit
from corekit.scenario.load import from_document
from corekit_testing.rounding import rounding

G = 9.81
VINE = Path(__file__).parents[2] / "scenarios" / "vine"


def test_a_ball_in_a_groove_leans_on_both_its_walls():
    """Walls at ±45° carry h·m·g/(2·cos 45°) each, and the ball rests r/cos 45° above the groove's bottom."""
    groove = [[-1.0, -0.5], [1.0, -0.5], [1.0, 1.0], [0.0, 0.0], [-1.0, 1.0]]
    simulation = from_document(
        {
            "format": "corekit-scenario/1",
            "name": "groove",
            "time": {"duration": 1.0, "step": 1e-3},
            "world": {
                "gravity": [0.0, 0.0, -G],
                "obstacles": [{"name": "groove", "shape": "polygon", "vertices": groove, "friction": 0.0}],
            },
            "bodies": [
                {
                    "use": "rigid",
                    "name": "ball",
                    "base": {"position": [0.0, 0.3, 0.1 * math.sqrt(2.0) + 0.01]},
                    "options": {"shape": "sphere", "size": [0.1], "mass": 2.0},
                }
            ],
            "contact": {
                "detector": {"use": "sdf"},
                "solver": {"use": "lcp", "options": {"friction_directions": 4, "lcp_solver": "lemke"}},
            },
            "integrator": {"use": "semi-implicit-euler", "options": {"form": "linearly-implicit"}},
            "output": {"every": 1e-3},
        }
    ).compose()
    simulation.run(0.6)
    record = simulation.contacts()
    assert record.count == 2
    np.testing.assert_allclose(record.normal_impulse, 1e-3 * 2.0 * G / math.sqrt(2.0), rtol=1e-6)
    np.testing.assert_allclose(np.abs(record.normal[:, (0, 2)]), math.sqrt(0.5), atol=1e-12)
    np.testing.assert_allclose(record.normal[:, 1], 0.0, atol=rounding(16))
    np.testing.assert_allclose(record.gap, 0.0, atol=1e-9)


def _path(file, overrides, duration):
    simulation = corekit.load(VINE / file, overrides).compose()
    contacts = 0

    def look(run, _):
        nonlocal contacts
        contacts += run.contacts().count

    simulation.observe(look)
    simulation.run(duration)
    return simulation.state.q.copy(), contacts


@pytest.mark.parametrize("collision", ["points", "links"])
def test_a_vine_goes_around_a_circle_as_around_a_sphere(collision):
    option = f"bodies[0].options.collision={collision}"
    one, touched = _path("circle.toml", [option], 1.0)
    two, met = _path("circle.toml", [option, "world.obstacles[0].shape=circle"], 1.0)
    assert touched == met > 50, (touched, met)
    np.testing.assert_allclose(two, one, atol=1e-10)


def test_a_vine_among_boxes_goes_as_among_polygons():
    document = corekit.load(VINE / "cluttered.toml").document
    one, touched = _path("cluttered.toml", [], 1.5)
    changes = []
    for k, box in enumerate(document["world"]["obstacles"]):
        x, z = 0.5 * box["size"][0], 0.5 * box["size"][2]
        changes += [
            f"world.obstacles[{k}].shape=polygon",
            f"world.obstacles[{k}].size=[]",
            f"world.obstacles[{k}].vertices=[[{-x}, {-z}], [{x}, {-z}], [{x}, {z}], [{-x}, {z}]]",
        ]
    two, met = _path("cluttered.toml", changes, 1.5)
    assert touched == met > 50
    np.testing.assert_allclose(two, one, atol=1e-10)
