"""A coin that spins down onto its face: its lowest rim point runs around without bound, and no step can follow it."""

import math

import pytest

from corekit.scenario.load import from_document

RADIUS, HEIGHT, MASS, GRAVITY, STEP = 0.05, 0.02, 0.5, 9.81, 2e-3


def coin(integrator, solver, tilt, spin):
    lowest = 0.5 * HEIGHT * math.cos(tilt) + RADIUS * math.sin(tilt)
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "coin",
            "time": {"duration": 1.0, "step": STEP},
            "world": {
                "gravity": [0.0, 0.0, -GRAVITY],
                "obstacles": [{"name": "floor", "shape": "half-space"}],
            },
            "bodies": [
                {
                    "name": "coin",
                    "use": "rigid",
                    "options": {"shape": "cylinder", "size": [RADIUS, HEIGHT], "mass": MASS},
                    "initial": {
                        "position": [0.0, 0.0, lowest + 1e-3],
                        "rotation_rpy": [tilt, 0.0, 0.0],
                        "angular_velocity": [0.0, 0.0, spin],
                    },
                }
            ],
            "contact": {"friction": 0.5, "detector": {"use": "sdf"}, "solver": {"use": solver}},
            "integrator": {"use": integrator},
        }
    ).compose()


@pytest.mark.parametrize(("tilt", "spin"), [(0.3, 5.0), (0.6, 20.0)])
@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
@pytest.mark.parametrize("integrator", ["implicit-euler", "implicit-midpoint"])
def test_it_comes_to_rest_on_its_face_and_the_floor_carries_its_weight(integrator, solver, tilt, spin):
    simulation = coin(integrator, solver, tilt, spin)
    for _ in range(500):
        simulation.step()
    # Newton's method ends at increments of 1e-8 m/s or rad/s: within a second they move it by no more than 1e-8 m
    assert simulation.state.q[2] == pytest.approx(0.5 * HEIGHT, abs=1e-8)
    assert abs(simulation.state.v).max() < 1e-7
    force = simulation.contacts().force.sum(axis=0)
    assert force == pytest.approx([0.0, 0.0, MASS * GRAVITY], abs=1e-6)
