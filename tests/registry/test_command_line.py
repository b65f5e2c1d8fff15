"""Exit codes, error messages and the information sheet."""

from __future__ import annotations

import json

import pytest

from corekit.cli import main
from corekit.errors import CompositionError, ConfigError, CorekitError, Mistake, PluginError, StepFailed

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
        (["info", "good", "--jsn"], "--jsn"),
        (["lsit"], "lsit"),
    ],
)
def test_misuse_exits_with_two_and_a_message_without_traceback(good, arguments, words):
    result = good.corekit(*arguments)
    assert result.returncode == 2
    assert words in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("arguments", [[], ["--help"], ["--version"], ["list"], ["list", "--help"]])
def test_asking_for_help_or_a_listing_exits_with_zero(site, arguments):
    assert site.run("-m", "corekit.cli", *arguments).returncode == 0


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError([Mistake("time.step", -1, "must be > 0")]), 2),
        (PluginError("no such plugin"), 2),
        (CompositionError("these two do not fit"), 2),
        (StepFailed("the solver stopped", step=3, time=0.5), 1),
        (CorekitError("something else"), 1),
    ],
)
def test_each_error_has_its_exit_code_and_is_printed_whole(monkeypatch, capsys, error, code):
    def fail():
        raise error

    monkeypatch.setattr("corekit.cli.listing.discover", fail)
    assert main(["list"]) == code
    assert capsys.readouterr().err.strip() == str(error)


def test_help_describes_every_verb_without_importing_one(site):
    code = (
        "import sys\n"
        "from corekit.cli import VERBS, main\n"
        "from corekit.hooks.installed import installed_hooks\n"
        "main(['--help'])\n"
        "verbs = [*VERBS, *(verb for _, verb in installed_hooks().verbs())]\n"
        "print(len(verbs) > len(VERBS), [f for _, f, _ in verbs if f.partition(':')[0] in sys.modules])\n"
    )
    result = site.run("-c", code)
    assert result.stdout.splitlines()[-1] == "True []"


def test_import_corekit_is_light(site):
    code = "import sys, corekit; print([n for n in ('numpy', 'attrs', 'rich') if n in sys.modules])"
    assert site.run("-c", code).stdout.strip() == "[]"


def test_describing_a_component_imports_nothing_that_steps_or_reads_records(site):
    code = (
        "import sys\n"
        "from corekit.cli import main\n"
        "main(['info', 'reference-pendulum'])\n"
        "print([n for n in ('corekit.simulation.loop', 'h5py') if n in sys.modules])\n"
    )
    assert site.run("-c", code).stdout.splitlines()[-1] == "[]"
