"""The row of where equilibration decides and what all stages give: kept or missed."""

from __future__ import annotations

import pytest

from corekit_scenarios.cases.cusp.regimes import REGIMES, SUBSETS, conclusion_row, needing_r

NAMES = [stages or "none" for stages in SUBSETS]


def solving(with_r):
    """What every subset solves: R gives half as much again, or nothing."""
    return {stages: 60 + (30 if with_r and "R" in stages else 0) for stages in NAMES}


def counts(*needing):
    return {title: solving(title in needing) for title in REGIMES}


TOGETHER = dict.fromkeys(NAMES, 3700) | {"QR": 3890, "QRT": 3889}


@pytest.mark.parametrize(
    ("own", "assembled", "together", "verdict"),
    [
        (("mixed units",), ("millimetres", "mixed units"), TOGETHER, "kept"),
        (("mixed units",), ("millimetres", "mixed units"), TOGETHER | {"QRT": 3891}, "kept"),
        # scales have nothing to do with it
        (tuple(REGIMES), tuple(REGIMES), TOGETHER | {"QRT": 3891}, "MISSED"),
        (tuple(REGIMES), tuple(REGIMES), TOGETHER, "MISSED"),
        (
            ("mixed units", "millimetres"),
            ("millimetres", "mixed units"),
            TOGETHER,
            "MISSED",
        ),  # own units do not help
        (("mixed units",), ("mixed units",), TOGETHER, "MISSED"),  # nor does their absence harm
        ((), ("millimetres", "mixed units"), TOGETHER, "MISSED"),  # R decides nowhere
        (("mixed units",), ("millimetres", "mixed units"), TOGETHER | {"QRT": 3800}, "MISSED"),  # T does harm
        (
            ("mixed units",),
            ("millimetres", "mixed units"),
            TOGETHER | {"Q": 3889},
            "MISSED",
        ),  # Q alone does as much
    ],
)
def test_r_decides_where_scales_differ_or_it_is_missed(own, assembled, together, verdict):
    assert str(conclusion_row(counts(*own), counts(*assembled), together).verdict) == verdict


def test_r_is_needed_where_the_least_with_it_is_more_than_the_most_without():
    one = solving(with_r=True)
    assert needing_r({"a": one, "b": one | {"Q": 90}, "c": one | {"RT": 60}}) == ["a"]
