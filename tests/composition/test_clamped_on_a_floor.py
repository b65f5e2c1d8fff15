"""The clamped edge of a rod inside the floor on which the rod lies: no impulse moves it, and none is asked for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corekit.data.status import Status
from corekit.scenario.load import from_document

INSIDE = 3e-5
TURN = Rotation.from_euler("xyz", [0.3, 0.2, 0.1])
"""The clamped edge then has 6e-18 beside 1 in its normal row."""


@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
def test_a_contact_that_only_rounding_moves_has_no_load(solver):
    """What pushes the free nodes out at 20/s is a thousandth of their 8 g·m/s or less; loads were 1e5 to 5e28 N·s."""
    limb = {
        "name": "rod",
        "start": [0, 0, 0],
        "end": [0.12, 0, 0],
        "nodes": 7,
        "radius": [0.006],
        "young": [7e5],
    }
    rod = {
        "name": "rod", "use": "der",
        "base": {
            "position": TURN.apply([0.0, 0.0, 0.006 - INSIDE]).tolist(),
            "rotation_rpy": TURN.as_euler("xyz").tolist(),
        },
        "options": {"collision": "capsules", "clamps": [{"at": "rod.start", "kind": "clamp"}], "limbs": [limb]},
    }  # fmt: skip
    floor = {"name": "floor", "shape": "half-space", "rotation_rpy": TURN.as_euler("xyz").tolist()}
    simulation = from_document({
        "format": "corekit-scenario/1", "name": "lying", "time": {"duration": 1.0, "step": 4e-3}, "bodies": [rod],
        "world": {"gravity": [0.0, 0.0, 0.0], "obstacles": [floor]}, "integrator": "semi-implicit-euler",
        "contact": {"detector": "sdf", "solver": solver, "friction": 0.5},
    }).compose()  # fmt: skip
    assert simulation.step().solve_info.status in (Status.CONVERGED, Status.FALLBACK)
    assert np.abs(simulation.contacts().normal_impulse).max() < 1e-3
