"""What two shapes that would pass each other within a step change of bodies elsewhere: nothing.

A step of θ = 1 in place of ½ would leave (1 + (h·ω)²)^-½ of the amplitude of every mode in the world.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corekit.data.status import Status
from corekit.scenario.load import from_document
from corekit_scenarios.cases.matrix.fast_impacts import IMPACTS, compose

pytest.importorskip("corekit_rigid")
pytest.importorskip("corekit_der")

LIMB = {
    "name": "rod", "start": [1.0, -0.1, 0.5], "end": [1.0, 0.1, 0.5], "nodes": 8, "radius": [0.003],
    "young": [1e7], "density": [1000.0],
}  # fmt: skip
ROD = {"name": "rod", "use": "der", "options": {"limbs": [LIMB], "clamps": []}}


@pytest.mark.parametrize("integrator", ["implicit-midpoint", "implicit-euler"])
def test_a_rod_that_rings_elsewhere_moves_as_without_the_impact(integrator: str) -> None:
    """Newton's method ends within 1e-8 of the speeds of a step, here 20 m/s; its waves of 1 m/s are changed no more."""
    moved = []
    for is_hit in (True, False):
        impact = IMPACTS["ball on a plate"](0.5)
        bodies: list[Any] = [*impact.bodies, ROD]
        simulation = compose(impact.obstacles, bodies, "sdf", "lcp", integrator)
        ball, rod = simulation.bodies
        if not is_hit:
            simulation.state.v[ball.first_v : ball.first_v + ball.nv] = 0.0
        own = slice(rod.first_v, rod.first_v + rod.nv)
        ends = [index for index, each in enumerate(rod.description.velocities) if each.name.endswith("-z")]
        simulation.state.v[own][ends] = np.cos(np.linspace(0.0, 2.0 * np.pi, len(ends)))
        for _ in range(8):
            simulation.step()
        if is_hit:
            assert simulation.state.q[ball.first_q + 2] > 0.0
        moved.append(simulation.state.v[own].copy())
    assert np.abs(moved[0]).max() > 0.1
    assert np.abs(moved[0] - moved[1]).max() < 2e-7


THIN, RADIUS = 0.004, 0.01
BAR = {
    "masses": [1.0, 1.0, 1.0], "positions": [[-0.1, 0.0, 0.02], [0.0, 0.0, 0.02], [0.1, 0.0, 0.02]],
    "links": ["none", "rod", "rod"], "shape": "sphere", "radius": RADIUS,
    "velocities": [[0.0, 0.0, -40.0]] * 3,
}  # fmt: skip


@pytest.mark.parametrize("integrator", ["implicit-midpoint", "implicit-euler", "verlet", "rk23"])
@pytest.mark.parametrize("solver", ["qp", "lcp", "cone"])
def test_a_body_with_constraints_stops_on_a_plate_that_it_would_pass(solver: str, integrator: str) -> None:
    """Solved before anything is eliminated by `qp`, and reduced: three balls on rods end on top of 4 mm at rest."""
    plate = {"name": "plate", "shape": "box", "size": [0.5, 0.5, THIN], "position": [0.0, 0.0, 0.0]}
    simulation = from_document(
        {
            "format": "corekit-scenario/1", "name": "bar", "time": {"duration": 0.01, "step": 1e-3},
            "world": {"gravity": [0.0, 0.0, 0.0], "obstacles": [plate]}, "integrator": integrator,
            "bodies": [{"name": "bar", "use": "reference-point-chain", "options": BAR}],
            "contact": {"detector": "sdf", "solver": solver, "friction": 0.0},
        }
    ).compose()  # fmt: skip
    for _ in range(3):
        assert simulation.step().solve_info.status is Status.CONVERGED
    assert simulation.state.q[2::3] == pytest.approx([0.5 * THIN + RADIUS] * 3, rel=1e-9)
    assert np.abs(simulation.state.v).max() < 1e-12
