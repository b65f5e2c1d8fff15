"""The sheet of a component: its options, what it can do here, and names that are wrong."""

from __future__ import annotations

import json
import re

import pytest
from attrs import frozen

import corekit
from corekit.cli import main
from corekit.data.signals import SIGNALS, Constant, Signal
from corekit.roles.options import option
from corekit_inspect.option_table import describe_options

CONFIG = """
from __future__ import annotations
from attrs import field, frozen
from corekit.roles.options import ComponentRef, component_option, option

@frozen(kw_only=True)
class Section:
    length: float = option(0.1, "length of a section", unit="m", above=0)

@frozen(kw_only=True)
class Config:
    begin: float = field(default=0.0, metadata={"key": "from"})
    stiffness: float = option(help="bending stiffness", unit="N·m/rad", low=0)
    sections: tuple[Section, ...] = field(default=(), metadata={"help": "from the base on"})
    lcp_solver: ComponentRef = component_option("lcp_solvers", "lemke", "who solves it")
"""


@pytest.fixture
def good(site):
    site.add_good(
        "fake-good", "fake_good", provides="{'energy'}", ability_modules="{'symbolic': ('no_such_module',)}"
    )
    (site.folder / "fake_good" / "config.py").write_text(CONFIG)
    return site


def test_info_shows_options_with_unit_default_and_range(good):
    result = good.corekit("info", "good", "--json")
    assert result.returncode == 0, result.stderr
    (sheet,) = json.loads(result.stdout)
    options = {option["name"]: option for option in sheet["options"]}
    assert list(options) == ["from", "stiffness", "sections", "sections[].length", "lcp_solver"]
    assert options["stiffness"]["default"] == "required"
    assert options["sections[].length"] == {
        "name": "sections[].length", "type": "float", "default": "0.1",
        "unit": "m", "allowed": "must be > 0", "help": "length of a section",
    }  # fmt: skip
    assert options["lcp_solver"]["default"] == "'lemke'"
    assert list(sheet["provides"]) == ["energy"]
    assert "no_such_module" in sheet["missing"]["symbolic"]


def test_info_reads_as_a_sheet(good):
    result = good.corekit("info", "models.good")
    assert result.returncode == 0, result.stderr
    for words in ("A good model.", "bending stiffness", "N·m/rad", "cannot symbolic here", "can energy"):
        assert words in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["info", "goood"], "did you mean 'good'?"),
        (["info", "models.goood"], "did you mean 'good'?"),
        (["info"], "requires an argument"),
        (["info", "n" * 300], "unknown component"),
        (["info", "./"], "./ is a folder without a run in it, and no component"),
        (["info", "."], ". is a folder without a run in it, and no component"),
        (["info", "modls.good"], "unknown role 'modls', did you mean 'models'?; roles are models"),
    ],
)
def test_misuse_exits_with_two_and_a_message_without_traceback(good, arguments, words):
    result = good.corekit(*arguments)
    assert result.returncode == 2
    assert words in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


def test_describing_a_component_imports_nothing_that_steps_or_reads_records(site):
    code = (
        "import sys\n"
        "from corekit.cli import main\n"
        "main(['info', 'reference-pendulum'])\n"
        "print([n for n in ('corekit.simulation.loop', 'h5py') if n in sys.modules])\n"
    )
    assert site.run("-c", code).stdout.splitlines()[-1] == "[]"


@frozen(kw_only=True)
class Leg:
    length: float = option(0.1, "of the leg", unit="m")
    joint: str = option("hinge", "what holds it")


@frozen(kw_only=True)
class Robot:
    legs: tuple[Leg, ...] = option((Leg(length=0.3), Leg()), "what it stands on")
    arm: Leg = option(Leg(), "what it reaches with")
    goal: Signal = option(Constant((1.0, 2.0)), "where to")


