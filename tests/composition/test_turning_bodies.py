"""Products of a body that turns, by differences along two directions, against those by columns of its equations.

A heavy top has a stiffness that is not symmetric and turns with its place, and a damping that its spin makes, so that
all that displacements in another order add counts: without it the products of the top err by 4 %.
"""

from __future__ import annotations

import numpy as np
import pytest

from corekit.engine.world.world_system import WorldSystem
from corekit.scenario.load import from_document
from corekit_gradients.adjoint.body_products import BodyCovector, BodyProducts
from corekit_gradients.adjoint.charts import Charts
from corekit_gradients.adjoint.frozen_step import FrozenStep

pytest.importorskip("corekit_rigid")

BOX = {"shape": "box", "size": [0.1, 0.2, 0.3], "mass": 2.0}
BODIES = {
    "free": {**BOX, "linear_damping": 0.3, "angular_damping": 0.01},
    "top": {**BOX, "fixed_centre": True, "pivot": [0.02, -0.05, -0.15], "angular_damping": 0.02},
}


def recorded(options):
    """A world of one body that turns, and a record of its step."""
    start = {"angular_velocity": [3.0, -5.0, 7.0], "rotation_rpy": [0.4, 0.7, -0.3]}
    simulation = from_document(
        {
            "format": "corekit-scenario/1", "name": "top", "time": {"duration": 1.0, "step": 5e-3},
            "world": {"gravity": [0.0, 0.0, -9.81]},
            "bodies": [{"name": "body", "use": "rigid", "options": options, "initial": start}],
            "integrator": {"use": "semi-implicit-euler"}, "output": {"every": 5e-3},
        }
    ).compose()  # fmt: skip
    with simulation.record_steps() as tape:
        simulation.step()
    assert isinstance(simulation.system, WorldSystem)
    return simulation.system, tape[0]


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_turns_has_the_products_of_its_columns(name):
    system, record = recorded(BODIES[name])
    step, charts = FrozenStep(system), Charts(system.terms, record.start)
    step.load(record)
    products, draw = BodyProducts(system.terms, charts, record.start), np.random.default_rng(0)
    nv, none, nowhere = system.nv, np.zeros(0), np.zeros(0, dtype=np.int64)
    given = [
        BodyCovector(draw.standard_normal(nv), none, record.velocity + change, none, nowhere)
        for change in 0.3 * draw.standard_normal((2, nv))
    ]
    ((_, point),) = system.terms.of_bodies(step.point_of(step.solutions[0]))
    found, expected = products.pull(0, point, given), products.by_columns(0, point, given)
    for own, other in zip(found, expected, strict=True):
        assert np.abs(own - other).max() <= 1e-8 * np.abs(other).max(initial=1e-3)
    assert np.abs(expected[0][-3:]).max() > 0.0 or name == "free"
