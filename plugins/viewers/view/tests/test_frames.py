"""Key frames are ordered and contain first, last and first contact; non-finite frames are dropped."""

import numpy as np
import pytest
from attrs import evolve

from corekit.errors import ConfigError, ResultsError
from corekit_view.frames import drop_non_finite, key_frames, select, thin_frames


def first_touch(replay):
    return next(i for i, contact in enumerate(replay.contacts) if len(contact.mode))


def test_key_frames_contain_begin_end_and_first_contact(arm_over_box):
    replay = arm_over_box(60)
    frames = key_frames(replay, 6)
    assert frames[0] == 0
    assert frames[-1] == 59
    assert first_touch(replay) in frames
    assert np.all(np.diff(frames) > 0)


def test_times_of_the_user_select_the_nearest_frames(arm_over_box):
    replay = arm_over_box(21)  # every 0.1 s
    assert key_frames(replay, 6, (1.52, 0.0, 0.29)).tolist() == [0, 3, 15]


def test_times_of_the_user_outside_of_the_run_are_refused(arm_over_box):
    replay = arm_over_box(21)  # 2 s, every 0.1 s
    with pytest.raises(
        ConfigError, match=r"times\[1\]: found 99\.0; must be within what was recorded, 0 to 2 s"
    ):
        key_frames(replay, 6, (0.3, 99.0))
    with pytest.raises(ConfigError, match=r"times\[0\]: found -1\.0"):
        key_frames(replay, 6, (-1.0,))
    # the end of a run that its records do not divide
    assert key_frames(replay, 6, (2.05,)).tolist() == [20]


def test_more_panels_than_frames_give_every_frame(arm_over_box):
    assert key_frames(arm_over_box(4), 6).tolist() == [0, 1, 2, 3]


def test_one_panel_shows_the_end(arm_over_box):
    assert key_frames(arm_over_box(9), 1).tolist() == [8]


def test_key_frames_without_motion_are_spread_over_time(planar_rod):
    replay = planar_rod(41)
    body = replay.bodies[0]
    still = evolve(replay, bodies=(evolve(body, outline=np.repeat(body.outline[:1], 41, axis=0)),))
    assert key_frames(still, 5).tolist() == [0, 10, 20, 30, 40]


def test_thinning_keeps_ends_and_every_track(arm_over_box):
    replay = arm_over_box(60)
    few = thin_frames(replay, 7)
    assert (
        len(few.time)
        == len(few.contacts)
        == len(few.bodies[0].outline)
        == len(few.obstacles[0].position)
        == 7
    )
    assert few.time[[0, -1]].tolist() == replay.time[[0, -1]].tolist()
    assert thin_frames(replay, 60) is replay


@pytest.mark.parametrize("position", [np.nan, -np.inf, 1e300, -1e13])
def test_frames_with_positions_that_cannot_be_drawn_are_dropped(arm_over_box, position):
    """Far beyond anything the pixels of a picture ended raw."""
    replay = arm_over_box(10)
    outline = replay.bodies[0].outline.copy()
    outline[7:, 3, 1] = position
    blown = evolve(replay, bodies=(evolve(replay.bodies[0], outline=outline),))
    assert drop_non_finite(blown).time.tolist() == replay.time[:7].tolist()


def test_a_replay_without_drawable_frames_is_reported(arm_over_box):
    replay = arm_over_box(3)
    nothing = evolve(replay, bodies=(evolve(replay.bodies[0], outline=np.full((3, 41, 3), np.inf)),))
    with pytest.raises(ResultsError, match=r"positions that are not finite, or beyond 1e\+12 m"):
        drop_non_finite(nothing)
    with pytest.raises(ResultsError, match="no frames"):
        drop_non_finite(select(replay, np.zeros(0, dtype=np.int64)))


def test_tracks_of_different_lengths_are_refused(arm_over_box):
    replay = arm_over_box(5)
    with pytest.raises(ResultsError, match="5 times"):
        drop_non_finite(evolve(replay, contacts=replay.contacts[:-1]))
