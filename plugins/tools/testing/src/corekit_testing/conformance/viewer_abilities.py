"""What only some viewers can do: draw charts, report progress, serve a run that grows or one that is driven."""

from __future__ import annotations

import socket
import tempfile
import threading
import time as clock
from collections.abc import Callable
from http.client import HTTPConnection
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
from attrs import evolve

from corekit.data.contacts import ContactMode
from corekit.errors import CorekitError
from corekit.geometry.shapes import Shape
from corekit.roles.viewer import (
    BodyTrack,
    ContactTrack,
    Line,
    LineChart,
    ObstacleTrack,
    Panel,
    Replay,
    Requests,
    Slider,
)
from corekit_testing.conformance.check import Check, check, expect
from corekit_testing.conformance.subject import Subject

__all__ = ["ABILITY_CHECKS", "reference_replay"]

PATIENCE = 10.0
"""Wall time in which whatever served has to be gone [s]."""


def reference_replay(frames: int = 5, *, contacts: bool = True) -> Replay:
    """A rod with a sphere at its end that falls onto a floor, where the sphere slides."""
    time = np.linspace(0.0, 1.0, frames)
    height = np.maximum(0.05, 0.5 - 0.6 * time)
    along = np.linspace(0.0, 0.4, 6)
    outline = np.zeros((frames, 6, 3))
    outline[:, :, 0] = along
    outline[:, :, 2] = height[:, None]
    turn = np.tile(np.eye(3), (frames, 1, 1, 1))
    body = BodyTrack(
        "rod", outline, np.full(6, 0.02), np.zeros(1, dtype=np.int64), (Shape("sphere", (0.05,)),),
        outline[:, -1:].copy(), turn,
    )  # fmt: skip
    ground = ObstacleTrack("floor", Shape("half-space", ()), np.zeros((frames, 3)), turn[:, 0].copy())
    tracks = []
    for k in range(frames):
        touching = contacts and height[k] <= 0.05
        point = outline[k, -1:] * [1.0, 1.0, 0.0] if touching else np.zeros((0, 3))
        force = np.array([[-1.0, 0.0, 4.0]]) if touching else np.zeros((0, 3))
        tracks.append(ContactTrack(point, force, np.full(len(point), ContactMode.SLIDE, dtype=np.int64)))
    return Replay("conformance", time, (body,), (ground,), tuple(tracks))


def _chart(y: float, points: int = 5) -> LineChart:
    x = np.linspace(0.0, 1.0, points)
    return LineChart("conformance", (Panel("t [s]", "y [m]", (Line("line", x, y * x),)),))


@check("draws-charts", "a chart is a file of its own; one without a line is refused in words", "charts")
def draws_charts(subject: Subject) -> None:
    viewer = subject.build()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"chart{viewer.suffixes[0]}")
        files: list[bytes] = []
        for panels in (_chart(1.0), evolve(_chart(1.0), panels=2 * _chart(1.0).panels)):
            viewer.chart(panels, path)
            expect(list(Path(folder).iterdir()) == [path], f"leaves something beside {path.name}")
            files.append(path.read_bytes())
        expect(files[0] != files[1], "one panel and two give the same file")
        path.unlink()
        try:
            viewer.chart(_chart(1.0, points=0), path)
        except CorekitError:
            expect(not list(Path(folder).iterdir()), "after refusing a chart without a line a file is left")
            return
        expect(False, "a chart without a line is not refused")


@check("progress-rises", "the share that is done rises to 1, and the file is the same", "progress")
def progress_rises(subject: Subject) -> None:
    viewer, shares = subject.build(), list[float]()
    with tempfile.TemporaryDirectory() as folder:
        reported, silent = (Path(folder, f"{name}{viewer.suffixes[0]}") for name in ("reported", "silent"))
        viewer.render(reference_replay(), reported, shares.append)
        viewer.render(reference_replay(), silent)
        expect(reported.read_bytes() == silent.read_bytes(), "with progress the file is another one")
    expect(shares, "nothing is reported")
    expect(all(a <= b for a, b in pairwise(shares)), f"the share goes back: {shares}")
    expect(min(shares) > 0.0 and shares[-1] == 1.0, f"the share runs from {shares[0]:g} to {shares[-1]:g}")


