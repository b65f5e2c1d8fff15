"""R and G of one body as it is expanded, without contacts and joints: its part of the equations of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corekit.data.arrays import Array, IntArray

if TYPE_CHECKING:
    from corekit.engine.bodies.body_terms import BodyTerms
    from corekit.engine.step.linearisation import LinearisationPoint

__all__ = ["BodyEquations", "body_equations", "linearise_residual"]

_NO_ROWS = np.zeros(0)


class BodyEquations(NamedTuple):
    """R, shape (nv,), and G of the rows, (nb,), of one body, and the sizes of their terms."""

    momentum: Array
    rows: Array
    momentum_size: Array
    rows_size: Array


def body_equations(
    terms: BodyTerms, step: float, change: Array, impulse: Array, side: IntArray, *, is_linear: bool, is_apart: bool
) -> BodyEquations:  # fmt: skip
    """R = A·Δ − r − J_bᵀ·λ_b and G = J_b·Δ + E·λ_b − r_b, or λ_b less its bound.

    Args:
        terms: of the body, expanded. step: h [s]. change: Δ, shape (nv,).
        impulse: λ_b, shape (nb,). side: of rows at a bound, else 0, shape (nb,).
        is_linear: whether A·Δ and J_b·Δ count: not at an iterate of the θ family, where Δ = 0.
        is_apart: whether r is none, as of what moves bodies apart.
    """
    nv, constraints = terms.body.nv, terms.constraints
    forces = np.zeros(nv) if is_apart else terms.rhs
    moved = terms.unbalanced(change) + terms.rhs if is_linear else np.zeros(nv)
    momentum, size = moved - forces, np.abs(moved) + np.abs(forces)
    if constraints is None or not constraints.rows.count:
        return BodyEquations(momentum, _NO_ROWS, size, _NO_ROWS)
    rows, given = constraints.rows, np.zeros(nv)
    rows.add_transpose_product(impulse, given)
    product = rows.product(change) if is_linear else np.zeros(rows.count)
    error = product + constraints.compliance * impulse - constraints.target
    if side.any():
        low, high = np.full((2, rows.count), np.inf)
        low[constraints.bounded], high[constraints.bounded] = constraints.bounds(step)
        error = np.where(side < 0, impulse - low, np.where(side > 0, impulse - high, error))
    left = np.abs(product) + np.abs(constraints.target) + np.abs(impulse) * (side != 0)
    return BodyEquations(momentum - given, error, size + np.abs(given), left)


def linearise_residual(terms: BodyTerms, point: LinearisationPoint) -> None:
    """Write r, M and the constraints at a point of the θ family; K and D are not evaluated."""
    terms.update_residual(point)
    if terms.constraints is not None:
        terms.constraints.linearise(point, terms.inputs_at(point.at.time))
