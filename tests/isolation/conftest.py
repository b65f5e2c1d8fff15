"""The distributions of this workspace and their wheels, built once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PINNED = ["--constraint", str(ROOT / "requirements" / "constraints.txt")]
if os.environ.get("NEWEST") or os.environ.get("LOWEST"):
    PINNED = []  # as make installs them then
BUILD = """
import importlib, os, sys, tomllib
folder, *sources = sys.argv[1:]
for source in sources:
    os.chdir(source)
    with open("pyproject.toml", "rb") as file:
        backend = tomllib.load(file)["build-system"]["build-backend"]
    importlib.import_module(backend).build_wheel(folder)
"""
"""What an installer asks of each distribution's backend, of all in one process."""


@frozen
class Distribution:
    """One distribution of the workspace, as its pyproject describes it."""

    folder: Path
    project: dict[str, Any]

    @property
    def name(self) -> str:
        return self.project["name"]

    @property
    def requirements(self) -> set[str]:
        """Names of what it always needs."""
        return {
            re.split(r"[\s\[<>=!~;]", line, maxsplit=1)[0] for line in self.project.get("dependencies", ())
        }

    @property
    def components(self) -> set[tuple[str, str]]:
        """Role and name of every component it declares."""
        groups = self.project.get("entry-points", {})
        return {
            (group.removeprefix("corekit."), name)
            for group, entries in groups.items()
            if group not in {"corekit.cases", "corekit.hooks"}
            for name in entries
        }


def workspace() -> dict[str, Distribution]:
    """Name → distribution, the kernel first."""
    files = [ROOT / "pyproject.toml", *sorted(ROOT.glob("plugins/*/*/pyproject.toml"))]
    files += ROOT.glob("scenarios/pyproject.toml")
    found = [Distribution(file.parent, tomllib.loads(file.read_text())["project"]) for file in files]
    return {distribution.name: distribution for distribution in found}


@pytest.fixture(scope="session")
def distributions() -> dict[str, Distribution]:
    return workspace()


def build_wheels(folder: Path, *sources: Path) -> None:
    """The wheel of every source, into a folder."""
    subprocess.run([sys.executable, "-c", BUILD, str(folder), *map(str, sources)], check=True, timeout=600)


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory, distributions: dict[str, Distribution]) -> Path:
    """A folder with the wheel of every distribution."""
    folder = tmp_path_factory.mktemp("wheels")
    build_wheels(folder, *(distribution.folder for distribution in distributions.values()))
    return folder


def closure(requirements: Iterable[str]) -> set[str]:
    """Canonical names of requirements and all they need, from the metadata installed here."""
    reached: set[str] = set()
    todo = [(Requirement(line), "") for line in requirements]
    while todo:
        requirement, extra = todo.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        wanted = {name, *(f"{name}[{extra}]" for extra in requirement.extras)} - reached
        reached |= wanted
        try:
            lines = requires(name) or () if wanted else ()
        except PackageNotFoundError:
            lines = ()
        todo += [(Requirement(line), extra) for line in lines for extra in ("", *requirement.extras)]
    return {name for name in reached if "[" not in name}


@pytest.fixture(scope="session", name="closure")
def _closure() -> Callable[[Iterable[str]], set[str]]:
    return closure


@pytest.fixture(scope="session")
def link_what_the_kernel_needs(distributions: dict[str, Distribution]) -> Callable[[Path], None]:
    """Give a fresh environment the other people's packages that every distribution needs, as they are installed here.

    To unpack them and to write their byte code takes ten times as long as all else; the installer still asks whether
    they are what the wheels declare. Called with the environment's folder.
    """
    kernel = distributions["corekit-kernel"].project["dependencies"]
    trees: set[Path] = set()
    for name in closure(kernel):
        found = distribution(name)
        parts = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
        trees |= {Path(str(found.locate_file(part))) for part in parts}

    def link(environment: Path) -> None:
        (site,) = environment.rglob("site-packages")
        for tree in trees:
            if tree.is_dir():
                shutil.copytree(tree, site / tree.name, copy_function=_link)
            else:
                _link(tree, site / tree.name)

    return link


def _link(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copy2(source, target)


@pytest.fixture
def environment(tmp_path: Path, wheels: Path, link_what_the_kernel_needs: Callable[[Path], None]):
    """Make a fresh environment from the wheels, and from that of a source from outside: called with names, returns its
    folder of programs.
    """

    def make(*names: str, source: Path | None = None) -> Path:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
        link_what_the_kernel_needs(tmp_path / "env")
        if source is not None:
            build_wheels(tmp_path / "outside", source)
        programs = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        subprocess.run(
            [sys.executable, "-m", "pip", "--quiet", "--python", str(programs / "python"), "install",
             "--no-compile", *PINNED, "--find-links", str(wheels), "--find-links", str(tmp_path / "outside"), *names],
            check=True, timeout=1200,
        )  # fmt: skip
        return programs

    return make
