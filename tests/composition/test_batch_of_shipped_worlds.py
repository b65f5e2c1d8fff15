"""Every shipped scenario that the driver of a batch steps moves in it as by single steps, bit for bit, in contact."""

import tomllib

import numpy as np
import pytest

from corekit.errors import ControlError
from corekit.scenario.load import load, loads, shipped_scenarios
from corekit_batch import transfer
from corekit_testing.rounding import rounding

STEPPED = {
    # scenario → overrides that bring it into contact early, steps
    "cusp/inclined-box": ([], 700),
    "cusp/two-spheres": ([], 500),
    "cusp/ball": ([], 60),
    "matrix/der": ([], 300),
    "matrix/gvs": ([], 160),
    "matrix/pcc": ([], 160),
    "mixed/arm-ball-rod": ([], 300),
    "teaching/arm-pushes-ball": ([], 250),
    "teaching/strain-arm-and-ball": ([], 250),
    "teaching/two-arms": ([], 250),
    "vine/circle": ([], 398),
    "vine/cluttered": ([], 268),
    "vine/wall": ([], 179),
}
REFUSED = {
    "matrix/rigid": "several contact detectors",
    "matrix/vine": "constraints",
    "mixed/vine-between-fingers": "constraints",
    "teaching/balls-in-a-tray": "kept by entries",
    "teaching/gripper-lifts-pawn": "controllers",
    "teaching/snake": "the law of friction",
    "vine/oscillation": "constraints",
}
LONG_TO_COMPOSE = {"teaching/continuum-snake"}


def make_steps(simulation, count):
    for _ in range(count):
        simulation.step()


def expect_the_forces_of(batch, simulation, w):
    """Forces are sums of as many contacts as there are, in another order, over a step that is known to ϵ·t."""
    record = simulation.contacts()
    scale = float(np.abs(record.force).sum())
    steps = simulation.time / simulation.step_length
    for body in simulation.bodies:
        expected = np.zeros(3)
        for names, force in zip(record.names, record.force, strict=True):
            expected += force * ((names[0] == body.name) - (names[1] == body.name))
        found = batch.contact_force(body.name)[w]
        assert np.abs(found - expected).max() <= rounding(3 * record.count + 3 + 2 * steps, scale)


def expect_single_steps(scenario, steps, compiled=0.9):
    """Worlds of a batch are those of single steps, bit for bit, most of them made by the driver."""
    batch, simulation = scenario.batch(3, threads=2), scenario.compose()
    assert not batch.refusal
    start = simulation.state.copy()
    start.v[:] += 1e-3  # another world
    batch.reset([2], state=start)
    batch.step(steps)
    make_steps(simulation, steps)
    for w in (0, 1):
        assert np.array_equal(batch.q[w], simulation.state.q)
        assert np.array_equal(batch.v[w], simulation.state.v)
    expect_the_forces_of(batch, simulation, 1)
    simulation.reset(state=start)
    make_steps(simulation, steps)
    expect_the_forces_of(batch, simulation, 2)
    assert np.array_equal(batch.q[2], simulation.state.q)
    assert np.array_equal(batch.v[2], simulation.state.v)
    assert batch.compiled_steps >= compiled * 3 * steps


@pytest.mark.parametrize("name", STEPPED)
def test_worlds_of_a_batch_are_those_of_single_steps_bit_for_bit(name):
    overrides, steps = STEPPED[name]
    expect_single_steps(load(name, overrides), steps)


@pytest.mark.parametrize(
    "name", ["cusp/inclined-box", "cusp/ball", "matrix/gvs", "teaching/strain-arm-and-ball"]
)
def test_so_are_those_whose_contacts_cone_solves(name):
    overrides, steps = STEPPED[name]
    expect_single_steps(load(name, [*overrides, 'contact.solver={ use = "cone" }']), steps)


def test_so_are_those_that_a_program_with_friction_solves():
    """Slip that the first two programs do not find is left to single steps, two fifths of these."""
    expect_single_steps(load("matrix/vine", ['contact.solver={ use = "qp" }']), 400, compiled=0.5)


@pytest.mark.parametrize("name", REFUSED)
def test_other_worlds_are_refused_in_a_sentence(name):
    assert REFUSED[name] in load(name).batch(1).refusal


