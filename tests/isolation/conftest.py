"""The distributions of this workspace and their wheels, built once."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

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


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory, distributions: dict[str, Distribution]) -> Path:
    """A folder with the wheel of every distribution."""
    folder = tmp_path_factory.mktemp("wheels")
    sources = [str(distribution.folder) for distribution in distributions.values()]
    subprocess.run([sys.executable, "-c", BUILD, str(folder), *sources], check=True, timeout=600)
    return folder


@pytest.fixture
def environment(tmp_path: Path, wheels: Path):
    """Make a fresh environment from the wheels: called with names, returns its folder of programs."""

    def make(*names: str) -> Path:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
        programs = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        subprocess.run(
            [sys.executable, "-m", "pip", "--quiet", "--python", str(programs / "python"), "install",
             "--no-compile", *PINNED, "--find-links", str(wheels), *names],
            check=True, timeout=1200,
        )  # fmt: skip
        return programs

    return make
