"""Mistakes as authors make them, of every role: one check refuses each, but for those that no kit can know."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from corekit_testing.conformance.check import Verdict

from .authors_mistakes import MISTAKES, STATED_SURVIVORS, SURVIVORS
from .defects import failing

MADE_WRONG = {"LCP solvers": "corekit_complementarity", "QP solvers": "corekit_quadratic"}
"""Role → what has the sound component, where that is not this distribution."""
PRESENT = {
    role: table for role, table in MISTAKES.items() if find_spec(MADE_WRONG.get(role, "corekit_testing"))
}
ALL = [(role, name) for role, table in PRESENT.items() for name in table]


@pytest.mark.parametrize(("role", "name"), ALL)
def test_a_mistake_is_refused_by_its_check_which_says_what_is_wrong(role, name, tmp_path):
    judge, said = MISTAKES[role][name]
    with np.errstate():  # one of them changes it for everybody
        found = judge(tmp_path)
    assert found.verdict is Verdict.FAILED
    assert said in found.reason


@pytest.mark.parametrize("name", SURVIVORS)
def test_what_no_kit_can_know_passes(name):
    make, why = SURVIVORS[name]
    assert failing(make()) == set()
    assert why


@pytest.mark.parametrize("name", STATED_SURVIVORS)
def test_what_no_kit_can_know_of_laws_and_shapes_passes(name):
    failed, why = STATED_SURVIVORS[name]
    assert failed() == set()
    assert why
