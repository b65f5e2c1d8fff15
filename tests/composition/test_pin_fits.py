"""What fits of every pin are judged by: distances in standard deviations, and verdicts in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import corekit
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.estimator import Estimate, FittedParameter
from corekit_scenarios.cases.vine.pin_fits import (
    DAMPING,
    STIFFNESS,
    identified,
    in_deviations,
    pin_overrides,
    pin_rows,
)
from corekit_study.case_run import Verdict
from corekit_study.fit import FitResult
from corekit_study.reference import analytic

SIGMA = 0.1


def fitted(name, value, high=None, verdict="identified"):
    """A parameter on a log scale with a standard deviation of `SIGMA`."""
    low = value * math.exp(-1.96 * SIGMA)
    high = value * math.exp(1.96 * SIGMA) if high is None else high
    return FittedParameter(
        name=name, unit="N·m/rad", value=value, start=1.0, low=low, high=high, verdict=verdict, note="", profile=None
    )  # fmt: skip


def made(shift, status=Status.CONVERGED):
    """A fit whose first value is off by so many deviations."""
    names = [f"joint_stiffness[{j}]" for j in range(5)] + [f"joint_damping[{j}]" for j in range(5)]
    parameters = [fitted(name, true) for name, true in zip(names, (*STIFFNESS, *DAMPING), strict=True)]
    parameters[0] = fitted(names[0], STIFFNESS[0] * math.exp(shift * SIGMA))
    none = np.zeros((1, 1, 3))
    estimate = Estimate(
        fitted=tuple(parameters), time=np.zeros(1), markers=("0",), observed=none, predicted=none
    )
    no_file: Any = None  # of a fit that is not run
    return FitResult(no_file, estimate, SolveInfo(status, 1, Residuals(), ""), None, 0.0)


@pytest.mark.parametrize("shift", [0.0, 1.5, -2.5])
def test_a_value_is_as_far_off_as_its_interval_says(shift):
    (off,) = in_deviations([fitted("K", 2.0 * math.exp(shift * SIGMA))], [2.0])
    assert off == pytest.approx(shift, abs=1e-12)


def test_a_value_without_an_interval_is_not_judged_by_one():
    assert math.isnan(in_deviations([fitted("K", 2.0, high=math.inf)], [2.0])[0])


@pytest.mark.parametrize(
    ("shift", "status", "verdict"),
    [
        (2.9, Status.CONVERGED, Verdict.KEPT),
        (-3.1, Status.CONVERGED, Verdict.MISSED),
        (0.0, Status.ITERATION_LIMIT, Verdict.MISSED),
    ],
)
def test_a_fit_is_missed_where_a_value_is_far_off_or_it_is_not_solved(shift, status, verdict):
    judged, told = pin_rows(made(shift, status), analytic("made"))
    assert (judged.verdict, told.verdict) == (verdict, Verdict.TOLD)
    assert judged.ours == pytest.approx(abs(shift), abs=1e-9)


def test_verdicts_are_listed_by_verdict():
    words = identified(
        [fitted("joint_stiffness[0]", 1.0), fitted("joint_damping[4]", 1.0, verdict="weakly identified")]
    )
    assert words == "identified: K[0]; weakly identified: C[4]"


def test_the_robot_of_the_fits_swings_with_the_pins_that_it_was_given():
    simulation = corekit.load("vine/oscillation", pin_overrides(STIFFNESS, DAMPING)).compose()
    model: Any = simulation.bodies[0].model
    parameters = model.symbolic().parameters
    assert [parameters[f"joint_stiffness[{j}]"].value for j in range(5)] == list(STIFFNESS)
    assert [parameters[f"joint_damping[{j}]"].value for j in range(5)] == list(DAMPING)
