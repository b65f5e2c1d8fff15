"""Every shipped scenario runs the same twice, bit for bit, also if its own state is taken, lost and restored.

What is compared is all that a run records and counts of a step: state, contacts, iterations, residuals, who answered.
With `--full` 300 steps are compared, or all of a scenario that ends before.
"""

import tomllib

import numpy as np
import pytest
from attrs import fields

from corekit.data.contacts import ContactRecord
from corekit.scenario.load import load, shipped_scenarios

STEPS, LONG, RESTORED_EVERY = 24, 300, 7
RUNNABLE = [
    name
    for name, path in shipped_scenarios().items()
    if tomllib.loads(path.read_text(encoding="utf-8"))["format"] == "corekit-scenario/1"
]


def step(simulation):
    report, contacts = simulation.step(), simulation.contacts()
    recorded = [getattr(contacts, each.name) for each in fields(ContactRecord)]
    info = report.solve_info
    return (
        simulation.state.qv.tobytes(),
        simulation.state.time,
        [each.tobytes() if isinstance(each, np.ndarray) else each for each in recorded],
        (report.step_size, report.iterations, report.note),
        (info.status, info.iterations, info.residuals, info.answered_by),
    )


@pytest.mark.parametrize("name", RUNNABLE)
def test_two_runs_are_equal_and_restoring_its_own_state_changes_nothing(name, pytestconfig):
    scenario = load(name, allow_code=True)
    one, disturbed = (scenario.compose() for _ in range(2))
    steps = LONG if pytestconfig.getoption("full") else STEPS
    for index in range(min(steps, round(scenario.time.duration / scenario.time.step))):
        if index % RESTORED_EVERY == RESTORED_EVERY - 1:
            kept = disturbed.internal_state()
            disturbed.step()
            disturbed.restore(kept)
        assert step(disturbed) == step(one)
