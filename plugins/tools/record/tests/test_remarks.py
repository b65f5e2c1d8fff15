"""What integrators remark of their steps, as the log has it."""

import pytest
from attrs import evolve

from corekit.data.status import StepReport
from corekit.scenario.load import load
from corekit_record.statistics import Statistics
from corekit_record.watchdog import Watchdog


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch, tiny):
    monkeypatch.chdir(tmp_path)


def test_what_integrators_remark_is_logged_where_it_begins_with_time_and_length(scenario_file):
    """Pitfall: a run whose steps are halved again and again, and nobody can see where."""
    scenario = load(scenario_file, ["bodies.ball.initial.position=[0, 0, 5]", "time.step=1e-3"])
    simulation, told = scenario.compose(), []
    watchdog = Watchdog(
        scenario.watchdog,
        simulation,
        Statistics(),
        0.1,
        lambda *event, **data: told.append((event, data)),
        print,
    )
    notes = ["", "cut", "cut", "", "cut", *["", "shifted"] * 20]
    for note in notes:
        simulation.step()
        watchdog.on_step_accepted(simulation, StepReport(accepted=True, step_size=5e-4, note=note))
    assert all(event == ("remark",) for event, _ in told)
    assert [(data["step"], data["said"]) for _, data in told[:3]] == [(2, "cut"), (5, "cut"), (7, "shifted")]
    assert told[0][1]["time_s"] == pytest.approx(2e-3)
    assert told[0][1]["length_s"] == 5e-4
    assert len(told) == 10


def test_a_remark_names_the_shapes_that_did_not_settle_and_their_detector(scenario_file):
    """Pitfall: steps that do not settle, of which a run says that they are cut, and nothing of what would cure them."""
    scenario = load(scenario_file, ["bodies.ball.initial.position=[0, 0, 0.05]"])
    simulation, told = scenario.compose(), []
    keep = lambda *event, **data: told.append(data)  # noqa: E731
    watchdog = Watchdog(scenario.watchdog, simulation, Statistics(), 0.1, keep, print)
    simulation.step()
    cut = StepReport(accepted=True, step_size=1e-3, note="cut")
    watchdog.on_step_accepted(simulation, cut)
    watchdog.on_step_accepted(simulation, evolve(cut, note="cut again", unsettled=(0, 1)))
    nothing, data = told
    assert "between" not in nothing
    assert data["between"] == "ball.0 (sphere) and floor (half-space), found by tiny-floor"
