"""Cached cosines and sines are those of the present angles, bit by bit."""

import math

import numpy as np

from corekit_testing.rounding import rounding
from corekit_vine.angle_cache import new_angle_cache, update_angle_cache


def test_cached_values_do_not_depend_on_earlier_angles():
    cache, numbers = new_angle_cache(4), np.random.default_rng(2)
    q = numbers.normal(size=12)
    # the sine of −0 is −0: the cache compares bits
    for angles in (
        [0.3, 0.0, 1.0, 2.0],
        [0.3, -0.0, 1.0, -2.0],
        [0.3, 0.0, 1.5, 0.3],
        [0.0, -0.0, 1.5, math.nan],
    ):
        q[2::3] = angles
        update_angle_cache(q, cache)
        update_angle_cache(q, cache)
        expected = np.array([(angle, math.cos(angle), math.sin(angle)) for angle in angles])
        np.testing.assert_array_equal(cache[:, 0], angles)
        np.testing.assert_allclose(cache, expected, rtol=0, atol=rounding(2))  # two sine libraries
        np.testing.assert_array_equal(np.signbit(cache[:3]), np.signbit(expected[:3]))
