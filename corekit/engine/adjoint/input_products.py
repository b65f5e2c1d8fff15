"""What inputs that a step held do to its equations: ∂F/∂u by columns, and yᵀ·∂F/∂u by bodies.

Inputs enter R and G of their own body alone, so that no contact is evaluated. Where pyramids that turn slide, their
directions follow the free velocity, and thereby u: then the whole step is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from corekit.data.arrays import Array
from corekit.engine.adjoint.body_equations import body_equations
from corekit.engine.adjoint.frozen_step import FrozenStep, linearise_residual
from corekit.engine.adjoint.solutions import Kind, Solution
from corekit.engine.bodies.body_terms import BodyTerms

if TYPE_CHECKING:
    from corekit.engine.world.world_system import WorldSystem

__all__ = ["input_columns", "input_products"]

_STEP: Final = 2.0**-17


def input_columns(system: WorldSystem, step: FrozenStep) -> Array:
    """∂F/∂u of a step by the inputs of all bodies, shape (N, nu)."""
    columns: list[Array] = []
    for terms in system.terms.bodies:
        for j in range(terms.body.description.input_size):
            ends, size = [], _size_of(terms, step, j)
            for sign in (1.0, -1.0):
                with terms.body.inputs.shifted(_shift(terms, j, sign * size)):
                    ends.append(step.evaluate(step.arguments).stacked_with_tangents())
            columns.append((ends[0] - ends[1]) / (2.0 * size))
    return np.array(columns).reshape(len(columns), -1).T


def input_products(system: WorldSystem, step: FrozenStep, y: Array) -> Array:
    """yᵀ·∂F/∂u, shape (nu,), for the covector of F; `step` holds its record."""
    if step.tracks_impulses and any(each.modes.turns.any() for each in step.solutions):
        return np.asarray(y @ input_columns(system, step))
    total = np.zeros(sum(terms.body.description.input_size for terms in system.terms.bodies))
    begin = 0
    for solution, residual in zip(step.solutions, step.here.residuals, strict=True):
        end = begin + residual.stacked().size
        total += _of_solution(system, step, solution, y[begin:end])
        begin = end
    return total


def _of_solution(system: WorldSystem, step: FrozenStep, solution: Solution, y: Array) -> Array:
    """The same of one solution."""
    world, nv, first, out = system.terms, system.nv, 0, list[float]()
    is_apart = solution.kind is Kind.APART
    is_linear = step.theta is None or is_apart
    point = step.point_of(solution)
    for (terms, own), where in zip(world.of_bodies(point), world.slices, strict=True):
        last = first + (0 if terms.constraints is None else terms.constraints.rows.count)
        change = solution.velocity[where] - (0.0 if is_apart else own.velocity)
        impulse, side = solution.of_constraints[first:last], solution.side[first:last]
        for j in range(terms.body.description.input_size):
            ends, size = [], _size_of(terms, step, j)
            for sign in (1.0, -1.0):
                with terms.body.inputs.shifted(_shift(terms, j, sign * size)):
                    (BodyTerms.linearise if is_linear else linearise_residual)(terms, own)
                found = body_equations(
                    terms, step.step, change, impulse, side, is_linear=is_linear, is_apart=is_apart
                )
                ends.append(y[:nv][where] @ found.momentum + y[nv + first : nv + last] @ found.rows)
            out.append(float((ends[0] - ends[1]) / (2.0 * size)))
        first = last
    return np.array(out)


def _size_of(terms: BodyTerms, step: FrozenStep, j: int) -> float:
    """Of a difference by an input of a body."""
    here = terms.body.inputs.value_at(step.record.start.time)
    return float(_STEP * max(1.0, abs(here[j])))


def _shift(terms: BodyTerms, j: int, size: float) -> Array:
    out = np.zeros(terms.body.description.input_size)
    out[j] = size
    return out
