"""Intervals of `ipopt-fit` against profiles and covariances of the same likelihood by scipy, its motion by matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, least_squares

from corekit_fit.config import Parameter

from .spring import OWN, fitted, spring_task

STEP, COUNT = 0.02, 20
LOW, HIGH = 0.01, 100.0
LOOSE = Parameter(name="damping", start=1.0, low=LOW, high=HIGH)


def heights(c, start, k=OWN["stiffness"]):
    """Heights at every second instant by the implicit midpoint rule, from height and speed at the start."""
    m, one = OWN["mass"], np.eye(2)
    A = 0.5 * STEP * np.array([[0.0, 1.0], [-k / m, -c / m]])
    G = np.linalg.solve(one - A, one + A)
    found, state = [], np.array(start)
    for _ in range(COUNT // 2 + 1):
        found.append(state[0])
        state = G @ G @ state
    return np.array(found)


@pytest.mark.parametrize("points", [5, 11, 40])
def test_a_weak_interval_is_where_the_profile_passes_however_coarse_its_grid_is(write, points):
    """Linear interpolation of the profile between values a factor of 2 apart gave half of the interval, or less."""
    deviation, times = 0.02, STEP * np.arange(0, COUNT + 1, 2)
    seen = heights(1.5, (0.1, 0.0)) + deviation * np.random.default_rng(3).normal(size=len(times))
    estimate, _ = fitted(
        spring_task(STEP), write(times, seen), [LOOSE], deviation=deviation, scheme="implicit-midpoint",
        profile_points=points,
    )  # fmt: skip
    (found,) = estimate.fitted

    def cost(c):
        one = np.column_stack([heights(c, (1.0, 0.0)), heights(c, (0.0, 1.0))])
        off = one @ np.linalg.lstsq(one, seen, rcond=None)[0] - seen
        return 0.5 * float(off @ off) / deviation**2

    least = cost(found.value)
    assert all(cost(found.value * factor) > least for factor in (0.99, 1.01))
    ends = [
        brentq(lambda z: cost(math.exp(z)) - least - 1.92, math.log(found.value), math.log(end))
        for end in (LOW, HIGH)
        if cost(end) - least > 1.92
    ]
    assert found.verdict == ("weakly identified" if len(ends) == 2 else "not identifiable")
    ends = [0.0, *map(math.exp, ends)] if len(ends) == 1 else [math.exp(end) for end in ends]
    assert (found.low, found.high) == pytest.approx(ends, rel=0.02)


def test_a_strong_interval_is_that_of_least_squares(write):
    deviation, times = 1e-4, STEP * np.arange(0, COUNT + 1, 2)
    seen = heights(1.5, (0.1, 0.0)) + deviation * np.random.default_rng(3).normal(size=len(times))
    soft = Parameter(name="stiffness", start=20.0, low=1.0, high=1000.0)
    estimate, _ = fitted(
        spring_task(STEP), write(times, seen), [LOOSE, soft], deviation=deviation, scheme="implicit-midpoint",
    )  # fmt: skip

    def off(z):
        return (heights(math.exp(z[0]), z[2:], math.exp(z[1])) - seen) / deviation

    answer = least_squares(off, [0.0, 3.5, 0.1, 0.0], xtol=1e-14, ftol=1e-14, gtol=1e-14, x_scale="jac")
    slope: Any = answer.jac
    spread = np.sqrt(np.diag(np.linalg.inv(slope.T @ slope)))
    for each, z, own in zip(estimate.fitted, answer.x, spread, strict=False):
        assert each.verdict == "identified"
        assert math.log(each.value) == pytest.approx(z, abs=0.01 * own)
        assert math.log(each.high / each.low) == pytest.approx(2.0 * 1.96 * own, rel=0.05)
