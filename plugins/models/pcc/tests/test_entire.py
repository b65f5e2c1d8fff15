import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corekit_pcc.stumpff import FUNCTIONS, derivatives, stumpff
from corekit_testing.rounding import rounding


def exact(n: int, m: int, u: float) -> float:
    """dᵐS_n/duᵐ by its series in 60 digits."""
    with mpmath.workdps(60):
        x = mpmath.mpf(u)
        terms = (
            mpmath.mpf(-1) ** k * mpmath.ff(k, m) * x ** (k - m) / mpmath.factorial(2 * k + n)
            for k in range(m, 150)
        )
        return float(mpmath.fsum(terms))


@pytest.mark.parametrize(
    "theta", [0.0, 1e-9, 1e-3, 0.7, 1.999, 2.001, 3.2, 5.0, 2 * math.pi, 9.0, 4 * math.pi]
)
def test_functions_and_derivatives_match_sixty_digit_series(theta):
    table = np.zeros((4, FUNCTIONS))
    derivatives(theta**2, 3, table)
    for m in range(4):
        for n in range(FUNCTIONS - 2 * m):
            scale = abs(exact(n, m, 0.0))
            # ten terms, and three doublings at most, of eight products each
            rounded = rounding(10 + 3 * 8)
            assert table[m, n] == pytest.approx(exact(n, m, theta**2), rel=rounded, abs=rounded * scale)


@given(st.floats(0.0, 1000.0))
def test_sines_and_cosines_keep_their_identities(u):
    values = np.zeros(FUNCTIONS)
    stumpff(u, values)
    theta = math.sqrt(u)
    assert values[0] == pytest.approx(math.cos(theta), abs=1e-13)
    assert values[1] * theta == pytest.approx(math.sin(theta), abs=1e-13)
    assert values[0] ** 2 + u * values[1] ** 2 == pytest.approx(1.0, abs=1e-13)
    assert values[3] * u == pytest.approx(1.0 - values[1], abs=1e-13)


@pytest.mark.parametrize("u", [math.nan, math.inf])
def test_what_is_not_finite_ends_and_stays_visible(u):
    values = np.zeros(FUNCTIONS)
    stumpff(u, values)
    assert not np.isfinite(values).any()
