"""Sliders in the browser drive a simulation that keeps pace with the clock."""

import math
import threading

import numpy as np
import pytest

from corekit.roles.viewer import Slider
from corekit_view.config import PageConfig
from corekit_view.frames import select
from corekit_view.viser_viewer import ViserViewer

from .test_live_replay import ended, seen_links
from .viser_client import Client

TENSION = [Slider("arm", "tension", i, f"tension[{i}]", "N", 0.0, 20.0) for i in range(2)]


@pytest.fixture
def start(arm_over_box):
    """The first frame of a run."""
    return select(arm_over_box(2), np.array([0]))


def served(replay, sliders):
    return ViserViewer(PageConfig()).interact(replay, sliders, 0)


def test_a_moved_slider_is_asked_for_once_and_stays_where_it_was_put(start):
    with served(start, TENSION) as session, Client(session.url) as client:
        assert client.wait(lambda: client.part("tension[1] [N]")["max"] == 20.0)
        client.set("tension[1] [N]", 7.5)
        asked = []
        assert client.wait(lambda: asked.append(session.pop_requests()) or asked[-1].moved)
        assert asked[-1].moved == {1: 7.5}
        assert asked[-1].running
        assert not session.pop_requests().moved
        for first in (3.0, 3.5):  # nobody holds this one; the other one would be sent with it
            session.show(start, [first, 4.0], "")
            assert client.wait(lambda first=first: client.part("tension[0] [N]")["value"] == first)
        assert client.part("tension[1] [N]")["value"] != 4.0


def test_reset_gives_the_sliders_back_and_pause_holds_the_time(start):
    with served(start, TENSION) as session, Client(session.url) as client:
        client.wait(lambda: client.part("tension[0] [N]"))
        client.set("tension[0] [N]", 5.0)
        assert client.wait(lambda: session.pop_requests().moved)
        client.set("Pause", True)
        assert client.wait(lambda: not session.pop_requests().running)
        client.set("Reset", True)
        assert client.wait(lambda: session.pop_requests().reset)
        assert not session.pop_requests().reset
        session.show(start, [1.0, 2.0], "")
        assert client.wait(lambda: client.part("tension[0] [N]")["value"] == 1.0)


def test_the_scene_follows_and_tells_what_is_wrong(start, arm_over_box):
    later = select(arm_over_box(30), np.array([29]))
    before = set(threading.enumerate())
    with served(start, []) as session, Client(session.url) as client:
        session.show(later, [], "**too fast**")
        points = later.bodies[0].outline[0]
        middle = 0.5 * (points[1:] + points[:-1])
        assert client.wait(lambda: np.abs(seen_links(client) - middle).max() < 1e-5)
        assert client.wait(lambda: "t = 2 s" in client.text() and "**too fast**" in client.text())
        assert client.wait(lambda: "No body of this scenario has inputs" in client.text())
    assert ended(before)


def test_a_value_beyond_the_range_is_shown_at_its_end(start):
    with served(start, TENSION[:1]) as session, Client(session.url) as client:
        session.show(start, [math.inf], "")
        assert client.wait(lambda: client.part("tension[0] [N]")["value"] == 20.0)
