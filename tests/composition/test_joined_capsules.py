"""Capsules that share an end, or edges a node, touch there once: the answers are those of one smooth rod."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corekit.scenario.load import loads

pytest.importorskip("corekit_der")
pytest.importorskip("corekit_gvs")

EDGES, RADIUS, LENGTH = 8, 0.01, 0.2
HEAD = """
format = "corekit-scenario/1"
name = "joined"
time = { duration = 1.0, step = STEP }
world = { gravity = [0.0, 0.0, -9.81], obstacles = [OBSTACLES] }
integrator = { use = "INTEGRATOR" }
[contact]
friction = 0.3
detector = [DETECTORS]
solver = { use = "SOLVER" }
"""
FLOOR = '{ name = "floor", shape = "half-space" }'
SLAB = '{ name = "slab", shape = "box", size = [2, 2, 0.2], position = [0, 0, -0.1] }'
DER = """
[[bodies]]
name = "rod"
use = "der"
base = { position = POSITION }
[bodies.options]
collision = "capsules"
[[bodies.options.limbs]]
name = "rod"
start = [0, 0, 0]
end = END
nodes = NODES
radius = 0.01
young = 1e6
viscosity = 500.0
"""
GVS = """
[[bodies]]
name = "rod"
use = "gvs"
base = { position = POSITION }
[[bodies.options.links]]
name = "rod"
joint = { kind = "free" }
collision = "capsules"
shapes = 8
[[bodies.options.links.divisions]]
length = 0.2
radius = 0.01
young = 1e6
density = 1000.0
strain = [{ kind = "legendre", order = 1 }]
"""
BODIES = {"der": DER, "gvs": GVS, "edges": DER.replace('"capsules"', '"edges"')}


def world(
    body="der", obstacle=FLOOR, position=(-0.1, 0.0, RADIUS), detector="sdf", solver="lcp",
    integrator="semi-implicit-euler", step=1e-3, end=(LENGTH, 0.0, 0.0), nodes=EDGES + 1,
):  # fmt: skip
    values = {
        "STEP": step, "OBSTACLES": obstacle, "INTEGRATOR": integrator, "SOLVER": solver, "NODES": nodes,
        "DETECTORS": ", ".join(f'{{ use = "{each}" }}' for each in detector.split("+")),
        "POSITION": [float(x) for x in position], "END": [float(x) for x in end],
    }  # fmt: skip
    text = HEAD + BODIES[body]
    for key, value in values.items():
        text = text.replace(key, str(value))
    return loads(text).compose()


def found(simulation):
    """The contacts at the state, with their Jacobian."""
    pipeline, jacobian = simulation.system.pipeline, simulation.system.terms.jacobian
    pipeline.detect_anew(simulation.state, 0.002)
    pipeline.build_jacobian(pipeline.contacts, simulation.state, jacobian)
    return pipeline.contacts


@pytest.mark.parametrize("body", ["der", "gvs"])
@pytest.mark.parametrize(("obstacle", "detector"), [(FLOOR, "sdf"), (SLAB, "sdf"), (SLAB, "mpr")])
def test_a_rod_that_lies_touches_by_every_node_once(body, obstacle, detector):
    contacts = found(world(body, obstacle, detector=detector))
    n = contacts.count
    places = np.sort(contacts.point[:n, 0])
    assert np.allclose(places, np.linspace(-0.5 * LENGTH, 0.5 * LENGTH, EDGES + 1), atol=1e-7)
    assert np.allclose(contacts.gap[:n], 0.0, atol=1e-9)
    shares = np.sort(contacts.weight[:n], axis=1)[np.argsort(contacts.point[:n, 0])]
    assert np.allclose(shares[[0, -1], -1], 1.0)
    assert np.allclose(shares[1:-1, -2:], 0.5, atol=1e-6)
    assert len(np.unique(contacts.id[:n])) == n


@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
def test_the_loads_of_a_rod_that_lies_are_its_weight_and_symmetric(solver):
    simulation = world(solver=solver)
    for _ in range(20):
        simulation.step()
    record = simulation.contacts()
    assert len(record.id) == EDGES + 1
    load = (record.normal_impulse / record.step_size)[np.argsort(record.point[:, 0])]
    weight = 1000.0 * np.pi * RADIUS**2 * LENGTH * 9.81
    # impulses of a step are solved to 1e-9 of the velocity that they stop, h·g
    assert load.sum() == pytest.approx(weight, rel=1e-6)
    assert np.allclose(load, load[::-1], atol=1e-6 * weight)


def ball(x):
    return f'{{ name = "ball", shape = "sphere", size = [0.02], position = [{x!r}, 0.0, {-0.03!r}] }}'


@pytest.mark.parametrize(
    ("body", "detector"), [("der", "sdf"), ("der", "mpr"), ("edges", "sdf"), ("edges", "edges")]
)
def test_a_place_passes_from_capsule_to_capsule_without_a_jump(body, detector):
    """A rod moved along itself over a ball under a node: one contact, whose row changes no faster than the place."""
    edge = LENGTH / EDGES
    steps = np.linspace(-0.2 * RADIUS, 0.2 * RADIUS, 81)
    rng = np.random.default_rng(0)
    simulation: Any = world(body, obstacle=ball(0.0), position=(-0.1, 0.0, 0.0), detector=detector)
    along = [each.name.endswith("-x") for each in simulation.bodies[0].description.coordinates]
    assert sum(along) == EDGES + 1
    velocity, rows, counts = rng.standard_normal(simulation.system.nv), [], []
    start = simulation.state.q[along].copy()
    for x in steps:
        simulation.state.q[along] = start - x
        contacts = found(simulation)
        nearest = int(np.argmin(contacts.gap[: contacts.count]))
        assert contacts.gap[nearest] == pytest.approx(0.0, abs=1e-9)
        assert contacts.point[nearest] == pytest.approx([0.0, 0.0, -0.01], abs=1e-7)
        touching = contacts.gap[: contacts.count] < 1e-7
        counts.append(int(touching.sum()))
        rows.append(simulation.system.terms.jacobian.normal_velocity(velocity)[nearest])
    assert set(counts) == {1}
    # dJ/dx: shares of capsules change by ½ in the zone of a tenth of the radius, velocities from node to node by their
    # difference
    slope = np.ptp(velocity) * (2.0 / edge + (body != "edges") * 0.5 / (0.1 * RADIUS))
    assert np.abs(np.diff(rows)).max() <= slope * (steps[1] - steps[0])


def test_ends_whose_places_differ_are_two_contacts():
    """A rod bent round a ball that lies in the bend touches it from both sides."""
    text = DER.replace(
        "start = [0, 0, 0]\nend = END\nnodes = NODES", "points = [[0, 0, 0], [0.1, 0, -0.05], [0.2, 0, 0]]"
    )
    z = (RADIUS + 0.02) / np.cos(np.arctan(0.5))
    obstacle = (
        f'{{ name = "ball", shape = "sphere", size = [0.02], position = [0.0, 0.0, {float(z) - 0.05!r}] }}'
    )
    head = (
        HEAD.replace("OBSTACLES", obstacle)
        .replace("STEP", "1e-3")
        .replace("INTEGRATOR", "semi-implicit-euler")
    )
    head = head.replace("DETECTORS", '{ use = "sdf" }').replace("SOLVER", "lcp")
    simulation = loads(head + text.replace("POSITION", "[-0.1, 0, 0]")).compose()
    contacts = found(simulation)
    assert contacts.count == 2
    assert np.allclose(contacts.gap[:2], 0.0, atol=1e-9)


def over_a_ball(slope, x=0.0):
    """A rod of two edges that slope down from a node, both of which touch a ball below it if that is at x = 0."""
    text = DER.replace(
        "start = [0, 0, 0]\nend = END\nnodes = NODES",
        f"points = [[0, 0, {-0.1 * slope!r}], [0.1, 0, 0], [0.2, 0, {-0.1 * slope!r}]]",
    )
    z = -(RADIUS + 0.02) / np.cos(np.arctan(slope))
    obstacle = f'{{ name = "ball", shape = "sphere", size = [0.02], position = [{x!r}, 0.0, {float(z)!r}] }}'
    head = (
        HEAD.replace("OBSTACLES", obstacle)
        .replace("STEP", "1e-3")
        .replace("INTEGRATOR", "semi-implicit-euler")
    )
    head = head.replace("DETECTORS", '{ use = "sdf" }').replace("SOLVER", "lcp")
    return loads(head + text.replace("POSITION", "[-0.1, 0, 0]")).compose()


@pytest.mark.parametrize(("slope", "count"), [(0.5, 2), (0.03, 2), (0.01, 1), (1e-3, 1)])
def test_sides_that_touch_beside_a_node_are_one_contact_where_they_nearly_meet(slope, count):
    """At slope·0.03 m on both sides of the node: one if that is less than a tenth of the radius apart."""
    contacts = found(over_a_ball(slope))
    assert contacts.count == count
    assert np.allclose(contacts.gap[:count], 0.0, atol=1e-9)
    if count == 1:
        assert contacts.normal[0] == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)
        assert contacts.point[0, 0] == pytest.approx(0.0, abs=1e-9)
        assert np.sort(contacts.weight[0])[-2:] == pytest.approx([0.5, 0.5], abs=1e-6)


def test_the_contact_of_two_sides_changes_as_little_as_its_place():
    """A ball that moves along under the node: its row is that of one side far from it, and goes over to the other's."""
    steps, rows = np.linspace(-8e-4, 8e-4, 33), []
    velocity = np.random.default_rng(0).standard_normal(over_a_ball(5e-3).system.nv)
    for x in steps:
        simulation: Any = over_a_ball(5e-3, float(x))
        contacts = found(simulation)
        nearest = int(np.argmin(contacts.gap[: contacts.count]))
        rows.append(simulation.system.terms.jacobian.normal_velocity(velocity)[nearest])
    # dJ/dx: shares change by ½ in the zone of a tenth of the radius, velocities from node to node by their difference,
    # and places between the two sides by their distance in less than it
    spread = np.ptp(velocity)
    slope = spread * (1.0 / (0.1 * RADIUS) + 2.0 / 0.1)
    assert np.abs(np.diff(rows)).max() <= slope * (steps[1] - steps[0])


