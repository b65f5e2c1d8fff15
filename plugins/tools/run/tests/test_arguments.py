"""What a user hands to runs from Python and cannot be right is one clear mistake, before anything is written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from corekit.errors import ConfigError, ResultsError
from corekit.scenario.load import loads
from corekit_run.running import find_resumable, replay, resume, run

PENDULUM = """
format = "corekit-scenario/1"
name = "swing"
time = { duration = 0.3, step = 0.01 }
integrator = { use = "reference-implicit-euler" }
[[bodies]]
name = "arm"
use = "reference-pendulum"
options = { lengths = [0.5, 0.3], masses = [1.0, 2.0], angles = [0.4, 0.9], rates = [0.0, 0.0] }
"""


def scenario() -> Any:
    return loads(PENDULUM)


PATHS: list[Any] = [3, None, b"x", [1], True]
FUNCTIONS: list[Any] = [3, "x", [1]]
WRONG: dict[str, tuple[str, list[Any], Any]] = {
    "run, directory": ("directory", [3, b"x"], lambda wrong: scenario().run(directory=wrong)),
    "run, progress": ("progress", FUNCTIONS, lambda wrong: scenario().run(progress=wrong)),
    "run, warn": ("warn", FUNCTIONS, lambda wrong: scenario().run(warn=wrong)),
    "a scenario": ("scenario", [3, None, "x.toml", Path("x.toml")], run),
    "resume": ("folder", PATHS, resume),
    "resume, code": ("allow_code", ["no"], lambda wrong: resume("runs", allow_code=wrong)),
    "find_resumable": ("folder", PATHS, find_resumable),
    "replay": ("path", PATHS, replay),
}


@pytest.mark.parametrize(
    ("name", "call", "wrong"),
    [(name, call, each) for name, all_wrong, call in WRONG.values() for each in all_wrong],
    ids=[f"{key}, {each!r}"[:40] for key, (_, all_wrong, _) in WRONG.items() for each in all_wrong],
)
def test_what_cannot_be_right_is_a_mistake_that_names_the_argument(name, call, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=rf"\n  {re.escape(name)}.*: found .*must be ") as caught:
        call(wrong)
    assert len(caught.value.mistakes) == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_whose_name_takes_no_number_is_refused_if_it_holds_something(tmp_path, monkeypatch):
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    (inside / "kept").touch()
    for name in (".", "", ".."):
        with pytest.raises(ResultsError, match="it holds something, and its name takes no number"):
            run(scenario(), directory=name)
    assert [each.name for each in tmp_path.rglob("*")] == ["inside", "kept"]
