"""The conformance kit tells a form apart that computes something else than its model."""

import pytest
from attrs import evolve

from corekit.registry.resolve import load_target
from corekit_testing.conformance.check import Verdict
from corekit_testing.conformance.model_compiled import COMPILED
from corekit_testing.conformance.runner import run_checks
from corekit_testing.conformance.subject import Subject

MODELS = {
    "rigid": {"shape": "box", "size": [0.1, 0.2, 0.3], "mass": 1.0},
    "pcc": {"sections": 2, "mass": 0.3},
}


def verdict(subject):
    (found,) = run_checks(subject, checks=COMPILED)
    return found.verdict


def other_numbers(form):
    return evolve(form, numbers=form.numbers * (1.0 + 2.0**-50))


def other_entries(form):
    return evolve(form, entries={**form.entries, "poses": 0})


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("change", [other_numbers, other_entries])
def test_a_form_that_differs_by_rounding_or_lacks_an_entry_fails(model, change):
    sound = Subject.installed("models", model, MODELS[model])
    assert verdict(sound) is Verdict.PASSED
    cls = load_target(sound.spec.target)
    altered = type(cls.__name__, (cls,), {"compiled_form": lambda self: change(cls.compiled_form(self))})
    assert verdict(evolve(sound, target=altered)) is Verdict.FAILED
