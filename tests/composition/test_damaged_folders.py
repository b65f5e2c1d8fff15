"""Folders of runs and sweeps that somebody prepared: every verb answers by a result or a sentence, none waits for ever.

Nothing of what the files hold reaches a terminal as an order, and nothing is written where they point to.
"""

from __future__ import annotations

import json
import os
import shutil

import h5py
import pytest

from corekit.cli import main
from corekit_record.cli import run_pictures
from corekit_record.digest import _MARK as MARK
from corekit_record.digest import seal

WORLD = """
format = "corekit-scenario/1"
name = "fall"
time = { duration = 0.01, step = 1e-3 }
output = { every = 0.002 }
integrator = { use = "semi-implicit-euler" }

[[bodies]]
name = "ball"
use = "rigid"
base = { position = [0.0, 0.0, 0.3] }
options = { size = [0.05], mass = 0.1 }
"""
ORDER = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\r"
OBEYED = "\x1b\x07\x9b\u202e\r"
VERBS = (
    ["info", "run"],
    ["info", "run", "--json"],
    ["info", "run", "--step", "3"],
    ["cite", "run"],
    ["run", "run/resolved.toml", "--out", "new", "--quiet"],
    ["run", "--resume", "run"],
)
DRAWN = ["render", "run", "-o", "out.png", "--quiet"]
SWEEPS = (
    ["info", "sweep"],
    ["sweep", "--resume", "sweep", "--quiet", "--jobs", "1"],
    ["reproduce", "--resume", "sweep"],
)
TEXTS = {"STATUS", "log.jsonl", "resolved.toml", "scenario.toml", "versions.json"}
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A folder with a run that was interrupted and a sweep that has ended."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "world.toml").write_text(WORLD)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["run", "world.toml", "--out", "run", "--quiet"]) == 0
        words = ["--vary", "time.step=1e-3,5e-4", "--out", "sweep", "--jobs", "1", "--quiet"]
        assert main(["sweep", "world.toml", *words]) == 0
    (folder / "run" / "STATUS").write_text("interrupted\nby hand\n")
    return folder


@pytest.fixture
def ours(sound, tmp_path, monkeypatch):
    shutil.copytree(sound, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answers(capsys, verbs, expect=(0, 1, 2)) -> dict[str, str]:
    """What each verb says, on either stream; it ends with a code and says something where it failed."""
    found = {}
    for words in verbs:
        code = main(words)
        said = found[" ".join(words)] = "".join(capsys.readouterr())
        assert code in expect, said
        assert code == 0 or said.strip()
        assert not [letter for letter in said if letter in OBEYED], said
    return found


def files(folder) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if each.is_file())


@needs_pipes
def test_a_pipe_in_the_place_of_any_file_of_a_run_is_not_waited_for(ours, sound, capsys):
    for name in files(sound / "run"):
        shutil.rmtree(ours / "run")
        shutil.copytree(sound / "run", ours / "run")
        (ours / "run" / name).unlink()
        os.mkfifo(ours / "run" / name)
        said = answers(capsys, (*VERBS, DRAWN) if name == "results.nc" else VERBS)
        if name in {"results.nc", "resolved.toml"}:
            assert "a pipe" in "".join(said.values())


@needs_pipes
def test_a_pipe_in_the_place_of_any_file_of_a_sweep_is_not_waited_for(ours, sound, capsys):
    for name in files(sound / "sweep"):
        shutil.rmtree(ours / "sweep")
        shutil.copytree(sound / "sweep", ours / "sweep")
        (ours / "sweep" / name).unlink()
        os.mkfifo(ours / "sweep" / name)
        answers(capsys, SWEEPS)
        if name == "sweep.csv":  # the only one that is not read
            assert (ours / "sweep" / name).is_file()


def test_orders_to_a_terminal_in_the_texts_of_a_run_are_shown_and_not_obeyed(ours, capsys):
    (ours / "run" / "STATUS").write_text(f"failed\nbecause {ORDER}\n", newline="")
    for name in ("log.jsonl", "versions.json"):
        path = ours / "run" / name
        line = json.loads(path.read_text().splitlines()[0] if name == "log.jsonl" else path.read_text())
        text = json.dumps({key: value if key == "event" else ORDER for key, value in line.items()})
        path.write_text(text + "\n")
    said = answers(capsys, VERBS[:4])
    assert r"because \x1b]0;owned" in said["info run"]
    assert json.loads(said["info run --json"])["report"]["reason"] == f"because {ORDER}".strip()
    (ours / "run" / "resolved.toml").write_text(f"'{ORDER[:-1]}' = 1\n")
    answers(capsys, VERBS)


@pytest.mark.parametrize(
    "text", ['{"a":[' * 100_000, "[1, 2]", '{"event": "composed"'], ids=["deep", "list", "cut"]
)
def test_texts_of_any_shape_are_a_sentence(text, ours, capsys):
    for name in TEXTS - {"resolved.toml"}:
        (ours / "run" / name).write_text(text)
    answers(capsys, [VERBS[0], VERBS[-1]])
    for name in files(ours / "sweep"):
        (ours / "sweep" / name).write_text(text)
    answers(capsys, SWEEPS)


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="needs symbolic links")
@pytest.mark.parametrize("name", ["outcomes.jsonl", "sweep.csv"])
def test_a_sweep_writes_nothing_where_a_link_in_its_folder_points_to(name, ours, capsys):
    treasure = ours / "treasure"
    treasure.write_text("gold\n")
    shutil.rmtree(ours / "sweep" / "2-5e-4")
    (ours / "sweep" / "outcomes.jsonl").unlink()
    (ours / "sweep" / name).unlink(missing_ok=True)
    (ours / "sweep" / name).symlink_to(treasure)
    answers(capsys, SWEEPS[1:2])
    assert treasure.read_text() == "gold\n"


def test_a_file_that_is_larger_than_any_text_is_refused_before_it_is_read(ours, capsys):
    with (ours / "run" / "STATUS").open("ab") as file:
        file.truncate(1 << 40)  # without a block on the disk
    with (ours / "run" / "log.jsonl").open("ab") as file:
        file.truncate(1 << 40)
    assert "unknown" in answers(capsys, VERBS[:1])["info run"]


@pytest.mark.parametrize(
    "title",
    ["../escaped", "/escaped", "a/b", ORDER, ""],
    ids=["above", "root", "below", "orders", "none"],
)
def test_pictures_of_records_go_into_the_run_s_folder_whatever_their_title_is(
    title, ours, monkeypatch, capsys
):
    results = ours / "run" / "results.nc"
    content = results.read_bytes()
    results.write_bytes(content[: content.rindex(MARK)])
    with h5py.File(results, "r+") as file:
        file.attrs["title"] = title
    seal(results)
    drawn = []
    monkeypatch.setenv("COREKIT_PROCESSES", "1")
    monkeypatch.setattr(run_pictures, "draw", lambda _results, path, _viewer: drawn.append(path))
    answers(capsys, [["run", "--resume", "run", "--picture"]], expect=(0,))
    assert drawn
    assert {(path.parent.name, path.stem) for path in drawn} == {("run", "run")}
