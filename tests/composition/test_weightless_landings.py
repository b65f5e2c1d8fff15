"""A ball that lands without weight slides on under no load: its impulses are rounding, whose signs blame no solver."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.data.status import Status
from corekit.scenario.load import from_document


def landing(solver):
    ball = {
        "name": "ball", "use": "rigid", "options": {"shape": "sphere", "size": [0.02], "mass": 0.1},
        "initial": {"position": [0.0, 0.0, 0.0201]},
    }  # fmt: skip
    return from_document({
        "format": "corekit-scenario/1", "name": "landing", "time": {"duration": 1.0, "step": 1e-3}, "bodies": [ball],
        "world": {"gravity": [0.0, 0.0, 0.0], "obstacles": [{"name": "floor", "shape": "half-space"}]},
        "integrator": "semi-implicit-euler", "contact": {"detector": "sdf", "solver": solver, "friction": 0.0},
    }).compose()  # fmt: skip


@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
def test_every_step_of_a_weightless_landing_is_solved(solver):
    simulation, random = landing(solver), np.random.default_rng(0)
    for velocity in random.uniform(-1.0, 1.0, (12, 3)):
        simulation.reset()
        simulation.state.v[:3] = *velocity[:2], -0.2 - abs(velocity[2])
        found = {simulation.step().solve_info.status for _ in range(8)}
        assert found == {Status.CONVERGED}
        assert simulation.state.v[2] == pytest.approx(0.0, abs=1e-12)
