"""What `make authors` does for every kind that `corekit new` writes, and what it says where a command fails."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import get_args

import pytest

from corekit_testing.cli.new import _ROLE_IDS, Role

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def authors():
    return runpy.run_path(str(ROOT / "tools" / "authors.py"))


def test_every_kind_is_tried_as_its_author_would(authors):
    assert {**authors["COMPONENTS"]} == dict(_ROLE_IDS)
    assert {*authors["COMPONENTS"], *authors["OTHERS"]} == set(get_args(Role))
    words = {
        kind: [" ".join(each) for each in authors["commands_of"](kind, "mine")] for kind in get_args(Role)
    }
    assert all(each[0].startswith("python -m pytest") for each in words.values())
    assert all(words[kind][-1] == f"corekit conform {role}.mine" for kind, role in _ROLE_IDS.items())
    assert "corekit conform shapes.mine" in words["shape"]
    assert words["friction-law"][-1] == "corekit conform friction_laws.mine:box"
    assert words["planner"][1].startswith("corekit plan examples/mine-plan.toml")
    assert words["verb"][1:] == ["corekit mine examples/mine.toml"]


@pytest.mark.skipif(sys.platform == "win32", reason="the programs that stand in here are shell scripts")
def test_a_command_that_fails_is_told_with_what_it_said(authors, tmp_path):
    programs, calls = tmp_path / "bin", tmp_path / "calls"
    programs.mkdir()
    for name, line in (
        ("corekit", "mkdir -p first-verb"),
        ("python", '[ "$2" != pytest ] || { echo 1 failed; exit 1; }'),
    ):
        (programs / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {calls}\n{line}\n')
        (programs / name).chmod(0o755)
    with pytest.raises(authors["AuthorsError"], match=r"pytest.*ended with 1:\n1 failed"):
        authors["write_and_try"]("verb", programs, tmp_path)
    assert calls.read_text().splitlines()[0] == "corekit new verb first-verb"
    assert "--no-index --no-deps" in calls.read_text()
    assert calls.read_text().splitlines()[-1].endswith("uninstall --quiet --yes first-verb")
