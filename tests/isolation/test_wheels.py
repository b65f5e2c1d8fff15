"""Every distribution builds into a wheel that holds its own package and declares what it needs."""

from __future__ import annotations

import tomllib
import zipfile
from email.parser import Parser

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("wheels")]


def contents(wheels, name):
    (wheel,) = wheels.glob(f"{name.replace('-', '_')}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
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
    # what `corekit new` writes from
    assert "corekit/templates/model/src/PACKAGE/model.py.in" in names
    assert metadata["License-Expression"] == "MIT"
    assert any(name.endswith("licenses/NOTICE.md") for name in names)


def test_plugin_wheels_hold_one_package_and_bound_the_kernel_on_both_sides(wheels, distributions):
    for name in set(distributions) - {"corekit-kernel"}:
        names, metadata = contents(wheels, name)
        packages = {entry.partition("/")[0] for entry in names if ".dist-info/" not in entry}
        assert packages == {name.replace("-", "_")}
        (bound,) = (
            line for line in metadata.get_all("Requires-Dist", []) if line.startswith("corekit-kernel")
        )
        assert ">=" in bound, (name, bound)
        assert "<" in bound, (name, bound)


def test_no_plugin_requires_another_plugin(distributions):
    plugins = {name for name, distribution in distributions.items() if "plugins" in distribution.folder.parts}
    for name in plugins:
        assert not distributions[name].requirements & (plugins - {name})


def test_scenarios_travel_as_package_data(wheels, distributions):
    scenario_files = {path.name for path in distributions["corekit-scenarios"].folder.rglob("*.toml")}
    names, _ = contents(wheels, "corekit-scenarios")
    shipped = {name.rpartition("/")[2] for name in names}
    assert scenario_files - {"pyproject.toml"} <= shipped


def test_development_file_lists_every_distribution_once(distributions):
    root = distributions["corekit-kernel"].folder
    lines = [line for line in (root / "dev.txt").read_text().splitlines() if line.startswith("-e ")]
    listed = [(root / line.removeprefix("-e ").partition("[")[0].strip()).resolve() for line in lines]
    assert listed[0] == root
    assert sorted(listed) == sorted(distribution.folder for distribution in distributions.values())


def test_every_distribution_is_a_source_of_the_workspace(distributions):
    """uv refuses a workspace as soon as one member asks for another that is missing there."""
    text = (distributions["corekit-kernel"].folder / "pyproject.toml").read_text(encoding="utf-8")
    assert set(tomllib.loads(text)["tool"]["uv"]["sources"]) == set(distributions)
