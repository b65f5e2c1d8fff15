"""A small scenario of the kernel's reference plugins, and the command line in processes of its own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

SCENARIO = """
format = "corekit-scenario/1"
name = "dropped"
time = { duration = 0.3, step = 0.002 }
integrator = { use = "reference-semi-implicit-euler" }
output = { every = 0.02 }
[[world.obstacles]]
name = "floor"
shape = "half-space"
friction = 0.5
[contact]
detector = { use = "reference-detector" }
solver = { use = "reference-gauss-seidel" }
[[bodies]]
name = "ball"
use = "reference-point-chain"
[bodies.options]
positions = [[0.0, 0.0, 0.2]]
velocities = [[0.5, 0.0, 0.0]]
shape = "sphere"
"""


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    path = tmp_path / "dropped.toml"
    path.write_text(SCENARIO)
    return path


class Shell:
    """`corekit` in an empty folder."""

    def __init__(self, folder: Path, forked: Any) -> None:
        self.folder, self.site, self._forked = folder, folder / "site", forked

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.site), "COLUMNS": "200", "NO_COLOR": "1"}

    def corekit(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        return self._forked.run(*arguments, folder=self.folder, environment=self._environment)

    def start(self, *arguments: str) -> Any:
        """Start it and leave it running."""
        return self._forked.start(*arguments, folder=self.folder, environment=self._environment)

    def add(self, distribution: str, entry_points: str, modules: dict[str, str]) -> None:
        """A distribution as pip would leave it, seen by the command line alone."""
        info = self.site / f"{distribution.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(entry_points)
        for path, source in modules.items():
            file = self.site / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(source)


@pytest.fixture
def shell(tmp_path: Path, forked: Any) -> Shell:
    folder = tmp_path / "work"
    folder.mkdir()
    return Shell(folder, forked)
