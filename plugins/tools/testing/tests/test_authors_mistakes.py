"""Mistakes as authors make them, of every role: one check refuses each, but for those that no kit can know."""

from __future__ import annotations

import pytest

from corekit_testing.conformance import checks_of
from corekit_testing.conformance.check import Verdict
from corekit_testing.conformance.runner import outcome

from .authors_mistakes import MISTAKES, SURVIVORS
from .defects import failing

ALL = [(role, name) for role, table in MISTAKES.items() for name in table]


def is_caught(role: str, name: str) -> bool:
    make, check = MISTAKES[role][name]
    subject = make()
    (found,) = (each for each in checks_of(subject.spec.role) if each.name == check)
    return outcome(found, subject).verdict is Verdict.FAILED


@pytest.mark.parametrize(("role", "name"), ALL)
def test_a_mistake_is_refused_by_its_check(role, name):
    assert is_caught(role, name)


@pytest.mark.parametrize("name", SURVIVORS)
def test_what_no_kit_can_know_passes(name):
    make, why = SURVIVORS[name]
    assert failing(make()) == set()
    assert why


def test_every_mistake_has_a_check_of_its_role():
    for table in MISTAKES.values():
        for make, check in table.values():
            assert check in {each.name for each in checks_of(make().spec.role)}