def test_a_potential_keeps_a_contact_for_every_capsule():
    """Its forces must not jump where a place leaves the neighbourhood of a node."""
    assert found(world(solver="imc", integrator="implicit-euler")).count == 2 * EDGES


LANDING = """
[[world.obstacles]]
name = "floor"
shape = "half-space"
[[world.obstacles]]
name = "ball"
shape = "sphere"
size = [0.05]
position = [0.0745873181125018, -0.013812797174167779, 0.02]
"""


def landing(solver):
    """A soft rod that falls askew on a floor and a ball."""
    turn = Rotation.from_euler("xyz", [0.0, 0.1, -0.9669447289429418]).as_euler("xyz")
    text = HEAD.replace("world = { gravity = [0.0, 0.0, -9.81], obstacles = [OBSTACLES] }\n", "")
    text = text.replace("[contact]", "[world]\ngravity = [0.0, 0.0, -9.81]\n" + LANDING + "[contact]")
    text += DER.replace(
        "base = { position = POSITION }",
        f"base = {{ position = [-0.1, 0, 0.09], rotation_rpy = {turn.tolist()} }}\n"
        'initial = { limbs = [{ limb = "rod", velocity = [0.2, 0.1, -0.3] }] }',
    ).replace("END", "[0.2, 0.02, 0.01]")
    values = {
        "STEP": "2e-3", "INTEGRATOR": "implicit-euler", "SOLVER": solver, "NODES": "11", "DETECTORS": '{ use = "sdf" }',
    }  # fmt: skip
    for key, value in values.items():
        text = text.replace(key, value)
    return loads(text).compose()


