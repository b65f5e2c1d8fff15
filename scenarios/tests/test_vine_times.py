"""The row of the vine paper's linear relationship between bodies and time: what keeps it, and what does not."""

from __future__ import annotations

import pytest

from corekit_scenarios.cases.vine.runtime import linear_row

BODIES = (20, 30, 50, 70, 100, 200, 500, 1000, 5000)


@pytest.mark.parametrize(
    ("time", "kept"),
    [
        (lambda n: 85.0 + 0.46 * n, True),
        (lambda n: 0.02 * n**2, False),  # a dense Gram matrix
        (lambda n: 85.0 + 0.46 * n if n < 500 else 1e-3 * n**2, False),  # one from 500 on
        (lambda n: 85.0 + 0.46 * n + (40.0 if n == 50 else 0.0), False),  # no line up to the paper's 100
        (lambda n: 85.0 + (0.46 * n if n < 200 else 60.0), False),  # nor up to twice as many
        # a square beneath what every step costs
        (lambda n: 85.0 + 1e-3 * n**2 if n < 500 else 0.8 * n, False),
        (lambda n: 300.0, False),  # the time does not grow
    ],
)
def test_a_straight_line_keeps_it_and_other_powers_do_not(time, kept):
    row = linear_row({n: time(n) for n in BODIES})
    assert row.passed is kept
