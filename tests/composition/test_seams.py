"""Boxes side by side are one surface: what slides over their seams moves as on one big box, to rounding.

Pyramids that turn to slip do so by the loads of the last step, which are of other contacts where a face passes on:
there the directions of a step are off by the angle by which its friction turns slip, at most μ·g·h/v, and velocities
by μ·g·h times that. Pyramids that stand still, and the cone, have no such memory."""

import numpy as np
import pytest

from corekit.scenario.load import loads

pytest.importorskip("corekit_rigid")

WORLD = """
format = "corekit-scenario/1"
name = "seam"
time = { duration = 1.0, step = STEP }
world = { gravity = [0.0, 0.0, -9.81], obstacles = [OBSTACLES] }
integrator = { use = "INTEGRATOR" }
[contact]
friction = FRICTION
detector = [{ use = "DETECTOR" }, { use = "mpr" }]
solver = { use = "SOLVER", options = OPTIONS }
[[bodies]]
name = "body"
use = "rigid"
base = { position = [-0.05, 0.003, HEIGHT], rotation_rpy = TURN }
options = { shape = "SHAPE", size = SIZE, mass = 0.1 }
initial = { velocity = [1.0, 0, 0] }
"""
# shape, sizes, height of the middle, turn
BODIES = {
    "ball": ("sphere", [0.02], 0.02, [0.0, 0.0, 0.0]),
    "box": ("box", [0.04, 0.04, 0.02], 0.01, [0.0, 0.0, 0.0]),
    "turned box": ("box", [0.04, 0.04, 0.02], 0.01, [0.0, 0.0, 0.3]),
    "capsule along": ("capsule", [0.01, 0.06], 0.01, [0.0, np.pi / 2, 0.0]),
    "capsule across": ("capsule", [0.01, 0.06], 0.01, [np.pi / 2, 0.0, 0.0]),
    "cylinder": ("cylinder", [0.02, 0.03], 0.015, [0.0, 0.0, 0.0]),
    "cylinder along": ("cylinder", [0.01, 0.06], 0.01, [0.0, np.pi / 2, 0.0]),
}
SPEED, TIME = 1.0, 0.1


def boxes(*places, top=0.0):
    """Boxes 0.2 m high by bounds in x and y, with a top of their own where a fifth number is given."""
    told = []
    for k, (x0, x1, y0, y1, *own) in enumerate(places):
        z = own[0] if own else top
        told.append(
            f'{{ name = "box{k}", shape = "box", size = [{x1 - x0!r}, {y1 - y0!r}, 0.2], '
            f"position = [{0.5 * (x0 + x1)!r}, {0.5 * (y0 + y1)!r}, {z - 0.1!r}] }}"
        )
    return ", ".join(told)


ONE = boxes((-1.0, 1.0, -0.5, 0.5))
TWO = boxes((-1.0, 0.0, -0.5, 0.5), (0.0, 1.0, -0.5, 0.5))
TILES = boxes(
    (-1.0, 0.0, -0.5, 0.003), (-1.0, 0.0, 0.003, 0.5), (0.0, 0.02, -0.5, 0.5), (0.02, 1.0, -0.5, -0.01),
    (0.02, 1.0, -0.01, 0.5),
)  # fmt: skip


def world(
    body, obstacles, *, detector="sdf", solver="lcp", integrator="semi-implicit-euler", step=2e-3, friction=0.3,
    lift=0.0, aligned=False,
):  # fmt: skip
    shape, size, height, turn = BODIES[body] if isinstance(body, str) else body
    values = {
        "STEP": step, "OBSTACLES": obstacles, "INTEGRATOR": integrator, "FRICTION": friction, "DETECTOR": detector,
        "OPTIONS": f"{{ aligned = {str(aligned).lower()} }}" if solver in ("lcp", "qp") else "{}",
        "SOLVER": solver, "HEIGHT": height + lift, "TURN": turn, "SHAPE": shape, "SIZE": size,
    }  # fmt: skip
    text = WORLD if detector == "sdf" else WORLD.replace(', { use = "mpr" }]', "]")
    for key, value in values.items():
        text = text.replace(key, str(value))
    return loads(text).compose()


def largest_difference(one, other, steps):
    worst = 0.0
    for _ in range(steps):
        one.step()
        other.step()
        worst = max(worst, np.abs(one.state.v - other.state.v)[:3].max())
    return worst


@pytest.mark.parametrize("detector", ["sdf", "mpr"])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_seam_is_not_felt(body, detector, friction):
    given = {"detector": detector, "friction": friction}
    difference = largest_difference(world(body, ONE, **given), world(body, TWO, **given), round(TIME / 2e-3))
    # solvers leave 1e-9 of the velocity; before, boxes and cylinders stopped dead
    assert difference < 1e-9 * SPEED


def misdirected(step, friction=0.3, crossings=4):
    """What corners that pass on may change of a velocity, a step each [m/s]."""
    return crossings * (friction * 9.81 * step) ** 2 / SPEED


@pytest.mark.parametrize("solver", ["lcp", "qp"])
@pytest.mark.parametrize("body", BODIES)
def test_a_seam_is_hardly_felt_by_pyramids_that_turn(body, solver):
    one, other = (world(body, obstacles, solver=solver, aligned=True) for obstacles in (ONE, TWO))
    assert largest_difference(one, other, round(TIME / 2e-3)) < misdirected(2e-3)


