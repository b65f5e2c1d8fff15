"""The files of requirements agree with each other and with what every distribution asks for, on every Python."""

from __future__ import annotations

import itertools
import runpy
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "requirements"
PYTHONS = ("3.11.9", "3.12.4", "3.13.5", "3.14.0")
SYSTEMS = (
    {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux", "platform_machine": "x86_64"},
    {"sys_platform": "darwin", "os_name": "posix", "platform_system": "Darwin", "platform_machine": "arm64"},
    {"sys_platform": "win32", "os_name": "nt", "platform_system": "Windows", "platform_machine": "AMD64"},
)
PLACES = [
    pytest.param(
        {"python_full_version": python, "python_version": python.rpartition(".")[0], **system, "extra": ""},
        id=f"{python}-{system['sys_platform']}",
    )
    for python, system in itertools.product(PYTHONS, SYSTEMS)
]


def listed(name):
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-c ", "-r ", "-e "))]


def holds(requirement, place):
    return requirement.marker is None or requirement.marker.evaluate(place)


def pins(place):
    """Canonical name → every version that the constraints give at a place."""
    found = defaultdict(list)
    for requirement in map(Requirement, listed("constraints")):
        if holds(requirement, place):
            (only,) = requirement.specifier
            assert only.operator == "=="
            found[canonicalize_name(requirement.name)].append(Version(only.version))
    return found


def asked(distributions):
    """Every requirement of the files and of the distributions, with that of their tests."""
    lines = [line for name in ("build", "developers", "docs", "release") for line in listed(name)]
    for distribution in distributions.values():
        lines += distribution.project.get("dependencies", ())
        lines += distribution.project.get("optional-dependencies", {}).get("test", ())
    return [each for each in map(Requirement, lines) if not each.name.startswith("corekit-")]


@pytest.mark.parametrize("place", PLACES)
def test_what_is_asked_for_has_one_version_that_does_everywhere(place, distributions):
    found = pins(place)
    assert {name: versions for name, versions in found.items() if len(versions) > 1} == {}
    for requirement in asked(distributions):
        if holds(requirement, place):
            (version,) = found[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(version), requirement


def test_constraints_are_versions_alone(distributions):
    text = (FOLDER / "constraints.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert "--" not in text
    assert not [line for line in listed("constraints") if Requirement(line).extras]
    assert not {Requirement(line).name for line in listed("constraints")} & set(distributions)


def test_what_is_resolved_anew_is_not_bound_by_what_was(distributions):
    lines = runpy.run_path(str(ROOT / "tools" / "constraints.py"))["read_requirements"]().splitlines()
    assert not [line for line in lines if line.startswith(("-c", "-r"))]
    assert len([line for line in lines if line.startswith("-e ")]) == len(distributions)


def test_uv_brings_what_pip_brings(distributions):
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups, ours = told["dependency-groups"], distributions["corekit-kernel"].project["optional-dependencies"]
    assert groups["users"] == ["corekit-kernel[all]", "corekit-testing"]
    # a plugin takes the kernel of its own major.minor, and so does the name for all of them
    everything = set(distributions) - {"corekit-kernel", "corekit-testing"}
    assert ours["all"] == [f"{name}>=0.2,<0.3" for name in sorted(everything)]
    tools = [line for line in groups["dev"] if isinstance(line, str)]
    assert sorted(tools) == sorted([*listed("build"), *listed("developers")])
    assert {"include-group": "users"} in groups["dev"]
