"""A joint holds a body that has constraint rows of its own and a structured matrix."""

import numpy as np
import pytest

from .test_joints import HEAD, stepped

pytest.importorskip("corekit_timestep")

PINNED_CHAIN = (
    HEAD
    + """
contact = { detector = { use = "sdf" }, solver = { use = "SOLVER" } }
integrator = { use = "semi-implicit-euler" }
[[bodies]]
name = "chain"
use = "reference-point-chain"
[bodies.options]
masses = [1.0, 1.0, 1.0]
positions = [[0.1, 0.0, 0.0], [0.2, 0.0, 0.0], [0.3, 0.0, 0.0]]
links = ["none", "rod", "rod"]
shape = "sphere"
radius = 0.02
structure = "banded"
[[world.obstacles]]
name = "floor"
shape = "half-space"
position = [0.0, 0.0, -0.15]
[[joints]]
name = "pin"
kind = "ball"
between = ["chain.node0", "world"]
"""
)


@pytest.mark.parametrize("solver", ["qp", "lcp", "cone"])
def test_a_body_with_rows_of_its_own_and_a_band_is_held_by_a_joint_with_every_solver(solver):
    """`qp` solves such a body without reduction to its contacts, which has no place for a joint: the pin fell."""
    pytest.importorskip("corekit_sdf")
    pytest.importorskip(f"corekit_{solver}")
    simulation = stepped(PINNED_CHAIN.replace("SOLVER", solver), steps=300)
    places = simulation.state.q.reshape(3, 3)
    assert np.linalg.norm(places[0] - [0.1, 0.0, 0.0]) < 1e-6
    np.testing.assert_allclose(np.linalg.norm(np.diff(places, axis=0), axis=1), 0.1, atol=1e-4)
    # it hangs from the pin and lies with its end on the floor
    assert places[2, 2] == pytest.approx(-0.13, abs=1e-4)
