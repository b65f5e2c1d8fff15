import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corekit_pcc.jets import ORDERS
from corekit_pcc.section import (
    AXES,
    COLUMNS,
    POSITION,
    SCALARS,
    TURNS,
    VECTORS,
    second_points,
    second_turns,
    section_columns,
    section_place,
    section_series,
)
from corekit_pcc.stumpff import FUNCTIONS
from corekit_testing.rounding import rounding

BENDS = [(0.0, 0.0), (1e-7, -2e-8), (0.3, -0.2), (-2.0, 1.5)]


def jets(s, arc, rate=(0.0, 0.0, 0.0), order=0):
    table, scalars, vectors = (
        np.zeros((4, FUNCTIONS)),
        np.zeros((SCALARS, ORDERS)),
        np.zeros((VECTORS, ORDERS, 3)),
    )
    section_columns(s, np.array([arc, rate], dtype=float), order, table, scalars, vectors)
    return vectors


def place(s, arc):
    table, vectors = np.zeros((4, FUNCTIONS)), np.zeros((VECTORS, ORDERS, 3))
    section_place(s, np.array([arc], dtype=float), table, vectors)
    return vectors[POSITION, 0], vectors[AXES : AXES + 3, 0].T


def exact_derivative(s, arc, *variables):
    """A partial derivative of the transform exp(s·ξ), shape (4, 4): central differences in 60 digits.

    `variables` are indices into (L, b_x, b_y); the step of 1e-15 leaves an error of 1e-30.
    """
    with mpmath.workdps(60):
        step = mpmath.mpf(10) ** -15
        total = mpmath.matrix(4, 4)
        for signs in itertools.product((1, -1), repeat=len(variables)):
            length, bx, by = (
                mpmath.mpf(float(value))
                + step * sum(sign for sign, k in zip(signs, variables, strict=True) if k == y)
                for y, value in enumerate(arc)
            )
            twist = mpmath.matrix(4, 4)
            twist[0, 2], twist[2, 0], twist[1, 2], twist[2, 1] = bx, -bx, by, -by
            twist[2, 3] = length
            total += math.prod(signs) * mpmath.expm(s * twist, method="taylor")
        return np.array((total / (2 * step) ** len(variables)).tolist(), dtype=float)


def test_straight_section_is_exactly_straight():
    position, rotation = place(1.0, (0.15, 0.0, 0.0))
    # exactly: products with zero, whatever rounds the rest
    assert not position[:2].any()
    assert not (rotation - np.diag(np.diag(rotation))).any()
    assert position[2] == pytest.approx(0.15, rel=rounding(8))
    assert np.diag(rotation) == pytest.approx(np.ones(3), abs=rounding(8))


@given(st.floats(0.0, 1.0), st.floats(0.01, 0.5), st.floats(-9.0, 9.0), st.floats(-9.0, 9.0))
def test_reversed_bending_is_the_mirror_image(s, length, bx, by):
    position, rotation = place(s, (length, bx, by))
    mirrored, turned = place(s, (length, -bx, -by))
    flip = np.diag([-1.0, -1.0, 1.0])
    assert mirrored == pytest.approx(flip @ position, abs=rounding(16))
    assert turned == pytest.approx(flip @ rotation @ flip, abs=rounding(16))


@given(st.floats(0.0, 4 * math.pi), st.floats(0.0, 2 * math.pi))
def test_rotation_is_orthonormal_up_to_two_turns(theta, phi):
    _, rotation = place(1.0, (0.15, theta * math.cos(phi), theta * math.sin(phi)))
    # three doublings of θ at most (`stumpff`), each of which may double what is rounded; nine products of two
    assert rotation.T @ rotation == pytest.approx(np.eye(3), abs=rounding(16, 2.0**3))
    assert np.linalg.det(rotation) == pytest.approx(1.0, abs=rounding(16, 2.0**3))


@pytest.mark.parametrize("bend", [*BENDS, (8.0, 5.0)])
def test_position_is_the_integral_of_length_times_tangent(bend):
    nodes, weights = np.polynomial.legendre.leggauss(30)
    tangents = [place((x + 1) / 2, (0.2, *bend))[1][:, 2] for x in nodes]
    integral = 0.2 * np.einsum("k,kx->x", weights / 2, tangents)
    assert place(1.0, (0.2, *bend))[0] == pytest.approx(
        integral, abs=rounding(30 + 16, 0.2, 2.0**3)
    )  # three doublings


@pytest.mark.parametrize("bend", BENDS)
def test_columns_and_turns_match_the_exponential(bend):
    s, arc = 0.7, (0.2, *bend)
    vectors = jets(s, arc)
    rotation = exact_derivative(s, arc)[:3, :3]
    assert pytest.approx(rotation, abs=rounding(32)) == vectors[AXES : AXES + 3, 0].T
    for y in range(3):
        rates = exact_derivative(s, arc, y)
        spin = rates[:3, :3] @ rotation.T
        assert vectors[COLUMNS + y, 0] == pytest.approx(rates[:3, 3], abs=rounding(64))
        assert vectors[TURNS + y, 0] == pytest.approx([spin[2, 1], spin[0, 2], spin[1, 0]], abs=rounding(64))


@pytest.mark.parametrize("bend", BENDS)
def test_second_derivatives_match_the_exponential(bend):
    s, arc = 0.8, (0.2, *bend)
    second, turn = np.zeros((3, 3, 3)), np.zeros((3, 3, 3))
    table = np.zeros((4, FUNCTIONS))
    section_series(s, np.array([arc]), table)
    second_points(s, np.array([arc]), table, second)
    second_turns(s, np.array([arc]), table, turn)
    vectors = jets(s, arc)
    rotation = vectors[AXES : AXES + 3, 0].T
    for a, b in itertools.product(range(3), repeat=2):
        twice = exact_derivative(s, arc, a, b)
        assert second[a, b] == pytest.approx(twice[:3, 3], abs=rounding(64))
        # W_a = vee(R_a·Rᵀ), so R_ab·Rᵀ = hat(W_ab) + hat(W_a)·hat(W_b), with the axial part W_ab + ½·W_a × W_b
        spin = twice[:3, :3] @ rotation.T
        axial = 0.5 * np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]])
        crossed = np.cross(vectors[TURNS + a, 0], vectors[TURNS + b, 0])
        assert turn[a, b] + 0.5 * crossed == pytest.approx(axial, abs=rounding(64))


@pytest.mark.parametrize("bend", BENDS)
def test_jets_are_the_taylor_coefficients_along_a_line(bend):
    s, arc, rate = 0.6, np.array([0.2, *bend]), np.array([0.1, 1.3, -0.8])
    vectors = jets(s, arc, rate, order=2)
    # the columns are entire in t, so a Chebyshev fit of their values on an interval is exact to rounding
    samples, reach = 33, 0.5
    t = reach * np.cos(np.pi * (np.arange(samples) + 0.5) / samples)
    values = np.array([jets(s, arc + x * rate)[:, 0].ravel() for x in t])
    fit = np.polynomial.chebyshev.chebfit(t / reach, values, samples - 1)
    for k in range(3):
        coefficient = np.polynomial.chebyshev.chebval(0.0, np.polynomial.chebyshev.chebder(fit, k))
        expected = coefficient / reach**k / math.factorial(k)
        assert vectors[:, k].ravel() == pytest.approx(expected, abs=1e-11)
