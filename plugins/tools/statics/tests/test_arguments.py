"""What a user hands to searches and cannot be right is one mistake; one that is stopped says so in its folder."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from corekit.cli import FAILED, INTERRUPTED, MISUSE, main
from corekit.errors import ConfigError
from corekit.scenario.load import loads
from corekit_run.folder import read_status
from corekit_statics.scenario_equilibria import find_equilibria
from corekit_statics.scenario_modes import find_modes

PENDULUM = """
format = "corekit-scenario/1"
name = "hanging"
time = { duration = 0.3, step = 0.01 }
integrator = { use = "reference-implicit-euler" }
[[bodies]]
name = "arm"
use = "reference-pendulum"
options = { lengths = [0.5, 0.3], masses = [1.0, 2.0], angles = [0.4, 0.9], rates = [0.0, 0.0] }
"""
TIMES: list[Any] = ["1", math.nan, math.inf, -1, True, [1]]
COUNTS: list[Any] = ["3", 2.5, -1, True, None, [1]]
WRONG: dict[str, tuple[Any, dict[str, list[Any]]]] = {
    "statics": (
        find_equilibria,
        {
            "at": TIMES, "load_steps": [*COUNTS, 0, 10**9], "sweep": [*COUNTS, 10**9], "directory": [3, b"x"],
            "keep": [1, "no"], "progress": [3],
        },
    ),
    "modes": (
        find_modes,
        {"at": TIMES, "count": [*COUNTS, 0], "directory": [3, b"x"], "keep": [1, "no"], "progress": [3]},
    ),
}  # fmt: skip
SEARCHES = {"statics": "scenario_equilibria", "modes": "scenario_modes"}


@pytest.mark.parametrize(
    ("verb", "name", "wrong"),
    [(verb, name, each) for verb, (_, all_of) in WRONG.items() for name in all_of for each in all_of[name]],
)
def test_what_cannot_be_right_is_a_mistake_that_names_the_argument(verb, name, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=rf"^{verb} has 1 mistake:\n  {re.escape(name)}: found .*must be "):
        WRONG[verb][0](loads(PENDULUM), **{name: wrong})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("search", [find_equilibria, find_modes])
def test_a_search_is_of_a_scenario(search):
    with pytest.raises(ConfigError, match=r"scenario: found 'hanging.toml'; must be a scenario"):
        search("hanging.toml")


@pytest.mark.parametrize("verb", WRONG)
@pytest.mark.parametrize(
    ("trouble", "code", "status", "said"),
    [
        (KeyboardInterrupt, INTERRUPTED, "interrupted", "stopped"),
        (lambda: OSError(28, "No space left on device"), FAILED, "failed", "No space left on device"),
    ],
    ids=["ctrl-c", "a full disk"],
)
def test_a_search_that_ends_early_says_so_in_its_folder(
    verb, trouble, code, status, said, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hanging.toml").write_text(PENDULUM)

    def fail(*_arguments, **_options):
        raise trouble()

    monkeypatch.setattr(f"corekit_statics.{SEARCHES[verb]}.move_to_equilibrium", fail)
    assert main([verb, "hanging.toml", "--out", "here", "--quiet"]) == code
    outcome = read_status(tmp_path / "here")
    assert outcome.status == status
    assert said in outcome.reason
    told = capsys.readouterr().err
    assert said in told
    assert "--resume" not in told
    before = {each.name: each.read_bytes() for each in (tmp_path / "here").iterdir()}
    assert (
        main(["run", "--resume", "here"]) == MISUSE
    )  # it would run the scenario in the folder of the search
    assert "it holds neither a checkpoint nor a run in its log" in capsys.readouterr().err
    assert {each.name: each.read_bytes() for each in (tmp_path / "here").iterdir()} == before
