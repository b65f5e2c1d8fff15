"""What forces press on a body rests on its surface, at every step size and by every scheme, and records say so."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit.scenario.load import from_document

TORQUE, ARM, THICKNESS, RADIUS = 10.0, 0.1, 0.005, 0.017
SCHEMES = ["semi-implicit-euler", "implicit-euler", "implicit-midpoint", "verlet", "rk23", "scipy-rk45"]
ROUND = {
    "name": "held", "shape": "cylinder", "size": [RADIUS, 0.1], "position": [0.06, 0.0, -0.05],
    "rotation_rpy": [math.pi / 2, 0.0, 0.0],
}  # fmt: skip
THIN = {"name": "held", "shape": "box", "size": [0.02, 0.1, 0.002], "position": [0.08, 0.0, -0.03]}


def jaw(integrator, step, obstacle, solver="cone"):
    """A jaw that turns about the origin in the x–z plane and is pressed by a torque on what it meets.

    Its inertia is so small that the torque alone turns it by half a degree in a millisecond.
    """
    finger = {
        "shape": "capsule", "size": [THICKNESS, ARM], "position": [0.05, 0.0, 0.0],
        "rotation_rpy": [0.0, math.pi / 2, 0.0],
    }  # fmt: skip
    link = {
        "name": "jaw", "kind": "rigid", "mass": 0.1, "inertia": [1e-4, 1e-4, 1e-4], "centre": [0.05, 0.0, 0.0],
        "joint": {"kind": "revolute", "axis": "y", "driven": True}, "solids": [finger],
    }  # fmt: skip
    body = {
        "name": "jaw", "use": "gvs", "options": {"links": [link]},
        "inputs": [{"channel": "joint-jaw", "signal": TORQUE}],
    }  # fmt: skip
    document = {
        "format": "corekit-scenario/1", "name": "jaw", "time": {"duration": 1.0, "step": step},
        "world": {"gravity": [0.0, 0.0, 0.0], "obstacles": [obstacle]}, "bodies": [body],
        "integrator": {"use": integrator},
        "contact": {"detector": "sdf", "solver": solver, "friction": 0.0},
    }  # fmt: skip
    return from_document(document).compose()


def angle_of_touch():
    """Where the axis of the jaw is RADIUS + THICKNESS from that of the cylinder."""
    x, z = ROUND["position"][0], ROUND["position"][2]
    return math.atan2(-z, x) - math.asin((RADIUS + THICKNESS) / math.hypot(x, z))


@pytest.mark.parametrize(("step", "solver"), [(2e-3, "cone"), (1e-3, "lcp")])
@pytest.mark.parametrize("integrator", SCHEMES)
def test_a_jaw_that_is_pressed_on_a_cylinder_touches_it(integrator, step, solver):
    """The first impact may leave it inside at most by what turning bends in a step; push-out has 20/s to mend that."""
    for name in ("gvs", "sdf", solver, "timestep"):
        pytest.importorskip(f"corekit_{name}")
    simulation = jaw(integrator, step, ROUND, solver)
    simulation.run(0.4)
    record, angle = simulation.contacts(), simulation.state.q[0]
    # the contact is where the perpendicular from the cylinder's axis meets the jaw
    lever = math.sqrt(ROUND["position"][0] ** 2 + ROUND["position"][2] ** 2 - (RADIUS + THICKNESS) ** 2)
    gap = (angle_of_touch() - angle) * lever
    assert abs(gap) < 1e-6
    assert record.gap.min() == pytest.approx(gap, abs=1e-8)
    assert record.force[:, 2].sum() == pytest.approx(TORQUE / lever * math.cos(angle), rel=1e-4)


@pytest.mark.parametrize("step", [2e-3, 1e-3])
@pytest.mark.parametrize("integrator", ["verlet", "rk23", "scipy-rk45"])
def test_a_jaw_is_not_pressed_through_a_thin_plate(integrator, step):
    """Free, it would be behind the plate at the end of a step of 2 ms."""
    for name in ("gvs", "sdf", "cone", "timestep"):
        pytest.importorskip(f"corekit_{name}")
    simulation = jaw(integrator, step, THIN)
    simulation.run(0.2)
    corner = np.array([0.09, -0.03 + 0.001])
    angle = simulation.state.q[0]
    distance = corner @ [math.sin(angle), math.cos(angle)]
    assert -distance == pytest.approx(THICKNESS, abs=1e-6)
