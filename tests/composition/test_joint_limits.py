"""Limits and dry friction of joints: what stops there is carried, and what friction takes is exact."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit.scenario.load import loads

HINGED = """
format = "corekit-scenario/1"
name = "stops"
time = { duration = 0.4, step = 0.002 }
integrator = { use = "INTEGRATOR" }
contact = { detector = "mpr", solver = "SOLVER", friction = 0.5 }
output = { every = 0.1 }

[[bodies]]
name = "arm"
use = "gvs"
[[bodies.options.links]]
name = "arm"
kind = "rigid"
mass = 2.0
inertia = [0.0, 0.01, 0.01]
centre = [0.3, 0.0, 0.0]
joint = JOINT
"""


def scenario(joint, integrator="implicit-euler", solver="lcp"):
    return loads(HINGED.replace("JOINT", joint).replace("INTEGRATOR", integrator).replace("SOLVER", solver))


def simulation(joint, integrator="implicit-euler", solver="lcp"):
    return scenario(joint, integrator, solver).compose()


@pytest.mark.parametrize(
    ("integrator", "solver"),
    [("implicit-euler", "lcp"), ("semi-implicit-euler", "qp"), ("implicit-midpoint", "cone")],
)
@pytest.mark.parametrize(("sign", "limits"), [(1, [-1.0, 0.2]), (-1, [-0.2, 1.0])])
def test_a_falling_arm_stops_at_its_limit_which_carries_it(integrator, solver, sign, limits):
    # about +y the arm falls to positive angles, about −y to negative ones
    axis = [0, 3 * sign, 0]
    run = simulation(f'{{ kind = "revolute", axis = {axis}, limits = {limits} }}', integrator, solver)
    run.run(0.4)
    assert run.state.q[0] == pytest.approx(0.2 * sign, abs=1e-9)
    assert abs(run.state.v[0]) < 1e-9


def test_the_equilibrium_at_a_limit_tells_what_it_carries():
    found = scenario('{ kind = "revolute", axis = "y", limits = [-1.0, 0.2] }').statics()
    assert found.path[-1].constraint_forces[0][0] == pytest.approx(2.0 * 9.81 * 0.3 * math.cos(0.2))


@pytest.mark.parametrize("solver", ["lcp", "qp"])
def test_dry_friction_holds_a_weight_below_its_bound_and_takes_it_from_a_larger_one(solver):
    joint = '{{ kind = "prismatic", axis = [0, 0, -1], dry_friction = {} }}'
    held = simulation(joint.format(20.0), "semi-implicit-euler", solver)
    held.run(0.1)
    np.testing.assert_allclose([held.state.q[0], held.state.v[0]], 0.0, atol=1e-12)
    sliding = simulation(joint.format(15.0), "semi-implicit-euler", solver)
    sliding.run(0.1)
    assert sliding.state.v[0] == pytest.approx(0.1 * (9.81 - 15.0 / 2.0), rel=1e-9)


def test_an_arm_with_friction_that_swings_down_loses_it_by_angle():
    """From level to the bottom: ½·I·ω² = m·g·l − F·π/2 of energy."""
    joint = '{ kind = "revolute", axis = "y", dry_friction = 1.0, limits = [-3.0, 3.0] }'
    run = simulation(joint, "implicit-midpoint")
    inertia, work = 0.01 + 2.0 * 0.09, 2.0 * 9.81 * 0.3
    while run.state.q[0] < math.pi / 2:
        before = (run.state.q[0], run.state.v[0])
        run.run(run.time + 0.002)
    q, v = np.transpose([before, (run.state.q[0], run.state.v[0])])
    rate = np.interp(math.pi / 2, q, v)
    # order 2 of the midpoint rule: (h·ω)²/12 with ω = 8 1/s, relative
    assert 0.5 * inertia * rate**2 == pytest.approx(work - math.pi / 2, rel=(0.002 * 8) ** 2)


@pytest.mark.parametrize(
    ("joint", "said"),
    [
        ('{ kind = "revolute", limits = [1.0, -1.0] }', "the lower limit must stand first"),
        ('{ kind = "spherical", limits = [-1.0, 1.0] }', "must be left out, for a spherical joint"),
        ('{ kind = "planar", axis = [1, 0, 0] }', "must be 'x', 'y' or 'z', for a planar joint"),
        ('{ kind = "revolute", axis = [0, 0, 0] }', "not all zero"),
        ('{ kind = "revolute", axis = "w" }', "must be 'x', 'y' or 'z'"),
        ('{ kind = "revolute", effort_limit = 1.0 }', "belongs to a driven joint"),
    ],
)
def test_a_stop_that_makes_no_sense_is_refused(joint, said):
    with pytest.raises(ConfigError, match=said) as refused:
        loads(HINGED.replace("JOINT", joint).replace("INTEGRATOR", "verlet").replace("SOLVER", "lcp"))
    assert len(refused.value.mistakes) == 1
