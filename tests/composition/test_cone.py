"""Coulomb's cone through the whole stack, against elementary mechanics and against the pyramid where both are exact."""

import math
from typing import Any

import numpy as np
import pytest

import corekit
from corekit.data.contacts import ContactMode
from corekit.data.status import Status
from corekit.errors import CompositionError
from corekit.scenario.load import from_document

G, STEP = 9.81, 1e-3
CONE = {"use": "cone", "options": {"tolerance": 1e-11}}
"""A hundred steps at 1 m/s add up to 1e-9 m/s."""
BALL = {"shape": "sphere", "size": [0.1], "mass": 2.0}


def world(bodies, *, solver: Any = CONE, slope=0.0, heading=0.0, friction=0.5, detector="sdf", floors=1):
    """Rigid bodies on a level floor; a slope is gravity that leans."""
    along = G * math.sin(slope)
    floor = {"shape": "half-space", "friction": friction}
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "cone",
            "time": {"duration": 1.0, "step": STEP},
            "world": {
                "gravity": [along * math.cos(heading), along * math.sin(heading), -G * math.cos(slope)],
                "obstacles": [{**floor, "name": f"floor-{k}"} for k in range(floors)],
            },
            "bodies": [{"use": "rigid", **body} for body in bodies],
            "contact": {"detector": detector, "friction": friction, "solver": solver},
            "integrator": {"use": "semi-implicit-euler"},
            "output": {"every": STEP},
        }
    ).compose()


def box(name="box", at=(0.0, 0.0, 0.05), size=(0.2, 0.2, 0.1), **others):
    options = {"shape": "box", "size": list(size), "mass": 3.0}
    return {"name": name, "base": {"position": list(at)}, "options": options, **others}


def solved_steps(simulation, count):
    """Take steps, all of which must be solved; return the largest iteration count."""
    most = 0
    for _ in range(count):
        info = simulation.step().solve_info
        assert info.status is Status.CONVERGED, info
        most = max(most, info.iterations)
    return most


def slip_on_slope(solver, heading, slope, mu):
    """Velocity of a block along the slope after 20 steps, in the axes (along the heading, across)."""
    simulation = world([box()], solver=solver, slope=slope, heading=heading, friction=mu)
    solved_steps(simulation, 20)
    x, y = simulation.state.v[:2]
    return x * math.cos(heading) + y * math.sin(heading), y * math.cos(heading) - x * math.sin(heading)


@pytest.mark.parametrize("heading", [2.0 * math.pi * k / 16 for k in range(16)])
def test_a_block_slides_straight_down_with_mu_itself_in_every_heading(heading):
    mu, slope = 0.4, 0.5
    along, across = slip_on_slope(CONE, heading, slope, mu)
    expected = 20 * STEP * G * (math.sin(slope) - mu * math.cos(slope))
    assert along == pytest.approx(expected, abs=1e-9)
    assert across == pytest.approx(0.0, abs=1e-9)


def test_between_two_directions_a_pyramid_of_eight_is_off_by_its_cosine():
    """What the test above can fail for: friction there is smaller by cos(π/8), a tenth of the acceleration."""
    mu, slope, heading = 0.4, 0.5, math.pi / 8
    fixed = {"use": "lcp", "options": {"aligned": False}}
    along, _ = slip_on_slope(fixed, heading, slope, mu)
    inscribed = 20 * STEP * G * (math.sin(slope) - mu * math.cos(math.pi / 8) * math.cos(slope))
    assert along == pytest.approx(inscribed, rel=1e-6)


@pytest.mark.parametrize("heading", [0.0, 0.3, math.pi / 8, 2.0])
def test_a_block_holds_up_to_the_friction_angle_and_not_beyond(heading):
    mu = 0.5
    held = slip_on_slope(CONE, heading, math.atan(mu * (1.0 - 1e-6)), mu)
    np.testing.assert_allclose(held, 0.0, atol=1e-11)
    slope = math.atan(mu * (1.0 + 1e-6))
    along, _ = slip_on_slope(CONE, heading, slope, mu)
    # 20 steps at 4e-6 m/s²
    assert along == pytest.approx(20 * STEP * G * (math.sin(slope) - mu * math.cos(slope)), rel=1e-3)


@pytest.mark.parametrize("heading", [0.0, 0.2, math.pi / 8, 1.0, 4.0])
def test_a_sliding_ball_ends_up_rolling_straight_at_five_sevenths_of_its_speed(heading):
    mu = 0.4
    ahead = np.array([math.cos(heading), math.sin(heading), 0.0])
    ball = {"name": "ball", "base": {"position": [0.0, 0.0, 0.1]}, "options": BALL}
    simulation = world([{**ball, "initial": {"velocity": ahead.tolist()}}], friction=mu)
    time_to_roll = 2.0 / (7.0 * mu * G)
    solved_steps(simulation, int(0.9 * time_to_roll / STEP))
    assert simulation.contacts().mode.tolist() == [ContactMode.SLIDE]
    solved_steps(simulation, int(0.3 * time_to_roll / STEP))
    assert simulation.contacts().mode.tolist() == [ContactMode.STICK]
    # v + (5/2)·R·ω is conserved about the contact, and rolling is v = R·ω; gyroscopic terms of a ball vanish
    np.testing.assert_allclose(simulation.state.v[:3], 5 / 7 * ahead, atol=1e-9)


