"""Vine robots through the whole stack: the paper's figures, stall and buckling, back-ends and solvers that agree."""

import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import corekit
from corekit.data.status import Status
from corekit.scenario.load import from_document

CIRCLE = Path(__file__).parents[2] / "scenarios" / "vine" / "circle.toml"
BEFORE_CONTACT = (393.733333333, 394.133333333, 394.533333333, 394.933333333, 395.333333333, 395.733333333)
"""Where the last body of the reference rollout is after each of its first six steps [mm]: it grows straight."""

FIRST_CONTACT = (396.133333333, -0.848632759, -0.002648353)
"""The same after the seventh [mm, mm, rad]."""

EXACT = {"approach": 1.0, "push_out": math.inf, "cap": math.inf}
WALL = {"name": "wall", "shape": "half-space", "rotation_rpy": [0.0, -math.pi / 2, 0.0]}


def vine(options, *, obstacles=(), inputs=None, step=0.01, gravity=0.0, solver=None, **body):
    """A robot among obstacles, frictionless, by the paper's gap rule."""
    signals = [{"channel": name, "signal": value} for name, value in (inputs or {}).items()]
    robot = {"name": "robot", "use": "vine", "options": options, "inputs": signals, **body}
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "vine",
            "time": {"duration": 1.0, "step": step},
            "world": {"gravity": [0.0, 0.0, -gravity], "obstacles": list(obstacles)},
            "bodies": [robot],
            "contact": {
                "stabilisation": EXACT,
                "friction": 0.0,
                "margin": 0.02,
                "detector": {"use": "sdf"},
                "solver": solver or {"use": "qp"},
            },
            "integrator": {"use": "semi-implicit-euler", "options": {"beta": 0.5}},
            "output": {"every": step},
        }
    ).compose()


def tip(simulation):
    """Where the tip is in its plane."""
    return simulation.frame(f"robot.{simulation.bodies[0].description.frames[-1]}").position[[0, 2]]


def pins(simulation):
    """Where base, pins and tip are in their plane, (N + 1, 2)."""
    frames = simulation.bodies[0].description.frames[::2]
    return np.array([simulation.frame(f"robot.{name}").position[[0, 2]] for name in frames])


@pytest.mark.parametrize(
    ("solver", "module"), [("banded", "numba"), ("osqp", "osqp"), ("piqp", "piqp"), ("proxqp", "proxsuite")]
)
def test_every_back_end_follows_the_reference_rollout_round_the_circle(solver, module):
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    simulation = corekit.load(CIRCLE, [f"contact.solver.options.qp_solver={solver}"]).compose()
    # the paper's equations with exact programs, computed apart from this project; first contact at step 7
    for last in BEFORE_CONTACT:
        assert simulation.step().solve_info.status.solved
        state = 1e3 * simulation.state.q.reshape(30, 3)
        np.testing.assert_allclose(state[-1, 0], last, atol=1e-7)
        np.testing.assert_allclose(state[:, 1:], 0.0, atol=1e-7)
        assert simulation.contacts().normal_impulse.max(initial=0.0) < 1e-9
    assert simulation.step().solve_info.status.solved
    assert simulation.contacts().normal_impulse.max() > 0.01
    np.testing.assert_allclose(simulation.state.q[-3:] * [1e3, 1e3, 1.0], FIRST_CONTACT, atol=1e-7)
    for _ in range(43):
        assert simulation.step().solve_info.status.solved
    np.testing.assert_allclose(1e3 * tip(simulation), [418.79210406, -28.49842206], atol=1e-7)


def test_capsules_from_pin_to_pin_keep_coarse_links_out_of_the_circle_where_points_do_not():
    deepest = {}
    for collision in ("points", "links"):
        options = [f"bodies[0].options.{name}" for name in (f"collision={collision}", "bodies=10")]
        simulation = corekit.load(CIRCLE, options).compose()
        gaps = []
        for _ in range(390):
            assert simulation.step().solve_info.status.solved
            nodes = pins(simulation)
            along = np.diff(nodes, axis=0)
            share = np.einsum("ij,ij->i", np.array([0.47, 0.025]) - nodes[:-1], along)
            share = np.clip(share / np.einsum("ij,ij->i", along, along), 0.0, 1.0)
            near = nodes[:-1] + share[:, None] * along
            gaps.append(float(np.linalg.norm(near - [0.47, 0.025], axis=1).min()) - 0.072)
        deepest[collision] = min(gaps)
    assert deepest["links"] > -2e-5
    assert deepest["points"] < -2e-4


