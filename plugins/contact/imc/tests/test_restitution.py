"""A damped spring that only pushes: what it gives back and how deep it lets a mass, against its own equation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from corekit_imc.restitution import LEAST_RESTITUTION, damping_ratio, deepest

TOLERANCE = 1e-10
"""Of the integration, relative; what it has lost after one swing of the spring is some times that."""


def swing(x, speed, omega, ratio, end):
    """ẍ = −2·ζ·ω·ẋ − ω²·x from x and ẋ to where `end`(t, y) falls to 0; None where it does not within 60/ω."""
    end.terminal, end.direction = True, -1.0
    found = solve_ivp(
        lambda _, y: (y[1], -2.0 * ratio * omega * y[1] - omega**2 * y[0]), (0.0, 60.0 / omega), (x, speed),
        events=end, rtol=TOLERANCE, atol=TOLERANCE * (abs(x) + abs(speed / omega)), method="DOP853",
    )  # fmt: skip
    return found.y[:, -1] if found.t_events[0].size else None


@pytest.mark.parametrize("restitution", [0.05, 0.1, 0.1353352832366127, 0.2, 0.5, 0.9, 0.999])
def test_the_damping_ratio_gives_back_the_share_that_was_asked_for(restitution):
    """From x = 0 to where spring and dashpot push no more; the turn is at √e of the elastic depth."""
    omega, ratio = 30.0, damping_ratio(restitution)
    push = swing(0.0, 2.0, omega, ratio, lambda _, y: 2.0 * ratio * y[1] + omega * y[0])
    turn = swing(0.0, 2.0, omega, ratio, lambda _, y: y[1])
    assert push is not None
    assert turn is not None
    assert push[1] == pytest.approx(-2.0 * restitution, rel=1e3 * TOLERANCE)
    assert turn[0] == pytest.approx(2.0 / omega * math.sqrt(restitution), rel=1e3 * TOLERANCE)


def test_no_damping_gives_back_all_and_the_least_share_is_that_of_zero():
    assert damping_ratio(1.0) < 1e-15
    assert damping_ratio(0.0) == damping_ratio(LEAST_RESTITUTION)
    ratios = [damping_ratio(e) for e in np.linspace(LEAST_RESTITUTION, 1.0, 50)]
    assert (np.diff(ratios) < 0.0).all()


@given(x=st.floats(-3.0, 3.0), ratio=st.floats(0.0, 4.0), omega=st.floats(0.1, 1e3))
@settings(max_examples=40, deadline=None)
def test_the_deepest_place_is_where_the_motion_turns(x, ratio, omega):
    """Of what creeps to rest from below without a turn, rest itself."""
    assume(abs(ratio - 1.0) > 1e-3)  # beside ζ = 1 two large terms cancel in either way
    speed = omega  # so that x is in the unit of what the speed reaches
    turn = swing(x, speed, omega, ratio, lambda _, y: y[1])
    found = deepest(x, speed, omega, ratio)
    if turn is None:
        assert found <= 1e-6
    else:
        assert found == pytest.approx(turn[0], abs=1e4 * TOLERANCE * (1.0 + abs(x)))


def test_the_deepest_place_is_continuous_at_critical_damping():
    for x in (-0.5, 0.0, 0.7):
        near = [deepest(x, 1.0, 1.0, 1.0 + s) for s in (-1e-6, -1e-8, 0.0, 1e-8, 1e-6)]
        assert np.ptp(near) < 1e-5
