"""A file that a user asks for is tried before the work whose results it holds; a full disk ends in a sentence."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from corekit.cli import INTERRUPTED, MISUSE, main
from corekit.errors import PluginError, ResultsError
from corekit_run.output_file import check_output, write_json

VARY = ["--vary", "time.duration=0.1,0.2", "--quiet", "--out", "runs"]
VERBS = {
    "sweep": ["sweep", "dropped.toml", *VARY],
    "compare": ["compare", "dropped.toml", *VARY],
    "bench": ["bench", "kernel_overhead"],
    "bench of contact": ["bench", "contact", "--files", "."],
    "reproduce": ["reproduce"],
}


@pytest.mark.parametrize("target", ["folder", "file/inside.json"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_target_that_cannot_be_written_is_refused_before_the_work(
    verb, target, tmp_path, scenario_file, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    assert main([*VERBS[verb], "--json", target]) == MISUSE
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("cannot write ")
    assert "Give --json another file." in said.err
    assert {each.name for each in tmp_path.iterdir()} == {"folder", "file", "dropped.toml"}


def test_trying_a_target_leaves_what_is_there_and_makes_its_folder(tmp_path):
    kept, new = tmp_path / "kept.json", tmp_path / "a" / "b" / "new.json"
    kept.write_text("[1]")
    check_output(kept, "--json")
    check_output(new, "--json")
    assert kept.read_text() == "[1]"
    assert new.parent.is_dir()
    assert not new.exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_output(pipe, "--json")
    assert pipe.is_fifo()


@pytest.mark.parametrize("verb", ["sweep", "compare"])
def test_a_disk_that_fills_meanwhile_is_told_after_the_results(
    verb, tmp_path, scenario_file, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    as_usual = Path.write_text

    def write_text(path, *arguments, **options):
        if path.name == "told.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return as_usual(path, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", write_text)
    assert main([*VERBS[verb], "--json", "told.json"]) == MISUSE
    said = capsys.readouterr()
    assert "dropped" in said.out
    told = "cannot write told.json: No space left on device. Make room. The results are printed above."
    assert said.err.strip().splitlines()[-1] == told


def test_a_folder_that_vanished_is_told(tmp_path):
    with pytest.raises(ResultsError, match=r"cannot write .*gone.*No such file or directory"):
        write_json(tmp_path / "gone" / "x.json", {})
    write_json(None, {})
    write_json(tmp_path / "x.json", {"a": "é"})
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8")) == {"a": "é"}


@pytest.mark.parametrize(
    ("trouble", "code"), [(KeyboardInterrupt, INTERRUPTED), (lambda: PluginError("it cannot"), MISUSE)]
)
@pytest.mark.parametrize(
    ("verb", "work"), [("fit", "corekit_study.fit.fit"), ("plan", "corekit_study.plan.make_plan")]
)
def test_what_ends_before_its_first_result_leaves_no_folder(verb, work, trouble, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    written: list[str] = []

    def fail(_file, folder, *_more, **_options):
        if written:
            (folder / "notes").touch()
        raise trouble()

    asked = SimpleNamespace(name="one")
    monkeypatch.setattr(work, fail)
    monkeypatch.setattr("corekit_study.fit_file.load_fit", lambda *_, **__: asked)
    monkeypatch.setattr("corekit_study.plan_file.load_plan_file", lambda *_, **__: asked)
    assert main([verb, "one.toml", "--quiet", "--out", "here"]) == code
    assert main([verb, "one.toml", "--quiet", "--out", "mine"]) == code
    assert [each.name for each in tmp_path.iterdir()] == ["mine"]  # which its user made
    written.append("something")
    assert main([verb, "one.toml", "--quiet", "--out", "here"]) == code
    assert (tmp_path / "here" / "notes").exists()
