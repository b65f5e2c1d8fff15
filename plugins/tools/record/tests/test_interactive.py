"""`corekit view FILE`: sliders for inputs, and a simulation that keeps pace with the wall clock."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.cli import MISUSE, main
from corekit.errors import ConfigError
from corekit.roles.viewer import Requests
from corekit_record.cli.interactive import DrivenSimulation, sliders_of

NOTHING = Requests({})
SIDEWAYS = 1
"""Number of the slider of the push along y, which nothing else moves."""


@pytest.fixture
def simulation(world):
    """The falling ball of 2 kg, far above any floor; its push along z falls to −1 N in 0.1 s."""
    made = world(floor=False)
    made.mark_start()
    made.warm_up()  # as `corekit view` does: what loads late would count as time that passed
    return made


def driven(simulation):
    return DrivenSimulation(simulation, "tiny", sliders_of(simulation, 1.0, {})[0])


def test_every_number_of_every_channel_has_a_slider_of_twice_its_signal(simulation):
    sliders, guessed = sliders_of(simulation, 1.0, {})
    assert guessed == []
    assert [(each.body, each.channel, each.entry) for each in sliders] == [
        ("ball", "push", i) for i in range(3)
    ]
    assert {(each.lower, each.upper) for each in sliders} == {(-2.0, 2.0)}
    assert {each.upper for each in sliders_of(simulation, 1.0, {"ball.push": (-1.0, 9.0)})[0]} == {9.0}


def test_a_channel_whose_range_nothing_tells_goes_to_one_and_is_named(simulation):
    inputs = simulation.inputs["ball"]
    inputs["push"] = 0.0  # as if the file had no signal
    sliders, guessed = sliders_of(simulation, 1.0, {})
    assert {(each.lower, each.upper) for each in sliders} == {(-1.0, 1.0)}
    assert guessed == ["ball.push"]
    assert sliders_of(simulation, 1.0, {"ball.push": (-1.0, 9.0)})[1] == []


@pytest.mark.parametrize(
    ("ranges", "said"),
    [({"ball.pull": (0.0, 1.0)}, "must be one of ball.push"), ({"ball.push": (2.0, 1.0)}, "must rise")],
)
def test_a_range_that_fits_nothing_is_refused(simulation, ranges, said):
    with pytest.raises(ConfigError, match=said):
        sliders_of(simulation, 1.0, ranges)


def test_time_keeps_pace_with_the_clock_and_a_moved_input_pushes(simulation):
    # a force f on a mass m for n steps h: v = n·h·f/m
    run = driven(simulation)
    run.advance(NOTHING, 0.0105)  # half a step more than ten, so that rounding decides nothing
    assert simulation.step_index == 10
    assert simulation.state.v[1] == 0.0
    run.advance(Requests({SIDEWAYS: 4.0}, speed=0.5), 0.010)  # the clock's 10 ms are 5 ms here
    assert simulation.step_index == 15
    assert simulation.state.v[1] == pytest.approx(5 * 1e-3 * 4.0 / 2.0, rel=1e-12)
    assert run.values()[SIDEWAYS] == 4.0
    run.advance(Requests({}, running=False), 1.0)
    run.advance(NOTHING, 0.0)  # a pause is not caught up with
    assert simulation.step_index == 15


def test_reset_goes_back_to_the_start_and_to_the_signals(simulation):
    run = driven(simulation)
    run.advance(Requests({SIDEWAYS: 4.0}), 0.0105)
    run.advance(Requests({}, running=False, reset=True), 0.0)
    assert simulation.step_index == 0
    assert simulation.state.v.tolist() == [1.0, 0.0, 0.0]
    assert run.values() == [0.0, 0.0, 0.0]


def test_the_frame_is_the_state_now(simulation):
    run = driven(simulation)
    run.advance(NOTHING, 0.02)
    frame = run.snapshot.replay()
    assert frame.time == [simulation.time] != [0.0]
    np.testing.assert_array_equal(frame.bodies[0].shape_position[0, 0], simulation.state.q)


def test_a_step_that_fails_is_told_and_time_stands_still_until_a_reset(world):
    simulation = world(floor=False, breaks_at=0.005)
    simulation.mark_start()
    run = driven(simulation)
    for _ in range(2):
        run.advance(NOTHING, 0.0105)
        assert simulation.step_index == 5
        assert "Reset" in run.words()
    run.advance(Requests({}, reset=True), 0.0025)
    assert simulation.step_index == 2
    assert "Reset" not in run.words()


def test_a_channel_that_a_controller_drives_says_who_drives_it(world):
    simulation = world(balls=2, floor=False)
    simulation.add_controller(lambda _: {"ball1": {"push": 1.0}}, name="hold")
    run = driven(simulation)
    run.advance(NOTHING, 0.0105)
    run.advance(Requests({3 + SIDEWAYS: 2.0}), 0.0105)
    assert "controller 'hold' drives" in run.words()
    assert run.values()[3:] == [1.0, 1.0, 1.0]


def test_an_unreadable_range_is_one_sentence(capsys):
    assert main(["view", "tiny.toml", "--range", "ball.push=high"]) == MISUSE
    assert "BODY.CHANNEL=LOW:HIGH" in capsys.readouterr().err


def test_a_range_is_not_for_runs(tmp_path, capsys):
    assert main(["view", str(tmp_path), "--range", "ball.push=0:1"]) == MISUSE
    assert "is for a scenario" in capsys.readouterr().err
