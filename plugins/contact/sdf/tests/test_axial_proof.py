"""What proves a direction for two cylinders is true: no direction drawn gives more, and wrong ones are not proven."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit_sdf.axial import axial_gap, axial_value
from corekit_sdf.axial_proof import direction_between, is_proven

AXIS = (0.0, 0.0, 1.0)
TINY = 1e-14


def drawn(rng, spread):
    """Two cylinders, thin or thick, the second upright at the origin."""
    u = rng.normal(size=3)
    h, k = rng.choice([0.005, 0.02, 0.1], size=2)
    R, S = rng.uniform(0.03, 0.1, size=2)
    p = rng.normal(size=3) * spread
    return tuple(p.tolist()), tuple((u / np.linalg.norm(u)).tolist()), float(h), float(R), float(k), float(S)


def both(pair):
    p, u, h, R, k, S = pair
    return (p, u, h, R), ((0.0, 0.0, 0.0), AXIS, k, S)


def values(pair, n):
    """f(n) of many directions at once, shape (·, 3)."""
    p, u, h, R, k, S = pair
    across = np.linalg.norm(np.cross(n, u), axis=1)
    return n @ p - h * np.abs(n @ u) - k * np.abs(n[:, 2]) - R * across - S * np.hypot(n[:, 0], n[:, 1])


@pytest.mark.parametrize(("spread", "least"), [(0.03, 10), (0.08, 40), (0.2, 100)])
def test_no_direction_gives_more_than_a_proven_one(spread, least):
    rng = np.random.default_rng(4)
    proven = 0
    for _ in range(120):
        pair = drawn(rng, spread)
        phi, n = axial_gap(pair)
        assert phi == pytest.approx(axial_value(pair, n), abs=1e-15)
        sphere = rng.normal(size=(2000, 3))
        near = np.array(n) + rng.normal(size=(2000, 3)) * 10.0 ** rng.uniform(-6.0, 0.0, size=(2000, 1))
        tried = np.concatenate([sphere, near])
        best = values(pair, tried / np.linalg.norm(tried, axis=1)[:, None]).max()
        if is_proven(*both(pair), n, phi, TINY):
            proven += 1
            assert best <= phi + 2e-14
        # another direction, however little worse, is none
        other = np.array(n) + 1e-3 * rng.normal(size=3)
        other = tuple((other / np.linalg.norm(other)).tolist())
        less = axial_value(pair, other)
        if less < phi - 1e-9:
            assert not is_proven(*both(pair), other, less, TINY)
    assert proven > least, "few of the deep ones, and nearly all apart, need no search"


@pytest.mark.parametrize(
    ("p", "u", "gap"),
    [
        ((0.01, 0.02, 0.058), (0.0, math.sin(0.01), math.cos(0.01)), None),  # a rim on a cap
        ((0.115, 0.0, 0.0), (0.0, math.sin(0.4), math.cos(0.4)), 0.015),  # side on side, crossing
        ((0.11, 0.0, 0.01), (math.sin(0.3), 0.0, math.cos(0.3)), None),  # a rim on a side
    ],
)
def test_contacts_of_sides_caps_and_rims_are_proven(p, u, gap):
    pair = (p, u, 0.01, 0.05, 0.05, 0.05)
    phi, n = axial_gap(pair)
    assert gap is None or phi == pytest.approx(gap, abs=1e-12)
    assert is_proven(*both(pair), n, phi, TINY)


def test_projections_lead_to_the_closest_points_of_crossed_rims():
    """Two upright disks, the second turned about x, face to face along y + z: the normal lies between."""
    pair = ((0.0, 0.2, 0.2), (0.0, math.sin(0.5), math.cos(0.5)), 0.01, 0.05, 0.02, 0.06)
    apart, n, _ = direction_between(*both(pair), (0.0, 0.0, 0.0))
    phi, exact = axial_gap(pair)
    assert apart and phi > 0.1
    np.testing.assert_allclose(n, exact, atol=1e-3)
    inside = ((0.01, 0.0, 0.0), *pair[1:])
    assert not direction_between(*both(inside), (0.0, 0.0, 0.0))[0]
