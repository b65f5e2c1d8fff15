"""What the kit takes for a slope of a function, and what it refuses."""

import numpy as np
import pytest

from corekit_testing.conformance.check import CheckFailed
from corekit_testing.conformance.differences import expect_slope


def _kinked(at, height=1.0):
    """sin, and behind `at` a spring that begins to pull."""
    return lambda s: np.array([np.sin(s) + height * max(s - at, 0.0)])


@pytest.mark.parametrize("at", [0.003, 0.02, 0.09])
def test_a_kink_beside_the_place_is_stepped_round(at):
    expect_slope("slope", np.array([1.0]), _kinked(at))
    with pytest.raises(CheckFailed):
        expect_slope("slope", np.array([1.00001]), _kinked(at))


@pytest.mark.parametrize("found", [1.0, 2.0])
def test_a_kink_at_the_place_and_noise_are_not_stepped_round(found):
    random = np.random.default_rng(1)
    for function in (_kinked(0.0), lambda s: np.array([np.sin(s) + 0.01 * random.normal()])):
        with pytest.raises(CheckFailed):
            expect_slope("slope", np.array([found]), function)
