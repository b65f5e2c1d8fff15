"""Mesh files and robots, and scenarios that name them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

import corekit
from corekit.data.state import State
from corekit.scenario.load import from_document
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


M1, M2, C1, C2, L1, I1, I2 = 2.0, 1.5, 0.3, 0.25, 0.5, 0.04, 0.03
PENDULUM = f"""
<robot name="double pendulum">
  <link name="world"/>
  <link name="upper arm">
    <inertial><origin xyz="{C1} 0 0" rpy="0 0 1.5707963267948966"/><mass value="{M1}"/>
      <inertia ixx="{I1}" iyy="0.001" izz="{I1}" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="{C1} 0 0" rpy="0 1.57 0"/>
      <geometry><capsule radius="0.02" length="0.4"/></geometry></collision>
  </link>
  <link name="forearm">
    <inertial><origin xyz="{C2} 0 0"/><mass value="{M2}"/>
      <inertia ixx="0.001" iyy="{I2}" izz="{I2}" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="shoulder" type="revolute"><parent link="world"/><child link="upper arm"/>
    <axis xyz="0 1 0"/><limit lower="-2" upper="2" effort="30" velocity="1"/>
    <dynamics damping="0.2" friction="0.1"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper arm"/><child link="forearm"/>
    <origin xyz="{L1} 0 0"/><axis xyz="0 2 0"/></joint>
</robot>"""


def document(file="arm.urdf", **robot):
    return {
        "format": "corekit-scenario/1",
        "name": "arm",
        "time": {"duration": 0.1, "step": 0.01},
        "integrator": {"use": "reference-semi-implicit-euler"},
        "output": {"every": 0.1},
        "bodies": [{"name": "arm", "use": "gvs", "options": {"robot": {"file": file, **robot}}}],
    }


@pytest.fixture
def compose(tmp_path):
    """The model of a robot's file, without rows that need a contact solver."""

    def of(text, name="arm.urdf", **robot):
        (tmp_path / name).write_text(text)
        told = {"limits": False, "friction": False, **robot}
        scenario = from_document(document(name, **told), source=tmp_path / "scenario.toml")
        return scenario.compose().bodies[0].model

    return of


def balance(model, q, v, u):
    """M and f."""
    state = State.zeros(len(q), len(v))
    state.q[:], state.v[:] = q, v
    mass, force = model.new_mass_matrix(), np.zeros(len(v))
    model.compute_mass_and_force(state, np.array(u, dtype=float), mass, force)
    return mass.dense(), force
