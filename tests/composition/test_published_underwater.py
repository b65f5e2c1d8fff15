"""The shipped underwater robot moves as its authors' released program does: accelerations, a state each."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from corekit.data.state import State
from corekit.scenario.load import load

PUBLISHED = json.loads((Path(__file__).parent / "accelerations_52.json").read_text())
FLAGELLA = (10, 11, 12, 13)
POINTS = {10: 2, 11: 7, 12: 7, 13: 2}  # of the released file an element: 7 where a flagellum grips
WAYS = {
    "fem-linear": [f"bodies[0].options.links[{i}].divisions[0].points={POINTS[i]}" for i in FLAGELLA],
    "legendre": [
        f"bodies[0].options.links[{i}].divisions[0].{setting}"
        for i in FLAGELLA
        for setting in ("strain[0].kind=legendre", "strain[0].order=3", "strain[0].elements=1", "points=5")
    ],
}
HULL, SOFT = slice(0, 6), slice(10, 58)
BOUNDS = ((HULL, 5e-5), (SOFT, 1e-6))
"""Half a unit of the hull's five digits, of its masses and drags; what of that reaches the flagella is far less."""


@pytest.mark.parametrize("basis", ["fem-linear", "legendre"])
def test_accelerations_of_the_scenario_are_those_of_the_released_program(basis):
    data = PUBLISHED[basis]
    model = load("gvs/underwater", WAYS[basis]).compose().bodies[0].model
    description = model.description
    given = description.prescribed_velocity_index
    free = np.setdiff1d(np.arange(58), given)
    mass, force = model.new_mass_matrix(), np.zeros(58)
    for t, q, v, published in zip(*(data[k] for k in ("T", "Q", "QD", "QDD")), strict=True):
        state = State.zeros(58, 58, description.aux)
        model.compute_initial_state(None, state)
        state.q[:], state.v[:], state.time = q, v, t
        model.compute_mass_and_force(state, np.zeros(description.input_size), mass, force)
        found = np.zeros(58)
        found[free] = np.linalg.solve(mass.dense()[np.ix_(free, free)], force[free])
        found[3:6] -= np.cross(v[:3], v[3:6])  # ours is that of the hull's centre, theirs of its twist
        wanted = np.array(published)
        for part, bound in BOUNDS:
            error = np.linalg.norm(found[part] - wanted[part])
            assert error <= bound * np.linalg.norm(wanted[part]), (t, part)
