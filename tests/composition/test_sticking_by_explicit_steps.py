"""What sticks to a contact potential is stiff: friction below the slip tolerance ν is a drag of rate 2·μ·N/(ν·m)."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.scenario.load import from_document

for needed in ("rigid", "imc", "sdf", "timestep"):
    pytest.importorskip(f"corekit_{needed}")

MU, G, H = 0.5, 9.81, 1e-3


def sliding(integrator, slip_tolerance, friction=MU):
    """A box that slides to rest within 2 ms, and then sticks."""
    options = {"shape": "box", "size": [0.1, 0.1, 0.05], "mass": 0.2}
    start = {"position": [0.0, 0.0, 0.025], "velocity": [0.01, 0.0, 0.0]}
    contact = {"solver": {"use": "imc", "options": {"slip_tolerance": slip_tolerance}}, "friction": friction}
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "sticks", "time": {"duration": 1.0, "step": H},
            "world": {"gravity": [0.0, 0.0, -G], "obstacles": [{"name": "floor", "shape": "half-space"}]},
            "bodies": [{"name": "box", "use": "rigid", "options": options, "initial": start}],
            "contact": {"detector": "sdf", **contact}, "integrator": {"use": integrator},
        }
    ).compose()  # fmt: skip


def reports(simulation, steps=15):
    return [simulation.step() for _ in range(steps)][-5:]


def test_evaluations_of_an_explicit_solver_grow_with_the_rate_of_the_drag_and_are_remarked():
    """Six are needed for tolerance, a whole number of inner steps for stability."""
    counts = {}
    for slip_tolerance in (1e-2, 1e-3, 5e-4):
        simulation = sliding("scipy-rk45", slip_tolerance)
        last = reports(simulation)
        assert np.abs(simulation.state.v[:3]).max() < slip_tolerance
        counts[slip_tolerance] = np.mean([report.iterations for report in last])
        assert all(("drag of friction" in report.note) == (report.iterations > 100) for report in last)
    assert counts[1e-2] < 100.0 < counts[1e-3]
    assert counts[5e-4] / counts[1e-3] == pytest.approx(2.0, rel=0.2)


@pytest.mark.parametrize(
    ("integrator", "friction"), [("scipy-rk45", 0.0), ("scipy-radau", MU), ("semi-implicit-euler", MU)]
)
def test_without_friction_and_with_implicit_solvers_nothing_is_remarked(integrator, friction):
    for report in reports(sliding(integrator, 1e-3, friction)):
        assert report.iterations <= 20
        assert not report.note
