"""The Riccati recursion against the algebraic equation, a known gain, and the least-squares problem it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

from corekit_feedback.riccati import solve_tracking


def constant_gains(count, a, b, q, r, q_end):
    """Of a system that stays the same and misses nothing."""
    repeated = [np.tile(each, (count, *[1] * each.ndim)) for each in (a, b, np.zeros(len(a)))]
    return solve_tracking(repeated[0], repeated[1], repeated[2], q, r, q_end)


def test_a_long_horizon_of_a_constant_system_tends_to_the_algebraic_equation():
    draw = np.random.default_rng(3)
    a, b = draw.normal(size=(5, 5)), draw.normal(size=(5, 2))
    a *= 1.1 / np.abs(np.linalg.eigvals(a)).max()  # unstable without feedback
    q, r = np.diag([1.0, 2.0, 0.5, 1.0, 3.0]), np.diag([1.0, 0.3])
    gains = constant_gains(400, a, b, q, r, q)
    wanted = solve_discrete_are(a, b, q, r)
    # both solve the equation to rounding times its condition, of which scipy's pencil loses the more
    np.testing.assert_allclose(gains.value[0], wanted, rtol=1e-10, atol=1e-10 * np.abs(wanted).max())
    closed = a - b @ gains.feedback[0]
    assert np.abs(np.linalg.eigvals(closed)).max() < 1.0
    np.testing.assert_array_equal(gains.offset, 0.0)


def test_the_gain_of_a_point_mass_tends_to_that_of_continuous_time():
    """With ẍ = u and ∫ x² + u² dt, K = (1, √2); a step of h changes that by the order of h."""
    errors = []
    for h in (1e-2, 5e-3):
        a, b = np.array([[1.0, h], [0.0, 1.0]]), np.array([[0.5 * h**2], [h]])
        weights = np.diag([h, 0.0]), np.eye(1) * h, np.zeros((2, 2))
        gains = constant_gains(round(20.0 / h), a, b, *weights)
        errors.append(np.abs(gains.feedback[0, 0] - [1.0, np.sqrt(2.0)]).max())
    assert errors[0] < 1.5e-2
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.05)


def test_it_is_the_least_squares_solution_of_a_system_that_changes_and_is_pushed():
    """All inputs from one dense problem: the same δu along the motion, and the same cost."""
    draw, count, n, m = np.random.default_rng(5), 6, 3, 2
    a, b, c = draw.normal(size=(count, n, n)), draw.normal(size=(count, n, m)), draw.normal(size=(count, n))
    q, r, q_end = np.diag([1.0, 0.0, 2.0]), np.diag([0.5, 1.5]), np.diag([3.0, 1.0, 4.0])
    start = draw.normal(size=n)
    # e_k = constant_k + response_k·(δu_0 … δu_{N−1})
    constant, response = start, np.zeros((n, count * m))
    rows, aims = [], []
    for k in range(count):
        rows += [np.sqrt(q) @ response, np.sqrt(r) @ np.eye(count * m)[k * m : (k + 1) * m]]
        aims += [-np.sqrt(q) @ constant, np.zeros(m)]
        constant, response = a[k] @ constant + c[k], a[k] @ response
        response[:, k * m : (k + 1) * m] += b[k]
    rows.append(np.sqrt(q_end) @ response)
    aims.append(-np.sqrt(q_end) @ constant)
    wanted = np.linalg.lstsq(np.vstack(rows), np.concatenate(aims), rcond=None)[0].reshape(count, m)
    gains, error = solve_tracking(a, b, c, q, r, q_end), start
    for k in range(count):
        change = -gains.feedback[k] @ error - gains.offset[k]
        np.testing.assert_allclose(change, wanted[k], rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
        error = a[k] @ error + b[k] @ change + c[k]


def test_weights_that_leave_an_input_free_are_refused():
    a, b = np.eye(2), np.zeros((2, 1))
    with pytest.raises(np.linalg.LinAlgError):
        constant_gains(2, a, b, np.eye(2), np.zeros((1, 1)), np.eye(2))
