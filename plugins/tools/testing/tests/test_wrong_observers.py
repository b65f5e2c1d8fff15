"""Wrong observers of runs: each breaks one promise, and exactly its check fails."""

import numpy as np
import pytest

from corekit_testing.conformance.check import CheckFailed
from corekit_testing.conformance.observers import OBSERVER_CHECKS


class Lowest:
    """The least height of the ball, and how many steps were seen."""

    name = "lowest"

    def __init__(self, context):
        self.low, self.steps = np.array([np.inf]), 0

    def begin(self):
        pass

    def restore(self, state):
        self.low, self.steps = state["low"].copy(), int(state["steps"])

    def on_step_accepted(self, simulation, report):
        self.low[0] = min(self.low[0], simulation.state.q[2])
        self.steps += 1

    def flush(self, patience):
        return True

    def internal_state(self):
        return {"low": self.low.copy(), "steps": np.array(self.steps)}

    def summary(self):
        return {"lowest_m": float(self.low[0]), "steps": self.steps}

    def close(self):
        pass


class Nameless(Lowest):
    name = ""


class Pushing(Lowest):
    """Stops the ball a little."""

    def on_step_accepted(self, simulation, report):
        super().on_step_accepted(simulation, report)
        simulation.state.v[0] *= 1.0 - 1e-12


class Forgetful(Lowest):
    """Begins to count anew when a run is resumed."""

    def restore(self, state):
        self.low = state["low"].copy()


class Sharing(Lowest):
    def internal_state(self):
        return {"low": self.low, "steps": np.array(self.steps)}

    def on_step_accepted(self, simulation, report):
        super().on_step_accepted(simulation, report)
        self.low -= 1e-9


class Wordy(Lowest):
    def summary(self):
        return {"lowest_m": float("nan") if self.steps == 120 else 0.0}


WRONG = {
    "observers-named": Nameless,
    "changes-nothing": Pushing,
    "resumed-alike": Forgetful,
    "state-copied": Sharing,
    "summary-plain": Wordy,
}


def failing(cls, folder):
    failed = set()
    for name, check in OBSERVER_CHECKS.items():
        try:
            check(lambda context: [cls(context)], folder)
        except CheckFailed:
            failed.add(name)
    return failed


@pytest.mark.parametrize("name", OBSERVER_CHECKS)
def test_exactly_the_right_check_catches_it(name, tmp_path):
    assert failing(WRONG[name], tmp_path) == {name}


def test_a_sound_observer_passes(tmp_path):
    assert failing(Lowest, tmp_path) == set()


def test_a_function_that_makes_none_is_told(tmp_path):
    with pytest.raises(CheckFailed, match="makes no observer"):
        OBSERVER_CHECKS["changes-nothing"](lambda context: [], tmp_path)
