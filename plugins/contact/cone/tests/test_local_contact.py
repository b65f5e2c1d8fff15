"""One contact against closed forms, and as a property of any block."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit_cone.local_contact import solve_contact
from corekit_testing.rounding import rounding


def solved(block, free, mu):
    """r of a block (3, 3)."""
    (nn, n1, n2), (_, a, b), (_, _, c) = block
    normal, first, second = free
    return np.array(solve_contact(nn, n1, n2, a, b, c, normal, first, second, mu))


@pytest.mark.parametrize(
    ("free", "mu", "expected"),
    [
        ((0.2, 5.0, -3.0), 0.5, (0.0, 0.0, 0.0)),  # parts
        ((0.0, 1.0, 0.0), 0.5, (0.0, 0.0, 0.0)),  # grazes
        ((-1.0, 0.0, 0.0), 0.5, (2.0, 0.0, 0.0)),  # arrives straight
        ((-1.0, 0.3, -0.4), 0.5, (2.0, -0.6, 0.8)),  # sticks, exactly at the edge of the cone
        ((-1.0, 0.1, 0.2), 0.5, (2.0, -0.2, -0.4)),  # sticks
        ((-1.0, 3.0, -4.0), 0.5, (2.0, -0.6, 0.8)),  # slides
        ((-1.0, 3.0, -4.0), 0.0, (2.0, 0.0, 0.0)),  # has no friction
    ],
)
def test_a_mass_of_two_kilograms_has_the_impulse_of_elementary_mechanics(free, mu, expected):
    np.testing.assert_allclose(solved(0.5 * np.eye(3), free, mu), expected, atol=rounding(64, 4.0))


def test_a_rod_that_scrapes_has_the_impulse_of_its_coupled_normal_and_tangent():
    """w_n = W_nn·r_n + W_nt·r_t + b_n = 0 and r_t = −μ·r_n against the slip: r_n = −b_n/(W_nn − μ·W_nt)."""
    block = np.array([[2.0, 0.7, 0.0], [0.7, 1.5, 0.0], [0.0, 0.0, 1.0]])
    mu, free = 0.4, (-0.3, 6.0, 0.0)
    normal = 0.3 / (2.0 - mu * 0.7)
    np.testing.assert_allclose(solved(block, free, mu), [normal, -mu * normal, 0.0], rtol=rounding(256))


@settings(deadline=None, max_examples=100)
@given(
    seed=st.integers(0, 10**9),
    mu=st.floats(1e-3, 10.0),
    spread=st.floats(-4.0, 4.0),
    scale=st.floats(-6.0, 6.0),
)
def test_any_contact_opens_sticks_or_slides_as_coulomb_says(seed, mu, spread, scale):
    random = np.random.default_rng(seed)
    axes = np.linalg.qr(random.normal(size=(3, 3)))[0]
    block = 10.0**scale * axes @ np.diag([1.0, 10.0**spread, 10.0 ** (0.5 * spread)]) @ axes.T
    block = 0.5 * (block + block.T)
    free = random.normal(size=3)
    r = solved(block, free, mu)
    w = block @ r + free
    # r passes through a dozen operations, among them two eliminations with the condition of W
    noise = rounding(64, np.linalg.cond(block), np.abs(free).max() + np.abs(block).max() * np.abs(r).max())
    slip, load = np.hypot(w[1], w[2]), np.hypot(r[1], r[2])
    assert r[0] >= 0.0
    assert load <= mu * r[0] * (1.0 + rounding(16))
    assert w[0] >= -noise
    assert abs(w[0]) <= noise or r[0] == 0.0
    if slip > noise and r[0] > 0.0:
        assert load == pytest.approx(mu * r[0], rel=1e-9)
        assert r[1] * w[2] - r[2] * w[1] == pytest.approx(0.0, abs=4.0 * load * noise)
        assert r[1] * w[1] + r[2] * w[2] <= load * noise


def test_a_direction_without_mobility_gets_no_impulse():
    block = np.array([[1.0, 0.3, 0.0], [0.3, 2.0, 0.0], [0.0, 0.0, 0.0]])
    for pull in (0.01, 5.0):
        r = solved(block, (-1.0, pull, 0.0), 0.5)
        assert r[0] > 0.0
        assert r[2] == 0.0


def test_the_slip_of_an_unequal_block_is_straight_against_its_friction():
    """The direction of sliding is a root of (6), found beforehand by bisection in the angle."""
    block, free, mu = np.diag([1.0, 4.0, 0.5]), np.array([-1.0, 3.0, 2.0]), 0.8

    def turn(angle):
        w = block @ [1.0, -mu * math.cos(angle), -mu * math.sin(angle)] + free
        return w[1] * math.sin(angle) - w[2] * math.cos(angle)

    low, high = 0.0, 0.5 * math.pi
    assert turn(low) * turn(high) < 0.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if turn(low) * turn(middle) > 0.0 else (low, middle)
    expected = [1.0, -mu * math.cos(low), -mu * math.sin(low)]
    np.testing.assert_allclose(solved(block, free, mu), expected, atol=rounding(256, 8.0))
