"""Loops whose joints hold more directions than the links leave free: rows that others imply carry nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from corekit.data.status import Status
from corekit.scenario.load import from_document

pytest.importorskip("corekit_gvs")
pytest.importorskip("corekit_timestep")

MASS, LENGTH, GRAVITY, RATE = 0.1, 0.2, 9.81, 0.5
INERTIA = MASS * LENGTH**2 / 12


def bar(name, on, place):
    return {
        "name": name, "kind": "rigid", "on": on, "position": place, "mass": MASS,
        "inertia": [1e-6, INERTIA, INERTIA], "centre": [LENGTH / 2, 0.0, 0.0], "tip": [LENGTH, 0.0, 0.0],
        "joint": {"kind": "revolute", "axis": "y"},
    }  # fmt: skip


def parallelogram(integrator, step, *, contact=None, obstacles=(), turn=(0.0, 0.0, 0.0), angle=math.pi / 2):
    """Three bars of one length on two fixed pivots as far apart; the last revolute closes the loop."""
    loop = {
        "name": "closing", "first": "coupler.tip", "second": "right.tip", "joint": {"kind": "revolute", "axis": "y"},
    }  # fmt: skip
    links = [bar("left", "", [0.0, 0.0, 0.0]), bar("coupler", "left.tip", [0.0, 0.0, 0.0])]
    links.append(bar("right", "", [LENGTH, 0.0, 0.0]))
    if contact:
        links[1]["solids"] = [{"shape": "sphere", "size": [0.02], "position": [LENGTH / 2, 0.0, 0.0]}]
    body = {
        "name": "loop", "use": "gvs", "base": {"rotation_rpy": list(turn)},
        "options": {"loops": [loop], "links": links},
        "initial": {"coordinates": [angle, -angle, angle], "velocity": [RATE, -RATE, RATE]},
    }  # fmt: skip
    document = {
        "format": "corekit-scenario/1", "name": "loop", "time": {"duration": 1.0, "step": step},
        "world": {"gravity": [0.0, 0.0, -GRAVITY], "obstacles": list(obstacles)}, "bodies": [body],
        "integrator": {"use": integrator},
    }  # fmt: skip
    return from_document(document | ({"contact": contact} if contact else {})).compose()


def exact(time):
    """Angle of the bars below the horizontal: two turn about their pivots, the coupler moves without turning."""
    inertia = 2 * (INERTIA + MASS * (LENGTH / 2) ** 2) + MASS * LENGTH**2

    def rate(_, state):
        return [state[1], 2 * MASS * GRAVITY * LENGTH * math.cos(state[0]) / inertia]

    return solve_ivp(rate, (0.0, time), [math.pi / 2, RATE], rtol=1e-12, atol=1e-13).y[0, -1]


@pytest.mark.parametrize(
    ("integrator", "order"),
    [
        ("semi-implicit-euler", 1), ("implicit-euler", 1), ("implicit-midpoint", 2), ("verlet", 2),
        ("generalized-alpha", 2),
    ],
)  # fmt: skip
def test_a_parallelogram_swings_as_the_pendulum_that_it_is(integrator, order):
    errors = []
    for step in (4e-3, 2e-3):
        simulation = parallelogram(integrator, step)
        simulation.run(0.6)
        q = simulation.state.q
        errors.append(abs(q[0] - exact(0.6)))
        np.testing.assert_allclose(q, q[0] * np.array([1.0, -1.0, 1.0]), atol=1e-11)
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)


@pytest.mark.parametrize("solver", ["cone", "lcp", "qp"])
def test_a_loop_that_is_turned_in_space_comes_to_rest_on_an_obstacle(solver):
    """Its rows are zero but for rounding there. The floor and the pivots bear its weight."""
    for name in (solver, "sdf"):
        pytest.importorskip(f"corekit_{name}")
    floor = {"name": "floor", "shape": "half-space", "position": [0.0, 0.0, -0.15]}
    contact = {"detector": "sdf", "solver": solver, "friction": 0.3}
    simulation = parallelogram(
        "implicit-midpoint", 2e-3, contact=contact, obstacles=[floor], turn=(0.3, 0.0, 0.7), angle=0.3
    )
    statuses = set()
    for _ in range(700):
        statuses.add(simulation.step().solve_info.status)
    assert statuses == {Status.CONVERGED}
    assert np.abs(simulation.state.v).max() < 1e-6
    gap = simulation.contacts().gap
    assert len(gap) == 1
    assert abs(gap[0]) < 1e-6
