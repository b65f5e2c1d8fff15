"""A rod in the groove between two bars lies still: its edges touch them by their nodes, once each."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.scenario.load import from_document

for needed in ("corekit_der", "corekit_imc", "corekit_lcp", "corekit_qp"):
    pytest.importorskip(needed)


@pytest.mark.parametrize(("solver", "kind"), [("imc", "capsule"), ("qp", "cylinder"), ("lcp", "capsule")])
def test_a_rod_lies_in_the_groove_between_two_bars(solver, kind):
    """By each of its nodes on both, in every step, and they bear its weight, half of it each."""
    length, density, bar, radius, spacing = 0.2, 1000.0, 0.02, 0.005, 0.03
    height = np.sqrt((bar + radius) ** 2 - (0.5 * spacing) ** 2)
    size = [bar, 0.25]
    simulation = from_document(
        {
            "format": "corekit-scenario/1", "name": "groove", "time": {"duration": 1.0, "step": 1e-3},
            "world": {
                "gravity": [0.0, 0.0, -9.81],
                "obstacles": [
                    {
                        "name": name, "shape": kind, "size": size, "position": [0.0, y, 0.0],
                        "rotation_rpy": [0.0, 0.5 * np.pi, 0.0],
                    }
                    for name, y in (("left", -0.5 * spacing), ("right", 0.5 * spacing))
                ],
            },
            "bodies": [{
                "name": "rod", "use": "der",
                "options": {"limbs": [{
                    "start": [-0.5 * length, 0, height + 1e-5], "end": [0.5 * length, 0, height + 6e-5],
                    "nodes": 11, "radius": radius, "density": density, "young": 1e6, "viscosity": 200.0,
                }]},
            }],
            "contact": {"friction": 0.3, "detector": {"use": "edges"}, "solver": {"use": solver}},
            "integrator": {"use": "implicit-euler"},
        }
    ).compose()  # fmt: skip
    for _ in range(60):
        simulation.step()
    found = simulation.contacts()
    assert len(found.gap) == 22
    assert np.unique(np.round(found.point, 6), axis=0).shape[0] == 22
    weight = np.pi * radius**2 * length * density * 9.81
    # it still bends to and fro by what its fall of 0.1 mm left
    assert found.impulse.sum(axis=0) / 1e-3 == pytest.approx([0.0, 0.0, weight], abs=0.02 * weight)
    assert np.abs(simulation.state.v).max() < 1e-3
