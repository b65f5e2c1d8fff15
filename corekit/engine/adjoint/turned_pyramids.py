"""What pyramids that turn to slip add to the products of a step: their directions follow the problem of the step.

The directions d of a contact that slides depend on its rows of the problem, W and w₀, and on the impulses λ₀ with which
the step began. With g = Σ yᵀ·H(d) the part of the covector that they carry, ω = ∂g/∂w₀ and Ω = ∂g/∂W,

    w₀ = J·v_f + bias,  A·(v_f − v₀) = r,   by ω:  rows (ω, v_f), bodies (w_f, v_f),   w_f = −G·Jᵀ·ω            (1)
    W_ij = J_i·G·J_jᵀ,   by Ω:  rows (e_i, u_i) and (−Ω_i, w_i), bodies w_iᵀ·∂A·u_i,
                                u_i = G·Jᵀ·Ω_i,  w_i = −G·J_iᵀ                                            (2)

where rows (c, x) stand for the derivative of cᵀ·J·x, and bodies (w, v) for that of wᵀ·R at v without impulses: the last
of (2) is the difference of that at v_f + u_i and at v_f. G = A⁻¹ is symmetric beside impulses. ω, Ω and ∂g/∂λ₀ are
differences of what the solver says of the problem with other numbers in it: a contact's directions depend on no row of
another one.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from corekit.data.arrays import Array, IntArray

if TYPE_CHECKING:
    from corekit.engine.adjoint.frozen_step import FrozenStep
    from corekit.engine.adjoint.solutions import Solution
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["TurnedTerms", "turned_terms"]

_STEP: Final = 2.0**-20
"""Relative to the largest entry of what is changed."""


class TurnedTerms(NamedTuple):
    """Terms of g.

    Args:
        bodies: w and v of (1) and (2), both of shape (nv,).
        rows: contacts of the record, (c,), coefficients, (c, width), and x, (nv,).
        of_bias: ω of the normal rows, shape (m,).
        of_start: ∂g/∂λ₀, shape (m, width).
    """

    bodies: list[tuple[Array, Array]]
    rows: list[tuple[IntArray, Array, Array]]
    of_bias: Array
    of_start: Array


def turned_terms(world: WorldTerms, frozen: FrozenStep, solution: Solution, of_held: Array) -> TurnedTerms:
    """The terms of a solution, for the covector of H of its closed contacts, shape (k, width).

    The world must be expanded at the record.
    """
    record, index, modes = frozen.record.contacts, solution.modes.index, solution.modes
    assert record is not None
    m, width = record.impulse.shape
    jacobian = record.jacobian.toarray()
    problem, free_velocity, directions_of = frozen.contacts.pose_record(
        solution, frozen.arguments.start_impulse
    )
    friction, impulse = record.friction[index], solution.of_contacts[index]
    slip = jacobian.reshape(m, width, -1)[index] @ solution.velocity + solution.bias[index]
    base = problem.delassus().copy(), problem.free_velocity.copy(), problem.start_impulse.copy()

    def value(which: int, place: tuple[IntArray | int, ...], size: float) -> Array:
        """g of every closed contact with other numbers in W, w₀ or λ₀."""
        changed = [each.copy() for each in base]
        changed[which][place] += size
        other = copy.copy(problem)
        other.matrix, other.free_velocity, other.start_impulse = changed
        by_velocity, by_impulse, _ = modes.equations(friction, directions_of(other)[index], slip)
        held = np.einsum("cij,cj->ci", by_velocity, slip) + np.einsum("cij,cj->ci", by_impulse, impulse)
        return np.einsum("ci,ci->c", of_held, held)

    def slope(which: int, place: tuple[IntArray | int, ...]) -> Array:
        size = _STEP * np.abs(base[which]).max(initial=0.0)
        if size == 0.0:
            return np.zeros(len(index))
        return (value(which, place, size) - value(which, place, -size)) / (2.0 * size)

    of_free, of_matrix = np.zeros((m, width)), np.zeros((len(index), width, m * width))
    of_start = np.array([slope(2, (j,)).sum() for j in range(m * width)]).reshape(m, width)
    for a in range(width):
        of_free[index, a] = slope(1, (index * width + a,))
        for j in range(m * width):
            of_matrix[:, a, j] = slope(0, (index * width + a, j))

    def respond(columns: Array) -> Array:
        block = np.array(columns, order="F")
        world.factorisation.solve_columns(block)
        return block

    every = np.arange(m)
    total = -respond(jacobian.T @ of_free.reshape(-1, 1))[:, 0]
    rows, bodies = [(every, of_free, free_velocity)], []
    for c, a in zip(*np.nonzero(np.abs(of_matrix).max(axis=2)), strict=True):
        own = int(index[c]) * width + int(a)
        pair = respond(np.stack([jacobian.T @ of_matrix[c, a], jacobian[own]], axis=1))
        u, w = pair[:, 0].copy(), -pair[:, 1]
        unit = np.zeros((1, width))
        unit[0, a] = 1.0
        rows += [(index[c : c + 1], unit, u), (every, -of_matrix[c, a].reshape(m, width), w)]
        bodies.append((w, free_velocity + u))
        total -= w
    bodies.append((total, free_velocity))
    return TurnedTerms(bodies, rows, of_free[:, 0], of_start)
