"""Wrong viewers: each breaks one promise, and exactly the checks of that promise fail."""

import contextlib
import http.server
import io
import threading
from typing import final

import numpy as np
import pytest
from attrs import evolve, frozen

from corekit.errors import ResultsError
from corekit.registry.spec import ComponentSpec
from corekit.roles.viewer import Requests, Viewer
from corekit_testing.conformance import Subject

from .defects import drift, failing, role_checks


@frozen(kw_only=True)
class NumbersConfig:
    """No options."""


@final
class Numbers(Viewer):
    """A sound viewer of few lines with every ability: it writes the outlines as text."""

    def __init__(self, config, context=None):
        self.config = config

    @property
    def suffixes(self):
        return (".txt",)

    def render(self, replay, path, progress=None):
        if path.suffix not in self.suffixes or path.is_dir():
            raise ResultsError(f"cannot write {path.name}")
        path.write_text(self.text(replay))
        if progress is not None:
            for share in self.shares():
                progress(share)

    def text(self, replay):
        store = io.StringIO("conformance " * 20)
        store.seek(0, io.SEEK_END)
        for part in self.parts(replay):
            np.savetxt(store, part)
        return store.getvalue()

    def parts(self, replay):
        """What is written: bodies at every instant, obstacles and contacts."""
        yield np.concatenate([body.outline.reshape(-1, 3) for body in replay.bodies])
        yield from (obstacle.position for obstacle in replay.obstacles)
        yield from (np.hstack([track.point, track.force]) for track in replay.contacts)

    def shares(self):
        return (0.25, 0.5, 1.0)

    def chart(self, chart, path):
        if not any(len(line.x) for panel in chart.panels for line in panel.lines):
            raise ResultsError("no line")
        path.write_text(f"{len(chart.panels)} panels")

    def canvas(self, width, height):
        return Sheet(width, height)

    @contextlib.contextmanager
    def serve(self, replay, run_status, port):
        with self.greeting(port) as shown:
            yield shown

    @contextlib.contextmanager
    def interact(self, replay, sliders, port):
        with self.greeting(port) as shown:
            yield shown

    @contextlib.contextmanager
    def greeting(self, port):
        server = http.server.HTTPServer(("127.0.0.1", port), Greeting)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield Shown(server, self)
        self.end(server, thread)

    def end(self, server, thread):
        server.shutdown()
        server.server_close()
        thread.join()


class Sheet:
    """Draws an instant as the bytes of its outline."""

    def __init__(self, width, height):
        self._size = height, width, 3

    def draw(self, replay):
        picture = np.zeros(self._size, dtype=np.uint8)
        text = np.frombuffer(replay.bodies[0].outline.tobytes(), dtype=np.uint8)
        picture.reshape(-1)[: len(text)] = text
        return picture


class Shown:
    """A session that shows nothing."""

    def __init__(self, server, viewer):
        self.url = f"http://127.0.0.1:{server.server_port}"
        self._server = server

    def update(self, replay, run_status):
        pass

    def show(self, replay, values, words):
        self.shown = values

    def pop_requests(self):
        return Requests({})


