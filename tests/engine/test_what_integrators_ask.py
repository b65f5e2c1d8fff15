"""What an integrator may ask of a world: few questions a family, and the world answers each as it is asked."""

import inspect

import pytest

from corekit.engine.split.smooth_dynamics import SmoothDynamics as WorldSmoothDynamics
from corekit.engine.split.split_step import SplitStep as WorldSplitStep
from corekit.engine.step.theta_step import ThetaStep as WorldThetaStep
from corekit.roles.steps import SmoothDynamics, SplitStep, ThetaStep

FAMILIES = ((ThetaStep, WorldThetaStep), (SplitStep, WorldSplitStep), (SmoothDynamics, WorldSmoothDynamics))


def questions(family):
    return [name for name, member in vars(family).items() if inspect.isfunction(member) and name[0] != "_"]


@pytest.mark.parametrize(("family", "answer"), FAMILIES, ids=["theta", "split", "smooth"])
def test_a_family_has_at_most_seven_questions(family, answer):
    assert 0 < len(questions(family)) <= 7


@pytest.mark.parametrize(("family", "answer"), FAMILIES, ids=["theta", "split", "smooth"])
def test_the_world_takes_what_the_family_says(family, answer):
    for name in questions(family):
        asked = inspect.signature(getattr(family, name)).parameters
        taken = inspect.signature(getattr(answer, name)).parameters
        assert list(taken) == list(asked), name
        for each in asked:
            assert (taken[each].kind, taken[each].default) == (asked[each].kind, asked[each].default), (
                name,
                each,
            )
