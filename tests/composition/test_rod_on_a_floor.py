"""Rods of edges at rest: nodes that edges share bear once, and what lies on a box is solved at once."""

import numpy as np
import pytest

from corekit.roles.contact import ImpulseSolver
from corekit.scenario.load import loads

NODES, DURATION, STEP = 16, 0.3, 1e-3

TEXT = f"""
format = "corekit-scenario/1"
name = "rod-on-a-floor"

[time]
duration = {DURATION}
step = {STEP}

[world]
gravity = [3.0, 0.0, -9.81]

[[world.obstacles]]
name = "floor"
shape = "half-space"

[[bodies]]
name = "rod"
use = "der"

[[bodies.options.limbs]]
name = "rod"
start = [-0.15, 0.0, 0.011]
end = [0.15, 0.0, 0.014]
nodes = {NODES}
radius = 0.01
young = 1e6
density = 1000.0

[contact]
friction = 0.2
margin = 1e-3
detector = "sdf"
solver = "lcp"

[integrator]
use = "semi-implicit-euler"
options = {{ form = "linearly-implicit" }}
"""


def run(collision, solver):
    overrides = [f"contact.solver={solver}", f"bodies[0].options.collision={collision}"]
    simulation = loads(TEXT, overrides).compose()
    simulation.run(DURATION)
    return simulation


@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
def test_edges_lie_and_slide_as_spheres_at_the_nodes_do(solver):
    edges, spheres = run("edges", solver), run("spheres", solver)
    own, other = edges.contacts(), spheres.contacts()
    assert len(own.gap) == len(other.gap) == NODES
    weight = 1000.0 * np.pi * 0.01**2 * 0.3 * 9.81
    assert own.normal_impulse.sum() == pytest.approx(weight * STEP, rel=0.02)
    assert other.normal_impulse.sum() == pytest.approx(own.normal_impulse.sum(), rel=1e-4)
    # it slides: (g_x − μ·g_z)·t
    assert edges.state.v[0] == pytest.approx((3.0 - 0.2 * 9.81) * DURATION, rel=0.1)
    np.testing.assert_allclose(edges.state.q, spheres.state.q, atol=1e-6)


HOOP = """
format = "corekit-scenario/1"
name = "hoop"
time = { duration = 0.6, step = 5e-3 }

[world]
gravity = [0.0, 0.0, -9.81]

[[world.obstacles]]
name = "block"
SHAPE
position = [0.0, 0.0, -0.05]
rotation_rpy = [0.1, 0.05, 0.7]

[[bodies]]
name = "hoop"
use = "der"

[[bodies.options.limbs]]
name = "hoop"
radius = 0.01
young = 4e5
density = 1000.0
points = [
    POINTS
]

[contact]
friction = 0.3
detector = "edges"
solver = "lcp"

[integrator]
use = "implicit-euler"
"""


@pytest.mark.parametrize(
    "shape", ['"box"\nsize = [0.3, 0.3, 0.1]', '"cylinder"\nsize = [0.15, 0.1]'], ids=["box", "cap"]
)
@pytest.mark.parametrize("detector", ["edges", "sdf"])
def test_an_open_hoop_comes_to_rest_without_a_cut_step(detector, shape, monkeypatch):
    """By the nearest places of its edges alone, which jump as edges tilt, it took 300 contact problems a step."""
    angle = np.linspace(0.0, 2.0 * np.pi, 15)
    rows = [f"[{0.08 * np.cos(a):.9f}, {0.08 * np.sin(a):.9f}, 0.04]" for a in angle]
    text = HOOP.replace("POINTS", ", ".join(rows)).replace("SHAPE", f"shape = {shape}")
    simulation = loads(text, [f"contact.detector={detector}"]).compose()
    solver, count = simulation.system.solver, 0
    assert isinstance(solver, ImpulseSolver)
    solve = solver.solve

    def counting(problem, impulse):
        nonlocal count
        count += 1
        return solve(problem, impulse)

    monkeypatch.setattr(solver, "solve", counting)
    notes = set()
    for step in range(120):
        notes.add(simulation.step().note)
        assert count <= 30 + 10 * step
    assert notes == {""}
    assert count > 120
    assert len(simulation.contacts().gap) >= 15
    assert np.abs(simulation.state.v).max() < 0.05
