"""What an estimator returns is judged before it is believed."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from corekit.errors import PluginError
from corekit.roles.estimator import Estimate, FittedParameter, InputTrajectory, LikelihoodProfile
from corekit.roles.model import Channel
from corekit.scenario.load import loads
from corekit_study.estimate_check import checked_estimate
from corekit_study.fit import _check_options
from corekit_study.fit_file import FitFile

NOTHING: Any = None
WORDS: Any = [["a"]]
UNITS = {"young": "Pa", "count": ""}
TASK: Any = SimpleNamespace(
    body="arm",
    unit_of=UNITS.__getitem__,
    model=SimpleNamespace(
        description=SimpleNamespace(inputs=(Channel("tension", "N", 2, lower=0.0, upper=10.0),))
    ),
)
PARAMETER = FittedParameter(
    name="young", unit="Pa", value=2e5, start=1e5, low=1.9e5, high=2.1e5, verdict="identified"
)
SEEN = np.zeros((2, 1, 3))
SOUND = Estimate(
    fitted=(PARAMETER,), time=np.array([0.0, 1.0]), markers=("tip",), observed=SEEN, predicted=SEEN.copy()
)


def with_parameter(**changes: Any) -> Estimate:
    return evolve(SOUND, fitted=(evolve(PARAMETER, **changes),))


def with_input(values: Any, times: Any = (0.0,)) -> Estimate:
    return evolve(SOUND, schedules=(InputTrajectory(channel="tension", times=times, values=values),))


def test_a_sound_estimate_is_left_as_it_is():
    assert checked_estimate(SOUND, TASK, "mine").fitted == SOUND.fitted
    held = with_input(np.array([[0.0, 10.0 + 1e-7]]))  # what an optimiser relaxes
    assert checked_estimate(held, TASK, "mine").schedules == held.schedules
    vague = with_parameter(low=math.nan, high=math.inf, value=2e5, verdict="not identifiable")
    assert checked_estimate(vague, TASK, "mine").fitted == vague.fitted


@pytest.mark.parametrize("verdict", ["identified", "weakly identified"])
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"value": math.nan}, "its value is nan, so that"),
        ({"low": math.nan}, "its interval from nan to"),
        ({"high": math.inf}, "its interval goes from 190000 to inf"),
        ({"low": 2.05e5}, "does not hold its value"),
    ],
)
def test_what_has_no_finite_value_and_interval_is_not_identified(changes, said, verdict):
    (found,) = checked_estimate(with_parameter(verdict=verdict, **changes), TASK, "mine").fitted
    assert found.verdict == "not identifiable"
    assert said in found.note


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("an estimate", "answered with a str, not an `Estimate`"),
        (with_parameter(verdict="certain"), "the verdict 'certain' of 'young' is none of identified, weakly"),
        (with_parameter(unit="mm"), "'young' is given in 'mm', the option is in 'Pa'"),
        (with_parameter(name="yuong"), "'yuong' is no option of body 'arm'"),
        (
            evolve(SOUND, predicted=np.zeros((3, 2))),
            r"predicted has the shape \(3, 2\) instead of \(2, 1, 3\)",
        ),
        (
            evolve(SOUND, predicted=SEEN + math.nan),
            "predicted is not finite where marker 'tip' was seen, at 0 s",
        ),
        (
            evolve(
                SOUND,
                schedules=(InputTrajectory(channel="pull", times=np.zeros(1), values=np.zeros((1, 2))),),
            ),
            "body 'arm' has no channel 'pull'",
        ),
        (
            evolve(
                SOUND, schedules=(InputTrajectory(channel="tension", times=np.zeros(1), values=np.zeros(2)),)
            ),
            r"has values of shape \(2,\) instead of \(1, 2\)",
        ),
        (evolve(SOUND, time=np.array([0.0, math.nan])), "time is not finite and increasing"),
        (evolve(SOUND, time=np.array([1.0, 0.0])), "time is not finite and increasing"),
        (evolve(SOUND, time=NOTHING), "time is no list of instants"),
        (evolve(SOUND, observed=WORDS), "observed holds something else than numbers"),
        (with_parameter(value="2e5"), "value, start, low and high of 'young' are .*, not four numbers"),
        (
            with_parameter(profile=LikelihoodProfile(np.array([1.0, 1.0]), np.zeros(2))),
            "the profile of 'young' is no row of increasing values",
        ),
        (with_input(np.array([[1.0, 11.0]])), "'tension' goes from 1 to 11 N, and its bounds are 0 and 10"),
        (with_input(np.array([[1.0, math.inf]])), "the input 'tension' is not finite"),
        (
            with_input(np.zeros((2, 2)), times=np.array([1.0, 0.5])),
            "the times of the input 'tension' is not finite",
        ),
    ],
)
def test_what_no_estimate_may_be_is_a_mistake_of_the_estimator_by_its_name(wrong, said):
    with pytest.raises(PluginError, match=rf"the estimator 'mine' .*{said}"):
        checked_estimate(wrong, TASK, "mine")


WORLD = """
format = "corekit-scenario/1"
name = "spring"
time = { duration = 0.1, step = 0.01 }
integrator = { use = "reference-semi-implicit-euler" }
[[bodies]]
name = "arm"
use = "reference-point-chain"
"""


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("stiffness", -1.0, "stiffness: found -1.0"),
        ("masses[0]", -2.0, "masses"),
        ("masses[7]", 1.0, "masses"),
    ],
)
def test_what_the_model_refuses_is_a_mistake_of_the_estimator(name, value, said):
    file = FitFile(
        format="corekit-fit/1", name="any", scenario="any", body="arm", use="mine", loaded=loads(WORLD)
    )
    with pytest.raises(
        PluginError, match="the estimator 'mine' answered with what body 'arm' refuses: .*" + said
    ):
        _check_options(file, with_parameter(name=name, value=value))
    _check_options(file, with_parameter(name="stiffness", value=math.nan))
    _check_options(file, with_parameter(name="stiffness", value=2.0))
