"""A distribution that pip could have installed adds a verb and watches runs; broken ones are left out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from corekit.distributions import entry_points
from corekit.hooks.installed import GROUP, Hooks
from corekit.registry.first_party import FIRST_PARTY_VERBS

SCENARIO = """
format = "corekit-scenario/1"
name = "falling"
time = { duration = 0.2, step = 0.001 }
integrator = { use = "reference-semi-implicit-euler" }
output = { every = 0.1 }
[[bodies]]
name = "ball"
use = "reference-point-chain"
"""

GOOD = """
import json
from pathlib import Path
from corekit.hooks.specs import Verb, hookimpl

@hookimpl
def corekit_verbs():
    return [Verb("greet", "good_hooks.verb:greet", "Greets who is named.")]

def note(**what):
    with Path("noted.jsonl").open("a") as file:
        file.write(json.dumps(what) + "\\n")

@hookimpl
def corekit_scenario_composed(scenario, simulation):
    note(hook="composed", name=scenario.name, bodies=len(simulation.bodies))

@hookimpl
def corekit_run_started(folder):
    note(hook="started", folder=folder.name)

@hookimpl
def corekit_block_finished(simulation, steps):
    note(hook="block", steps=steps, time=simulation.time)

@hookimpl
def corekit_run_ended(folder, error):
    status = (folder / "STATUS").read_text().split()[0]
    note(hook="ended", error=None if error is None else type(error).__name__, status=status)
