"""`corekit doctor` imports everything apart from itself: what breaks, hangs or dies is a row with its reason."""

from __future__ import annotations

import json
from importlib.util import find_spec
from inspect import signature

import pytest

from corekit.cli import main
from corekit.distributions import entry_points
from corekit.hooks.installed import Hooks
from corekit.hooks.specs import HookSpecs
from corekit_inspect import checkup
from corekit_inspect.checkup import LISTS_OF_TARGETS, TARGETS, Finding, check_up

SPEC = (
    "from corekit.registry.spec import ComponentSpec\n"
    "spec = ComponentSpec(role='models', name={name!r}, api='0.2', target='{package}.model:Model', "
    "config='{package}.model:Config', summary='A model.', provides=frozenset({abilities}))\n"
)
PENDULUM = {
    "point-jacobian",
    "force-derivatives",
    "inverse-dynamics",
    "mass-gradient",
    "energy",
    "force-terms",
    "input-jacobian",
}
"""The abilities of the reference pendulum."""


def add(site, name, model):
    """A distribution `fake-<name>` with one model, whose module is as given."""
    package = f"fake_{name}"
    modules = {
        f"{package}/__init__.py": "",
        f"{package}/_spec.py": SPEC.format(
            name=name, package=package, abilities=PENDULUM if "Pendulum" in model else {}
        ),
        f"{package}/model.py": model,
    }
    site.add(f"fake-{name}", {"models": {name: f"{package}._spec:spec"}}, modules)


GOOD = "print('hello from the plugin')\nfrom corekit_testing.pendulum import Pendulum as Model\nclass Config: pass\n"


def test_what_an_extra_would_bring_is_no_fault(only_fakes):
    only_fakes.add_good(
        "fake-quick", "fake_quick", "quick", modules="('no_such_module',)",
        requires=["no-such-module; extra == 'fast'"], extras=["fast"],
    )  # fmt: skip
    (found,) = [finding for finding in check_up(20.0) if finding.name == "quick"]
    assert not found.problem
    assert "pip install 'fake-quick[fast]'" in found.missing["itself"]


