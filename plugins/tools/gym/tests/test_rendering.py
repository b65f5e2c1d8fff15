"""Episodes drawn: pictures as arrays, and a page that follows."""

from __future__ import annotations

from urllib.request import urlopen

import numpy as np
import pytest

from corekit.errors import ControlError
from corekit_gym.environment import Environment


def test_pictures_have_their_size_and_follow_the_ball(ball_file):
    pytest.importorskip("corekit_view")
    env = Environment(ball_file, render_mode="rgb_array", render_size=(240, 180))
    env.reset(seed=0, options={"targets": {"goal": [0.3, 0.0, 1.0]}})
    pictures = [env.render()]
    for _ in range(4):
        env.step(np.ones(1))
    pictures.append(env.render())
    env.reset(seed=0, options={"targets": {"goal": [0.3, 0.3, 1.0]}})
    pictures.append(env.render())
    for picture in pictures:
        assert picture.dtype == np.uint8
        assert picture.shape == (180, 240, 3)
    assert not np.array_equal(pictures[0], pictures[1])
    assert not np.array_equal(pictures[0], pictures[2])  # the mark of the target
    env.close()


def test_a_page_shows_the_episode_and_ends_with_it(ball_file, capsys):
    pytest.importorskip("corekit_view")
    env = Environment(ball_file, render_mode="human")
    env.reset(seed=0)
    env.render()
    url = capsys.readouterr().err.split()[-1]
    with urlopen(url, timeout=10) as answer:
        assert answer.status == 200
    env.step(np.zeros(1))
    env.close()
    with pytest.raises(OSError, match=r".*"):
        urlopen(url, timeout=2)


def test_an_unknown_mode_is_refused(ball_file):
    with pytest.raises(ControlError, match="rgb_array"):
        Environment(ball_file, render_mode="ansi")
