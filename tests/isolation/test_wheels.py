"""Every distribution builds into a wheel that holds its own package and declares what it needs."""

from __future__ import annotations

import re
import runpy
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from corekit.registry.spec import API_VERSION

pytestmark = pytest.mark.xdist_group("wheels")

ROOT = Path(__file__).resolve().parents[2]


def wheel_of(wheels, name):
    (wheel,) = wheels.glob(f"{name.replace('-', '_')}-*.whl")
    return wheel


def contents(wheels, name):
    with zipfile.ZipFile(wheel_of(wheels, name)) as archive:
        names = archive.namelist()
        (metadata,) = (entry for entry in names if entry.endswith(".dist-info/METADATA"))
        return names, Parser().parsestr(archive.read(metadata).decode())


def test_every_distribution_of_the_workspace_builds(wheels, distributions):
    built = {path.name.partition("-")[0].replace("_", "-") for path in wheels.glob("*.whl")}
    assert built == set(distributions)


def test_kernel_wheel_holds_the_kernel_alone(wheels):
    names, metadata = contents(wheels, "corekit-kernel")
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"corekit"}
    assert {"corekit/__init__.py", "corekit/py.typed"} <= set(names)
    assert metadata["License-Expression"] == "MIT"
    assert any(name.endswith("licenses/NOTICE.md") for name in names)


def test_the_wheel_of_testing_holds_what_new_distributions_are_written_from(wheels):
    names, _ = contents(wheels, "corekit-testing")
    assert "corekit_testing/templates/model/src/PACKAGE/model.py.in" in names


def test_plugin_wheels_hold_one_package_and_ask_for_the_kernel_whose_api_they_know(wheels, distributions):
    major, minor = (int(part) for part in API_VERSION.split("."))
    bound = {SpecifierSet(f">={major}.{minor},<{major}.{minor + 1}")}
    for name in set(distributions) - {"corekit-kernel"}:
        names, metadata = contents(wheels, name)
        packages = {entry.partition("/")[0] for entry in names if ".dist-info/" not in entry}
        assert packages == {name.replace("-", "_")}
        requirements = [Requirement(line) for line in metadata.get_all("Requires-Dist", [])]
        asked = {each.specifier for each in requirements if each.name.startswith("corekit-")}
        assert asked == bound, name


def test_what_lives_outside_of_the_workspace_asks_for_the_same_kernel(distributions):
    root = distributions["corekit-kernel"].folder
    major, minor = (int(part) for part in API_VERSION.split("."))
    for path in (
        root / "examples" / "third_party" / "torsion-arm" / "pyproject.toml",
        root / "plugins/tools/testing/src/corekit_testing" / "templates" / "common" / "pyproject.toml.in",
    ):
        text = path.read_text(encoding="utf-8")
        bounds = set(re.findall(r'"corekit-[a-z-]+([^"]*)"', text))
        assert bounds == {f">={major}.{minor},<{major}.{minor + 1}"}, path


def test_every_wheel_is_licensed_typed_and_described(wheels, distributions):
    for name, distribution in distributions.items():
        names, metadata = contents(wheels, name)
        assert metadata["License-Expression"] == "MIT", name
        (licence,) = (entry for entry in names if entry.endswith(".dist-info/licenses/LICENSE"))
        with zipfile.ZipFile(wheel_of(wheels, name)) as archive:
            assert archive.read(licence) == (ROOT / "LICENSE").read_bytes(), name
        package = "corekit" if name == "corekit-kernel" else name.replace("-", "_")
        assert f"{package}/py.typed" in names, name
        assert metadata["Summary"], name
        assert metadata["Author"] == "corekit authors", name
        assert metadata["Requires-Python"] == f"{distributions['corekit-kernel'].project['requires-python']}"
        # no address that does not exist yet
        assert not metadata.get_all("Project-URL", []), name
        assert "Home-page" not in metadata, name
        assert metadata["Description-Content-Type"] == "text/markdown", name
        described = str(metadata.get_payload())
        assert described == (distribution.folder / distribution.project["readme"]).read_text(encoding="utf-8")
        # a page that shows it alone has no files beside it
        assert [link for link in re.findall(r"\]\(([^)]+)\)", described) if "://" not in link] == [], name


DEFAULTS = {
    "corekit-lcp": {"corekit-complementarity"},
    "corekit-qp": {"corekit-quadratic", "corekit-complementarity"},
}
"""Distributions that bring those whose solvers answer their programs unless a scenario names others."""


def test_a_plugin_requires_no_other_plugin_but_that_of_its_default_solver(distributions):
    plugins = {name for name, distribution in distributions.items() if "plugins" in distribution.folder.parts}
    tools = runpy.run_path(str(ROOT / "tools" / "check_imports.py"))["TOOL_SEES"]
    below = {f"corekit-{tool}": {each.replace("_", "-") for each in seen} for tool, seen in tools.items()}
    for name in plugins:
        others = plugins - {name} - below.get(name, set()) - DEFAULTS.get(name, set())
        assert not distributions[name].requirements & others


def test_scenarios_travel_as_package_data(wheels, distributions):
    scenario_files = {path.name for path in distributions["corekit-scenarios"].folder.rglob("*.toml")}
    names, _ = contents(wheels, "corekit-scenarios")
    shipped = {name.rpartition("/")[2] for name in names}
    assert scenario_files - {"pyproject.toml"} <= shipped


def test_the_users_file_lists_every_distribution_once(distributions):
    root = distributions["corekit-kernel"].folder
    lines = [
        line
        for line in (root / "requirements" / "users.txt").read_text().splitlines()
        if line.startswith("-e ")
    ]
    listed = [(root / line.removeprefix("-e ").partition("[")[0].strip()).resolve() for line in lines]
    assert listed[0] == root
    assert sorted(listed) == sorted(distribution.folder for distribution in distributions.values())


def test_every_distribution_is_a_source_of_the_workspace(distributions):
    """uv refuses a workspace as soon as one member asks for another that is missing there."""
    text = (distributions["corekit-kernel"].folder / "pyproject.toml").read_text(encoding="utf-8")
    assert set(tomllib.loads(text)["tool"]["uv"]["sources"]) == set(distributions)
