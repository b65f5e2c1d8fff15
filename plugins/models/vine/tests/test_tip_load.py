"""The load at the tip of a robot whose base moves, against virtual power at the tip."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corekit.data.state import State
from corekit.geometry.frames import rotation_from_rpy
from corekit.roles.component import BuildContext
from corekit_vine.config import VineConfig
from corekit_vine.model import Vine

LOAD = np.array([0.7, -1.3])


@pytest.fixture(params=["tube", "telescope", "everting"])
def carried(request):
    """A robot that moves on a base that moves, and its state."""
    options: dict[str, Any] = {"longest": 0.5} if request.param == "everting" else {}
    config = VineConfig(
        bodies=4, length=0.2, heading=0.4, natural_curvature=(3.0,), form=request.param, **options
    )
    model = Vine(config, BuildContext(gravity=np.zeros(3), step=1e-3, free_base=True))
    about = model.description
    state = State.zeros(len(about.coordinates), len(about.velocities), about.aux)
    model.compute_initial_state(None, state)
    state.q[7:] += 0.02 * np.random.default_rng(1).normal(size=len(about.coordinates) - 7)
    turn = rotation_from_rpy((0.3, -0.6, 0.9))
    model.place_base(
        state, np.array([0.1, 0.2, -0.3]), turn, np.array([0.5, -0.2, 0.1]), np.array([1.0, 2.0, -0.5])
    )
    return model, state, turn


def push(model, state):
    """What the load alone adds to f, and the force term that it is."""
    forces = []
    for load in (LOAD, np.zeros(2)):
        inputs, force = np.zeros(model.description.input_size), np.zeros(len(state.v))
        inputs[-2:] = load
        model.compute_mass_and_force(state, inputs, model.new_mass_matrix(), force)
        forces.append(force)
    inputs[-2:] = LOAD
    return forces[0] - forces[1], model.compute_force_terms(state, inputs)["tip-load"]


def test_a_load_at_the_tip_has_the_power_of_its_force_at_the_tip(carried):
    """fᵀ·v = F·ẋ for every v, of which the base's six are a rigid motion of all."""
    model, state, turn = carried
    width, tip = model.description.jacobian_width, len(model.description.frames) - 1
    dofs, values = np.zeros((1, width), dtype=np.int64), np.zeros((1, 3, width))
    model.compute_point_jacobians(state, np.array([tip]), np.zeros((1, 3)), dofs, values)
    wanted = np.zeros(len(state.v))
    np.add.at(wanted, dofs[0], values[0].T @ (turn[:, [0, 2]] @ LOAD))
    found, term = push(model, state)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(term, wanted, rtol=1e-12, atol=1e-13)
    assert np.linalg.norm(found[:3]) == pytest.approx(np.linalg.norm(LOAD), rel=1e-12)