class Greeting(http.server.BaseHTTPRequestHandler):
    """Answers whoever asks."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, format, *arguments):
        pass


def viewer(**methods):
    """The sound viewer with other methods, given as `method(self, ...)`."""
    spec = ComponentSpec(
        role="viewers",
        name="numbers",
        api="0.2",
        target=f"{__name__}:Numbers",
        config=f"{__name__}:NumbersConfig",
        summary="Text.",
        provides=frozenset({"charts", "interactive", "pixels", "progress", "serves"}),
    )
    target = type("Wrong", (Numbers,), methods)
    return Subject(spec=spec, entry="corekit_testing._spec:none", target=target)


def touching(self, replay, path, progress=None):
    replay.time[:] += 1e-12
    Numbers.render(self, replay, path, progress)


def by_lot(self, replay):
    return Numbers.text(self, replay) + str(drift(self))


def counted(self, replay):
    self.asked = getattr(self, "asked", 0) + 1
    return Numbers.text(self, replay) + str(self.asked)


def leftover(self, replay, path, progress=None):
    Numbers.render(self, replay, path, progress)
    path.with_name("scratch").touch()


def the_same(self, replay):
    return "nothing moves" * 20


def without(kind):
    """Parts as of a replay in which something is left out."""

    def parts(self, replay):
        return Numbers.parts(self, evolve(replay, **{kind: ()}))

    return parts


def the_first_instant(self, replay):
    first = [evolve(body, outline=body.outline[:1]) for body in replay.bodies]
    return Numbers.parts(self, evolve(replay, bodies=tuple(first)))


def from_one_side(self, replay):
    """Looks along y, as a sound one may."""
    for part in Numbers.parts(self, replay):
        yield part[:, [0, 2, *range(3, part.shape[1])]]


def needs_contacts(self, replay):
    if not any(len(track.point) for track in replay.contacts[-1:]) or len(replay.time) < 2:
        raise ValueError("nothing to draw")
    return Numbers.text(self, replay)


def litters(self, replay, path, progress=None):
    if path.suffix != ".txt":
        path.touch()
    Numbers.render(self, replay, path, progress)


def goes_back(self):
    return (0.5, 0.25, 1.0)


def any_chart(self, chart, path):
    path.write_text(f"{len(chart.panels)} panels")


def keeps_open(self, server, thread):
    server.shutdown()
    thread.join()
    LEFT_OPEN.append(server)


@contextlib.contextmanager
def asks_by_itself(self, replay, sliders, port):
    with self.greeting(port) as shown:
        shown.pop_requests = lambda: Requests({0: 0.5})
        yield shown


def on_its_side(self, width, height):
    return Sheet(height, width)


LEFT_OPEN = []

WRONG = {
    "inputs-unchanged": (touching, "render", ()),
    "deterministic": (by_lot, "text", ("saved-and-loaded", "instances-apart")),
    "saved-and-loaded": (counted, "text", ("progress-rises",)),
    "writes-file": (leftover, "render", ()),
    "draws-what-moves": (
        the_same,
        "text",
        ("draws-every-instant", "draws-contacts", "draws-obstacles"),
    ),
    "draws-every-instant": (the_first_instant, "parts", ()),
    "draws-contacts": (without("contacts"), "parts", ()),
    "draws-obstacles": (without("obstacles"), "parts", ()),
    "draws-without-contacts": (needs_contacts, "text", ()),
    "nothing-on-failure": (litters, "render", ()),
    "draws-charts": (any_chart, "chart", ()),
    "progress-rises": (goes_back, "shares", ()),
    "serves-until-the-end": (keeps_open, "end", ("interactive-until-the-end",)),
    "interactive-until-the-end": (asks_by_itself, "interact", ()),
    "draws-pixels": (on_its_side, "canvas", ()),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_exactly_the_right_checks_catch_it(name, monkeypatch):
    method, key, others = WRONG[name]
    monkeypatch.setattr("corekit_testing.conformance.viewer_abilities.PATIENCE", 0.5)
    assert failing(viewer(**{key: method})) == {name, *others}
    while LEFT_OPEN:
        LEFT_OPEN.pop().server_close()


def test_a_viewer_that_looks_along_an_axis_passes():
    assert failing(viewer(parts=from_one_side)) == set()


def test_a_sound_viewer_passes_and_a_bare_error_is_no_refusal():
    assert failing(viewer()) == set()

    def bare(self, replay, path, progress=None):
        if path.suffix not in self.suffixes:
            raise KeyError(path.suffix)
        Numbers.render(self, replay, path, progress)

    assert failing(viewer(render=bare)) == {"nothing-on-failure"}


def test_every_check_of_viewers_catches_a_wrong_one():
    assert role_checks("viewers") == set(WRONG)
