"""Cosines and sines that are kept: those of the angles there are now, told apart to the last bit."""

import math

import numpy as np

from corekit_testing.rounding import rounding
from corekit_vine.turns import take_turns, turns_of


def test_what_is_kept_is_of_the_angles_there_are_now_whatever_came_before():
    turns, numbers = turns_of(4), np.random.default_rng(2)
    q = numbers.normal(size=12)
    # the sine of −0 is −0: angles are told apart by their bits
    for angles in (
        [0.3, 0.0, 1.0, 2.0],
        [0.3, -0.0, 1.0, -2.0],
        [0.3, 0.0, 1.5, 0.3],
        [0.0, -0.0, 1.5, math.nan],
    ):
        q[2::3] = angles
        take_turns(q, turns)
        take_turns(q, turns)
        expected = np.array([(angle, math.cos(angle), math.sin(angle)) for angle in angles])
        np.testing.assert_array_equal(turns[:, 0], angles)
        np.testing.assert_allclose(turns, expected, rtol=0, atol=rounding(2))  # two libraries
        np.testing.assert_array_equal(np.signbit(turns[:3]), np.signbit(expected[:3]))
