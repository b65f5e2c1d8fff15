"""A run that nothing interrupted and one that was killed, both made once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from corekit.scenario.load import load

from .killing import SETTING, arrays, cut_short, write_often


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch, tiny):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def often(monkeypatch):
    """Checkpoints after every step, however slow they are."""
    write_often(monkeypatch, 0.0)


@pytest.fixture
def now_and_then(monkeypatch):
    """Checkpoints every few steps."""
    write_often(monkeypatch, 15e-3)


@pytest.fixture(scope="session")
def made(tmp_path_factory, tiny_site) -> Path:
    """A folder with a run that nothing interrupted, without checkpoints inside it, and one that was killed."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        site, text = tiny_site
        patch.syspath_prepend(str(site))
        patch.chdir(folder)
        Path("tiny.toml").write_text(text)
        load("tiny.toml", SETTING).run(directory="whole")
        write_often(patch, 5e-3)
        cut_short(load("tiny.toml", (*SETTING, "integrator.options.nap=0.001")))
    return folder


@pytest.fixture
def whole(made, scenario_file) -> tuple[Any, dict[str, Any]]:
    """The scenario, and what it gives when nothing interrupts it."""
    return load(scenario_file, SETTING), arrays(made / "whole")


@pytest.fixture
def cut(made) -> Path:
    """A copy of the killed run."""
    return Path(shutil.copytree(made / "cut", "cut"))
