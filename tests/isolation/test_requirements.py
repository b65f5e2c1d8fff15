"""What a wheel imports is what it declares: no more, or it breaks alone; no less, or it drags in what is idle."""

from __future__ import annotations

import runpy
import zipfile
from email.parser import Parser
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from corekit.registry.discover import discover
from corekit.registry.resolve import read_spec
from corekit.registry.spec import ROLES

pytestmark = pytest.mark.xdist_group("wheels")

ROOT = Path(__file__).resolve().parents[2]
FOR_OTHERS = {"corekit-dask": {"cryptography"}}
"""What a distribution requires for a library that uses it and does not ask for it: Dask makes certificates with it."""


@pytest.fixture(scope="module")
def isolation():
    return runpy.run_path(str(ROOT / "tools" / "isolation.py"))


def opened(wheel):
    """Requirements that always hold, those of extras, and the sources of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        lines = Parser().parsestr(archive.read(metadata).decode()).get_all("Requires-Dist", [])
        sources = {name: archive.read(name).decode() for name in names if name.endswith(".py")}
    requirements = [Requirement(line) for line in lines]
    always = {canonicalize_name(each.name) for each in requirements if "extra" not in str(each.marker or "")}
    optional = {canonicalize_name(each.name) for each in requirements} - always
    with_extras = {extra for each in requirements for extra in each.extras}
    return always, optional, with_extras, sources


def imported(isolation, sources, own):
    found = {module for text in sources.values() for module in isolation["modules_imported"](text)}
    return {
        module: {"corekit-kernel"} if module == "corekit" else isolation["providers"](module)
        for module in found - {own}
    }


def answering(name, distributions):
    """Distributions whose components a component of this one requires beside it, by default one of theirs."""
    own = [row for row in discover() if row.distribution == name and row.role in ROLES]
    roles = {role for row in own for role in read_spec(row).requires}
    return {other for other, each in distributions.items() if {role for role, _ in each.components} & roles}


def test_every_import_of_a_wheel_is_declared_and_every_requirement_imported(wheels, distributions, isolation):
    wrong = []
    for name in distributions:
        (wheel,) = wheels.glob(f"{name.replace('-', '_')}-*.whl")
        always, optional, extras, sources = opened(wheel)
        own = "corekit" if name == "corekit-kernel" else name.replace("-", "_")
        used = imported(isolation, sources, own)
        for module, brings in used.items():
            if not brings & (always | optional | extras):
                wrong.append(f"{name} imports {module} ({', '.join(brings)}), which it does not declare")
        needed = set().union(*used.values())
        # data packages have no code that could import the kernel; who answers in a role is asked for by name
        idle = (
            always
            - needed
            - ({"corekit-kernel"} if len(sources) <= 1 else set())
            - answering(name, distributions)
            - FOR_OTHERS.get(name, set())
        )
        wrong += [f"{name} requires {each} and never imports it" for each in sorted(idle)]
    assert not wrong, "\n".join(wrong)


def unresolved(name, offered):
    """What a distribution asks for, and all that this asks for in turn, that one set of versions does not give.

    Args:
        offered: canonical name → (version, its requirements), of the workspace's wheels and of what is installed.
    """
    missing: list[str] = []
    todo = [(Requirement(name), "")]
    seen: set[tuple[str, frozenset[str]]] = set()
    while todo:
        requirement, who = todo.pop()
        name = canonicalize_name(requirement.name)
        version, lines = offered(name)
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            missing.append(f"{who} asks for {requirement}, here is {version}")
            continue
        if (key := (name, frozenset(requirement.extras))) in seen:
            continue
        seen.add(key)
        for line in lines:
            further = Requirement(line)
            extras = ("", *requirement.extras)
            if further.marker is None or any(further.marker.evaluate({"extra": extra}) for extra in extras):
                todo.append((further, name))
    return missing


def offers(wheels):
    """Version and requirements of a distribution: of the workspace as its wheel says, of others as installed."""
    built = {}
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            read = Parser().parsestr(archive.read(metadata).decode())
        built[canonicalize_name(read["Name"])] = (read["Version"], read.get_all("Requires-Dist", []))

    def offered(name):
        if name in built:
            return built[name]
        try:
            found = distribution(name)
        except PackageNotFoundError:
            return None, []
        return found.version, found.requires or []

    return built, offered


def test_what_every_wheel_declares_resolves_to_one_set_of_versions(wheels, distributions):
    built, offered = offers(wheels)
    assert set(built) == set(distributions)
    assert [line for name in (*built, "corekit-kernel[all]") for line in unresolved(name, offered)] == []
    # the walk reaches what libraries ask for in turn, and a bound that nothing meets is named
    assert unresolved("corekit-kernel", lambda name: (None, []) if name == "mdurl" else offered(name))
    narrow = {**dict.fromkeys(built), "corekit-lcp": ("0.2.0", ["corekit-kernel<0.2"])}
    (said,) = unresolved("corekit-lcp", lambda name: narrow.get(name) or offered(name))
    assert said == "corekit-lcp asks for corekit-kernel<0.2, here is 0.2.0"


def test_an_undeclared_import_would_be_found(isolation):
    source = "import numpy\nfrom scipy.linalg import lu\ndef f():\n    import casadi.tools as tools\n"
    assert set(isolation["modules_imported"](source)) == {"numpy", "scipy", "casadi"}
    assert set(isolation["modules_imported"]('importlib.import_module("coal.shapes")')) == {"coal"}
    assert set(isolation["modules_imported"]("from . import x\nimport json\n")) == set()
    assert isolation["providers"]("attr") == {"attrs"}


def test_a_model_passes_its_tests_where_only_its_requirements_are(
    isolation, wheels, tmp_path, link_what_the_kernel_needs
):
    passed, words = isolation["test_alone"]("corekit-rigid", wheels, tmp_path, link_what_the_kernel_needs)
    assert passed, words


def test_the_tests_that_the_kernel_takes_along_are_there(isolation):
    assert [
        each for each in isolation["KERNEL_TESTS"] if not any((ROOT / "tests" / each).glob("test_*.py"))
    ] == []
