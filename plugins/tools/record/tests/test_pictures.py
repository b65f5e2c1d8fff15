"""Pictures of a run at its end: the last is drawn by the command itself, the others by processes of their own."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from attrs import evolve

from corekit.errors import PluginError, PluginFailed, ResultsError
from corekit.scenario.load import load
from corekit_record.cli import pictures, render, run_pictures
from corekit_record.cli.pictures import installed_viewers, viewer_for
from corekit_run.running import run


@pytest.fixture
def results(tiny, scenario_file, tmp_path):
    return run(load(scenario_file, ["time.duration=0.01"]), directory=tmp_path / "here")


@pytest.fixture
def drawn_here(monkeypatch):
    """Files that this process draws."""
    files, own = [], run_pictures.draw

    def draw(results, path, chosen):
        files.append(path.name)
        own(results, path, chosen)

    monkeypatch.setattr(run_pictures, "draw", draw)
    return files


@pytest.fixture
def prepare(tiny, monkeypatch):
    """Makes what draws two pictures, by one viewer twice, in as many processes as are given."""

    def make(processes):
        monkeypatch.setenv("COREKIT_PROCESSES", processes)
        return run_pictures.RunPictures([*installed_viewers("tiny-text")] * 2)

    return make


@pytest.mark.parametrize(
    ("processes", "here"), [("1", ["tiny.png", "tiny-tiny-text.png"]), ("2", ["tiny-tiny-text.png"])]
)
def test_every_picture_but_the_last_is_drawn_apart_where_there_are_cores(
    results, prepare, drawn_here, processes, here
):
    first, second = prepare(processes).make(results.path)
    assert (first.name, second.name) == ("tiny.png", "tiny-tiny-text.png")
    assert drawn_here == here
    assert first.read_text() == second.read_text()
    assert first.read_text().startswith("tiny\n")


def test_a_viewer_that_raises_is_named(results, tiny, tmp_path):
    (chosen,) = installed_viewers("tiny-text")

    class Wild:
        def render(self, replay, path):
            raise IndexError("no instant")

    with pytest.raises(PluginFailed, match="the function 'render' raised IndexError: no instant"):
        pictures.draw(results, tmp_path / "wild.png", evolve(chosen, viewer=Wild()))


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_picture_that_cannot_be_written_is_named_wherever_it_is_drawn(results, prepare, processes):
    (results.path / "tiny.png").mkdir()
    with pytest.raises(ResultsError, match=r"cannot write .*tiny\.png: "):
        prepare(processes).make(results.path)


def test_a_process_that_is_ended_from_outside_is_told(results, prepare):
    pictures = prepare("2")
    (apart,) = pictures._apart
    apart._process.kill()
    with pytest.raises(ResultsError, match=r"cannot write .*tiny\.png: the process that drew it was ended"):
        pictures.make(results.path)


def test_a_process_ends_by_itself_when_there_is_no_run_to_draw(prepare):
    (apart,) = prepare("2")._apart
    apart._end.close()
    apart._process.join(60.0)
    assert apart._process.exitcode == 0


def test_an_ending_that_a_viewer_would_write_with_an_extra_names_the_line_to_type(monkeypatch):
    def lack(_row):
        raise PluginError("viewer 'film' needs the module reel: pip install 'films[reel]'")

    row = SimpleNamespace(role="viewers", usable=True, reason="", name="film")
    monkeypatch.setattr(pictures, "discover", lambda: [row])
    monkeypatch.setattr(pictures, "load_spec", lack)
    with pytest.raises(PluginError, match=r"no installed viewer writes \.mp4.*pip install 'films\[reel\]'"):
        viewer_for(Path("x.mp4"), [])


def test_a_log_says_how_far_a_video_is_every_few_seconds(monkeypatch, capsys):
    now = iter([0.0, 1.0, 5.0, 7.0, 10.0])
    monkeypatch.setattr(render, "clock", SimpleNamespace(monotonic=lambda: next(now)))
    with render._share_shown("arm: arm.mp4") as show:
        for share in (0.1, 0.25, 0.3, 0.5):
            show(share)
    assert capsys.readouterr().err.splitlines() == [
        "arm: arm.mp4: 25%, 15 s left",
        "arm: arm.mp4: 50%, 10 s left",
    ]
