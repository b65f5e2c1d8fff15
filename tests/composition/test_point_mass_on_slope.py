"""A point mass on a slope through the whole stack: loader, kernel, `lcp` and an LCP solver.

The plane is level and gravity is tilted by the slope angle, towards an azimuth ψ from the first tangent. The
friction pyramid of r directions then resists with μ·λ_n along a direction (ψ = 2π·k/r) and with
μ·cos(π/r)·λ_n midway between two (ψ = π/r).
"""

import math

import numpy as np
import pytest

from corekit.data.contacts import ContactMode
from corekit.scenario.load import from_document

MASS, STEP, G, MU = 2.0, 1e-3, 9.81, 0.5


def on_slope(slope, azimuth=0.0, directions=8, solver="lemke", floors=1, friction=MU):
    """A ball of radius 0.1 m touching `floors` coincident planes."""
    gravity = [
        G * math.sin(slope) * math.cos(azimuth),
        G * math.sin(slope) * math.sin(azimuth),
        -G * math.cos(slope),
    ]
    plane = {"shape": "half-space", "friction": friction}
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "slope",
            "time": {"duration": 0.05, "step": STEP},
            "world": {
                "gravity": gravity,
                "obstacles": [{**plane, "name": f"floor-{i}"} for i in range(floors)],
            },
            "bodies": [
                {
                    "name": "mass",
                    "use": "reference-point-chain",
                    "options": {
                        "masses": [MASS],
                        "positions": [[0.0, 0.0, 0.1]],
                        "shape": "sphere",
                        "radius": 0.1,
                    },
                }
            ],
            "contact": {
                "detector": {"use": "sdf"},
                "solver": {
                    "use": "lcp",
                    "options": {"friction_directions": directions, "aligned": False, "lcp_solver": solver},
                },
            },
            "integrator": {"use": "semi-implicit-euler"},
            "output": {"every": 0.01},
        }
    ).compose()


@pytest.mark.parametrize("solver", ["lemke", "pgs", "chain"])
@pytest.mark.parametrize("directions", [4, 6, 8, 10])
@pytest.mark.parametrize("midway", [False, True])
def test_it_slides_exactly_beyond_the_pyramid_s_friction_angle(solver, directions, midway):
    azimuth = math.pi / directions if midway else 2 * math.pi / directions
    limit = MU * (math.cos(math.pi / directions) if midway else 1.0)
    held = on_slope(math.atan(limit * 0.999), azimuth, directions, solver)
    held.run(0.05)
    assert np.linalg.norm(held.state.v) < 1e-8
    assert held.contacts().mode.tolist() == [ContactMode.STICK]
    slope = math.atan(limit * 1.01)
    sliding = on_slope(slope, azimuth, directions, solver)
    sliding.run(0.05)
    # Newton's law along the slope, friction at its bound
    speed = 0.05 * G * (math.sin(slope) - limit * math.cos(slope))
    assert np.linalg.norm(sliding.state.v) == pytest.approx(speed, rel=1e-5)
    assert sliding.contacts().mode.tolist() == [ContactMode.SLIDE]


@pytest.mark.parametrize("solver", ["lemke", "pgs"])
def test_resting_impulse_is_the_weight_s_share_over_a_step(solver):
    slope = 0.3
    simulation = on_slope(slope, solver=solver)
    simulation.run(0.05)
    record = simulation.contacts()
    assert record.normal_impulse == pytest.approx([STEP * MASS * G * math.cos(slope)], rel=1e-6)
    drag = np.linalg.norm(record.tangential_impulse[0])
    assert drag == pytest.approx(STEP * MASS * G * math.sin(slope), rel=1e-6)


@pytest.mark.parametrize("slope", [0.2, 0.8])
def test_doubling_every_contact_leaves_velocity_unchanged(slope):
    ends = []
    for floors in (1, 2):
        simulation = on_slope(slope, azimuth=0.1, floors=floors)
        simulation.run(0.05)
        assert simulation.contacts().count == floors
        ends.append(simulation.state.v.copy())
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-8)


def test_without_friction_it_accelerates_freely_along_the_plane():
    slope = 0.4
    simulation = on_slope(slope, friction=0.0)
    simulation.run(0.05)
    assert simulation.state.v[0] == pytest.approx(0.05 * G * math.sin(slope), rel=1e-9)
    assert abs(simulation.state.v[2]) < 1e-8
