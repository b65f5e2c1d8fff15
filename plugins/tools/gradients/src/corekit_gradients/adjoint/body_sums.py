"""What the equations of one body give with the covectors of a step, wᵀ·R + zᵀ·G, as its model and inputs are now."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.step.linearisation import LinearisationPoint
from corekit.roles.model import Model
from corekit.roles.model_abilities import ModelAbilities
from corekit_gradients.adjoint.body_equations import body_equations, linearise_residual
from corekit_gradients.adjoint.solutions import Kind, Solution

if TYPE_CHECKING:
    from corekit_gradients.adjoint.frozen_step import FrozenStep

__all__ = ["BodySums", "model_terms"]


@final
class BodySums:
    """wᵀ·R + zᵀ·G of one body in one solution of a step that is held, as its model and its inputs are.

    Args:
        step: the step. terms: of the body. point: of it. solution, y: with the covector of its equations.
        first: where rows of the body begin among those of all bodies.

    Attributes:
        is_linear: whether the step is linearised at its start, where R may be turned.
    """

    def __init__(
        self, step: FrozenStep, terms: BodyTerms, point: LinearisationPoint, solution: Solution, y: Array, first: int
    ) -> None:  # fmt: skip
        where = slice(terms.body.first_v, terms.body.first_v + terms.body.nv)
        nv, count = len(solution.velocity), 0 if terms.constraints is None else terms.constraints.rows.count
        self._is_apart, rows = solution.kind is Kind.APART, slice(first, first + count)
        self.is_linear = step.theta is None or self._is_apart
        self._terms, self._point, self._step = terms, point, step.step
        self._w, self._z = np.where(terms.free, y[:nv][where], 0.0), y[nv:][rows]
        self._change = solution.velocity[where] - (0.0 if self._is_apart else point.velocity)
        self._impulse, self._side = solution.of_constraints[rows], solution.side[rows]

    def value(self) -> float:
        """The sum now."""
        terms = self._terms
        (BodyTerms.linearise if self.is_linear else linearise_residual)(terms, self._point)
        if terms.constraints is None and not self._is_apart:
            return float(self._w @ (terms.unbalanced(self._change) if self.is_linear else -terms.rhs))
        found = body_equations(
            terms, self._step, self._change, self._impulse, self._side, is_linear=self.is_linear,
            is_apart=self._is_apart,
        )  # fmt: skip
        return float(self._w @ found.momentum + self._z @ found.rows)


def model_terms(terms: BodyTerms, model: Model, state: State) -> list[Array]:
    """M, f, K and D by one of the models of a body."""
    inputs, mass, force = terms.inputs_at(state.time), model.new_mass_matrix(), np.zeros(terms.body.nv)
    model.compute_mass_and_force(state, inputs, mass, force)
    found = [mass.data, force]
    abilities = ModelAbilities.from_model(model, terms.body.abilities.words)
    if abilities.force_derivatives is not None:
        made = abilities.force_derivatives.new_stiffness_and_damping()
        abilities.force_derivatives.compute_stiffness_and_damping(state, inputs, *made)
        found += [each.data.copy() for each in made]
        if abilities.dissipation is not None:
            abilities.dissipation.compute_dissipation(state, inputs, made[1])
            found.append(made[1].data)
    return [each.ravel() for each in found]