@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
def test_a_perturbation_of_a_rod_that_lands_stays_small(solver):
    """Solvers leave 1e-9 of the velocity, 0.8 m/s, for 0.15 s; two contacts per node made 1e-3 m of 1e-13."""
    one, other = landing(solver), landing(solver)
    other.state.q[:] += 1e-13 * np.random.default_rng(0).standard_normal(other.system.nq)
    for _ in range(75):
        reports = one.step(), other.step()
        assert all(report.solve_info.status.solved for report in reports)
    assert len(one.contacts().id) > 8
    assert np.abs(one.state.q - other.state.q).max() < 1e-9 * 0.8 * 0.15


def test_qp_solves_every_step_of_contacts_that_repeat_each_other():
    """As of a mesh that repeats its corners: with two contacts a node, the search for slip speeds goes round."""
    simulation = landing("qp")
    system: Any = simulation.system
    pipeline, solver, infos = system.pipeline, system.solver, []
    assert pipeline is not None
    pipeline.joined = None
    solve = getattr(solver, "solve")  # noqa: B009

    def told(problem, impulse):
        infos.append(solve(problem, impulse))
        return infos[-1]

    setattr(solver, "solve", told)  # noqa: B010
    for _ in range(75):
        assert simulation.step().solve_info.status.solved
    assert len(simulation.contacts().id) > 16
    assert all(info.status.solved for info in infos)
    # without an answer, one step repeated its solve 600 times
    assert len(infos) < 4 * 75