@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
@pytest.mark.parametrize(("integrator", "step"), [("semi-implicit-euler", 5e-4), ("implicit-euler", 2e-3)])
@pytest.mark.parametrize("lift", [0.0, -1e-5, 1e-3])
def test_tiles_are_one_floor(solver, integrator, step, lift):
    """Along a seam, over corners where three tiles meet, sunk in by 10 µm or fallen from 1 mm."""
    given = {"solver": solver, "integrator": integrator, "step": step, "lift": lift}
    for body in ("ball", "turned box"):
        one, other = world(body, ONE, **given), world(body, TILES, **given)
        # each of the steps may leave the tolerance of the integrator, 1e-8 m/s
        assert largest_difference(one, other, round(TIME / step)) < 1e-8 * TIME / step


@pytest.mark.parametrize("body", ["box", "cylinder", "ball"])
def test_a_step_of_a_tenth_of_a_millimetre_is_felt(body):
    step = boxes((-1.0, 0.0, -0.5, 0.5), (0.0, 1.0, -0.5, 0.5, 1e-4))
    assert largest_difference(world(body, ONE), world(body, step), round(TIME / 2e-3)) > 0.05 * SPEED


@pytest.mark.parametrize("side", [(0.0, 1.0, -0.5, 0.5, 0.2), (0.0, 1.0, -0.5, 0.5, 0.1)])
def test_a_wall_that_stands_on_boxes_stops_a_box_by_its_whole_side(side):
    """As a wall does that touches no other box: the contacts along its foot count."""
    floor = '{ name = "floor", shape = "half-space" }, '
    one = world("box", floor + boxes(side))
    other = world("box", boxes((-1.0, 1.0, -0.5, 0.5), side))
    largest_difference(one, other, 20)
    for each in (one, other):
        record = each.contacts()
        at_wall = np.abs(record.normal[:, 0]) > 0.5
        assert at_wall.sum() == 4
        assert record.point[at_wall, 2].min() == pytest.approx(0.0, abs=1e-9)
        assert each.state.q[0] == pytest.approx(-0.02, abs=1e-6)


@pytest.mark.parametrize("tilt", [-0.08, 0.08])
@pytest.mark.parametrize("detector", ["sdf", "mpr"])
def test_a_box_that_leans_meets_the_foot_of_a_wall(tilt, detector):
    """With its lower or its upper edge ahead; as where no floor of boxes touches the wall, to a tenth of a step."""
    wall, leaning = (0.0, 1.0, -0.5, 0.5, 0.2), ("box", [0.04, 0.04, 0.02], 0.012, [0.0, tilt, 0.0])
    one = world(leaning, '{ name = "floor", shape = "half-space" }, ' + boxes(wall), detector=detector)
    other = world(leaning, boxes((-1.0, 1.0, -0.5, 0.5), wall), detector=detector)
    for _ in range(100):
        one.step()
        other.step()
        assert other.state.q[0] == pytest.approx(one.state.q[0], abs=0.1 * SPEED * 2e-3)
    assert other.contacts().gap.min() > -1e-4


def test_a_capsule_that_crosses_a_seam_touches_by_its_ends():
    """The row where it crosses the seam would lean along its motion."""
    tilted = ("capsule", [0.012, 0.06], 0.014, [0.0, np.pi / 2 - 0.05, 0.0])
    simulation = world(tilted, boxes((-1.0, -0.045, -0.5, 0.5), (-0.045, 1.0, -0.5, 0.5)))
    for _ in range(50):
        simulation.step()
        assert np.all(simulation.contacts().normal[:, 2] > 1.0 - 1e-12)


@pytest.mark.parametrize("detector", ["sdf", "mpr"])
@pytest.mark.parametrize(("body", "ends", "crossings"), [("capsule along", 2, 1), ("box", 4, 2)])
@pytest.mark.parametrize(("second", "differs"), [("friction = 0.3", False), ("friction = 0.2", True)])
def test_what_lies_over_a_seam_touches_there_only_if_friction_changes(
    detector, body, ends, crossings, second, differs
):
    """By its ends or corners alone, as on one box, or where it crosses the seam by both boxes."""
    obstacles = boxes((-1.0, -0.05, -0.5, 0.5), (-0.05, 1.0, -0.5, 0.5))
    first, other = obstacles.split("}, ")
    told = f"{first}, friction = 0.3 }}, {other[:-2]}, {second} }}"
    simulation = world(body, told, detector=detector)
    simulation.step()
    record = simulation.contacts()
    assert len(record.gap) == ends + 2 * crossings * differs
    assert len(np.unique(np.round(record.point, 6), axis=0)) == ends + crossings * differs
    assert record.impulse[:, 2].sum() == pytest.approx(0.1 * 9.81 * record.step_size, rel=1e-6)


def test_a_conveyor_stands_for_no_contact_of_boxes_beside_it():
    """A capsule on the seam of two boxes reaches onto a third: where all meet, what stands and what moves bear it."""

    def touched(position: str) -> list[float]:
        fixed = boxes((-1.0, -0.05, -0.5, 0.003), (-1.0, -0.05, 0.003, 0.5))
        third = f'{{ name = "third", shape = "box", size = [1.05, 4.0, 0.2], position = {position} }}'
        simulation = world("capsule along", f"{fixed}, {third}")
        simulation.step()
        return sorted(simulation.contacts().point[:, 0].round(2).tolist())

    assert touched("[0.475, 0.0, -0.1]") == pytest.approx([-0.08, -0.02])
    moving = '{ kind = "ramp", from = 0.0, to = 1.0, start = [0.475, 0.0, -0.1], value = [0.475, 0.5, -0.1] }'
    assert touched(moving) == pytest.approx([-0.08, -0.05, -0.05, -0.02])


def test_a_ball_falls_between_boxes_that_do_not_touch():
    apart = boxes((-1.0, -0.01, -0.5, 0.5), (0.01, 1.0, -0.5, 0.5))
    assert largest_difference(world("ball", ONE), world("ball", apart), round(TIME / 2e-3)) > 0.01 * SPEED
