"""The scenario file, run against the installed contact solvers; skipped where they are not installed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import corekit

pytest.importorskip("corekit_sdf")
pytest.importorskip("corekit_lcp")
pytest.importorskip("corekit_complementarity")
pytest.importorskip("corekit_timestep")
SCENARIO = Path(__file__).parents[1] / "scenarios" / "arm_on_sphere.toml"


def distance_to_ball(simulation):
    """Least distance of the links' axes from the ball's centre, by sampling."""
    state = simulation.state
    joints = simulation.bodies[0].model.compute_outline(state).points
    share = np.linspace(0, 1, 400)[:, None]
    points = np.concatenate([a + share * (b - a) for a, b in pairwise(joints)])
    return float(np.linalg.norm(points - [0.3, 0.0, -0.2], axis=1).min())


def test_the_arm_falls_onto_the_ball_rests_on_it_and_is_lifted_off():
    simulation = corekit.load(SCENARIO).compose()
    simulation.run(1.0)
    rest = simulation.contacts()
    assert rest.count >= 1
    assert rest.normal_impulse.min() >= 0
    assert rest.normal_impulse.sum() > 0
    # ball 0.1 m and capsule 0.01 m: they touch, they do not overlap
    assert distance_to_ball(simulation) == pytest.approx(0.11, abs=1e-3)
    assert np.abs(simulation.state.v).max() < 0.1
    simulation.run(2.0)
    assert distance_to_ball(simulation) > 0.12
    assert simulation.contacts().normal_impulse.sum() == 0
