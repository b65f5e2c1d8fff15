"""Models of the mechanisms beside the tests, whose code the tests may run."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from corekit.data.state import State
from corekit.geometry.frames import Pose, rotation_from_rpy
from corekit.roles.code import code_allowed
from corekit.roles.component import BuildContext
from corekit_lagrangian.config import NamedConfig
from corekit_lagrangian.model import NamedModel


@pytest.fixture(autouse=True)
def mechanisms(monkeypatch):
    """`mechanisms:…` can be imported, and may be."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    with code_allowed(True):
        yield
    sys.modules.pop("mechanisms", None)


@pytest.fixture
def context() -> BuildContext:
    """A base that is turned and moved, and gravity along no axis."""
    base = Pose(np.array([0.4, -0.3, 0.2]), rotation_from_rpy((0.3, -0.9, 2.0)))
    return BuildContext(path="bodies.it", base=base, gravity=np.array([1.5, -2.0, -9.0]))


@pytest.fixture
def make(context):
    """A model of a mechanism by name, with options."""

    def build(name, where=context, **parameters) -> NamedModel:
        return NamedModel(NamedConfig(equations=f"mechanisms:{name}", parameters=parameters), where)

    return build


@pytest.fixture
def numbers():
    """All that a model answers at a state, by name."""

    def ask(model, q, v, u, w) -> dict[str, np.ndarray]:
        n, state = len(q), State(np.array(q), np.array(v), np.zeros(0))
        mass, force, residual = model.new_mass_matrix(), np.zeros(n), np.zeros(n)
        K, D = model.new_stiffness_and_damping()
        model.compute_mass_and_force(state, u, mass, force)
        model.compute_stiffness_and_damping(state, u, K, D)
        found = {"M": mass.dense(), "f": force.copy(), "K": K.dense(), "D": D.dense()}
        model.compute_dynamics_residual(state, u, w, residual)
        model.compute_residual_derivatives(state, u, w, K, D)
        of_inputs = np.zeros((n, len(u)))
        model.compute_input_jacobian(state, u, of_inputs)
        count = len(model.description.frames)
        position, rotation = np.zeros((count, 3)), np.zeros((count, 3, 3))
        model.compute_frame_poses(state, position, rotation)
        frame, local = np.arange(count), np.tile([0.02, -0.01, 0.03], (count, 1))
        dofs, values = np.zeros((count, n), dtype=np.int64), np.zeros((count, 3, n))
        model.compute_point_jacobians(state, frame, local, dofs, values)
        return found | {
            "residual": residual, "K_w": K.dense(), "B": of_inputs, "energies": np.array(model.compute_energies(state)),
            "positions": position, "rotations": rotation, "rows": values,
        }  # fmt: skip

    return ask
