"""Wrong observers of runs: every check refuses one, and a sound one passes."""

import pytest

from corekit_testing.conformance import observer_conformance
from corekit_testing.conformance.claims import judged, outcome_of
from corekit_testing.conformance.observers import OBSERVER_CLAIMS

from .mistakes_of_observers import OBSERVERS, Way

test_a_sound_observer = observer_conformance(lambda context: [Way(context)])


def failing(cls, folder):
    return {
        each.check for each in judged(OBSERVER_CLAIMS, lambda context: [cls(context)], folder) if each.reason
    }


def test_every_check_has_a_wrong_observer_that_it_refuses():
    assert {check for _, check, _ in OBSERVERS.values()} == set(OBSERVER_CLAIMS)


ALONE = [name for name, (_, check, _) in OBSERVERS.items() if check not in ("resumed-alike", "runs-apart")]
"""Those of which no other check can know: what is not saved, or shared by all runs, shows in many ways."""


@pytest.mark.parametrize("name", [name for name in ALONE if name != "tells NumPy's integers"])
def test_no_other_check_refuses_it(name, tmp_path):
    cls, check, _ = OBSERVERS[name]
    assert failing(cls, tmp_path) == {check}


def test_a_function_that_makes_none_is_told(tmp_path):
    found = outcome_of(OBSERVER_CLAIMS, "changes-nothing", lambda context: [], tmp_path)
    assert "makes no observer" in found.reason
