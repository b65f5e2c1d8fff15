"""Browsers show and control the run and follow it; threads and ports end with the session."""

import socket
import threading
import time

import numpy as np
import pytest
from attrs import evolve

from corekit.errors import ResultsError
from corekit_view.batches import batches
from corekit_view.config import PageConfig
from corekit_view.contacts import Arrows
from corekit_view.frames import select
from corekit_view.live_scene import pad_instances
from corekit_view.scene import bounds
from corekit_view.viser_viewer import ViserViewer

from .viser_client import Client


def served(replay, run_status="finished", **options):
    return ViserViewer(PageConfig(**options)).serve(replay, run_status, 0)


def links(replay, frame):
    """Return the midpoints of the links at a frame, from the outline."""
    points = replay.bodies[0].outline[frame]
    return 0.5 * (points[1:] + points[:-1])


def seen_links(client):
    return np.frombuffer(client.nodes["/bodies/0/links"]["batched_positions"], dtype=np.float32).reshape(
        -1, 3
    )


def shows(client, replay, frame):
    return client.wait(lambda: np.abs(seen_links(client) - links(replay, frame)).max() < 1e-5)


def ended(before):
    """Return whether all other threads end soon; the last one of a pool may still be busy."""
    until = time.monotonic() + 120.0
    while set(threading.enumerate()) - before and time.monotonic() < until:
        time.sleep(0.02)
    return set(threading.enumerate()) <= before


def first_part(replay, frames):
    return select(replay, np.arange(frames))


def test_a_finished_run_begins_at_the_start_and_plays_to_its_end(arm_over_box):
    replay = arm_over_box(30)
    with served(replay, speed=20.0) as session, Client(session.url) as client:
        assert shows(client, replay, 0)
        assert client.wait(lambda: "finished, 30 records" in client.text())
        assert client.part("time [s]")["max"] == 2.0
        client.set("Play", True)
        assert shows(client, replay, 29)
        assert client.wait(lambda: client.part("Play"))  # it rests again at the end
        assert client.wait(lambda: "**t = 2 s** of 2 s" in client.text())
        assert client.part("time [s]")["value"] == 2.0


def test_the_slider_moves_to_any_instant(arm_over_box):
    replay = arm_over_box(41)  # every 50 ms
    with served(replay) as session, Client(session.url) as client:
        assert shows(client, replay, 0)
        client.set("time [s]", 1.26)
        assert shows(client, replay, 25)


def test_forces_are_arrows_with_their_sum_and_can_be_hidden(arm_over_box):
    replay = arm_over_box(30)
    total = np.linalg.norm(replay.contacts[-1].force, axis=1).sum()
    with served(replay, force_scale=0.01) as session, Client(session.url) as client:
        assert shows(client, replay, 0)
        client.set("time [s]", 2.0)
        assert client.wait(lambda: f"Σ‖contact force‖ = {total:.3g} N" in client.text())
        sticking = int(np.count_nonzero(replay.contacts[-1].mode == 1))
        scales = np.frombuffer(client.nodes["/contacts/stick/shafts"]["batched_scales"], dtype=np.float32)
        assert np.count_nonzero(scales.reshape(-1, 3)[:, 2]) == sticking > 0
        assert "longest force arrow" in client.text()
        assert client.nodes["/bodies/0/links"]["opacity"] == pytest.approx(0.4)
        client.set("contact forces", False)
        assert client.wait(lambda: client.nodes["/bodies/0/links"]["opacity"] is None)
        scales = np.frombuffer(client.nodes["/contacts/stick/shafts"]["batched_scales"], dtype=np.float32)
        assert not scales.any()


def test_following_browsers_show_the_newest_record_and_others_stay(arm_over_box):
    whole = arm_over_box(40)
    with served(first_part(whole, 4), "running") as session, Client(session.url) as client:
        assert shows(client, whole, 3)
        assert client.part("follow the run")["value"] is True
        session.update(first_part(whole, 20), "running")
        assert shows(client, whole, 19)
        assert client.wait(lambda: "running, 20 records" in client.text())
        client.set("time [s]", float(whole.time[7]))
        assert shows(client, whole, 7)
        assert client.wait(lambda: client.part("follow the run")["value"] is False)
        session.update(whole, "finished")
        assert client.wait(lambda: "finished, 40 records" in client.text())
        assert shows(client, whole, 7)
        assert client.part("time [s]")["max"] == pytest.approx(whole.time[-1])
        assert client.part("follow the run")["visible"] is False


def test_following_browsers_show_the_end(arm_over_box):
    whole = arm_over_box(10)
    with served(first_part(whole, 1), "running") as session, Client(session.url) as client:
        session.update(whole, "failed")
        assert shows(client, whole, 9)


def test_later_browsers_show_the_same(arm_over_box):
    whole = arm_over_box(10)
    with served(first_part(whole, 2), "running") as session:
        session.update(whole, "running")
        with Client(session.url) as client:
            assert shows(client, whole, 9)


def test_more_contacts_than_the_capacity(arm_over_box):
    replay = arm_over_box(30)
    contact = replay.contacts[-1]
    many = evolve(
        contact,
        point=np.tile(contact.point, (30, 1)),
        force=np.tile(contact.force, (30, 1)),
        mode=np.tile(contact.mode, 30),
    )
    with served(replay) as session, Client(session.url) as client:
        assert shows(client, replay, 0)
        client.set("time [s]", 2.0)
        assert client.wait(lambda: "/contacts/slide/points" in client.nodes)
        session.update(evolve(replay, contacts=(*replay.contacts[:-1], many)), "finished")
        wanted = 30 * int(np.count_nonzero(contact.mode == 2))

        def drawn():
            scales = np.frombuffer(client.nodes["/contacts/slide/points"]["batched_scales"], dtype=np.float32)
            return np.count_nonzero(scales.reshape(-1, 3)[:, 0])

        assert client.wait(lambda: drawn() == wanted)


def test_padding_adds_instances_without_size_and_moves_no_other(arm_over_box):
    replay = arm_over_box(3)
    batch = batches(replay, bounds(replay), Arrows(0.01), 0.001)[0]
    count = batch.position.shape[1]
    more = pad_instances(batch, count + 5)
    assert more.position.shape == (3, count + 5, 3)
    assert np.array_equal(more.position[:, :count], batch.position)
    assert not more.scale[:, count:].any()
    assert np.linalg.norm(more.quat_wxyz, axis=2) == pytest.approx(1.0, abs=1e-6)
    assert pad_instances(batch, count) is batch


def test_a_used_port_gives_another_one_in_the_address(arm_over_box):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with ViserViewer(PageConfig()).serve(arm_over_box(2), "finished", port) as session:
            assert session.url.startswith("http://127.0.0.1:")
            assert not session.url.endswith(f":{port}")
            with Client(session.url) as client:
                assert client.wait(lambda: "/obstacles/0" in client.nodes)


def test_no_thread_and_no_port_outlives_the_end(arm_over_box, capsys):
    before = set(threading.enumerate())
    with served(arm_over_box(3)) as session, Client(session.url) as client:
        assert client.wait(lambda: "/obstacles/0" in client.nodes)
        client.set("Play", True)
    assert ended(before)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int(session.url.rpartition(":")[2])), timeout=2)
    assert capsys.readouterr().out == ""


def test_a_replay_without_drawable_frames_leaves_no_server(arm_over_box):
    before = set(threading.enumerate())
    with pytest.raises(ResultsError, match="no frames"), served(first_part(arm_over_box(2), 0)):
        pass
    assert ended(before)