def deepest_corner(collision, growth):
    """How deep the corner of a wall gets into a straight robot, against which it is pushed between two pins [m].

    The tube is what is within a radius of the polyline of its pins. They stand 80 mm apart at first.
    """
    half, radius, speed = 0.02, 0.012, 0.1
    low = half * math.sqrt(2.0)
    wall = {
        "name": "wall", "shape": "box", "size": [2 * half, 0.05, 2 * half], "rotation_rpy": [0.0, math.pi / 4, 0.0],
        "position": {
            "kind": "table", "times": [0.0, 1.0], "values": [[0.2, 0, 0.02 + low], [0.2, 0, 0.02 + low - speed]],
        },
    }  # fmt: skip
    options = {
        "bodies": 10, "length": 0.4, "diameter": 2 * radius, "bending_stiffness": 0.0133, "bending_damping": 1e-3,
    }  # fmt: skip
    if collision is not None:
        options["collision"] = collision
    simulation = vine(options, obstacles=[wall], inputs={"growth-rate": growth})
    deepest = -math.inf
    for _ in range(50):
        assert simulation.step().solve_info.status.solved
        nodes = pins(simulation)
        corner, along = np.array([0.2, 0.02 - speed * simulation.time]), np.diff(nodes, axis=0)
        share = np.einsum("ij,ij->i", corner - nodes[:-1], along) / np.einsum("ij,ij->i", along, along)
        near = nodes[:-1] + np.clip(share, 0.0, 1.0)[:, None] * along
        deepest = max(deepest, radius - float(np.linalg.norm(near - corner, axis=1).min()))
    return deepest


@pytest.mark.parametrize("growth", [0.0, 0.1])
def test_a_corner_that_is_pushed_against_the_robot_between_two_pins_does_not_enter(growth):
    """By default the surface is closed. Between the spheres of the paper the corner goes right through."""
    assert deepest_corner(None, growth) < 1e-6
    assert deepest_corner("points", growth) > 0.011


@pytest.mark.parametrize(
    ("collision", "shape", "found"),
    [("links", "box", 0), ("points", "box", 1), ("points", "segments", 1), ("points", "sphere", 0)],
)
def test_check_warns_of_corners_that_slip_between_touching_points(collision, shape, found):
    """The pins of the ends of ten bodies stand 80 mm apart, and their spheres are 24 mm wide."""
    inspect = pytest.importorskip("corekit_inspect.plausibility")
    document = {
        "format": "corekit-scenario/1", "name": "slips", "time": {"duration": 1.0, "step": 0.01},
        "world": {"gravity": [0.0, 0.0, 0.0], "obstacles": [
            {"name": "wall", "shape": shape, "position": [0.2, 0.0, 0.2], **{
                "box": {"size": [0.1, 0.1, 0.1]}, "sphere": {"size": [0.05]},
                "segments": {"size": [0.001], "vertices": [[0.0, 0.0], [0.1, 0.0], [0.1, 0.1]]},
            }[shape]},
        ]},
        "bodies": [{"name": "robot", "use": "vine", "options": {
            "bodies": 10, "length": 0.4, "diameter": 0.024, "collision": collision,
        }}],
        "contact": {"friction": 0.0, "detector": {"use": "sdf"}, "solver": {"use": "qp"}},
        "integrator": {"use": "semi-implicit-euler", "options": {"beta": 0.5}}, "output": {"every": 0.1},
    }  # fmt: skip
    scenario = from_document(document)
    said = inspect.scenario_doubts(scenario, scenario.compose())
    assert sum("56 mm apart, and corners (wall) slip between them" in each for each in said) == found
    assert found or not any("slip" in each for each in said)


