"""What inputs that a step held do to its equations: ∂F/∂u by columns, and yᵀ·∂F/∂u by bodies.

Inputs enter R and G of their own body alone, so that no contact is evaluated: twice for an input, or once, beside once
for all of them, where R is affine in it. Whether it is, is found by asking the model at two places. Where pyramids that
turn slide, their directions follow the free velocity, and thereby u: then the terms of `turned_pyramids` are of bodies
too, or the whole step is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.roles.model import ChannelKind
from corekit_gradients.adjoint.body_sums import BodySums, model_terms
from corekit_gradients.adjoint.frozen_step import FrozenStep
from corekit_gradients.adjoint.solutions import Solution

if TYPE_CHECKING:
    from corekit.engine.world.world_system import WorldSystem

__all__ = ["affine_inputs", "input_columns", "input_products"]

_STEP: Final = 2.0**-17
_AFFINE_STEP: Final = 2.0**-4
_BENT: Final = 1e-12
"""Second differences relative to the terms themselves up to which a dependence is affine."""


def affine_inputs(system: WorldSystem, state: State) -> tuple[bool, ...]:
    """Of which bodies R is affine in every input."""
    return tuple(_is_affine(terms, state) for terms in system.terms.bodies)


def _is_affine(terms: BodyTerms, state: State) -> bool:
    body = terms.body
    channels = body.description.inputs
    if terms.constraints is not None or not channels:
        return False
    if any(channel.kind is not ChannelKind.EFFORT for channel in channels):
        return False  # a cable that is driven by its length is slack somewhere, which no probe need meet
    own = state.body_states[body.index]
    far, draw = own.copy(), np.random.default_rng(0)
    body.model.integrate(own, 0.1 * draw.standard_normal(body.nv), 1.0, own, far)
    far.v += draw.standard_normal(body.nv)
    for place in (own, far):
        here = model_terms(terms, body.model, place)
        for shift in _shifts(terms, place.time, _AFFINE_STEP):
            ends = []
            # on one side and unequally, since an odd function is as straight as a line between ±u
            for factor in (1.0, 3.0):
                with body.inputs.shifted(factor * shift):
                    ends.append(model_terms(terms, body.model, place))
            for k, (one, middle, other) in enumerate(zip(ends[0], here, ends[1], strict=True)):
                # a residual that is turned is affine where f alone depends on inputs
                if terms.turns and k != 1 and not np.array_equal(one, other):
                    return False
                bend = np.abs(other - middle - 3.0 * (one - middle)).max(initial=0.0)
                if bend > _BENT * np.abs(middle).max(initial=np.abs(one).max(initial=0.0)):
                    return False
    return True


def _shifts(terms: BodyTerms, time: float, step: float) -> Array:
    """What each input is moved by, a row each, shape (nu, nu)."""
    return np.diag(step * np.maximum(1.0, np.abs(terms.body.inputs.value_at(time))))


def input_columns(system: WorldSystem, step: FrozenStep) -> Array:
    """∂F/∂u of a step by the inputs of all bodies, shape (N, nu)."""
    columns = [
        each
        for terms in system.terms.bodies
        for each in _slopes(terms, step, lambda: step.evaluate(step.arguments).stacked_with_tangents())
    ]
    return np.array(columns).reshape(len(columns), -1).T


def input_products(
    system: WorldSystem,
    step: FrozenStep,
    parts: Sequence[tuple[Solution, Array]],
    y: Array | None,
    wanted: Collection[int],
    affine: Sequence[bool],
) -> Array:
    """yᵀ·∂F/∂u, shape (nu,), zero of the inputs of bodies that are not wanted.

    Args:
        step: it holds its record. parts: covectors of the solutions of a step.
        y: that of all of F; None where `parts` have what pyramids that turn follow, or none turns.
        wanted: indices of bodies. affine: of which bodies R is affine in inputs.
    """
    if y is not None and step.turns_pyramids:
        return np.asarray(y @ input_columns(system, step))
    world, total = (
        system.terms,
        np.zeros(sum(each.body.description.input_size for each in system.terms.bodies)),
    )
    for solution, own in parts:
        first, out = 0, list[float]()
        for terms, point in world.of_bodies(step.point_of(solution)):
            index = terms.body.index
            if index in wanted and terms.body.description.input_size:
                sums = BodySums(step, terms, point, solution, own, first)
                out += _slopes(terms, step, sums.value, sums.value() if affine[index] else None)
            else:
                out += [0.0] * terms.body.description.input_size
            first += 0 if terms.constraints is None else terms.constraints.rows.count
        total += out
    return total


def _slopes(terms: BodyTerms, step: FrozenStep, value: Callable[[], Any], here: Any = None) -> list[Any]:
    """The differences of what a function says by each input of a body; `here`: what it says, if it is affine."""
    inputs, size = terms.body.inputs, _STEP if here is None else _AFFINE_STEP
    found = []
    for j, shift in enumerate(_shifts(terms, step.record.start.time, size)):
        with inputs.shifted(shift):
            ahead = value()
        if here is not None:
            found.append((ahead - here) / shift[j])
            continue
        with inputs.shifted(-shift):
            found.append((ahead - value()) / (2.0 * shift[j]))
    return found
