"""Quantities of a world with contact: a ball that rests on a floor beside a post."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.scenario.load import loads
from corekit_gym.environment import Environment
from corekit_gym.task import Action, Draw, Quantity, Task

RESTING = """
format = "corekit-scenario/1"
name = "resting"

[time]
duration = 1.0
step = 0.005

[[world.obstacles]]
name = "floor"
shape = "half-space"

[[world.obstacles]]
name = "post"
shape = "sphere"
size = [0.05]
position = { kind = "ramp", from = 0.0, to = 1.0, start = [0.5, 0.0, 0.1], value = [0.7, 0.0, 0.1] }

[[bodies]]
name = "ball"
use = "rigid"
base = { position = [0.0, 0.0, 0.1] }
options = { shape = "sphere", size = [0.1], mass = 2.0 }

[[controllers]]
name = "eyes"
use = "sensors"
options = { sensors = [{ name = "place", kind = "frame", frames = ["ball.body"] }] }

[contact]
friction = 0.5
detector = "sdf"
solver = "lcp"

[integrator]
use = "semi-implicit-euler"
"""


@pytest.fixture(scope="module")
def seen():
    pytest.importorskip("corekit_sdf")
    kinds = (
        Quantity(name="floor", kind="contact-force", body="ball", against="floor"),
        Quantity(name="post", kind="contact-force", body="ball", against="post"),
        Quantity(name="all", kind="contact-force", body="ball"),
        Quantity(name="from-post", kind="position", frame="ball.body", relative_to="post"),
        Quantity(name="axes", kind="rotation", frame="ball.body"),
        Quantity(name="turning", kind="angular-velocity", frame="ball.body"),
        Quantity(name="height", kind="coordinates", body="ball", entries=("centre-z",)),
        Quantity(name="rates", kind="velocities", body="ball"),
        Quantity(name="eye", kind="sensor", sensor="eyes.place"),
    )
    task = Task(
        name="resting", loaded=loads(RESTING), duration=1.0, frame_skip=20, bound=100.0, quantities=kinds,
        actions=(Action(body="ball", channel="wrench", rows=((0.0,) * 6,)),),
    )  # fmt: skip
    env = Environment(task)
    env.reset(seed=0)
    for _ in range(5):
        env.step(np.zeros(1))
    return env._readings.values


def test_the_floor_carries_the_weight_and_the_post_nothing(seen):
    weight = 2.0 * 9.81
    np.testing.assert_allclose(seen["floor"], [0.0, 0.0, weight], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(seen["post"], np.zeros(3))
    np.testing.assert_array_equal(seen["all"], seen["floor"])


def test_places_follow_an_obstacle_that_moves(seen):
    np.testing.assert_allclose(seen["from-post"], [-0.6, 0.0, 0.0], atol=1e-6)  # after half of its way
    assert seen["height"][0] == pytest.approx(0.1, abs=1e-6)


def test_a_ball_at_rest_keeps_its_axes(seen):
    np.testing.assert_allclose(seen["axes"], [1, 0, 0, 0, 1, 0], atol=1e-9)
    np.testing.assert_allclose(seen["turning"], np.zeros(3), atol=1e-9)
    np.testing.assert_allclose(seen["rates"], np.zeros(6), atol=1e-6)
    np.testing.assert_allclose(seen["eye"], [0, 0, 0.1, 1, 0, 0, 0], atol=1e-6)


SLIDING = """
format = "corekit-scenario/1"
name = "sliding"
time = { duration = 1.0, step = 0.005 }
integrator = "semi-implicit-euler"
[[world.obstacles]]
name = "floor"
shape = "half-space"
friction = 0.3
[[world.obstacles]]
name = "post"
shape = "sphere"
size = [0.05]
position = [5.0, 0.0, 0.1]
[contact]
detector = "sdf"
solver = "lcp"
[[bodies]]
name = "block"
use = "rigid"
base = { position = [0.0, 0.0, 0.02] }
options = { shape = "box", size = [0.1, 0.1, 0.02], mass = 2.0 }
initial = { velocity = [2.0, 0.0, 0.0] }
"""


def test_obstacles_and_their_friction_are_drawn_and_are_those_that_are_felt_and_seen():
    """What is left of 2 m/s is 2 − μ·g·t, and the post is seen where it was drawn."""
    pytest.importorskip("corekit_sdf")
    task = Task(
        name="sliding", loaded=loads(SLIDING), duration=1.0, frame_skip=20, bound=100.0,
        quantities=(
            Quantity(name="speed", kind="velocity", frame="block.body"),
            Quantity(name="from-post", kind="position", frame="block.body", relative_to="post"),
        ),
        actions=(Action(body="block", channel="wrench", rows=((0.0,) * 6,)),),
        draws=(
            Draw(path="world.obstacles.floor.friction", low=0.1, high=0.5),
            Draw(path="world.obstacles.post.position[0]", low=4.0, high=6.0),
        ),
    )  # fmt: skip
    env, drawn = Environment(task), []
    for seed in (3, 4):
        env.reset(seed=seed)
        env.step(np.zeros(1))
        friction, post = env.parameters.values()
        # an impulse is solved to 1e-8 of the weight's
        assert env._readings.values["speed"][0] == pytest.approx(2.0 - friction * 9.81 * 0.1, rel=1e-6)
        moved = env.simulation.frame("block.body").position[0]
        assert env._readings.values["from-post"][0] == pytest.approx(moved - post, rel=1e-12)
        drawn.append((friction, post))
    assert drawn[0] != drawn[1]
    env.reset(seed=3)
    assert tuple(env.parameters.values()) == drawn[0]
