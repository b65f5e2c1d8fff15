"""A plan tracked by a regulator about the simulator's own steps, and the differences that it is made of."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit.scenario.load import loads
from corekit_study.plan import make_plan, simulate
from corekit_study.plan_file import load_plan_file
from corekit_study.step_differences import difference_motion

from .test_planning import PLAN as UNTRACKED
from .test_planning import WORLD

STEP, DAMPING, INERTIA = 1e-3, 2e-3, 1e-4
PLAN = f"""{UNTRACKED.partition("stiffness =")[0].replace("steps = 12", "steps = 10")}
[replay.tracking]
every = 0.05
options = {{ coordinates = {{ arm = 1e4, ball = 1e4 }}, rates = {{ arm = 1e2, ball = 1.0 }} }}
"""
BALL = """
format = "corekit-scenario/1"
name = "ball"
time = { duration = 1.0, step = 1e-3 }
world = { gravity = [0.0, 0.0, 0.0] }
integrator = { use = "semi-implicit-euler", options = { form = "linearly-implicit" } }
[[bodies]]
name = "ball"
use = "rigid"
options = { size = [0.05], mass = 0.1, inertia = [1e-4, 1e-4, 1e-4], angular_damping = 2e-3, fixed_centre = true }
"""


def test_differences_of_a_damped_ball_are_the_powers_of_its_step():
    """ω⁺ = ω/(1 + h·d/I) and ξ⁺ = ξ + h·ω⁺, twenty times, about rest."""
    simulation = loads(BALL).compose()
    states, time = [simulation.state.copy() for _ in range(3)], np.array([0.0, 0.02, 0.04])
    found = difference_motion(simulation, states, time, {})
    kept = 1.0 / (1.0 + STEP * DAMPING / INERTIA) ** np.arange(1, 21)
    turned, left = STEP * kept.sum(), kept[-1]
    eye, zero = np.eye(3), np.zeros((3, 3))
    wanted = np.block([[eye, turned * eye], [zero, left * eye]])
    # differences by 1e-6 of numbers of size 1, of which a chord misses 1e-12 of its angle
    np.testing.assert_allclose(found.a, np.tile(wanted, (2, 1, 1)), atol=1e-8)
    np.testing.assert_array_equal(found.c, 0.0)
    assert found.b.shape == (2, 6, 0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tracking")
    (folder / "world.toml").write_text(WORLD.replace("step = 1e-3", "step = 5e-3"), encoding="utf-8")
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def plan(folder):
    """What the tests replay in their own ways: a plan does not hang on how it is replayed."""
    (folder / "made").mkdir()
    return make_plan(load_plan_file(folder / "plan.toml"), folder / "made")


ADAPTIVE = PLAN.replace(
    "every = 0.05\n",
    """every = 0.02
use = "adaptive-tracking"
worlds.stiffer = ["bodies.arm.options.stiffness=291.5"]
worlds.farther = ["bodies.ball.base.position=[0.0, 0.0, 0.23]"]
""",
).replace(
    "options = { ", 'options = { estimated = ["arm.stiffness"], open_gap = 1e-4, effort = 10.0, final = 1e3, '
)


def test_a_plan_arrives_in_worlds_that_its_controller_is_not_told_of(folder, plan):
    """An arm 10 % stiffer, and a ball 5 mm farther away: in both the contact opens at once."""
    (folder / "adaptive.toml").write_text(ADAPTIVE, encoding="utf-8")
    (folder / "adapted").mkdir()
    made = simulate(
        attrs.evolve(plan, file=load_plan_file(folder / "adaptive.toml"), folder=folder / "adapted")
    )
    assert [each.name for each in made.rollouts[1:]] == ["tracking", "tracking-stiffer", "tracking-farther"]
    for each in made.rollouts[1:]:
        assert each.objects["ball"]["angle_from_target"] < np.radians(1.0), each.name
    assert made.solved


def test_a_tracked_plan_arrives_with_the_arm_s_own_stiffness(folder, plan):
    made = simulate(plan)
    open_loop, tracked = made.rollouts
    assert (open_loop.name, tracked.name) == ("open-loop", "tracking")
    assert tracked.arrived
    assert tracked.in_contact == 1.0
    said = (folder / "made" / "replay-tracking.toml").read_text(encoding="utf-8")
    assert "tracking-lqr" in said
    off = [each.objects["ball"]["angle_from_target"] for each in (open_loop, tracked)]
    # the weights ask for it: 1 N costs as much as 10 mrad of the ball
    assert off[1] < np.radians(1.0)
    assert off[1] < off[0]


def test_a_period_that_does_not_divide_the_plan_s_intervals_is_refused(folder, plan):
    file = load_plan_file(folder / "plan.toml", ["replay.tracking.every=0.03"])
    with pytest.raises(ConfigError, match=r"replay\.tracking\.every.*must divide the plan's intervals"):
        simulate(attrs.evolve(plan, file=file))
