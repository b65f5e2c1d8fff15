"""The wrinkling law against the integral of the stress."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from corekit.errors import ConfigError
from corekit_vine.config import VineConfig
from corekit_vine.wrinkling import bend_energy, bend_moment, wrinkle_angle

RADIUS, PRESSURE, WALL = 0.02, 3000.0, 900.0
EI = math.pi * RADIUS**3 * WALL
ONSET = PRESSURE / (2.0 * WALL)


@settings(max_examples=40, deadline=None)
@given(st.floats(0.01, 3.0))
def test_integral_of_the_stress_is_pressure_and_moment(w):
    ratio = math.pi / ((math.pi - w) * math.cos(w) + math.sin(w))
    curvature = ratio * ONSET

    def stress(angle):
        return WALL * curvature * RADIUS * (math.cos(w) - math.cos(angle))

    axial = 2.0 * quad(lambda a: stress(a) * RADIUS, w, math.pi)[0]
    moment = -2.0 * quad(lambda a: stress(a) * RADIUS**2 * math.cos(a), w, math.pi)[0]
    assert axial == pytest.approx(PRESSURE * math.pi * RADIUS**2, rel=1e-8)
    assert wrinkle_angle(ratio) == pytest.approx(w, abs=1e-6)
    assert bend_moment(curvature, EI, ONSET)[0] == pytest.approx(moment, rel=1e-8)


def test_the_wall_wrinkles_at_half_the_collapse_moment():
    collapse_moment = PRESSURE * math.pi * RADIUS**3
    assert pytest.approx(0.5 * collapse_moment) == EI * ONSET
    moment, slope = bend_moment(-1e6 * ONSET, EI, ONSET)
    assert moment == pytest.approx(-collapse_moment, rel=1e-3)
    assert 0.0 <= slope < 1e-6 * EI
    assert bend_moment(1.0 * ONSET, EI, ONSET) == (EI * ONSET, EI)


@settings(max_examples=40, deadline=None)
@given(st.floats(-40.0, 40.0))
def test_moment_is_the_derivative_of_energy_and_stiffness_that_of_moment(ratio):
    k, small = ratio * ONSET, 1e-5 * ONSET
    rise = (bend_energy(k + small, EI, ONSET) - bend_energy(k - small, EI, ONSET)) / (2 * small)
    moment, slope = bend_moment(k, EI, ONSET)
    bend = (bend_moment(k + small, EI, ONSET)[0] - bend_moment(k - small, EI, ONSET)[0]) / (2 * small)
    assert moment == pytest.approx(rise, abs=1e-6 * EI * ONSET)
    assert slope == pytest.approx(bend, abs=2e-3 * EI)


def test_far_beyond_the_onset_the_moment_is_the_collapse_moment(robot):
    options = {"bodies": 10, "length": 0.5, "diameter": 2 * RADIUS, "bending_stiffness": EI}
    wrinkles = {"moment_law": "wrinkling", "pressure": PRESSURE}
    gentle = robot(**options, **wrinkles, initial={"bend": (0.001,)})
    hard = robot(**options, **wrinkles, initial={"bend": (2.0, 0.0, 0.0, 0.0, 0.0)})
    collapse_moment = PRESSURE * math.pi * RADIUS**3
    moment = hard.model.compute_force_terms(hard.state, hard.inputs)["bending"][2]
    assert -collapse_moment < moment < -0.9 * collapse_moment
    # only the pin at the base acts on body 0
    assert 0.0 <= hard.stiffness()[2, 2] < 0.02 * gentle.stiffness()[2, 2]


TUBE = {
    "bodies": 6,
    "length": 0.3,
    "diameter": 2 * RADIUS,
    "bending_stiffness": EI,
    "moment_law": "wrinkling",
}
BY_PRESSURE = {**TUBE, "growth": "pressure", "extensibility": 1e-5}
BEND = {"bend": (1.7, 0.4, 0.02)}


@pytest.mark.parametrize("pressure", [0.3 * PRESSURE, PRESSURE, 40.0 * PRESSURE])
def test_the_pressure_that_drives_growth_is_the_one_that_wrinkles(robot, pressure):
    """It was the option `pressure`, whatever the input of that name was."""
    told, driven = robot(**TUBE, pressure=pressure, initial=BEND), robot(**BY_PRESSURE, initial=BEND)
    driven.inputs[0] = pressure
    assert driven.dynamics()[1] == pytest.approx(told.dynamics()[1], rel=1e-12)
    assert driven.stiffness() == pytest.approx(told.stiffness(), rel=1e-12)


@pytest.mark.parametrize("pressure", [0.0, -PRESSURE])
def test_a_tube_without_pressure_carries_no_moment(robot, pressure):
    limp = robot(**BY_PRESSURE, initial=BEND)
    limp.inputs[0] = pressure
    assert not limp.dynamics()[1].any()
    assert not limp.stiffness().any()
    assert limp.model.compute_energies(limp.state) == (0.0, 0.0)


@pytest.mark.parametrize("pressure", [0.3 * PRESSURE, PRESSURE, 0.0])
def test_expressions_know_the_pressure_that_drives_growth(robot, pressure):
    casadi = pytest.importorskip("casadi", reason="the extra `symbolic` is not installed")
    driven = robot(**BY_PRESSURE, initial=BEND)
    driven.inputs[0] = pressure
    symbolic = driven.model.symbolic()
    q, v, u = casadi.SX.sym("q", 18), casadi.SX.sym("v", 18), casadi.SX.sym("u", symbolic.inputs)
    function = casadi.Function("f", [q, v, u], [symbolic.force(q, v, u)])
    found = np.array(function(driven.state.q, driven.state.v, driven.inputs)).ravel()
    assert found == pytest.approx(driven.dynamics()[1], rel=1e-9, abs=1e-12 * EI)


def test_two_pressures_are_refused():
    with pytest.raises(ConfigError, match="the input `pressure` says it"):
        VineConfig(**BY_PRESSURE, pressure=PRESSURE)
