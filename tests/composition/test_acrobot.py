"""The shipped acrobot, a model from one function, against statics."""

import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit.scenario.load import load

pytest.importorskip("corekit_lagrangian")
fsolve = pytest.importorskip("scipy.optimize").fsolve

LENGTH, MASS, TORQUE, WALL, RADIUS, GRAVITY = 0.5, 1.0, 4.0, 0.15, 0.03, 9.81


def statics(unknown):
    """Moments about elbow and bar, and the hand's place; the unknowns are angles from hanging and the wall's force."""
    upper, lower, force = unknown
    weight = MASS * GRAVITY * LENGTH
    elbow = TORQUE - weight * np.sin(lower) - force * LENGTH * np.cos(lower)
    bar = -2.0 * weight * np.sin(upper) - weight * np.sin(lower)
    bar -= force * LENGTH * (np.cos(upper) + np.cos(lower))
    return elbow, bar, LENGTH * (np.sin(upper) + np.sin(lower)) - (WALL - RADIUS)


def test_its_hand_leans_on_the_wall_as_statics_says():
    sim = load("teaching/acrobot", allow_code=True).compose()
    sim.run(14.0)
    upper, lower, force = fsolve(statics, (-0.4, 0.9, 1.0), xtol=1e-12)
    assert np.abs(sim.state.v).max() < 1e-6
    # the motion that is left falls off by more than 1 /s
    np.testing.assert_allclose([sim.state.q[0], sim.state.q.sum()], [upper, lower], atol=1e-6)
    np.testing.assert_allclose(sim.contacts().force, [[-force, 0.0, 0.0]], rtol=1e-5, atol=1e-9)
    assert sim.contacts().names == (("acrobot", "wall"),)


def test_a_parameter_that_is_no_number_is_refused_in_a_reset_as_in_a_file():
    """Its damping has no range that could refuse it."""
    sim = load("teaching/acrobot", allow_code=True).compose()
    with pytest.raises(ConfigError, match="found nan"):
        sim.reset(parameters={"bodies.acrobot.options.parameters.damping": np.nan})