def test_a_default_table_is_written_by_what_differs_from_its_own_defaults():
    rows = {row.name: row.default for row in describe_options(Robot)}
    assert rows["legs"] == "[{ length = 0.3 }, { }]"
    assert rows["arm"] == "see below"
    assert rows["goal"] == "[1.0, 2.0]"
    assert rows["legs[].length"] == "0.1"


def test_info_lists_the_interface_of_a_model_and_of_a_scenarios_bodies(site, tmp_path):
    result = site.corekit("info", "models.reference-pendulum", "--json")
    (sheet,) = json.loads(result.stdout)
    (channel,) = sheet["interface"]["inputs"]
    assert (channel["name"], channel["size"], channel["unit"], channel["bounds"]) == (
        "torque",
        1,
        "N·m",
        [None, None],
    )
    file = tmp_path / "swing.toml"
    file.write_text(
        'format = "corekit-scenario/1"\nname = "swing"\ntime = { duration = 0.1, step = 0.01 }\n'
        'output = { every = 0.01 }\nintegrator = "reference-implicit-euler"\n[[bodies]]\nname = "arm"\n'
        'use = "reference-pendulum"\noptions = { lengths = [1, 1], masses = [1, 1], angles = [0, 0], rates = [0, 0] }\n'
    )
    text = site.corekit("info", str(file)).stdout
    assert "coordinates [rad]: angle0, angle1" in text
    assert "input torque [N·m]: 2 of kind effort" in text
    assert "frames: arm.mass0, arm.mass1" in text


def test_info_scenario_shows_every_key_of_a_file_and_none_that_files_have_not(site):
    keys = {key["name"]: key for key in json.loads(site.corekit("info", "scenario", "--json").stdout)}
    assert keys["time.step"]["unit"] == "s"
    assert keys["world.obstacles[].size"]["help"]
    with (site.folder.parent / "whole.toml").open("w") as file:
        file.write("".join(f"{name} = 0\n" for name in {key.partition(".")[0].rstrip("[]") for key in keys}))
    told = site.corekit("check", str(site.folder.parent / "whole.toml")).stderr
    assert "must be" in told
    assert "unknown" not in told
    text = site.corekit("info", "scenario").stdout
    assert all(name in text for name in keys)


def test_every_kind_of_signal_is_shown_with_its_keys(capsys):
    assert main(["info", "signal", "--json"]) == 0
    found = {each["kind"]: each for each in json.loads(capsys.readouterr().out)}
    assert set(found) == set(SIGNALS)
    assert {key["name"] for key in found["ramp"]["keys"]} == {"from", "to", "value", "start"}
    assert "amplitude·sin" in found["sine"]["meaning"]
    for kind in ("table", "csv"):
        assert "c₀ + c₁·τ" in found[kind]["meaning"]
    assert main(["info", "signal"]) == 0
    text = capsys.readouterr().out
    assert all(f"kind = {kind!r}" in text for kind in SIGNALS)
    assert "(1)" not in text


def test_of_many_names_the_first_are_shown_and_all_of_them_by_all(capsys):
    simulation = corekit.load("teaching/pneumatic-gripper").compose()
    names = simulation.names()
    assert main(["info", "teaching/pneumatic-gripper"]) == 0
    text = capsys.readouterr().out
    assert "…" in text
    assert "all by --all" in text
    assert main(["info", "teaching/pneumatic-gripper", "--all"]) == 0
    text = capsys.readouterr().out
    assert "…" not in text
    words = set(re.split(r"[\s,]+", text))
    assert set(names["frames"]) <= words
    for kind in ("coordinates", "velocities", "inputs"):
        assert {name.partition(".")[2] for name in names[kind]} <= words
    assert names["obstacles"] == ("table",)
    assert names["bodies"] == ("gripper", "can")
    assert "obstacles: table" in text
    assert len(names["velocities"]) == len(simulation.state.v)
    assert len(names["coordinates"]) == len(simulation.state.q)
    assert simulation.frame(names["frames"][5]).position.shape == (3,)
