"""What fits of every pin are judged by: distances in standard deviations, and verdicts in words."""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
import pytest

import corekit
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.estimator import Estimate, FittedParameter
from corekit_scenarios.cases.vine.pin_fits import (
    DAMPING,
    MATRICES,
    MATRIX_BENDS,
    STIFFNESS,
    identified,
    in_deviations,
    matrices_sought,
    matrix_overrides,
    matrix_starts,
    pin_overrides,
    pin_rows,
    wall_pin_row,
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


@pytest.mark.parametrize("true", [0.4, 0.0, -0.2])
def test_what_couples_pins_is_judged_on_a_linear_scale(true):
    each = attrs.evolve(
        fitted("joint_damping[2][1]", 1.0), value=0.1, low=0.1 - 1.96 * SIGMA, high=0.1 + 1.96 * SIGMA
    )
    (off,) = in_deviations([each], [true])
    assert off == pytest.approx((0.1 - true) / SIGMA, abs=1e-12)


@pytest.mark.parametrize(
    ("shift", "verdict", "passed"),
    [(2.9, "identified", True), (3.1, "identified", False), (3.1, "weakly identified", True)],
)
def test_at_the_wall_what_is_said_to_be_identified_is_judged(shift, verdict, passed):
    fit = made(0.0)
    far = fitted("joint_stiffness[2]", 0.05 * math.exp(shift * SIGMA), verdict=verdict)
    fit = attrs.evolve(
        fit, estimate=attrs.evolve(fit.estimate, fitted=(far, fitted("joint_damping[0]", 1e-5)))
    )
    row = wall_pin_row(fit, analytic("made"), {"joint_stiffness": 0.05, "joint_damping": 1e-5})
    assert row.passed is passed


def test_a_fit_of_matrices_begins_at_matrices_that_the_robot_takes():
    for matrices in (MATRICES, matrix_starts()):
        model: Any = (
            corekit.load("vine/oscillation", matrix_overrides(matrices, MATRIX_BENDS[0]))
            .compose()
            .bodies[0]
            .model
        )
        parameters = model.symbolic().parameters
        assert parameters["joint_damping[2][1]"].value == matrices["joint_damping"][2][1]
    assert matrices_sought().count("[[options.parameters]]") == 12


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
