"""Arms on a turned base, and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corekit.data.state import State
from corekit.geometry.frames import Pose, rotation_from_rpy
from corekit.roles.component import BuildContext
from torsion_arm.config import TorsionArmConfig
from torsion_arm.model import TorsionArm

LINKS: dict[str, dict[str, Any]] = {
    "one": {"links": 1},
    "three alike": {"links": 3},
    "five unlike": {
        "links": 5,
        "length": (0.1, 0.3, 0.2, 0.15, 0.25),
        "mass": (0.5, 0.1, 0.3, 0.2, 0.4),
        "stiffness": (3.0, 2.0, 0.0, 1.0, 0.5),
        "damping": (0.1, 0.0, 0.2, 0.3, 0.05),
        "natural_angle": (0.3, -0.2, 0.0, 0.1, 0.5),
    },
}


@pytest.fixture(params=list(LINKS))
def config(request):
    """Options of one of a few different arms."""
    return TorsionArmConfig(**LINKS[request.param])


@pytest.fixture
def arm(config):
    """It, on a moved and turned base, gravity along no axis."""
    base = Pose(np.array([0.3, -0.2, 0.5]), rotation_from_rpy((0.4, -0.3, 1.1)))
    context = BuildContext(base=base, gravity=np.array([1.5, -2.0, -9.0]))
    return TorsionArm(config, context)


@pytest.fixture
def moving(arm):
    """A bent and moving state of it, and torques."""
    random, n = np.random.default_rng(1), len(arm.description.coordinates)
    return State(random.normal(size=n), random.normal(size=n), np.zeros(0)), random.normal(size=n)


@pytest.fixture
def evaluate():
    """M and f at q and v, as new arrays."""

    def run(arm, q, v, inputs):
        mass, force = arm.new_mass_matrix(), np.zeros(len(q))
        arm.compute_mass_and_force(State(q, v, np.zeros(0)), inputs, mass, force)
        return mass.dense(), force

    return run


@pytest.fixture
def differences():
    """Central differences of a function, stacked along the last axis."""

    def run(function, at, step=1e-6):
        ends = [(function(at + step * e), function(at - step * e)) for e in np.eye(at.size)]
        return np.stack([(after - before) / (2 * step) for after, before in ends], axis=-1)

    return run


@pytest.fixture
def places():
    """World places of local points of links, from the frames' poses alone."""

    def run(arm, q, frame, local):
        n = len(arm.description.frames)
        position, rotation = np.zeros((n, 3)), np.zeros((n, 3, 3))
        arm.compute_frame_poses(State(q, np.zeros(n), np.zeros(0)), position, rotation)
        return position[frame] + np.einsum("cij,cj->ci", rotation[frame], local)

    return run
