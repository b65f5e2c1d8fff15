"""Contact potentials where impulses also answer: one word changed, the same rest within the contact layer δ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import corekit
from corekit.data.status import Status
from corekit.errors import CompositionError
from corekit.scenario.load import loads

ARM = Path(__file__).parents[2] / "scenarios" / "cusp" / "inclined_box.toml"
LAYER = 5e-4

ROD = """
format = "corekit-scenario/1"
name = "dropped-rod"

[time]
duration = 0.4
step = 1e-3

[[world.obstacles]]
name = "floor"
shape = "half-space"
friction = 0.5

[[world.obstacles]]
name = "log"
shape = "cylinder"
size = [0.03, 0.4]
position = [0.0, 0.0, 0.03]
rotation_rpy = [1.5707963267948966, 0.0, 0.0]
friction = 0.5

[[bodies]]
name = "rod"
use = "der"
[[bodies.options.limbs]]
start = [-0.2, 0.0, 0.0755]
end = [0.2, 0.0, 0.0755]
nodes = 17
radius = [0.015]
young = [2e5]
density = [800.0]
viscous_drag = 12.0

[contact]
detector = "edges"
solver = { use = "imc", options = { distance_tolerance = 5e-4, stiffness = 2e4 } }

[integrator]
use = "implicit-euler"

[output]
every = 0.1
"""


def frames(simulation):
    """Where every frame of every body is [m]."""
    found = []
    for body, part in zip(simulation.bodies, simulation.state.body_states, strict=True):
        count = len(body.description.frames)
        position, rotation = np.zeros((count, 3)), np.zeros((count, 3, 3))
        body.model.compute_frame_poses(part, position, rotation)
        found.append(position)
    return np.concatenate(found)


def run(file, duration, *overrides):
    simulation = corekit.load(file, overrides).compose()
    simulation.run(duration)
    return simulation


@pytest.fixture
def rod(tmp_path):
    file = tmp_path / "rod.toml"
    file.write_text(ROD)
    return file


def test_the_arm_of_scenario_a_rests_on_its_box_within_the_layer():
    """Before its ramp, with impulses and with the potential."""
    implicit = (
        "integrator.use=implicit-euler",
        "integrator.options={}",
        "time.step=4e-3",
        "output.every=0.02",
    )
    imc = ("contact.solver.use=imc", f"contact.solver.options={{ distance_tolerance = {LAYER} }}")
    one = run(ARM, 0.8, *implicit)
    other = run(ARM, 0.8, *implicit, *imc)
    assert other.contacts().count > 0
    assert np.abs(frames(one) - frames(other)).max() < LAYER


def test_a_rod_dropped_across_a_cylinder_comes_to_the_same_rest(rod):
    """It hangs over on both sides and droops; with the potential, with complementarity, as a quadratic program."""
    other_words = [(f"contact.solver.use={word}", "contact.solver.options={}") for word in ("lcp", "qp")]
    one, other, third = run(rod, 0.4), *(run(rod, 0.4, *words) for words in other_words)
    # it still sinks a little: drag carries some per cent
    weight = 800.0 * np.pi * 0.015**2 * 0.4 * 9.81 * 1e-3
    for simulation in (one, other, third):
        record = simulation.contacts()
        axes = np.stack([record.normal, record.tangent, np.cross(record.normal, record.tangent)], axis=1)
        impulses = np.column_stack([record.normal_impulse, record.tangential_impulse])
        assert np.einsum("ma,mai->i", impulses, axes)[2] == pytest.approx(weight, rel=0.05)
    assert np.abs(frames(one)[:, 2] - 0.0755).max() > 5 * LAYER  # it did fall and bend
    assert np.abs(frames(one) - frames(other)).max() < LAYER
    assert np.abs(frames(one) - frames(third)).max() < LAYER


def test_a_rod_dropped_on_the_floor_comes_to_the_same_rest(rod):
    """One end falls by 30 mm; every node carries its share."""
    tilted = (
        "world.obstacles[1].position=[0.0, 0.0, -1.0]",
        "bodies[0].options.limbs[0].start=[-0.2, 0.0, 0.0155]",
        "bodies[0].options.limbs[0].end=[0.2, 0.0, 0.0455]",
    )
    words = ("contact.solver.use=lcp", "contact.solver.options={}")
    one, other = run(rod, 0.3, *tilted), run(rod, 0.3, *tilted, *words)
    assert one.contacts().count == other.contacts().count == 17
    assert np.abs(frames(one) - frames(other)).max() < LAYER


def test_potentials_are_refused_by_nobody_and_stiff_split_schemes_refuse_impulses(rod):
    corekit.load(rod, ("integrator.use=newmark",)).compose()
    with pytest.raises(CompositionError, match=r"newmark.*coupled"):
        corekit.load(
            rod, ("integrator.use=newmark", "contact.solver.use=lcp", "contact.solver.options={}")
        ).compose()


def test_a_ball_bounces_on_a_potential_as_high_as_it_fell():
    """Verlet keeps the energy, and a step in the air after a bounce tells of no contact that is no more."""
    scenario = loads("""
        format = "corekit-scenario/1"
        name = "bounce"
        time = { duration = 0.2, step = 5e-5 }

        [[world.obstacles]]
        name = "floor"
        shape = "half-space"

        [[bodies]]
        name = "ball"
        use = "rigid"
        options = { shape = "sphere", size = [0.02], mass = 0.1 }
        initial = { position = [0.0, 0.0, 0.03] }

        [contact]
        friction = 0.0
        detector = "sdf"
        solver = { use = "imc", options = { adapt = false, restitution = 1.0 } }

        [integrator]
        use = "verlet"

        [output]
        every = 1e-3
    """)
    simulation = scenario.compose()
    heights: list[float] = []
    touching: list[bool] = []
    for _ in range(4000):
        simulation.step()
        heights.append(simulation.state.q[2])
        touching.append(bool(simulation.contacts().normal_impulse.sum() > 0.0))
    first, last = touching.index(True), len(touching) - touching[::-1].index(True)
    assert max(heights[first:]) == pytest.approx(0.03, abs=1e-4)
    assert last < len(touching)


@pytest.mark.parametrize("solver", ["imc", "lcp"])
def test_a_rod_lies_on_a_box_by_its_nodes(rod, solver):
    """Laid down level: every node has one contact all the time, and all of them carry the rod in the end."""
    words = (
        "world.obstacles[1]={name='box', shape='box', size=[2.0, 1.0, 0.1], position=[0.0, 0.0, -0.02]}",
        "bodies[0].options.limbs[0].start=[-0.1, 0.0, 0.035]",
        "bodies[0].options.limbs[0].end=[0.1, 0.0, 0.035]",
        "bodies[0].options.limbs[0].nodes=11",
        "bodies[0].options.limbs[0].radius=[0.005]",
        "bodies[0].options.limbs[0].young=[1e6]",
        f"contact.solver={{use='{solver}'}}",
    )
    simulation = corekit.load(rod, words).compose()
    counts = set()
    simulation.observe(lambda run, report: counts.add((report.solve_info.status, run.contacts().count)))
    simulation.run(0.1)
    assert counts == {(Status.CONVERGED, 11)}
    impulse, weight = simulation.contacts().normal_impulse, 800.0 * np.pi * 0.005**2 * 0.2 * 9.81 * 1e-3
    assert impulse.min() > 0.0
    # what is left of its motion: 1e-8 m/s, of which a millisecond would take 1e-6 of the weight
    assert impulse.sum() == pytest.approx(weight, rel=1e-5)
