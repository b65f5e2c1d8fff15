"""Every shipped scenario that the driver of a batch steps moves in it as by single steps, bit for bit, in contact."""

import tomllib

import numpy as np
import pytest

from corekit.scenario.load import load, loads, shipped_scenarios
from corekit_batch import transfer

STEPPED = {
    # scenario → overrides that bring it into contact early, steps
    "cusp/inclined-box": ([], 700),
    "cusp/two-spheres": ([], 500),
    "cusp/ball": ([], 60),
    "matrix/gvs": ([], 160),
    "matrix/pcc": ([], 160),
    "teaching/arm-pushes-ball": ([], 250),
    "teaching/strain-arm-and-ball": ([], 250),
    "teaching/two-arms": ([], 250),
}
REFUSED = {
    "matrix/der": "no compiled form",
    "matrix/rigid": "several contact detectors",
    "matrix/vine": "no compiled form",
    "mixed/arm-ball-rod": "no compiled form",
    "mixed/vine-between-fingers": "no compiled form",
    "teaching/balls-in-a-tray": "boxes touch each other",
    "teaching/gripper-lifts-pawn": "controllers",
    "teaching/snake": "no compiled form",
    "vine/circle": "no compiled form",
    "vine/cluttered": "no compiled form",
    "vine/oscillation": "no compiled form",
    "vine/wall": "no compiled form",
}
LONG_TO_COMPOSE = {"teaching/continuum-snake"}


def make_steps(simulation, count):
    for _ in range(count):
        simulation.step()


@pytest.mark.parametrize("name", STEPPED)
def test_worlds_of_a_batch_are_those_of_single_steps_bit_for_bit(name):
    overrides, steps = STEPPED[name]
    scenario = load(name, overrides)
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
    simulation.reset(state=start)
    make_steps(simulation, steps)
    assert np.array_equal(batch.q[2], simulation.state.q)
    assert np.array_equal(batch.v[2], simulation.state.v)
    assert batch.compiled_steps >= 0.9 * 3 * steps


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
