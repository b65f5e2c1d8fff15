"""What files hold takes part in a world like what a scenario says itself."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from corekit.scenario.load import load

CHANNEL = """
format = "corekit-scenario/1"
name = "ball-in-a-channel"
time = { duration = 0.05, step = 1e-3 }
integrator = { use = "semi-implicit-euler" }
output = { every = 0.01 }
[contact]
detector = "mpr"
solver = "lcp"
friction = 0.5

[[world.obstacles]]
name = "floor"
shape = "half-space"

[[bodies]]
name = "channel"
use = "rigid"
[bodies.options]
mesh = { file = "channel.stl", units = "mm" }
mass = 0.3

[[bodies]]
name = "ball"
use = "rigid"
base = { position = [0.0, 0.0, 0.025] }
[bodies.options]
size = [0.015]
mass = 0.1
"""


@pytest.fixture
def channel(tmp_path):
    """A groove of 4 cm between two walls, of three boxes that share faces."""
    walls = [trimesh.creation.box((10.0, 40.0, 50.0)).apply_translation((x, 0, 25)) for x in (-25.0, 25.0)]
    bottom = trimesh.creation.box((40.0, 40.0, 10.0)).apply_translation((0, 0, 5))
    trimesh.util.concatenate([bottom, *walls]).export(tmp_path / "channel.stl")
    (tmp_path / "scenario.toml").write_text(CHANNEL)
    return tmp_path / "scenario.toml"


def test_a_ball_lies_in_an_imported_channel_and_the_floor_carries_both(channel):
    simulation = load(channel).compose()
    assert [shape.kind for shape in simulation.bodies[0].description.shapes] == ["polytope"] * 3
    simulation.run(0.05)
    contacts = simulation.contacts()
    forces = {"floor": 0.0, "ball": 0.0}
    for (first, second), force in zip(contacts.names, contacts.force, strict=True):
        # a force acts on the first of two
        name = "floor" if "floor" in (first, second) else "ball"
        forces[name] += abs(force[2])
    assert forces["floor"] == pytest.approx(0.4 * 9.81, rel=1e-6)
    assert forces["ball"] == pytest.approx(0.1 * 9.81, rel=1e-6)
    height = simulation.frame("ball.body").position[2]
    # the start has no gap; semi-implicit Euler lets nothing sink beyond rounding of single precision
    np.testing.assert_allclose(height, 0.025, atol=1e-8)


def test_soft_fingers_on_an_imported_arm_lift_an_imported_pawn():
    scenario = load("teaching/gripper-lifts-pawn")
    weight = scenario.bodies[1].options["mass"] * 9.81
    simulation = scenario.compose()
    simulation.run(0.35)  # the fingers have closed, and the arm begins to lift
    hand, pawn = (simulation.frame(name).position.copy() for name in ("arm.hand.base", "pawn.body"))
    simulation.run(0.65)
    rise = simulation.frame("arm.hand.base").position - hand
    assert rise[2] > 0.05
    # it slides until the fingers stand below its head, by less than their reach beyond it
    np.testing.assert_allclose(simulation.frame("pawn.body").position - pawn, rise, atol=0.01)
    contacts = simulation.contacts()
    assert {each for names in contacts.names for each in names} == {"arm", "pawn"}
    # the fingers carry its weight, but for the hand's acceleration: 0.8 rad/s at 0.25 m are 1.6 % of gravity
    assert contacts.force[:, 2].sum() == pytest.approx(-weight, rel=0.03)
