"""A motion that presses more than its plan, waits before it begins and ends at the target."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

from corekit.data.array_file import read_arrays
from corekit.errors import ConfigError
from corekit.geometry.frames import Pose
from corekit.roles.planner import ObjectTrajectory, Plan
from corekit.scenario.load import load
from corekit_study.firmer_motion import add_press, holding_inputs, led_to_targets
from corekit_study.motion_balance import WorldForces
from corekit_study.plan import make_plan, simulate
from corekit_study.plan_file import load_plan_file
from corekit_study.plan_judge import planned_states

from .test_planning import PLAN, WORLD

PRESS = 2.0
TRACKED = f"""{PLAN.partition("stiffness =")[0].replace("steps = 12", "steps = 10")}
[replay.tracking]
every = 0.05
press = {PRESS}
settle = 0.2
options = {{ coordinates = {{ arm = 1e4, ball = 1e4 }}, rates = {{ arm = 1e2, ball = 1.0 }} }}
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    folder = tmp_path_factory.mktemp("firmer")
    (folder / "world.toml").write_text(WORLD.replace("step = 1e-3", "step = 5e-3"), encoding="utf-8")
    (folder / "plan.toml").write_text(TRACKED, encoding="utf-8")
    (folder / "made").mkdir()
    return make_plan(load_plan_file(folder / "plan.toml"), folder / "made")


def held(plan, scenario, press):
    """Start and inputs that hold it."""
    world = WorldForces(scenario.compose(), ("arm",))
    start = planned_states(plan.plan, scenario)[0]
    inputs = holding_inputs(world, start, {"arm": plan.plan.bodies["arm"].inputs})
    return start, add_press(world, [start, start], inputs, press)["arm"][0]


@pytest.mark.parametrize("press", [0.5, PRESS])
def test_what_holds_the_start_presses_with_what_is_asked_for(plan, press):
    """The simulator, which knows nothing of the balance, finds the force; nothing moves."""
    scenario = load(plan.file.world)
    start, u = held(plan, scenario, press)
    simulation = scenario.compose()
    simulation.reset(state=start)
    simulation.inputs["arm"]["chamber-force"] = u
    simulation.run(0.2)
    touching = simulation.contacts()
    force = touching.normal_impulse.sum() / touching.step_size
    # the gap that the planner's rounder edge leaves closes by some micrometres, of which each is 1e-3 N
    assert force == pytest.approx(press, rel=0.02)
    np.testing.assert_allclose(simulation.state.q, start.q, atol=1e-4)


def test_a_contact_that_slips_is_not_pressed(plan):
    scenario = load(plan.file.world)
    world = WorldForces(scenario.compose(), ("arm",))
    states = planned_states(plan.plan, scenario)[:2]
    inputs = {"arm": plan.plan.bodies["arm"].inputs[1:2]}
    pressed = add_press(world, states, inputs, PRESS)["arm"]
    assert np.abs(pressed - inputs["arm"]).max() > 0.1
    states[1].v[-3:] += [0.0, 1.0, 0.0]  # the ball turns away under the disk by 50 mm/s
    np.testing.assert_array_equal(add_press(world, states, inputs, PRESS)["arm"], inputs["arm"])


def test_it_waits_presses_and_arrives(plan):
    made = simulate(plan)
    tracked = made.rollouts[-1]
    assert tracked.arrived
    assert made.folder is not None
    motion = read_arrays(made.folder / "motion.npz")
    assert motion["time"][-1] == pytest.approx(1.2, rel=1e-12)
    assert not motion["v"][:4].any()
    np.testing.assert_array_equal(motion["q"][:4], np.tile(motion["q"][4], (4, 1)))
    said = (made.folder / "replay-tracking.toml").read_text(encoding="utf-8")
    assert "duration = 1.2" in said


def test_objects_are_led_on_to_their_targets_along_their_way():
    """80° about x in two unlike steps, to go 90°: a quarter of the way has a quarter of the 10° more."""

    def about_x(degrees):
        half = np.radians(degrees) / 2
        return [np.cos(half), np.sin(half), 0.0, 0.0]

    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    moved = ObjectTrajectory(
        position=np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.4, 0.0, 0.0]]),
        quat_wxyz=np.array([about_x(0.0), about_x(20.0), about_x(80.0)]),
        target=Pose(np.array([0.4, 0.1, 0.0]), turn),
    )
    led = led_to_targets(Plan(time=np.arange(3.0), bodies={}, objects={"ball": moved})).objects["ball"]
    wanted = np.array([about_x(0.0), about_x(22.5), about_x(90.0)])
    np.testing.assert_allclose(np.abs(np.sum(led.quat_wxyz * wanted, axis=1)), 1.0, atol=1e-15)
    np.testing.assert_allclose(
        led.position, [[0.0, 0.0, 0.0], [0.3, 0.075, 0.0], [0.4, 0.1, 0.0]], atol=1e-15
    )
    still = attrs.evolve(moved, position=np.zeros((3, 3)), target=Pose(np.array([0.0, 0.0, 1.0]), turn))
    led = led_to_targets(Plan(time=np.arange(3.0), bodies={}, objects={"ball": still})).objects["ball"]
    np.testing.assert_allclose(led.position[:, 2], [0.0, 0.5, 1.0])


def test_a_wait_that_is_no_number_of_periods_is_refused(plan):
    assert plan.folder is not None
    file = load_plan_file(plan.folder.parent / "plan.toml", ["replay.tracking.settle=0.12"])
    with pytest.raises(ConfigError, match=r"replay\.tracking\.settle.*whole number of periods of 0\.05 s"):
        simulate(attrs.evolve(plan, file=file))
