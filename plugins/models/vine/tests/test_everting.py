"""Links that come out one after the other at the tip, while the wall behind it rests."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit_testing.rounding import rounding

FULL, STOWED, LINKS = 0.1, 0.01, 5
OPTIONS = {
    "form": "everting", "bodies": 2 * LINKS, "length": 0.2, "longest": LINKS * FULL, "stowed": STOWED, "heading": 0.5,
}  # fmt: skip
NEAR = rounding(200 * LINKS)
"""Of 200 steps along five links, below 1 m."""


def run(simulation, steps):
    """Lengths of the links and places of the pins after every step."""
    lengths, places = [], []
    model = simulation.bodies[0].model
    frames = 2 * LINKS + 1
    for _ in range(steps):
        simulation.step()
        state = simulation.state.body_states[0]
        position, rotation = np.zeros((frames, 3)), np.zeros((frames, 3, 3))
        model.compute_frame_poses(state, position, rotation)
        lengths.append(state.aux[:LINKS].copy())
        places.append(position[::2, [0, 2]])
    return np.array(lengths), np.array(places)


def test_a_robot_starts_with_links_that_have_come_out_and_others_that_wait(robot):
    arm = robot(**OPTIONS)
    # five wait with 10 mm each, and 150 mm are out: one of 90 mm more, one of 60
    np.testing.assert_allclose(arm.state.aux[:LINKS], [FULL, 0.07, STOWED, STOWED, STOWED], atol=NEAR)


def test_the_tip_grows_at_its_rate_and_the_wall_behind_it_rests(robot, moving):
    arm, rate, h = robot(**OPTIONS), 0.2, 0.01
    lengths, places = run(moving(arm, step=h, growth_rate=rate), 100)
    asked = 0.2 + rate * h * np.arange(1, 101)
    np.testing.assert_allclose(lengths.sum(axis=1), asked, atol=NEAR)
    for j in range(LINKS):
        if lengths[-1, j] > FULL - NEAR:
            # a step may take it a little farther, one more where rounding leaves it before its full length
            assert lengths[-1, j] < FULL + rate * h + NEAR
            out = np.flatnonzero(lengths[:, j] > lengths[-1, j] - NEAR)
            np.testing.assert_allclose(
                places[out[0] :, j + 1], places[[out[0]], j + 1].repeat(len(out), 0), atol=NEAR
            )
    # one at a time
    assert (np.count_nonzero(np.abs(np.diff(lengths, axis=0)) > NEAR, axis=1) == 1).all()
    assert np.count_nonzero(lengths[-1] > STOWED + NEAR) == 4


def test_growth_ends_at_the_longest_and_retraction_where_all_are_stowed(robot, moving):
    simulation = moving(robot(**OPTIONS), growth_rate=1.0)
    lengths, _ = run(simulation, 60)
    assert 0.5 - NEAR < lengths[-1].sum() < 0.5 + 0.05
    np.testing.assert_array_equal(lengths[-1], lengths[-2])
    simulation = moving(robot(**OPTIONS), growth_rate=-0.3)
    lengths, _ = run(simulation, 60)
    assert lengths[30].sum() == pytest.approx(0.2 - 31 * 3e-3, abs=NEAR)
    assert (lengths[-1] >= 0.5 * STOWED - NEAR).all()
    assert (lengths[-1] <= STOWED + NEAR).all()


def test_a_robot_that_retracts_and_grows_again_is_where_it_was(robot, moving):
    arm = robot(**OPTIONS)
    simulation = moving(arm, growth_rate=-0.1)
    lengths, _ = run(simulation, 80)
    assert lengths[-1].sum() == pytest.approx(0.12, abs=NEAR)
    back = robot(**OPTIONS)
    back.state.copy_from(simulation.state.body_states[0])
    back.state.time = 0.0
    lengths, places = run(moving(back, growth_rate=0.1), 80)
    assert lengths[-1].sum() == pytest.approx(0.2, abs=NEAR)
    assert np.hypot(*places[-1, -1]) == pytest.approx(0.2, abs=NEAR)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"longest": 0.1}, "longest"),
        ({"longest": None}, "longest"),
        ({"stowed": 0.05}, "stowed"),
        ({"growth_input": "links"}, "only the tip grows"),
        ({"shortest": 0.01}, "stowed at the tip"),
        ({"form": "tube"}, "needs form = 'everting'"),
    ],
)
def test_options_that_no_everting_robot_can_have_are_refused(robot, options, message):
    with pytest.raises(ConfigError, match=message):
        robot(**{**OPTIONS, **options})


@pytest.mark.parametrize("length", [0.02, 0.6])
def test_a_start_that_is_too_short_or_too_long_is_refused(robot, length):
    with pytest.raises(ConfigError, match=r"must be from 0\.05 to 0\.5 m"):
        robot(**OPTIONS, initial={"grown_length": length})


@pytest.mark.parametrize("form", ["tube", "everting"])
def test_a_link_turned_inside_out_keeps_the_mass_that_it_had(robot, form):
    options = OPTIONS if form == "everting" else {"form": "tube", "bodies": 2 * LINKS, "length": 0.2}
    arm = robot(**options)
    before = arm.dynamics()[0]
    arm.state.q[3:5] = arm.state.q[:2] - 0.2 * np.array([np.cos(arm.state.q[2]), np.sin(arm.state.q[2])])
    arm.model.reparametrise(arm.state)
    np.testing.assert_array_equal(arm.dynamics()[0][:6, :6], before[:6, :6])
