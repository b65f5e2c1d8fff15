"""Mesh files, and scenarios that name them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

import corekit
from corekit.scenario.scenario import Scenario

HEAD = """
format = "corekit-scenario/1"
name = "imported"
time = { duration = 0.01, step = 0.001 }
integrator = { use = "reference-semi-implicit-euler" }
output = { every = 0.005 }
"""


@pytest.fixture
def write(tmp_path: Path):
    """Writes a mesh into the scenario's folder."""

    def to_file(mesh: trimesh.Trimesh, name: str = "part.stl") -> Path:
        mesh.export(tmp_path / name)
        return tmp_path / name

    return to_file


@pytest.fixture
def load(tmp_path: Path):
    """Loads a scenario whose file stands beside the meshes."""

    def from_text(text: str) -> Scenario:
        (tmp_path / "scenario.toml").write_text(HEAD + text)
        return corekit.load(tmp_path / "scenario.toml")

    return from_text


def block(size=(0.1, 0.2, 0.3), centre=(0.0, 0.0, 0.0)) -> trimesh.Trimesh:
    """A box."""
    mesh = trimesh.creation.box(size)
    mesh.apply_translation(centre)
    return mesh


def channel() -> trimesh.Trimesh:
    """A U-profile of 6 × 5 cm with walls of 1 cm, 4 cm long."""
    section = 0.01 * np.array([[0, 0], [6, 0], [6, 5], [5, 5], [5, 1], [1, 1], [1, 5], [0, 5]])
    corners = np.vstack([np.c_[section, np.full(8, z)] for z in (0.0, 0.04)])
    cap = np.array([[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 6], [0, 6, 7]])
    side = [row for i in range(8) for j in [(i + 1) % 8] for row in ([i, j, 8 + j], [i, 8 + j, 8 + i])]
    return trimesh.Trimesh(corners, np.vstack([cap[:, ::-1], cap + 8, side]))