"""

VERB = '''
def greet(name: str, *, loud: bool = False) -> int:
    """Greet.

    Parameters
    ----------
    name
        Who.
    """
    print(f"hello {name}".upper() if loud else f"hello {name}")
    return 3
'''


class Site:
    """Fake distributions in a folder that other processes see."""

    def __init__(self, folder: Path, forked: Any) -> None:
        self.folder, self.work, self._forked = folder / "site", folder / "work", forked
        self.work.mkdir()

    def add(self, distribution: str, entry: str, modules: dict[str, str]) -> None:
        info = self.folder / f"{distribution.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[corekit.hooks]\n{distribution} = {entry}\n")
        for path, source in modules.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source)

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A fresh interpreter."""
        return subprocess.run(
            [sys.executable, *arguments], env=self._environment, cwd=self.work,
            capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip

    def script(self, text: str) -> subprocess.CompletedProcess[str]:
        """A program in a process of its own."""
        (self.work / "script.py").write_text(text)
        return self._forked.run(module="script", folder=self.work, environment=self._environment)

    def corekit(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command line in a process of its own."""
        return self._forked.run(*arguments, folder=self.work, environment=self._environment)

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.folder), "COLUMNS": "160", "NO_COLOR": "1"}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        (self.work / "falling.toml").write_text(SCENARIO)
        return self.corekit("run", "falling.toml", "--quiet", "--out", "here", *arguments)

    @property
    def noted(self) -> list[dict]:
        return [json.loads(line) for line in (self.work / "noted.jsonl").read_text().splitlines()]


@pytest.fixture
def site(tmp_path: Path, forked: Any) -> Site:
    return Site(tmp_path, forked)


@pytest.fixture
def good(site: Site) -> Site:
    modules = {"good_hooks/__init__.py": "", "good_hooks/hooks.py": GOOD, "good_hooks/verb.py": VERB}
    site.add("good-hooks", "good_hooks.hooks", modules)
    return site


def test_a_verb_of_another_distribution_is_helped_called_and_returns_its_code(good):
    told = good.corekit("--help")
    assert "Greets who is named." in told.stdout
    told = good.corekit("greet", "you", "--loud")
    assert (told.returncode, told.stdout.strip(), told.stderr) == (3, "HELLO YOU", "")
    assert good.corekit("greet").returncode == 2


def test_an_observer_sees_a_run_from_composition_to_end_in_blocks(good):
    assert good.run().returncode == 0
    noted = good.noted
    assert [each["hook"] for each in noted if each["hook"] != "block"] == ["composed", "started", "ended"]
    assert noted[0] == {"hook": "composed", "name": "falling", "bodies": 1}
    blocks = [each for each in noted if each["hook"] == "block"]
    assert sum(block["steps"] for block in blocks) == 200
    assert len(blocks) < 20
    assert blocks[-1]["time"] == pytest.approx(0.2)
    assert noted[-1] == {"hook": "ended", "error": None, "status": "finished"}


def test_the_end_of_a_failed_run_is_reported_with_its_error(good):
    told = good.run("--set", "bodies.ball.options.masses=[0.0]")
    assert told.returncode == 1
    assert good.noted[-1] == {"hook": "ended", "error": "StepFailed", "status": "failed"}


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit('gone')\n", "SystemExit: gone"),
        (
            "from corekit.hooks.specs import hookimpl\n@hookimpl\ndef corekit_step_done(simulation): pass\n",
            "this kernel has no hook corekit_step_done",
        ),
        ("def corekit_verbs(): return []\n", "the mark hookimpl is missing on corekit_verbs"),
        ("def verbs(): return []\n", "it answers no hook"),
        (
            "from corekit.hooks.specs import hookimpl\n@hookimpl\ndef corekit_run_ended(wrong): pass\n",
            "wrong",
        ),
        (
            "from corekit.hooks.specs import hookimpl\n@hookimpl\ndef corekit_verbs(): return ['greet']\n",
            "must return a list of Verb",
        ),
        (
            "from corekit.hooks.specs import hookimpl\n@hookimpl\ndef corekit_verbs(): return 1 / 0\n",
            "corekit_verbs raised ZeroDivisionError",
        ),
    ],
)
def test_a_broken_one_is_one_line_on_the_error_stream_and_the_others_go_on(good, source, says):
    good.add("broken-hooks", "broken_hooks", {"broken_hooks.py": source})
    told = good.corekit("greet", "you")
    assert told.stdout.strip() == "hello you"
    (line,) = told.stderr.splitlines()
    assert "'broken-hooks' of broken-hooks 1.0" in line
    assert says in line


def test_one_that_raises_during_a_run_does_not_stop_it_and_is_not_called_again(good):
    source = (
        "from corekit.hooks.specs import hookimpl\n"
        "@hookimpl\ndef corekit_run_started(): raise RuntimeError('no disk')\n"
        "@hookimpl\ndef corekit_run_ended(): print('called again')\n"
    )
    good.add("broken-hooks", "broken_hooks", {"broken_hooks.py": source})
    told = good.run()
    assert (told.returncode, told.stdout) == (0, "")
    (line,) = told.stderr.splitlines()
    assert "corekit_run_started raised RuntimeError: no disk" in line
    assert good.noted[-1]["status"] == "finished"


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("no_such.verb:greet", "importing no_such.verb:greet failed with ModuleNotFoundError"),
        (
            "lost_hooks:greet",
            "package lost_hooks of lost-hooks 1.0: importing lost_hooks:greet failed with Attribute",
        ),
        ("lost_hooks:NUMBER", "lost_hooks:NUMBER is no function"),
    ],
)
def test_a_verb_that_names_nothing_to_call_says_so_in_one_line_and_the_others_go_on(good, target, says):
    source = (
        "from corekit.hooks.specs import Verb, hookimpl\nNUMBER = 3\n"
        f"@hookimpl\ndef corekit_verbs(): return [Verb('lost', {target!r}, 'Lost.')]\n"
    )
    good.add("lost-hooks", "lost_hooks", {"lost_hooks.py": source})
    for words in (["lost"], ["lost", "you", "--loud"]):
        told = good.corekit(*words)
        (line,) = told.stderr.splitlines()
        assert (told.returncode, told.stdout) == (2, "")
        assert line.startswith("the verb 'lost' of lost-hooks 1.0 cannot be used: ")
        assert says in line
    assert good.corekit("greet", "you").stdout.strip() == "hello you"


@pytest.mark.parametrize("taken", ["check", "list"])  # of the kernel, and of a distribution of this project
def test_a_verb_whose_name_is_taken_is_left_out(site, taken):
    source = (
        "from corekit.hooks.specs import Verb, hookimpl\n"
        f"@hookimpl\ndef corekit_verbs(): return [Verb('{taken}', 'x:y', 'Mine.')]\n"
    )
    site.add("greedy", "greedy_hooks", {"greedy_hooks.py": source})
    told = site.corekit("list", "--json")
    assert told.returncode == 0
    (line,) = told.stderr.splitlines()
    assert f"the verb '{taken}' of greedy" in line
    assert "left out" in line


@pytest.mark.parametrize(("verb", "owner"), sorted(FIRST_PARTY_VERBS.items()))
def test_a_verb_of_ours_that_is_not_installed_is_answered_with_what_to_install(site, verb, owner):
    code = (
        "import sys\nfrom corekit.hooks import installed\ninstalled.entry_points = lambda group: ()\n"
        f"from corekit.cli import main\nsys.exit(main(['{verb}', '--help']))\n"
    )
    told = site.python("-c", code)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr == (
        f"`corekit {verb}` is a verb of {owner}, which is not installed: pip install {owner}\n"
    )


def test_the_verbs_of_ours_are_those_that_the_distributions_of_ours_add():
    added = {}
    for entry in entry_points(GROUP):
        if entry.distribution.startswith("corekit-"):
            added |= {verb.name: entry.distribution for _, verb in Hooks([entry]).verbs()}
    assert added == FIRST_PARTY_VERBS


def test_without_hooks_pluggy_is_not_imported(site):
    code = (
        "import sys\nfrom corekit.hooks import installed\ninstalled.entry_points = lambda group: ()\n"
        "from corekit.cli import main\nmain(['--help'])\nprint('pluggy' in sys.modules)\n"
    )
    assert site.python("-c", code).stdout.splitlines()[-1] == "False"


def test_without_an_equilibrium_finder_a_start_at_equilibrium_is_answered_with_what_to_install(site):
    (site.work / "falling.toml").write_text('start = "equilibrium"\n' + SCENARIO)
    code = (
        "import sys\nfrom corekit.hooks import installed\nnone = installed.Hooks(())\n"
        "installed.installed_hooks = lambda: none\n"
        "from corekit.cli import main\nsys.exit(main(['check', 'falling.toml']))\n"
    )
    told = site.script(code)
    assert (told.returncode, told.stdout) == (1, "")
    assert "no installed distribution finds equilibria" in told.stderr
    assert told.stderr.endswith("pip install corekit-statics\n")


def test_without_run_folders_a_scenario_is_composed_and_stepped_and_its_run_names_what_to_install(site):
    (site.work / "falling.toml").write_text(SCENARIO)
    code = (
        "import sys\nfrom corekit.hooks import installed\nnone = installed.Hooks(())\n"
        "installed.installed_hooks = lambda: none\n"
        "import corekit\nscenario = corekit.load('falling.toml')\nsimulation = scenario.compose()\n"
        "simulation.run(0.2)\nprint(simulation.step_index, 'corekit_run' in sys.modules)\nscenario.run()\n"
    )
    told = site.python("-c", code)
    assert told.stdout == "200 False\n"
    assert told.stderr.endswith("pip install corekit-run\n")


def test_an_equilibrium_finder_and_a_folder_report_of_another_distribution_are_used(site):
    """A finder that lays the ball at a height of its own, registered beside ours; entry points go by name."""
    source = """
from corekit.hooks.specs import FolderReport, hookimpl

class Finder:
    def move_to_equilibrium(self, simulation, at=0.0, *, models_without_gravity=None):
        simulation.state.q[2] = 0.625 + at

    def find_equilibria(self, scenario, **options):
        return scenario.name, options

@hookimpl
def corekit_equilibrium_finder():
    return "a_finder:Finder"

@hookimpl
def corekit_folder_reports():
    return [FolderReport("heights.json", "a_finder:show")]

def show(report):
    print("height", report["height"])
"""
    site.add("a-finder", "a_finder", {"a_finder.py": source})
    (site.work / "falling.toml").write_text('start = "equilibrium"\n' + SCENARIO)
    code = (
        "import corekit\nscenario = corekit.load('falling.toml')\nprint(scenario.compose().state.q[2])\n"
        "print(scenario.statics(sweep=2))\nscenario.run(directory='here')\n"
        "open('here/heights.json', 'w').write('{\"height\": 2.5}')\n"
    )
    told = site.script(code)
    assert told.stdout.splitlines() == ["0.625", "('falling', {'sweep': 2})"], told.stderr
    assert "height 2.5" in site.corekit("info", "here").stdout
