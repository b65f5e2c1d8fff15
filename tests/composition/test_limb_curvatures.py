"""Algorithm 1 of DisMech, on maps whose answer is known, and the curvature and turn that it needs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit_scenarios.cases.dismech import limb_curvatures
from corekit_scenarios.cases.dismech.limb_curvatures import descend, limb_curvature, turn_to

SLOPE, WEIGHT = np.array([[0.95, -0.02], [0.03, 1.04]]), np.array([-0.035, -0.004])


def curvatures(natural):
    """Near those of the filmed robot: a limb bends as it would without weight, and a little by weight and the other."""
    return WEIGHT + SLOPE @ natural


@pytest.mark.parametrize("turn", [0.3, -0.3, 0.0])
def test_points_that_turn_evenly_have_the_curvature_of_one_turn(turn):
    along = np.cumsum(np.full(4, turn))
    points = np.vstack([np.zeros(2), np.cumsum(np.column_stack([np.cos(along), np.sin(along)]), axis=0)])
    # lengths do not enter (5), only directions
    assert limb_curvature(0.02 * points) == pytest.approx(2.0 * math.tan(0.5 * turn), abs=1e-14)


@pytest.mark.parametrize("wanted", [(-0.137, -0.013), (0.25, -0.17), (-0.0, 0.4)])
def test_the_curvatures_that_are_found_are_the_wanted_ones_within_the_tolerance(wanted):
    found = descend(curvatures, np.array(wanted), np.zeros(2))
    assert found.found
    assert found.loss == pytest.approx(np.abs(np.array(wanted) - curvatures(found.natural)).sum(), abs=1e-15)
    assert found.loss < limb_curvatures.TOLERANCE
    assert found.steps < 40


def test_forward_differences_as_long_as_twice_the_tolerance_can_stand_still_beyond_it(monkeypatch):
    monkeypatch.setattr(limb_curvatures, "PROBE", 2.0 * limb_curvatures.TOLERANCE)
    # both limbs half of ε short: the difference reaches as far beyond the kink as it begins before it
    found = descend(lambda natural: natural, np.full(2, limb_curvatures.TOLERANCE), np.zeros(2))
    assert not found.found
    assert found.steps == limb_curvatures.MOST_STEPS
    np.testing.assert_allclose(found.natural, 0.0, atol=1e-12)


def test_a_map_that_never_reaches_the_wanted_curvatures_ends_and_says_so():
    found = descend(np.tanh, np.array([2.0, 0.0]), np.zeros(2))
    assert not found.found
    assert found.loss > 0.9


def test_turned_points_keep_their_lengths_and_lie_along_the_others():
    points, like = (
        np.array([[1.0, 2.0], [2.0, 2.0], [2.0, 3.0]]),
        np.array([[0.0, 0.0], [0.0, 3.0], [5.0, 5.0]]),
    )
    np.testing.assert_allclose(turn_to(points, like), [[1.0, 2.0], [1.0, 3.0], [0.0, 3.0]], atol=1e-15)