def test_every_shipped_scenario_with_one_solve_a_step_is_stepped_or_refused():
    with_one_solve = set()
    for name, path in shipped_scenarios().items():
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        if table.get("integrator", {}).get("use") == "semi-implicit-euler":
            with_one_solve.add(name)
    assert with_one_solve - LONG_TO_COMPOSE == set(STEPPED) | set(REFUSED)


BOX = """
format = "corekit-scenario/1"
name = "bouncing-box"
time = { duration = 1.0, step = 1e-3 }
integrator = { use = "semi-implicit-euler" }
[[world.obstacles]]
name = "floor"
shape = "half-space"
friction = 0.4
[[bodies]]
name = "box"
use = "rigid"
base = { position = [0.0, 0.0, 0.16], rotation_rpy = [0.3, 0.2, 0.0] }
options = { shape = "box", size = [0.1, 0.1, 0.2], mass = 1.0 }
initial = { velocity = [0.5, 0.0, -0.5] }
[contact]
impact = { level = "%s" }
detector = { use = "sdf" }
solver = { use = "lcp", options = { %s } }
"""


@pytest.mark.parametrize("level", ["position", "velocity"])
@pytest.mark.parametrize(
    "options", ["", "aligned = false", "friction_directions = 4", "regularisation = { enabled = false }"]
)
def test_a_box_that_bounces_and_tips_is_the_same_with_every_option_of_the_solver(level, options):
    scenario = loads(BOX % (level, options))
    batch, simulation = scenario.batch(1, threads=1), scenario.compose()
    for _ in range(6):
        batch.step(50)
        make_steps(simulation, 50)
        assert np.array_equal(batch.q[0], simulation.state.q)
        assert np.array_equal(batch.v[0], simulation.state.v)
    assert simulation.contacts().count
    assert 0 < batch.ordinary_steps < 0.1 * batch.compiled_steps


def test_more_contacts_than_there_was_room_for_are_made_room_for(monkeypatch):
    monkeypatch.setattr(transfer, "CAPACITY", 1)
    scenario = load("matrix/pcc")
    batch, simulation = scenario.batch(2, threads=2), scenario.compose()
    batch.step(120)
    make_steps(simulation, 120)
    assert simulation.contacts().count > 1
    assert np.array_equal(batch.q[1], simulation.state.q)


def test_what_a_body_at_rest_is_carried_by_is_its_weight():
    ball = BOX % ("position", "")
    ball = ball.replace('shape = "box", size = [0.1, 0.1, 0.2]', 'shape = "sphere", size = [0.1]')
    ball = ball.replace("velocity = [0.5, 0.0, -0.5]", "velocity = [0.0, 0.0, 0.0]").replace("0.16]", "0.1]")
    batch = loads(ball).batch(3, threads=1)
    batch.step(50)
    weight = np.array([0.0, 0.0, 9.81])
    for w in range(3):  # what is left of settling falls with every step
        assert np.abs(batch.contact_force("box", "floor")[w] - weight).max() < 1e-6
    assert np.array_equal(batch.contact_force("box"), batch.contact_force("box", "floor"))
    with pytest.raises(ControlError, match="nothing is called 'flor'"):
        batch.contact_force("box", "flor")
    batch.reset([1])
    assert not batch.contact_force("box")[1].any()


@pytest.mark.parametrize(
    ("name", "overrides", "ahead"),
    [("matrix/pcc", [], 1000), ("matrix/vine", ['contact.solver={ use = "qp" }'], 300)],
)
def test_a_run_in_contact_ends_where_single_steps_end(name, overrides, ahead):
    """`Simulation.run` takes the driver; whatever goes on from there and is reported is the same."""
    scenario = load(name, overrides)
    run, stepped = scenario.compose(), scenario.compose()
    run.run(1.1)
    make_steps(stepped, 1100)
    assert run.steps_ahead > ahead
    one, other = run.internal_state(), stepped.internal_state()
    assert all(np.array_equal(one[name], other[name]) for name in one | other)
    assert run.contacts().count
    assert np.array_equal(run.contacts().impulse, stepped.contacts().impulse)
    assert run.report == stepped.report
