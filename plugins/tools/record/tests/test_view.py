"""`corekit view`: the kernel's half, which looks after the run and hands on what is new."""

from __future__ import annotations

from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from corekit.cli import DONE, MISUSE, main
from corekit_record.cli import view as verb
from corekit_record.recorder import Recorder
from corekit_record.results import RESULTS, Results
from corekit_record.statistics import Statistics
from corekit_run.folder import RunFolder


def nothing():
    """What happens most of the time."""


class Ended(Exception):
    """Ends a loop that would go on for ever."""


class Session:
    """Keeps what it is handed, and ends the loop after some of it."""

    url = "http://127.0.0.1:1"

    def __init__(self, most: int) -> None:
        self.shown: list[tuple[int, str]] = []
        self._most = most

    def update(self, replay, run_status):
        self.shown.append((len(replay.time), run_status))
        if len(self.shown) == self._most:
            raise Ended


@pytest.fixture
def run(world, tmp_path):
    """A run in a folder: its simulation, its recorder and the folder."""
    folder = RunFolder.create("tiny", tmp_path, tmp_path / "here")
    simulation = world()
    recorder = Recorder(folder.path / RESULTS, simulation, 0.01, Statistics(), "tiny")
    recorder.begin()
    simulation.observe(recorder.on_step_accepted)
    return simulation, recorder, folder


def followed(monkeypatch, folder, most, *events):
    """What a session is shown while `events` happen, one each time the kernel waits."""
    waiting = iter(events)
    monkeypatch.setattr(verb, "clock", SimpleNamespace(sleep=lambda _seconds: next(waiting, lambda: None)()))
    session = Session(most)
    with pytest.raises(Ended):
        verb.follow(Results(folder.path), session)
    return session.shown


def test_what_is_published_is_handed_on_and_nothing_else(run, monkeypatch):
    simulation, recorder, folder = run

    def ten_more():
        simulation.run(simulation.time + 0.1)
        recorder.flush(0.0)

    def the_end():
        recorder.close()
        folder.set_status("finished")

    shown = followed(monkeypatch, folder, 3, nothing, ten_more, nothing, nothing, ten_more, nothing, the_end)
    assert shown == [(11, "running"), (21, "running"), (21, "finished")]


def test_a_run_whose_folder_goes_stays_on_show_and_is_said_once(run, monkeypatch, capsys):
    _, recorder, folder = run
    kept = (folder.path / RESULTS).read_bytes()

    def gone():
        (folder.path / RESULTS).unlink()

    def back():
        (folder.path / RESULTS).write_bytes(kept)

    shown = followed(monkeypatch, folder, 1, gone, nothing, nothing, back)
    recorder.close()
    assert shown == [(1, "running")]
    said = capsys.readouterr().err
    assert said.count("holds no results.nc") == 1
    assert "still shown" in said


def test_a_run_that_has_just_begun_is_waited_for(run, monkeypatch):
    _, recorder, folder = run
    kept = (folder.path / RESULTS).read_bytes()
    (folder.path / RESULTS).unlink()
    waits = []

    def sleep(_seconds):
        waits.append(1)
        if len(waits) == 3:
            (folder.path / RESULTS).write_bytes(kept)

    monkeypatch.setattr(verb, "clock", SimpleNamespace(sleep=sleep))
    assert len(verb._opened(folder.path).time) == 1
    assert len(waits) == 3
    recorder.close()


NO_BROWSER = (
    "'tiny-text' is no viewer that shows runs in the browser: choose viser, or leave --viewer out"
    if find_spec("corekit_view") is not None
    else "(tiny-text): pip install corekit-view"
)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("view", "nowhere"), "nowhere: found no such folder or file; must be the folder of a run"),
        (("view", "."), "no results in .: the folder holds no results.nc"),
        (("view", "broken"), "is not a whole results file"),
        (("view", ".", "--port", "70000"), "65535"),
        (("view", "here", "--viewer", "tiny-text"), NO_BROWSER),
        (("view", "here", "--viewer", "vser"), "did you mean 'viser'?"),
    ],
)
def test_misuse_exits_with_two_and_a_message(run, tmp_path, monkeypatch, capsys, arguments, words):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "results.nc").write_text("something else")
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == MISUSE
    run[1].close()
    told = capsys.readouterr()
    assert words in " ".join((told.out + told.err).replace("│", " ").split())


def test_options_of_a_viewer_are_checked_before_it_draws(tiny, run, tmp_path, capsys):
    _, recorder, folder = run
    recorder.close()
    assert main(["render", str(folder.path), "-o", str(tmp_path / "x.txt"), "--set", "size=3"]) == MISUSE
    told = capsys.readouterr().err
    assert "options of viewers.tiny-text" in told
    assert "size: found 3; unknown key" in told
    assert not (tmp_path / "x.txt").exists()
    assert main(["render", str(folder.path), "-o", str(tmp_path / "x.txt"), "--quiet"]) == DONE
    assert capsys.readouterr().out == ""
    assert (tmp_path / "x.txt").exists()
