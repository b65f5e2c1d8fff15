"""What inputs that a step held do to its equations: ∂F/∂u by columns, and yᵀ·∂F/∂u by bodies.

Inputs enter R and G of their own body alone, so that no contact is evaluated. Where pyramids that turn slide, their
directions follow the free velocity, and thereby u: then the whole step is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from corekit.data.arrays import Array
from corekit.engine.adjoint.body_sums import BodySums
from corekit.engine.adjoint.frozen_step import FrozenStep
from corekit.engine.adjoint.solutions import Solution
from corekit.engine.bodies.body_terms import BodyTerms

if TYPE_CHECKING:
    from corekit.engine.world.world_system import WorldSystem

__all__ = ["input_columns", "input_products"]

_STEP: Final = 2.0**-17


def input_columns(system: WorldSystem, step: FrozenStep) -> Array:
    """∂F/∂u of a step by the inputs of all bodies, shape (N, nu)."""
    columns = [
        _slope(terms, step, j, lambda: step.evaluate(step.arguments).stacked_with_tangents())
        for terms in system.terms.bodies
        for j in range(terms.body.description.input_size)
    ]
    return np.array(columns).reshape(len(columns), -1).T


def input_products(
    system: WorldSystem, step: FrozenStep, parts: Sequence[tuple[Solution, Array]], y: Array
) -> Array:
    """yᵀ·∂F/∂u, shape (nu,), for the covectors of the solutions of a step and of all of F; `step` holds its record."""
    if step.turns_pyramids:
        return np.asarray(y @ input_columns(system, step))
    world, total = (
        system.terms,
        np.zeros(sum(each.body.description.input_size for each in system.terms.bodies)),
    )
    for solution, own in parts:
        first, out = 0, list[float]()
        for terms, point in world.of_bodies(step.point_of(solution)):
            sums = BodySums(step, terms, point, solution, own, first)
            out += [_slope(terms, step, j, sums.value) for j in range(terms.body.description.input_size)]
            first += 0 if terms.constraints is None else terms.constraints.rows.count
        total += out
    return total


def _slope(terms: BodyTerms, step: FrozenStep, j: int, value: Callable[[], Any]) -> Any:
    """The difference of what a function says by an input of a body."""
    here = terms.body.inputs.value_at(step.record.start.time)
    shift, ends = np.zeros(len(here)), []
    for sign in (1.0, -1.0):
        shift[j] = sign * float(_STEP * max(1.0, abs(here[j])))
        with terms.body.inputs.shifted(shift.copy()):
            ends.append(value())
    return (ends[0] - ends[1]) / (2.0 * abs(shift[j]))
