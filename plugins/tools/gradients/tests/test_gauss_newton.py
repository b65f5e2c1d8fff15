"""Sums of squares whose minima are known, and how many runs they take beside BFGS."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from corekit_gradients.gauss_newton import minimise_squares
from corekit_gradients.search import minimise

FREE = np.full(2, np.inf)


def search(residuals, start, low=-FREE, high=FREE, iterations=100):
    return minimise_squares(
        residuals, np.array(start, dtype=float), low, high, iterations=iterations, tolerance=1e-12
    )


def rosenbrock(x):
    """100·(x₁ − x₀²)² + (1 − x₀)²."""
    return np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]]), lambda: np.array(
        [[-20.0 * x[0], 10.0], [-1.0, 0.0]]
    )


def test_linear_residuals_end_in_two_steps():
    """Of which one removes the damping: x = (AᵀA)⁻¹Aᵀb, and what is left is b outside of the range of A."""
    random = np.random.default_rng(1)
    matrix, right = random.normal(size=(5, 2)), random.normal(size=5)
    found = search(lambda x: (matrix @ x - right, lambda: matrix), [0.3, -0.2])
    known = np.linalg.solve(matrix.T @ matrix, matrix.T @ right)
    assert found.x == pytest.approx(known, abs=1e-8)
    assert found.value == pytest.approx(np.sum((matrix @ known - right) ** 2), rel=1e-12)
    assert found.converged
    assert (found.iterations, found.calls) == (2, 3)


def test_bounds_hold():
    random = np.random.default_rng(2)
    matrix, right = random.normal(size=(6, 3)), 3.0 * random.normal(size=6)
    low, high = np.full(3, -0.5), np.full(3, 0.5)
    found = search(lambda x: (matrix @ x - right, lambda: matrix), np.zeros(3), low, high)
    known = lsq_linear(matrix, right, (low, high), tol=1e-14)
    assert np.abs(known.x).max() == pytest.approx(0.5)
    assert found.x == pytest.approx(known.x, abs=1e-6)
    # those at a bound are there to the bit
    assert (np.abs(found.x)[np.abs(known.x) > 0.499] == 0.5).all()


def test_the_valley_of_rosenbrock_takes_fewer_calls_than_bfgs():
    def loss(x):
        r, slopes = rosenbrock(x)
        return float(r @ r), 2.0 * slopes().T @ r

    start = np.array([-1.2, 1.0])
    found = search(rosenbrock, start)
    by_bfgs = minimise(loss, start, -FREE, FREE, iterations=300, tolerance=1e-12)
    # what is left is the tolerance of the loss at the start, 24.2, and x₁ errs by twice what x₀ does
    assert found.value < 24.2e-12
    assert found.x == pytest.approx([1.0, 1.0], abs=2.0 * np.sqrt(24.2e-12))
    assert found.converged
    assert found.calls < 0.75 * by_bfgs.calls


def test_places_without_a_value_are_no_steps():
    """ln x − 1, which has no value below 0, vanishes at e."""

    def residuals(x):
        if x[0] <= 0.0:
            return np.full(1, np.nan), lambda: np.zeros((1, 1))
        return np.array([np.log(x[0]) - 1.0]), lambda: np.array([[1.0 / x[0]]])

    found = search(residuals, [20.0], np.full(1, -np.inf), np.full(1, np.inf))
    assert found.x == pytest.approx([np.e], rel=1e-6)
    nowhere = search(residuals, [-1.0], np.full(1, -np.inf), np.full(1, np.inf))
    assert not nowhere.converged
    assert "start" in nowhere.reason


def test_fewer_residuals_than_variables_end_nearby():
    """x₀² + x₁ = 2, one of many: the damped steps have the least length, and the loss vanishes."""
    found = search(
        lambda x: (np.array([x[0] ** 2 + x[1] - 2.0]), lambda: np.array([[2.0 * x[0], 1.0]])), [1.0, 0.0]
    )
    assert found.converged
    assert found.value < 1e-12
    assert np.linalg.norm(found.x - [1.0, 0.0]) < 0.5  # the nearest one is 0.39 away
    assert found.calls < 8


def test_a_wrong_jacobian_is_not_called_a_minimum():
    found = search(lambda x: (rosenbrock(x)[0], lambda: -rosenbrock(x)[1]()), [-1.2, 1.0])
    assert not found.converged
    assert "no lower value" in found.reason


def test_what_is_reported_is_of_the_place():
    """Iterations come in their order; each with the loss and the gradient 2·Jᵀ·r there."""
    told = []
    minimise_squares(
        rosenbrock, np.array([-1.2, 1.0]), -FREE, FREE, iterations=100, tolerance=1e-10,
        progress=lambda *numbers: told.append(numbers),
    )  # fmt: skip
    assert [each[0] for each in told] == list(range(1, len(told) + 1))
    for _, _, loss, slope, x in told:
        r, slopes = rosenbrock(x)
        assert loss == pytest.approx(r @ r, rel=1e-12)
        assert slope == pytest.approx(np.abs(2.0 * r @ slopes()).max(), rel=1e-12)


def test_too_few_steps_are_said():
    found = search(rosenbrock, [-1.2, 1.0], iterations=3)
    assert not found.converged
    assert "Gauss-Newton" in found.reason
