"""What a planner simulates is the scenario itself, with its inputs, and again the same."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import PluginError
from corekit.scenario.load import loads
from corekit_study.answers import answer_of
from corekit_study.planned_runs import PlannedRuns

WORLD = """
format = "corekit-scenario/1"
name = "pushed"
time = { duration = 0.4, step = 0.01 }
world = { gravity = [0.0, 0.0, 0.0] }
integrator = { use = "reference-semi-implicit-euler" }
[[bodies]]
name = "mass"
use = "reference-point-chain"
options = { masses = [0.5] }
[[bodies]]
name = "other"
use = "reference-point-chain"
options = { positions = [[5.0, 0.0, 0.0]] }
inputs = [{ channel = "pull", signal = { kind = "constant", value = [0.0, 1.0, 0.0] } }]
"""
MASS, STEP = 0.5, 0.01


@pytest.fixture
def runs():
    return PlannedRuns(loads(WORLD))


def test_inputs_are_held_over_the_interval_that_ends_there(runs):
    force = np.array([[9.0, 9.0, 9.0], [1.0, 0.0, 0.0], [0.0, 0.0, -2.0]])
    times = np.array([0.0, 0.1, 0.2])
    for _ in range(2):  # a second run begins anew
        found = runs.simulate({"mass": force}, times)
        # v grows by h·F/m a step, x by h·v: h²·n·(n + 1)/2·F/m in the first interval of n steps
        assert found["mass"].v[1] == pytest.approx([0.1 / MASS, 0.0, 0.0])
        assert found["mass"].v[2] == pytest.approx([0.1 / MASS, 0.0, -0.2 / MASS])
        assert found["mass"].q[1] == pytest.approx([STEP**2 * 55 / MASS, 0.0, 0.0])
        # who gets none keeps the scenario's
        assert found["other"].v[2] == pytest.approx([0.0, 0.2, 0.0])
    assert found["mass"].inputs == pytest.approx(force)
    assert found["other"].inputs is None


@pytest.mark.parametrize(
    ("inputs", "times", "said"),
    [
        (np.zeros((2, 3)), [0.0, 0.015], "whole numbers of the scenario's steps of 0.01 s"),
        (np.zeros((2, 3)), [0.1, 0.2], "must begin at 0"),
        (np.zeros((2, 3)), [0.0, 0.0], "grow"),
        (np.zeros((2, 2)), [0.0, 0.1], r"of 'mass' have the shape \(2, 2\) instead of \(2, 3\)"),
    ],
)
def test_what_does_not_fit_is_said(runs, inputs, times, said):
    with pytest.raises(PluginError, match=said):
        runs.simulate({"mass": inputs}, np.array(times))


@pytest.mark.parametrize("answer", [None, 3, (1, 2), (1, 2, 3)])
def test_an_answer_of_other_parts_is_a_mistake_of_who_gave_it(answer):
    with pytest.raises(PluginError, match="the planner 'mine' must answer with a `Plan` and a `SolveInfo`"):
        answer_of(answer, "the planner 'mine'", "a `Plan`")