def test_each_way_to_break_is_told_apart(only_fakes):
    add(only_fakes, "good", GOOD)
    add(only_fakes, "raises", "import no_such_module\n")
    add(only_fakes, "dies", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    add(
        only_fakes,
        "leaves",
        "import os, sys\nsys.stderr.write('out of licences')\nsys.stderr.flush()\nos._exit(7)\n",
    )
    add(only_fakes, "half", "class Model: pass\n")
    add(only_fakes, "foreign", "class Model: pass\nclass Config: pass\n")
    told: list[Finding] = []
    findings = {finding.name: finding for finding in check_up(report=told.append)}
    assert len(told) == len(findings) == 6
    assert findings["good"].problem == ""
    assert findings["good"].wall_s > 0
    assert "No module named 'no_such_module'" in findings["raises"].problem
    assert "signal 9" in findings["dies"].problem
    assert "exit code 7): out of licences" in findings["leaves"].problem
    assert "no attribute 'Config'" in findings["half"].problem
    assert "is no model: it does not derive from" in findings["foreign"].problem
    assert not any(finding.first_party for finding in findings.values())


def test_a_distribution_whose_files_are_damaged_is_a_finding_of_its_own(only_fakes):
    add(only_fakes, "good", GOOD)
    with (only_fakes.folder / "fake_good-1.0.dist-info" / "entry_points.txt").open("a") as file:
        file.write("trunca")
    findings = {finding.kind: finding for finding in check_up()}
    assert findings["models"].problem == ""
    assert (
        "'trunca', is no entry point: pip install --force-reinstall fake-good"
        in findings["distributions"].problem
    )


def test_one_that_hangs_is_ended(only_fakes):
    add(only_fakes, "hangs", "import time\ntime.sleep(60)\n")
    (finding,) = check_up(limit=0.2)
    assert "did not end within 0.2 s" in finding.problem


@pytest.mark.parametrize("limit", ["0", "-1"])
def test_a_time_limit_is_above_zero(limit, capsys):
    assert main(["doctor", "--limit", limit]) == 2
    assert "limit: found" in capsys.readouterr().err


def test_one_that_dies_takes_nobody_of_its_distribution_along(only_fakes):
    package = {"fake_many/__init__.py": ""}
    for name, model in (("a", "import os\nos._exit(3)\n"), ("b", GOOD), ("c", GOOD)):
        package[f"fake_many/{name}/__init__.py"] = ""
        package[f"fake_many/{name}/model.py"] = model
        package[f"fake_many/{name}/_spec.py"] = SPEC.format(
            name=name, package=f"fake_many.{name}", abilities=PENDULUM
        )
    only_fakes.add("fake-many", {"models": {name: f"fake_many.{name}._spec:spec" for name in "abc"}}, package)
    problems = {finding.name: finding.problem for finding in check_up()}
    assert "exit code 3" in problems["a"]
    assert problems["b"] == problems["c"] == ""


def test_metadata_are_read_without_an_import(only_fakes):
    only_fakes.add("fake-lost", {"models": {"lost": "fake_lost._spec:spec"}})
    (finding,) = check_up()
    assert "cannot be found" in finding.problem
    assert finding.wall_s == 0.0


def test_a_plugin_of_an_older_api_is_refused_by_name(only_fakes):
    only_fakes.add_good("fake-old", "fake_old", "old-arm", api="'0.0'")
    (only_fakes.folder / "fake_old" / "model.py").write_text("raise RuntimeError('must not be imported')\n")
    (finding,) = check_up()
    assert finding.problem.startswith("it was written for kernel API '0.0', this kernel")


def test_strangers_may_break_without_a_fault(only_fakes, monkeypatch, capsys):
    add(only_fakes, "raises", "import no_such_module\n")
    assert main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["sound"] is True
    assert "no_such_module" in report["plugins"][0]["problem"]
    assert report["versions"]["libraries"]["numpy"]
    monkeypatch.setattr(Finding, "first_party", True)
    assert main(["doctor"]) == 1
    assert "1 broken" in capsys.readouterr().out


def see_only(monkeypatch, shown):
    """The entry points of one group, without those of the hooks that are installed."""
    fakes = lambda group: (  # noqa: E731
        [each for each in entry_points(group) if each.distribution.startswith("fake-")]
        if group == shown
        else ()
    )
    monkeypatch.setattr(checkup, "entry_points", fakes)


def test_a_shape_whose_spec_or_surface_cannot_be_loaded_is_found(only_fakes, monkeypatch):
    spec = (
        "from corekit.geometry.shape_specs import ShapeSpec\n"
        "def shape(kind, **more):\n"
        "    return ShapeSpec(kind=kind, sizes=('radius',), bounding_radius=lambda size, _: size[0], **more)\n"
        "good = shape('good')\nother = shape('name')\nbare = shape('bare', surface='fake_shapes:triangles')\n"
    )
    entries = {"good": "good", "wrong": "other", "bare": "bare", "absent": "nothing"}
    only_fakes.add(
        "fake-shapes", {"shapes": {kind: f"fake_shapes:{name}" for kind, name in entries.items()}},
        {"fake_shapes.py": spec},
    )  # fmt: skip
    see_only(monkeypatch, "corekit.shapes")
    problems = {finding.name: finding.problem for finding in check_up()}
    assert problems.pop("good") == ""
    assert "its ShapeSpec says 'name'; the names must agree" in problems.pop("wrong")
    assert "no attribute 'triangles'" in problems.pop("bare")
    assert "loading fake_shapes:nothing failed" in problems.pop("absent")
    assert not problems


def test_a_friction_law_that_cannot_be_loaded_or_is_another_one_is_found(only_fakes, monkeypatch):
    law = (
        "from corekit.roles.friction import FrictionLaw\n"
        "def law(name):\n"
        "    return FrictionLaw(name=name, coefficients=('mu',), gauge=max, dissipation=max)\n"
        "good, other = law('lab:good'), law('lab:name')\n"
    )
    entries = {"lab:good": "good", "lab:wrong": "other", "lab:absent": "nothing"}
    only_fakes.add(
        "fake-laws", {"friction_laws": {name: f"fake_laws:{value}" for name, value in entries.items()}},
        {"fake_laws.py": law},
    )  # fmt: skip
    see_only(monkeypatch, "corekit.friction_laws")
    problems = {finding.name: finding.problem for finding in check_up()}
    assert problems.pop("lab:good") == ""
    assert "its FrictionLaw says 'lab:name'; the names must agree" in problems.pop("lab:wrong")
    assert "of fake-laws 1.0: loading fake_laws:nothing failed" in problems.pop("lab:absent")
    assert not problems


SHAPE = "ShapeSpec(kind='{}', sizes=('radius',), bounding_radius=lambda size, _: size[0])"
LAW = "FrictionLaw(name='{}', coefficients=('mu',), gauge=max, dissipation=max)"


@pytest.mark.parametrize(
    ("group", "of", "stated", "taken"),
    [
        ("shapes", "corekit.geometry.shape_specs import ShapeSpec", SHAPE, "sphere"),
        ("friction_laws", "corekit.roles.friction import FrictionLaw", LAW, "coulomb"),
    ],
)
def test_one_name_of_two_distributions_or_of_the_kernel_too_is_found(
    only_fakes, monkeypatch, group, of, stated, taken
):
    for name, called in (("one", "lab:same"), ("two", "lab:same"), ("three", taken)):
        text = f"from {of}\nfound = {stated.format(called)}\n"
        only_fakes.add(f"fake-{name}", {group: {called: f"fake_{name}:found"}}, {f"fake_{name}.py": text})
    see_only(monkeypatch, f"corekit.{group}")
    problems = {(finding.distribution, finding.name): finding.problem for finding in check_up()}
    for name in ("fake-one", "fake-two"):
        said = "'lab:same' is brought by fake-one 1.0 and fake-two 1.0: uninstall all but one"
        assert said in problems[name, "lab:same"]
    assert "the kernel has" in problems["fake-three", taken]


def test_an_answer_to_a_hook_that_is_never_asked_for_is_found(only_fakes, monkeypatch):
    """Of two runners the first counts; who installed the second must hear of it."""
    for name in ("one", "two"):
        text = f"from corekit.hooks.specs import hookimpl\n@hookimpl\ndef corekit_runner(): return '{name}:run'\n"
        only_fakes.add(f"fake-{name}", {"hooks": {name: f"fake_{name}"}}, {f"fake_{name}.py": text})
    entries = [each for each in entry_points("corekit.hooks") if each.name in ("one", "two")]
    hooks = Hooks(entries)
    monkeypatch.setattr(checkup, "installed_hooks", lambda: hooks)
    (finding,) = check_up()
    assert hooks.target("corekit_runner") == "one:run"
    assert (finding.distribution, finding.name) == ("fake-two", "corekit_runner")
    assert finding.problem == "it is not used: fake-one 1.0 answers first"


HOOKS = {
    "lost_verb": (
        "@hookimpl\ndef corekit_verbs(): return [Verb('lost', 'no_such.verb:run', 'Lost.')]\n",
        "importing no_such.verb:run failed with ModuleNotFoundError",
    ),
    "lost_observer": (
        "@hookimpl\ndef corekit_run_observers(): return ['lost_observer:nothing']\n",
        "module 'lost_observer' has no attribute 'nothing'",
    ),
    "a_number": (
        "@hookimpl\ndef corekit_runner(): return 'a_number:N'\nN = 3\n",
        "a_number:N cannot be called",
    ),
    "raising": ("@hookimpl\ndef corekit_verbs(): return 1 / 0\n", "corekit_verbs raised ZeroDivisionError"),
    "unmarked": ("def corekit_verbs(): return []\n", "the mark hookimpl is missing on corekit_verbs"),
    "misspelt": ("@hookimpl\ndef corekit_verb(): return []\n", "this kernel has no hook corekit_verb"),
    "sound": ("@hookimpl\ndef corekit_run_ended(): raise RuntimeError('called without a run')\n", ""),
}
"""Modules of hooks, and what is said of them."""


def test_each_way_in_which_hooks_break_is_told_in_a_row_of_its_own(only_fakes, monkeypatch):
    start = "from corekit.hooks.specs import Verb, hookimpl\n"
    only_fakes.add(
        "fake-hooks", {"hooks": {name: name for name in HOOKS}},
        {f"{name}.py": start + source for name, (source, _) in HOOKS.items()},
    )  # fmt: skip
    see_only(monkeypatch, "corekit.hooks")
    problems = {finding.name: finding.problem for finding in check_up()}
    assert set(problems) == set(HOOKS)
    for name, (_, says) in HOOKS.items():
        assert says in problems[name] if says else not problems[name], name


def test_every_hook_that_names_something_to_import_is_asked():
    questions = {
        name for name, hook in vars(HookSpecs).items() if name.startswith("corekit_") and not _arguments(hook)
    }
    assert questions == {
        "corekit_verbs",
        "corekit_folder_reports",
        "corekit_schedulers",
        *LISTS_OF_TARGETS,
        *TARGETS,
    }


def _arguments(hook):
    return set(signature(hook).parameters) - {"self"}


GREEDY = (
    "from corekit.hooks.specs import Verb, hookimpl\n"
    "@hookimpl\ndef corekit_verbs(): return [Verb('list', 'json:loads', 'Mine.')]\n"
)


@pytest.mark.skipif(
    find_spec("corekit_sdf") is None, reason="the plugin that is broken here is corekit-sdf's"
)
def test_a_half_installed_plugin_of_ours_is_found_by_the_whole_command(site):
    site.add(
        "fake-cases",
        {"cases": {"x.y": "fake_raises:nothing"}, "hooks": {"h": "json", "g": "greedy"}},
        {"greedy.py": GREEDY},
    )
    (site.folder / "corekit_sdf").mkdir()
    (site.folder / "corekit_sdf" / "__init__.py").write_text("raise RuntimeError('half installed')\n")
    (site.folder / "corekit_sdf" / "_spec.py").write_text("")
    told = site.corekit("doctor")
    assert told.returncode == 1
    assert "contact_detectors.sdf of corekit-sdf" in told.stdout
    assert "half installed" in told.stdout
    assert "cases.x.y of fake-cases" in told.stdout
    assert "hooks.h of fake-cases: it answers no hook" in told.stdout
    assert "verbs.list of fake-cases: it is left out: there is a verb of that name" in told.stdout
    assert "hooks.g of fake-cases" not in told.stdout
    assert "4 broken" in told.stdout
