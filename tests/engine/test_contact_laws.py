"""Residuals of the contact laws against answers found by hand, and the projection on the cone by what defines it."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.roles.contact_laws import (
    bounded_residual,
    cone_distance,
    coulomb_residuals,
    law_residuals,
    project_on_cone,
    pyramid_residuals,
    relative_velocity,
)
from corekit.roles.pyramid import pyramid_directions
from corekit_testing.rounding import rounding

# A unit mass that arrives with 1 m/s and a slip of 0.3 m/s, μ = 0.5: w = λ + w₀.
FREE = np.array([-1.0, 0.3, 0.0])


def velocity_after(impulse):
    velocity = np.zeros(3)
    relative_velocity(np.eye(3), FREE, impulse, velocity)
    return velocity


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.5])
def test_the_projection_is_in_the_cone_and_its_error_is_normal_to_it(mu):
    for y in np.random.default_rng(3).normal(size=(200, 3)):
        normal, factor = project_on_cone(y[0], float(np.hypot(y[1], y[2])), mu)
        point = np.array([normal, factor * y[1], factor * y[2]])
        bound = rounding(10, float(y @ y))
        assert np.hypot(point[1], point[2]) <= mu * point[0] + bound
        error = y - point
        assert abs(error @ point) <= bound
        # no ray of the cone's edge, nor its axis, leads closer
        assert error[0] + mu * np.hypot(error[1], error[2]) <= bound
        assert error[0] <= bound


@pytest.mark.parametrize(
    ("impulse", "expected"),
    [
        ([1.0, -0.3, 0.0], (0.0, 0.0, 0.0)),  # the solution: sticks
        ([0.9, -0.3, 0.0], (0.1, 0.0, 0.0)),  # still closes at 0.1 m/s
        (
            [1.0, -0.2, 0.0],
            (0.0, 0.0, 0.0),
        ),  # slides in the cone at 0.1 m/s: wrong in Coulomb's law, not in every law
        (
            [1.0, -0.7, 0.0],
            (0.0, 0.4, 0.2),
        ),  # friction drives the slip at 0.4 m/s, 0.2 N·s outside of the cone
    ],
)
def test_residuals_of_a_point_in_every_law(impulse, expected):
    found = law_residuals(np.array(impulse), velocity_after(np.array(impulse)), 0.5)
    np.testing.assert_allclose(found, expected, atol=rounding(10, 1.0))


@pytest.mark.parametrize(
    ("free", "impulse"),
    [
        ([0.2, -1.0, 0.0], [0.0, 0.0, 0.0]),  # opens
        ([-1.0, 0.3, 0.0], [1.0, -0.3, 0.0]),  # sticks
        ([-1.0, 0.8, 0.0], [1.0, -0.5, 0.0]),  # slides on
    ],
)
def test_a_solution_has_no_residual_and_a_change_of_it_has(free, impulse):
    free, impulse = np.array(free), np.array(impulse)
    square, share = pyramid_directions(3, 4), np.zeros(4)
    bound = rounding(10, 1.0)
    for change in (0.0, 0.1, -0.1):
        for row in range(3):
            other = impulse.copy()
            other[row] += change
            velocity = other + free
            distances = [cone_distance(other, velocity, 0.5, rho) / rho for rho in (0.3, 1.0)]
            coulomb = max(coulomb_residuals(other, velocity, 0.5))
            pyramid = max(pyramid_residuals(square, 0.5, other, velocity, share)[:3])
            if change == 0.0:
                assert max(*distances, coulomb, pyramid) <= bound
            else:
                assert min(*distances, coulomb, pyramid) > bound


def test_a_contact_without_friction_bears_no_tangential_impulse():
    impulse, velocity = np.array([1.0, 0.0, -0.2]), np.zeros(3)
    assert pyramid_residuals(np.zeros((2, 0)), 0.0, impulse, velocity, np.zeros(0))[:3] == (0.0, 0.0, 0.2)
    assert law_residuals(impulse, velocity, 0.0)[2] == pytest.approx(0.2, rel=0, abs=rounding(2, 0.2))


def test_a_bounded_row_moves_only_at_its_bound():
    lower, upper = np.array([-1.0, -1.0, -1.0]), np.array([2.0, 2.0, 2.0])
    impulse = np.array([0.5, 2.0, -1.0])
    assert bounded_residual(impulse, np.array([0.0, -3.0, 4.0]), lower, upper) == 0.0
    assert bounded_residual(impulse, np.array([0.25, 0.0, 0.0]), lower, upper) == 0.25
    assert bounded_residual(impulse, np.array([0.0, 0.5, 0.0]), lower, upper) == 0.5