def paths(solvers, words):
    """The tip's way round the circle with each contact solver, first contact at step 7."""
    found = {}
    for solver in solvers:
        simulation = corekit.load(CIRCLE, [f'contact.solver={{ use = "{solver}" }}', *words]).compose()
        found[solver] = []
        for _ in range(40):
            assert simulation.step().solve_info.status.solved
            found[solver].append(tip(simulation))
    return found


def test_programs_and_complementarity_move_the_robot_alike():
    found = paths(("qp", "lcp"), [])
    np.testing.assert_allclose(found["lcp"], found["qp"], atol=1e-9)


def test_programs_complementarity_and_potentials_move_a_light_robot_alike():
    # with the paper's inertia a potential, which gives back what it took up, makes the tip bounce by 2 mm
    light = ["bodies[0].options.body_inertia=1e-7", "bodies[0].options.joint_damping=3e-3"]
    found = paths(("qp", "lcp", "imc"), [*light, 'integrator={ use = "implicit-euler" }'])
    np.testing.assert_allclose(found["lcp"], found["qp"], atol=1e-9)
    # its layer about gap 0 is half a millimetre to either side
    np.testing.assert_allclose(found["imc"], found["qp"], atol=5e-4)


def test_a_potential_beside_explicit_springs_is_taken_implicitly():
    # h·ω of the contact is about 45: taken as explicitly as the springs it throws the robot off at 20 m/s. A potential
    # gives an impact back, here by 9 mm, where impulses do not: a dashpot takes it, which leaves 1.1 mm at this step
    # and 0.3 mm at a quarter of it (a third of that dashpot leaves 2.6 to 4.8 mm, by scheme and step)
    tips = {}
    for solver, options in (("qp", "{}"), ("imc", "{ damping = 1000.0 }")):
        chosen = f'contact.solver={{ use = "{solver}", options = {options} }}'
        simulation = corekit.load(CIRCLE, [chosen]).compose()
        tips[solver] = []
        for _ in range(399):
            assert simulation.step().solve_info.status.solved
            assert np.abs(simulation.state.v[1::3]).max() < 0.6
            tips[solver].append(tip(simulation))
    apart = np.linalg.norm(np.subtract(tips["imc"], tips["qp"]), axis=1)
    # it bounces where it first touches; once it slides round, its layer is half a millimetre to either side
    assert apart.max() < 2e-3
    assert apart[300:].max() < 5e-4


def test_a_robot_lying_on_the_floor_is_carried_by_exactly_its_weight():
    floor = {"name": "floor", "shape": "half-space"}
    options = {"bodies": 30, "length": 0.4, "diameter": 0.02, "bending_stiffness": 0.01}
    simulation = vine(
        options, obstacles=[floor], gravity=9.81, base={"position": [0.0, 0.0, 0.01]}
    )  # fmt: skip
    for _ in range(40):
        assert simulation.step().solve_info.status.solved
    record = simulation.contacts()
    mass = simulation.system.terms.bodies[0].mass.data[::3].sum()
    held = simulation.system.terms.bodies[0].row_impulse[1]
    assert record.normal_impulse.sum() + held == pytest.approx(0.01 * 9.81 * mass, rel=1e-6)
    assert (record.normal_impulse > 0).sum() >= 12
    assert record.gap.min() > -1e-6


@pytest.mark.parametrize("solver", ["qp", "lcp"])
def test_a_robot_that_is_mounted_is_moved_by_every_solver(solver):
    """A joint instead of a fixed base: its matrix is sparse, which no band holds, and `qp` gets the step reduced."""
    options = {
        "bodies": 10,
        "length": 0.3,
        "diameter": 0.04,
        "bending_stiffness": 0.02,
        "bending_damping": 2e-2,
    }
    floor = {"name": "floor", "shape": "half-space"}
    base = {"mount": "world", "position": [0.0, 0.0, 0.0215]}
    simulation = vine(options, obstacles=[floor], gravity=9.81, base=base, solver={"use": solver})
    for _ in range(50):
        assert simulation.step().solve_info.status.solved
    assert (simulation.contacts().normal_impulse > 0).any()


