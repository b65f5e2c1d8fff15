"""Rods of capsules roll as cylinders do, since friction acts at their surface: closed forms of a rigid cylinder.

Of mass m, radius R and polar inertia I = ½·m·R², down a slope α without slip

    a = g·sin α/(1 + I/(m·R²)) = ⅔·g·sin α,      F = m·g·sin α/3 ≤ μ·m·g·cos α                                 (1)

Laid on a floor with the spin ω₀ it slips until friction, which keeps I·ω + m·R·v, has made it roll:

    v = R·ω = ω₀·R·I/(I + m·R²) = ⅓·ω₀·R,       at t = v/(μ·g)                                                (2)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from corekit.scenario.load import from_document

for needed in ("corekit_der", "corekit_lcp", "corekit_qp", "corekit_cone", "corekit_sdf", "corekit_mpr"):
    pytest.importorskip(needed)

RADIUS, LENGTH, STEP, GRAVITY = 0.01, 0.2, 1e-3, 9.81


def rod(solver, detector, gravity, friction, spin=0.0, heading=0.0) -> Any:
    half = 0.5 * LENGTH * np.array([math.cos(heading), math.sin(heading), 0.0])
    limb = {
        "name": "rod", "start": [*(-half)[:2], RADIUS], "end": [*half[:2], RADIUS], "nodes": 4, "radius": RADIUS,
        "young": 1e8, "density": 1000.0,
    }  # fmt: skip
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "rolling", "time": {"duration": 1.0, "step": STEP},
            "world": {"gravity": gravity, "obstacles": [{"name": "floor", "shape": "half-space"}]},
            "bodies": [{
                "name": "rod", "use": "der", "options": {"collision": "capsules", "limbs": [limb]},
                "initial": {"limbs": [{"limb": "rod", "spin": spin}]},
            }],
            "contact": {"friction": friction, "detector": {"use": detector}, "solver": {"use": solver}},
            "integrator": {"use": "implicit-euler"},
        }
    ).compose()  # fmt: skip


def velocity(simulation):
    """Of all nodes, (4, 3) [m/s]."""
    frames = [simulation.frame(f"rod.rod-{k}") for k in range(4)]
    return np.array([frame.velocity for frame in frames])


@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
@pytest.mark.parametrize("detector", ["sdf", "mpr"])
@pytest.mark.parametrize("heading", [0.0, 0.7])
def test_a_rod_rolls_down_a_slope_as_a_cylinder_does(solver, detector, heading):
    slope, steps = 0.3, 50
    across = np.array([-math.sin(heading), math.cos(heading), 0.0])
    gravity = (GRAVITY * math.sin(slope) * across - [0.0, 0.0, GRAVITY * math.cos(slope)]).tolist()
    simulation = rod(solver, detector, gravity, 0.5, heading=heading)
    for _ in range(steps):
        simulation.step()
    expected = GRAVITY * math.sin(slope) / 1.5 * steps * STEP
    # solvers of implicit steps leave 1e-8 m/s a step
    np.testing.assert_allclose(velocity(simulation), np.tile(expected * across, (4, 1)), atol=1e-8 * steps)


@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
@pytest.mark.parametrize("detector", ["sdf", "mpr"])
def test_a_spinning_rod_that_is_laid_down_rolls_away_with_a_third_of_its_surface_speed(solver, detector):
    spin, friction = 30.0, 0.5
    rolling = spin * RADIUS / 3.0
    slips = rolling / (friction * GRAVITY)
    simulation = rod(solver, detector, [0.0, 0.0, -GRAVITY], friction, spin)
    before = math.floor(0.5 * slips / STEP)
    for _ in range(before):
        simulation.step()
    # it turns about x: its lowest points move along y, and friction pushes it along −y
    slipping = velocity(simulation)
    np.testing.assert_allclose(slipping[:, 1], -friction * GRAVITY * before * STEP, atol=1e-8 * before)
    for _ in range(2 * before):
        simulation.step()
    np.testing.assert_allclose(
        velocity(simulation), np.tile([0.0, -rolling, 0.0], (4, 1)), atol=1e-8 * 3 * before
    )
