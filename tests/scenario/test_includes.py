"""Included files mean what their tables in the scenario itself mean, and nothing outside of its folder is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from corekit.errors import ConfigError
from corekit.scenario.load import load, loads, with_values

HEAD = """
format = "corekit-scenario/1"
name = "balls"
time = { duration = 0.01, step = 1e-3 }
integrator = "semi-implicit-euler"
"""
BALL = """
[templates.ball]
use = "rigid"
options = { shape = "sphere", size = [0.02], mass = 0.05 }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "ball.toml").write_text(BALL)
    (tmp_path / "world.toml").write_text(
        'include = "parts/ball.toml"\n[world]\ngravity = [0, 0, -1]\n'
        '[[world.obstacles]]\nname = "floor"\nshape = "half-space"\nfriction = 0.1\n'
    )
    return tmp_path


def scenario_of(folder: Path, text: str, *overrides: str):
    (folder / "scenario.toml").write_text(text + HEAD if text.startswith("include") else HEAD + text)
    return load(folder / "scenario.toml", overrides)


USE = '[[bodies]]\nuse_template = "ball"\nname = "b"\n'


def test_included_tables_count_and_the_file_s_own_entries_win(folder):
    (folder / "main.toml").write_text(
        f'include = ["world.toml"]\n{HEAD}world.gravity = [0, 0, -2]\n{USE}'
        '[[world.obstacles]]\nname = "floor"\nfriction = 0.9\n'
        '[[world.obstacles]]\nname = "wall"\nshape = "half-space"\n'
    )
    scenario = load(folder / "main.toml")
    assert scenario.world.gravity == (0.0, 0.0, -2.0)
    assert [(each.name, each.shape, each.friction) for each in scenario.world.obstacles] == [
        ("floor", "half-space", 0.9),
        ("wall", "half-space", None),
    ]
    assert scenario.bodies[0].options["mass"] == 0.05
    assert loads(scenario.resolved_text()) == scenario


def test_overrides_and_values_reach_what_an_included_file_holds(folder):
    """By `--set` before templates are used, by values in what was written out."""
    text = 'include = ["world.toml"]\n' + HEAD + USE + USE.replace('"b"', '"c"')
    (folder / "main.toml").write_text(text)
    own = [
        "templates.ball.options.mass=0.5",
        "world.obstacles.floor.friction=0.3",
        "bodies.c.options.mass=0.7",
    ]
    scenario = load(folder / "main.toml", own)
    assert [body.options["mass"] for body in scenario.bodies] == [0.5, 0.7]
    assert scenario.world.obstacles[0].friction == 0.3
    changed = with_values(scenario, {"bodies.b.options.mass": 0.9, "world.obstacles.floor.friction": 0.4})
    assert [body.options["mass"] for body in changed.bodies] == [0.9, 0.7]
    assert changed.world.obstacles[0].friction == 0.4
    assert changed.world.gravity == (0.0, 0.0, -1.0)
    with pytest.raises(
        ConfigError, match=r"templates\.ball\.options\.mass: found 0\.9; must name the entry of each"
    ):
        with_values(scenario, {"templates.ball.options.mass": 0.9})


def test_a_mistake_in_an_included_file_names_the_file(folder):
    (folder / "parts" / "ball.toml").write_text(BALL.replace("0.05", "-1.0"))
    (folder / "world.toml").write_text('include = "parts/ball.toml"\n[world]\ngravty = [0, 0, -1]\n')
    (folder / "main.toml").write_text(f'include = ["world.toml"]\n{HEAD}{USE}')
    with pytest.raises(ConfigError) as caught:
        load(folder / "main.toml")
    said = sorted(str(each).partition(":")[0] for each in caught.value.mistakes)
    assert said == [
        "bodies[0].options.mass (from templates.ball.options.mass in parts/ball.toml)",
        "world.gravty (from world.gravty in world.toml)",
    ]


@pytest.mark.parametrize("name", ["../outside.toml", "/etc/hostname", "link.toml"])
def test_nothing_outside_of_the_scenario_s_folder_is_included(tmp_path, name):
    (tmp_path / "outside.toml").write_text('seed = "secret"')
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.toml").symlink_to(tmp_path / "outside.toml")
    (inside / "main.toml").write_text(f'include = "{name}"\n{HEAD}{BALL}{USE}')
    with pytest.raises(ConfigError, match="nothing outside of a scenario's folder is included") as caught:
        load(inside / "main.toml")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("include = 3", "include: found 3; must be the name of a TOML file"),
        ('include = ["a.toml", 3]', "include[1]: found 3; must be the name of a TOML file"),
        ('include = "nothing.toml"', "nothing.toml: found no such file"),
        ('include = "parts"', "parts: found a folder"),
        ('include = "broken.toml"', "is not TOML"),
        ('include = "main.toml"', "include in main.toml: found 'main.toml'; includes itself"),
        ('include = "bytes.toml"', "must be a text file in UTF-8"),
    ],
)  # fmt: skip
def test_an_include_that_cannot_be_followed_is_refused_in_one_sentence(folder, text, said):
    (folder / "broken.toml").write_text("a = \n")
    (folder / "bytes.toml").write_bytes(b"\xff\xfe")
    (folder / "a.toml").write_text("seed = 1\n")
    (folder / "main.toml").write_text(f"{text}\n{HEAD}{BALL}{USE}")
    with pytest.raises(ConfigError) as caught:
        load(folder / "main.toml")
    (only,) = caught.value.mistakes
    assert said in str(only)


def test_files_that_include_each_other_over_and_over_end_in_a_mistake(folder):
    for k in range(12):
        (folder / f"f{k}.toml").write_text(f'include = ["f{k + 1}.toml", "f{k + 1}.toml"]\n')
    (folder / "f12.toml").write_text("seed = 1\n")
    (folder / "main.toml").write_text(f'include = "f0.toml"\n{HEAD}{BALL}{USE}')
    with pytest.raises(ConfigError, match="is one of more than 100 included files"):
        load(folder / "main.toml")