def test_a_box_on_four_corners_is_carried_by_its_weight():
    simulation = world([box()], friction=0.6)
    solved_steps(simulation, 30)
    record = simulation.contacts()
    assert record.count == 4
    assert record.normal_impulse.sum() == pytest.approx(STEP * 3.0 * G, rel=1e-9)
    assert np.abs(simulation.state.v).max() < 1e-10


def test_a_box_on_twenty_five_floors_at_once_brakes_as_on_one():
    """A hundred contacts, six equations for three hundred impulses; it slides straight on."""
    mu, heading = 0.3, 0.7
    ahead = np.array([math.cos(heading), math.sin(heading), 0.0])
    start = box(initial={"velocity": ahead.tolist()})
    simulation = world([start], friction=mu, floors=25)
    solved_steps(simulation, 10)
    assert simulation.contacts().count == 100
    left = 1.0 - mu * G * 10 * STEP
    np.testing.assert_allclose(simulation.state.v, [*(left * ahead), 0.0, 0.0, 0.0], atol=1e-8)


def test_a_stack_of_ten_boxes_stays_where_it_stands():
    """Ten boxes, each a little aside of the one below."""
    boxes = [box(f"box-{k}", (2e-3 * (k % 3), -1e-3 * (k % 2), 0.05 + 0.1 * k)) for k in range(10)]
    simulation = world(boxes, detector=["sdf", "mpr"])
    before = simulation.state.q.copy()
    solved_steps(simulation, 50)
    record = simulation.contacts()
    assert record.count == 40
    carried = record.normal_impulse[record.point[:, 2] < 0.05].sum()
    assert carried == pytest.approx(30.0 * STEP * G, rel=1e-7)
    np.testing.assert_allclose(simulation.state.q, before, atol=1e-9)


def test_a_pile_that_falls_together_is_solved_in_every_step():
    """Boxes in any attitude hit, slide, tumble and wedge."""
    random = np.random.default_rng(1)
    boxes = []
    for k in range(6):
        x, y = random.uniform(-0.04, 0.04, 2)
        place = {"position": [x, y, 0.12 + 0.16 * k], "rotation_rpy": random.uniform(-1.0, 1.0, 3).tolist()}
        options = {"shape": "box", "size": [0.12, 0.1, 0.08], "mass": 0.5 + 0.3 * k}
        boxes.append({"name": f"box-{k}", "base": place, "options": options})
    simulation = world(boxes, solver="cone", detector=["sdf", "mpr"])
    most = 0
    for _ in range(400):
        solved_steps(simulation, 1)
        most = max(most, simulation.contacts().count)
    assert most >= 10


def test_without_friction_it_is_the_motion_of_the_pyramid():
    bodies = [
        box("one", (0.0, 0.0, 0.06)),
        box("two", (0.05, 0.03, 0.17)),
        {"name": "ball", "base": {"position": [0.0, 0.3, 0.1]}, "options": BALL,
         "initial": {"velocity": [0.0, -2.0, 0.0]}},
    ]  # fmt: skip
    ends = []
    # 150 steps at 4 m/s add up their errors
    for name in ("cone", "lcp"):
        solver = {"use": name, "options": {"tolerance": 1e-13}}
        simulation = world(bodies, solver=solver, friction=0.0, detector=["sdf", "mpr"])
        touched = 0
        for _ in range(150):
            assert simulation.step().solve_info.status.solved
            touched = max(touched, simulation.contacts().count)
        assert touched >= 8
        ends.append(simulation.state.v.copy())
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-10)


def test_friction_with_a_direction_is_refused():
    with pytest.raises(CompositionError, match=r"'cone' does not support: installed and able: lcp, qp"):
        world([box(friction={"forward": 0.2, "backward": 0.4, "sideways": 0.3, "axis": [1, 0, 0]})])


@pytest.mark.parametrize(
    "name",
    ["cusp/inclined-box", "mixed/arm-ball-rod", "mixed/vine-between-fingers", "vine/wall", "matrix/rigid"],
)
def test_shipped_scenarios_are_solved_in_the_cone(name):
    simulation = corekit.load(name, ['contact.solver={use="cone"}']).compose()
    solved_steps(simulation, 40)


def test_in_a_plane_the_cone_is_the_pyramid_and_the_motions_agree():
    ends = []
    for solver in ("cone", "lcp"):
        simulation = corekit.load("vine/wall", [f'contact.solver={{use="{solver}"}}']).compose()
        pressed = 0.0
        for _ in range(60):
            assert simulation.step().solve_info.status.solved
            pressed = max(pressed, float(np.max(simulation.contacts().normal_impulse, initial=0.0)))
        ends.append(simulation.state.q.copy())
        assert pressed > 0.0
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-8)


def test_a_repeated_step_is_the_same_to_the_last_bit():
    ends = []
    for _ in range(2):
        simulation = world([box(), box("upper", (0.03, 0.0, 0.16))], detector=["sdf", "mpr"])
        solved_steps(simulation, 30)
        ends.append(simulation.state.q.copy())
    np.testing.assert_array_equal(ends[0], ends[1])
