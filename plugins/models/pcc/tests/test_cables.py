"""Cables against springs in series and the capstan equation."""

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from corekit.data.state import State
from corekit.errors import ConfigError
from corekit.roles.component import BuildContext
from corekit.roles.model import ChannelKind
from corekit_pcc.cable_options import Cable
from corekit_pcc.config import PCCConfig
from corekit_pcc.model import PCC
from corekit_testing.conformance import conformance
from corekit_testing.rounding import rounding

OFFSET, STIFFNESS = 0.03, 4e3
CABLES = [
    {
        "name": "long",
        "radius": OFFSET,
        "angle": 0.7,
        "drive": "length",
        "stiffness": STIFFNESS,
        "friction": 0.3,
    },
    {"name": "short", "radius": OFFSET, "angle": -1.0, "sections": 1, "friction": 0.2, "limit": 50.0},
]

test_arm_with_cables = conformance("models", "pcc", options={"sections": 2, "mass": 0.3, "cables": CABLES})


def arm(sections, *cables):
    made = tuple(Cable(**each) for each in cables)
    options: dict[str, Any] = {"mass": 0.3, "chambers": 4, "chamber_radius": 0.05, "stiffness": 265.0}
    return PCC(PCCConfig(sections=sections, cables=made, **options), BuildContext(gravity=np.zeros(3)))


def equilibrium(model, inputs):
    """Newton's method; the stiffness is that of the model."""
    n = len(model.description.coordinates)
    state, force = State.zeros(n, n), np.zeros(n)
    K, D = model.new_stiffness_and_damping()
    for _ in range(30):
        model.compute_mass_and_force(state, inputs, model.new_mass_matrix(), force)
        model.compute_stiffness_and_damping(state, inputs, K, D)
        move = np.linalg.solve(K.data, force)
        state.q += move
        if np.abs(move).max() < 1e-15:
            return state
    pytest.fail("Newton's method did not converge")


@pytest.mark.parametrize("limit", [np.inf, 3.0])
def test_a_wound_up_cable_stretches_in_series_with_the_arm(limit):
    """u = T·(1/k + 1/K_l + ρ²/K_b): cable, backbone and bending give way one after the other."""
    wound = 5e-3
    given = {"name": "pull", "radius": OFFSET, "drive": "length", "stiffness": STIFFNESS, "limit": limit}
    state = equilibrium(arm(1, given), np.array([0, 0, 0, 0, wound]))
    axial, bending = 4 * 265.0, 2 * 265.0 * 0.05**2
    tension = min(wound / (1 / STIFFNESS + 1 / axial + OFFSET**2 / bending), limit)
    # coordinates of four chambers: extension, and bending times the chambers' radius
    expected = [-tension / axial, tension * OFFSET / bending * 0.05, 0.0]
    assert state.q == pytest.approx(expected, abs=rounding(64, 0.05))


def test_a_cable_that_is_let_out_is_slack_and_does_not_push():
    model = arm(2, CABLES[0])
    state, force = State.zeros(6, 6), np.zeros(6)
    K, D = model.new_stiffness_and_damping()
    free, _ = arm(2).new_stiffness_and_damping()
    arm(2).compute_stiffness_and_damping(state, np.zeros(8), free, D)
    inputs = np.append(np.zeros(8), -1e-3)
    model.compute_mass_and_force(state, inputs, model.new_mass_matrix(), force)
    model.compute_stiffness_and_damping(state, inputs, K, D)
    assert not force.any()
    assert np.array_equal(K.data, free.data)


def test_friction_follows_the_capstan_equation():
    """Two sections that bend: dT = −μ·T·dφ, integrated by the trapezoidal rule along the cable."""
    mu, tension, turns = 0.4, 10.0, np.array([0.8, 0.5])
    model = arm(2, {"name": "pull", "radius": OFFSET, "friction": mu})
    state = State.zeros(6, 6)
    state.q[1::3] = 0.05 * turns
    pulled = model.compute_force_terms(state, np.append(np.zeros(8), tension))["actuation"]
    phi = np.linspace([0.0, turns[0]], np.cumsum(turns), 2001)
    means = np.trapezoid(tension * np.exp(-mu * phi), phi, axis=0) / turns
    # ε = 1e-3 rad of each section turns for nothing
    assert -pulled[0::3] == pytest.approx(means, rel=2 * mu * 1e-3)
    assert pulled[1::3] * 0.05 == pytest.approx(means * OFFSET, rel=2 * mu * 1e-3)
    assert means[1] < 0.8 * tension


def test_channels_have_bounds_and_kinds():
    long, short = arm(2, *CABLES).description.inputs[1:]
    assert (long.name, long.unit, long.kind) == ("length-long", "m", ChannelKind.POSITION)
    assert (short.name, short.lower, short.upper) == ("tension-short", 0.0, 50.0)


def test_what_is_missing_or_given_twice_is_said():
    with pytest.raises(ConfigError, match="give E·A/L of the cable"):
        Cable(name="pull", radius=0.01, drive="length")
    with pytest.raises(ConfigError, match="is taken by another cable"):
        arm(1, {"name": "pull", "radius": 0.01}, {"name": "pull", "radius": 0.01})
    with pytest.raises(ConfigError, match="the arm has 1"):
        arm(1, {"name": "pull", "radius": 0.01, "sections": 2})


def test_a_drive_is_swapped_by_name_and_says_what_it_leaves_unread():
    cable = Cable(name="c", radius=0.01, drive="length", stiffness=100.0)
    config = PCCConfig(sections=1, mass=(0.3,), cables=(cable,))
    assert not PCC(config).description.doubts
    swapped = PCC(evolve(config, cables=(evolve(cable, drive="tension"),))).description
    assert swapped.doubts == ("cables[0].stiffness does nothing with cables[0].drive = 'tension'",)
    assert swapped.inputs[-1].name == "tension-c"


def test_a_cable_outside_the_disks_that_guide_it_is_doubted():
    cables = (
        Cable(name="in", radius=0.02),
        Cable(name="out", radius=5.0),
        Cable(name="short", radius=0.03, sections=1),
    )
    config = PCCConfig(sections=2, mass=(0.3,), disk_radius=(0.03, 0.02), cables=cables)
    (said,) = PCC(config).description.doubts
    assert said == (
        "cables[1] runs 5e+03 mm beside the backbone, whose disks have a radius of 20 mm: "
        "right only if something guides it outside"
    )