@check(
    "serves-until-the-end", "a growing run is served on this machine, then nothing is left of it", "serves"
)
def serves_until_the_end(subject: Subject) -> None:
    viewer, before = subject.build(), set(threading.enumerate())
    with viewer.serve(reference_replay(1), "running", 0) as session:
        host, port = _address(session.url)
        for run_status in ("running", "finished"):
            _expect_answer(session.url)
            session.update(reference_replay(5), run_status)
    _expect_nothing_left(host, port, before)


@check(
    "interactive-until-the-end",
    "a simulation is served with its sliders, then nothing is left",
    "interactive",
)
def interactive_until_the_end(subject: Subject) -> None:
    viewer, before = subject.build(), set(threading.enumerate())
    slider = Slider("arm", "tension", 0, "tension", "N", 0.0, 1.0)
    with viewer.interact(reference_replay(1), [slider], 0) as session:
        host, port = _address(session.url)
        _expect_answer(session.url)
        session.show(reference_replay(1), [0.5], "words")
        expect(session.pop_requests() == Requests({}), "something is asked for before anybody asks")
    _expect_nothing_left(host, port, before)


@check(
    "draws-pixels",
    "an instant is an array of the size that was asked for, the same for the same instant",
    "pixels",
)
def draws_pixels(subject: Subject) -> None:
    canvas = subject.build().canvas(240, 180)
    start, end = (canvas.draw(_instant(reference_replay(), k)) for k in (0, 4))
    for picture in (start, end):
        found = f"{picture.dtype} of shape {picture.shape}"
        expect(
            picture.dtype == np.uint8 and picture.shape == (180, 240, 3),
            f"draws {found}, not uint8 (180, 240, 3)",
        )
    expect(np.ptp(start) > 0, "the picture is empty")
    expect(not np.array_equal(start, end), "two instants of a falling rod give the same picture")
    again = canvas.draw(_instant(reference_replay(), 4))
    expect(np.array_equal(end, again), "the same instant gives another picture")


def _instant(replay: Replay, k: int) -> Replay:
    """One frame of the reference replay."""
    body, ground = replay.bodies[0], replay.obstacles[0]
    one = slice(k, k + 1)
    return evolve(
        replay,
        time=replay.time[one],
        bodies=(
            evolve(
                body,
                outline=body.outline[one],
                shape_position=body.shape_position[one],
                shape_rotation=body.shape_rotation[one],
            ),
        ),
        obstacles=(evolve(ground, position=ground.position[one], rotation=ground.rotation[one]),),
        contacts=replay.contacts[one],
    )


def _address(url: str) -> tuple[str, int]:
    """Return host and port of an address, which is of this machine alone."""
    address = urlsplit(url)
    host, port = address.hostname or "", address.port or 0
    expect(host in {"127.0.0.1", "localhost", "::1"}, f"{url} is open to the network")
    return host, port


def _expect_answer(url: str) -> None:
    answer = _get_status(*_address(url))
    expect(answer == 200, f"{url} answers {answer}")


def _expect_nothing_left(host: str, port: int, before: set[threading.Thread]) -> None:
    expect(_soon(lambda: not _open(host, port)), "the port stays open")
    expect(_soon(lambda: set(threading.enumerate()) <= before), "a thread goes on")


def _get_status(host: str, port: int) -> int:
    """What a server answers to a browser that opens its page."""
    connection = HTTPConnection(host, port, timeout=PATIENCE)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status
    finally:
        connection.close()


def _open(host: str, port: int) -> bool:
    """Whether a port is listened on, be it by a program that does not answer."""
    try:
        socket.create_connection((host, port), timeout=0.5).close()
    except TimeoutError:
        return True
    except OSError:
        return False
    return True


def _soon(true: Callable[[], bool]) -> bool:
    """Whether something holds before patience ends."""
    until = clock.monotonic() + PATIENCE
    while not true():
        if clock.monotonic() > until:
            return False
        clock.sleep(0.02)
    return True


ABILITY_CHECKS: tuple[Check, ...] = (
    draws_charts,
    progress_rises,
    serves_until_the_end,
    interactive_until_the_end,
    draws_pixels,
)
"""Each applies to the viewers that offer its ability."""
