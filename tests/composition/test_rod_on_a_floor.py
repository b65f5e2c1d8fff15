"""A rod of edges lies on a floor as one of spheres at its nodes does: nodes that edges share bear once."""

import numpy as np
import pytest

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
