"""Minima that are known: of smooth functions, at bounds, at kinks, and beside places without a value."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from corekit_gradients.search import minimise, shortest_combination

FREE = np.full(2, np.inf)


def search(function, start, low=-FREE, high=FREE, iterations=300):
    return minimise(function, np.array(start, dtype=float), low, high, iterations=iterations, tolerance=1e-12)


def rosenbrock(x):
    apart = x[1] - x[0] ** 2
    value = 100.0 * apart**2 + (1.0 - x[0]) ** 2
    return value, np.array([-400.0 * x[0] * apart - 2.0 * (1.0 - x[0]), 200.0 * apart])


def kinked_rosenbrock(x):
    """8·|x₁ − x₀²| + (1 − x₀)², whose minimum (1, 1) lies on the kink (Lewis and Overton, section 5.1)."""
    apart = x[1] - x[0] ** 2
    sign = 1.0 if apart >= 0.0 else -1.0
    return 8.0 * abs(apart) + (1.0 - x[0]) ** 2, np.array(
        [-16.0 * sign * x[0] - 2.0 * (1.0 - x[0]), 8.0 * sign]
    )


def test_the_valley_of_rosenbrock_is_followed_to_its_end():
    found = search(rosenbrock, [-1.2, 1.0])
    assert found.converged
    assert found.x == pytest.approx([1.0, 1.0], abs=1e-5)
    assert found.calls < 120


def test_a_kink_is_followed_to_the_minimum_on_it():
    found = search(kinked_rosenbrock, [-1.0, 1.0])
    assert found.x == pytest.approx([1.0, 1.0], abs=1e-4)
    # its gradient has a length of 8 and more; the shortest combination of those about it has none
    assert np.linalg.norm(found.gradient) > 5.0
    assert found.stationarity < 0.05
    assert found.converged
    # a search for strong Wolfe points, which kinks do not have, stays behind
    usual = minimize(kinked_rosenbrock, [-1.0, 1.0], jac=True, method="L-BFGS-B")
    assert found.value < 1e-3 * usual.fun


@pytest.mark.parametrize("width", [0.5, 0.9])
def test_bounds_hold_and_are_left_again(width):
    """(x − 2)² + (y + 1)² + xy within |x| ≤ w, |y| ≤ 3: x at its bound, y = −1 − w/2 by 2(y + 1) + x = 0."""

    def function(x):
        value = (x[0] - 2.0) ** 2 + (x[1] + 1.0) ** 2 + x[0] * x[1]
        return value, np.array([2.0 * (x[0] - 2.0) + x[1], 2.0 * (x[1] + 1.0) + x[0]])

    low, high = np.array([-width, -3.0]), np.array([width, 3.0])
    for start in ([-width, 3.0], [width, -3.0], [0.0, 0.0]):
        tried: list[np.ndarray] = []

        def kept(x, tried=tried):
            tried.append(x)
            return function(x)

        found = search(kept, start, low, high)
        assert found.x == pytest.approx([width, -1.0 - 0.5 * width], abs=1e-6)
        assert found.converged
        assert all((low <= x).all() and (x <= high).all() for x in tried)


def test_many_bounds_are_met_in_one_search():
    """The nearest point, in a metric that couples its coordinates, of a box of 15 to one outside (against SciPy)."""
    random = np.random.default_rng(3)
    root = random.normal(size=(15, 15))
    matrix, centre = root @ root.T + np.eye(15), random.normal(size=15)

    def function(x):
        apart = x - centre
        return 0.5 * float(apart @ matrix @ apart), matrix @ apart

    low, high = np.full(15, -0.4), np.full(15, 0.4)
    found = minimise(function, np.zeros(15), low, high, iterations=300, tolerance=1e-12)
    known = minimize(
        function,
        np.zeros(15),
        jac=True,
        method="trust-constr",
        bounds=[(-0.4, 0.4)] * 15,
        options={"gtol": 1e-10},
    )
    assert found.value == pytest.approx(known.fun, rel=1e-4)
    assert found.value <= known.fun * (1.0 + 1e-9)
    at_bounds = np.abs(found.x) == 0.4
    assert 3 <= at_bounds.sum() <= 14
    # the conditions of a minimum in a box
    slope = matrix @ (found.x - centre)
    assert (slope[at_bounds] * found.x[at_bounds] < 0.0).all()
    assert slope[~at_bounds] == pytest.approx(0.0, abs=1e-5)


def test_a_start_outside_of_the_bounds_begins_at_them():
    found = search(rosenbrock, [5.0, 0.0], np.array([-2.0, -2.0]), np.array([2.0, 2.0]))
    assert found.x == pytest.approx([1.0, 1.0], abs=1e-5)


def test_places_without_a_value_are_no_steps():
    """x − ln x has its minimum at 1 and no value below 0."""

    def function(x):
        if x[0] <= 0.0:
            return np.nan, np.full(1, np.nan)
        return float(x[0] - np.log(x[0])), np.array([1.0 - 1.0 / x[0]])

    found = minimise(
        function, np.array([8.0]), np.full(1, -np.inf), np.full(1, np.inf), iterations=50, tolerance=1e-12
    )
    assert found.x == pytest.approx([1.0], abs=1e-5)
    nowhere = minimise(
        function, np.array([-1.0]), np.full(1, -np.inf), np.full(1, np.inf), iterations=50, tolerance=1e-12
    )
    assert not nowhere.converged
    assert "start" in nowhere.reason


def test_a_wrong_gradient_is_not_called_a_minimum():
    def function(x):
        value, gradient = rosenbrock(x)
        return value, -gradient

    found = search(function, [-1.2, 1.0])
    assert not found.converged
    assert "no lower value" in found.reason


def test_too_few_iterations_are_said():
    found = search(rosenbrock, [-1.2, 1.0], iterations=3)
    assert (found.iterations, found.converged) == (3, False)
    assert "3 iterations" in found.reason


def test_the_shortest_combination_of_gradients():
    """Of (1, 1), (−1, 1) and (0, 4) it is (0, 1); of (1, 0), (−1, 0) nothing; of one that one."""
    cases = [
        ([[1.0, 1.0], [-1.0, 1.0], [0.0, 4.0]], [0.0, 1.0]),
        ([[1.0, 0.0], [-1.0, 0.0]], [0.0, 0.0]),
        ([[3.0, 4.0]], [3.0, 4.0]),
    ]
    for gradients, shortest in cases:
        assert shortest_combination(np.array(gradients)) == pytest.approx(shortest, rel=1e-5, abs=1e-5)
