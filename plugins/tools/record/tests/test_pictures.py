"""Pictures of a run at its end: the first is drawn by the command itself, the others by processes of their own."""

import pytest

from corekit.errors import ResultsError
from corekit.scenario.load import load
from corekit_record.cli import pictures
from corekit_run.running import run


@pytest.fixture
def results(tiny, scenario_file, tmp_path):
    return run(load(scenario_file, ["time.duration=0.01"]), directory=tmp_path / "here")


@pytest.fixture
def drawn_here(monkeypatch):
    """Files that this process draws."""
    files, own = [], pictures.draw

    def draw(results, path, chosen):
        files.append(path.name)
        own(results, path, chosen)

    monkeypatch.setattr(pictures, "draw", draw)
    return files


@pytest.mark.parametrize(("processes", "here"), [("1", ["a.png", "b.txt"]), ("2", ["a.png"])])
def test_every_picture_but_the_first_is_drawn_apart_where_there_are_cores(
    results, tmp_path, monkeypatch, drawn_here, processes, here
):
    monkeypatch.setenv("COREKIT_PROCESSES", processes)
    (viewer,) = pictures.installed_viewers("tiny-text")
    pictures.draw_all(results, {tmp_path / "a.png": viewer, tmp_path / "b.txt": viewer})
    assert drawn_here == here
    first, second = ((tmp_path / name).read_text() for name in ("a.png", "b.txt"))
    assert first == second
    assert first.startswith("tiny\n")


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_picture_that_cannot_be_written_is_named_wherever_it_is_drawn(
    results, tmp_path, monkeypatch, processes
):
    monkeypatch.setenv("COREKIT_PROCESSES", processes)
    (viewer,) = pictures.installed_viewers("tiny-text")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ResultsError, match=r"cannot write .*file/b\.txt: "):
        pictures.draw_all(results, {tmp_path / "a.png": viewer, tmp_path / "file" / "b.txt": viewer})
    assert (tmp_path / "a.png").exists()
    assert (tmp_path / "file").read_text() == "mine"