def head_on(bend, **options):
    wall = {**WALL, "position": [0.32, 0.0, 0.0]}
    shape = {"bodies": 10, "length": 0.3, "diameter": 0.02, "bending_stiffness": 0.005, **options}
    return vine(
        shape,
        obstacles=[wall],
        inputs={"growth-rate": 0.05},
        initial={"bend": [bend] * 5},
    )


def test_growing_straight_into_a_wall_has_no_solution_and_says_so():
    simulation = head_on(0.0)
    statuses = set()
    for _ in range(30):
        statuses.add(simulation.step().solve_info.status)
        if Status.INFEASIBLE in statuses:
            break
    assert Status.INFEASIBLE in statuses
    assert np.isfinite(simulation.state.q).all()


@pytest.mark.parametrize(
    "law",
    [
        {"extensibility": 2e-6},
        {"growth_force": 8.0, "irreversible": True},
        {"extensibility": 2e-6, "irreversible": True},
    ],
)
def test_pressed_head_on_a_straight_robot_stalls_at_the_wall(law):
    # stiff enough not to buckle under what rounding bends it by
    simulation = head_on(0.0, bending_stiffness=2.0, **law)
    for _ in range(60):
        assert simulation.step().solve_info.status.solved
    assert tip(simulation)[0] == pytest.approx(0.31, abs=1e-6)
    assert np.abs(simulation.state.v).max() < 1e-6
    push = float(simulation.contacts().normal_impulse.sum()) / 0.01
    area = math.pi * 0.01**2
    # φ·(P − Y) is the rate asked for, so that the stall force is rate·A/φ
    wanted = 8.0 if "growth_force" in law else 0.05 / 2e-6 * area
    assert push == pytest.approx(wanted, rel=1e-6)


def test_pressed_head_on_a_slightly_bent_robot_buckles_and_slides():
    # the wall is pressed with more than the Euler load of the robot, about 0.7 N if its tip slides freely
    simulation = head_on(1e-3, extensibility=2e-7)
    aside = []
    for _ in range(150):
        report = simulation.step()
        assert report.solve_info.status.solved
        aside.append(abs(tip(simulation)[1]))
    assert aside[-1] > 0.05
    assert aside[-1] < 0.5
    assert np.abs(simulation.state.v[0::3]).max() < 2.0


@pytest.mark.parametrize("solver", ["banded", "osqp"])
def test_a_remembered_run_goes_on_bit_for_bit(solver):
    pytest.importorskip("numba" if solver == "banded" else solver)
    options = [f"contact.solver.options.qp_solver={solver}"]
    first = corekit.load(CIRCLE, options).compose()
    for _ in range(20):
        first.step()
    memory = {name: np.array(array) for name, array in first.internal_state().items()}
    # as at a checkpoint: the live run takes over its own memory too
    first.restore(memory)
    second = corekit.load(CIRCLE, options).compose()
    second.restore(memory)
    for _ in range(10):
        first.step()
        second.step()
    np.testing.assert_array_equal(second.state.q, first.state.q)
    np.testing.assert_array_equal(second.state.v, first.state.v)


@pytest.mark.parametrize("friction", ["exact", "relaxed"])
def test_growth_weaker_than_friction_does_not_move_the_robots_front_and_stronger_does(friction):
    floor = {"name": "floor", "shape": "half-space", "friction": 0.3}
    bound = 0.3 * 0.01 * 9.81
    speeds = []
    for share in (0.5, 2.0):
        # one link: its front body rests on the floor with its own weight, growth pushes it on
        simulation = vine(
            {"bodies": 2, "length": 0.2, "diameter": 0.02, "body_mass": 0.01, "growth_force": share * bound},
            obstacles=[floor],
            gravity=9.81,
            inputs={"growth-rate": 0.1},
            base={"position": [0.0, 0.0, 0.01]},
            solver={"use": "qp", "options": {"friction": friction}},
        )
        for _ in range(30):
            simulation.step()
        speeds.append(float(simulation.state.v[3]))
    assert abs(speeds[0]) < 1e-6
    assert speeds[1] == pytest.approx(0.1, rel=1e-3)
