"""Which bodies the equations of a step hold for: what `ipopt-fit` asks of a body before it uses its expressions.

The equations count one set of coordinates through the whole film, q⁺ = q + h·v̄, and expressions know q, v and u alone.
So a body is refused that integrates otherwise, whose auxiliary state makes its equations others at the start than its
expressions say, or whose coordinates its model replaces where it moves as its constraints ask: a tube that grows.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import CompositionError
from corekit.linalg.constraint_rows import ConstraintRows
from corekit.roles.estimator import EstimationTask

__all__ = ["check_supported"]

_ALIKE = 1e-8
"""Of expressions and numbers, which agree to 1e-10."""


def check_supported(task: EstimationTask) -> None:
    """Raise CompositionError for a body with unsupported equations."""
    description, abilities = task.model.description, task.abilities
    if description.constraint_count and "symbolic-constraints" not in abilities:
        raise CompositionError(
            f"body {task.body!r} has constraints, but its model does not provide `symbolic-constraints`"
        )
    if not _integrates_plainly(task):
        raise CompositionError(
            f"ipopt-fit needs a body that integrates as q + h·v, unlike body {task.body!r}"
        )
    if description.aux and not _expressions_hold(task):
        raise CompositionError(
            f"ipopt-fit knows body {task.body!r} by its options, and at the start of the scenario it is another one: "
            "give the options as it stands there (of a vine that has grown, its length), or use simulation-fit"
        )
    if "reparametrisation" in abilities and _coordinates_are_replaced(task):
        raise CompositionError(
            f"ipopt-fit counts the coordinates of body {task.body!r} once for the whole film, and its model replaces "
            "them while it moves, as a tube that grows does: use simulation-fit (or, of a vine, form = 'telescope')"
        )


def _integrates_plainly(task: EstimationTask) -> bool:
    description, start = task.model.description, task.start
    n = len(description.velocities)
    if len(description.coordinates) != n or not np.array_equal(
        description.prescribed_velocity_index, description.prescribed_coordinate_index
    ):
        return False
    out, v = start.copy(), np.random.default_rng(0).normal(size=n)
    v[description.prescribed_velocity_index] = 0.0
    task.model.integrate(start, v, 1e-3, start, out)
    return np.allclose(out.q, start.q + 1e-3 * v, rtol=0.0, atol=1e-12)


def _expressions_hold(task: EstimationTask) -> bool:
    """Whether kinetic energy and force are those of the model, at the start and with a velocity."""
    model: Any = task.model
    state, n = task.start.copy(), len(task.model.description.velocities)
    state.v[:] = np.random.default_rng(1).normal(size=n)
    mass, force, momentum = model.new_mass_matrix(), np.zeros(n), np.zeros(n)
    inputs = task.inputs(0.0).copy()
    model.compute_mass_and_force(state, inputs, mass, force)
    mass.multiply(state.v, momentum)
    symbols, q, v = model.symbolic(), ca.SX.sym("q", n), ca.SX.sym("v", n)
    told = ca.Function("told", [q, v], [symbols.kinetic_energy(q, v), symbols.force(q, v, ca.DM(inputs))])
    energy, pushed = (np.array(each, dtype=float).ravel() for each in told(state.q, state.v))
    return _alike(energy, np.array([0.5 * momentum @ state.v])) and _alike(pushed, force)


def _alike(found: Array, wanted: Array) -> bool:
    return bool(np.abs(found - wanted).max() <= _ALIKE * (np.abs(wanted).max() + np.finfo(float).tiny))


def _coordinates_are_replaced(task: EstimationTask) -> bool:
    """Whether the model replaces coordinates after a step at the largest rates that its constraints ask for."""
    model: Any = task.model
    if not task.model.description.constraint_count:
        return False
    rows: ConstraintRows = model.new_constraints()
    state: State = task.start.copy()
    fastest = np.zeros(rows.count)
    for time in np.arange(0.0, task.duration + 0.5 * task.step, task.step):
        model.compute_constraints(state, task.inputs(float(time)), rows)
        asked = np.where(rows.is_velocity_level, rows.target_rate, 0.0)
        if np.abs(asked).max(initial=0.0) > np.abs(fastest).max(initial=0.0):
            fastest = asked
    if not fastest.any():
        return False
    n = len(task.model.description.velocities)
    state.v[:] = np.linalg.lstsq(rows.to_dense(n), fastest, rcond=None)[0]
    out = state.copy()
    model.integrate(state, state.v, task.step, state, out)
    before = out.q.copy()
    return bool(model.reparametrise(out)) and not np.array_equal(out.q, before)
