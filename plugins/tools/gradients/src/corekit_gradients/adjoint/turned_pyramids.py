"""What pyramids that turn to slip add to the products of a step: their directions follow the problem of the step.

The directions d of a contact that slides depend on its rows of the problem, W and w₀, and on the impulses λ₀ with which
the step began, and the solver says how (`FrictionDirections`). With g = Σ yᵀ·H(d) the part of the covector that they
carry, ω the covector of w = W·λ₀ + w₀, ω₀ and Ω those of w₀ and W where w is held, and G = A⁻¹, symmetric beside
impulses,

    w₀ = J·v_f + bias,        A·(v_f − v₀) = r,             rows (ω₀, v_f), bodies (−G·Jᵀ·ω₀, v_f)                (1)
    w = J·v_c + bias,         A·(v_c − v₀) = r + Jᵀ·λ₀,     rows (ω, v_c), bodies (x, v_c), rows (−λ₀, x),
                                                            x = −G·Jᵀ·ω                                           (2)
    W_ij = J_i·G·J_jᵀ,        rows (e_i, u_i) and (−Ω_i, w_i), bodies w_iᵀ·∂A·u_i,
                              u_i = G·Jᵀ·Ω_i,  w_i = −G·J_iᵀ                                                      (3)

where rows (c, x) stand for the derivative of cᵀ·J·x, and bodies (w, v) for that of wᵀ·R at v without impulses: the last
of (3) is the difference of that at v_f + u_i and at v_f.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array, IntArray

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms
    from corekit_gradients.adjoint.frozen_step import FrozenStep
    from corekit_gradients.adjoint.solutions import Solution

__all__ = ["TurnedTerms", "turned_terms"]


class TurnedTerms(NamedTuple):
    """Terms of g.

    Args:
        bodies: w and v of (1) to (3), both of shape (nv,).
        rows: contacts of the record, (c,), coefficients, (c, width), and x, (nv,).
        of_bias: of the normal rows, shape (m,).
        of_start: ∂g/∂λ₀, shape (m, width).
    """

    bodies: list[tuple[Array, Array]]
    rows: list[tuple[IntArray, Array, Array]]
    of_bias: Array
    of_start: Array

    def parts(self, solution: Solution) -> list[tuple[Solution, Array]]:
        """`bodies` as velocities in place of those of the solution, and covectors of R there."""
        return [(evolve(solution, velocity=v), w) for w, v in self.bodies]


def turned_terms(
    world: WorldTerms, frozen: FrozenStep, solution: Solution, of_held: Array
) -> TurnedTerms | None:
    """The terms of a solution, for the covector of H of its closed contacts, (k, width); None if the solver has none.

    The world must be expanded at the record.
    """
    posed = frozen.contacts.pull_directions(solution, frozen.arguments.start_impulse, of_held)
    if posed is None:
        return None
    problem, free, pulled, jacobian = posed
    width, start = problem.rows_per_contact, problem.start_impulse
    m, every = len(start) // width, np.arange(len(start) // width)

    def respond(columns: Array) -> Array:
        block = np.array(columns.T, order="F")
        world.factorisation.solve_columns(block)
        return block.T

    carried, of_carried, of_free = respond(np.stack([start, pulled.velocity, pulled.free]) @ jacobian)
    ahead = free + carried
    total, rows, bodies = (
        np.zeros(world.nv),
        list[tuple[IntArray, Array, Array]](),
        list[tuple[Array, Array]](),
    )
    if pulled.velocity.any():
        rows += [
            (every, pulled.velocity.reshape(m, width), ahead),
            (every, -start.reshape(m, width), -of_carried),
        ]
        bodies.append((-of_carried, ahead))
    if pulled.free.any():
        rows.append((every, pulled.free.reshape(m, width), free))
        total -= of_free
    for i in np.flatnonzero(pulled.matrix.any(axis=1)).tolist():
        u, w = respond(np.stack([pulled.matrix[i] @ jacobian, -jacobian[i]]))
        unit = np.zeros((1, width))
        unit[0, i % width] = 1.0
        rows += [
            (every[i // width : i // width + 1], unit, u),
            (every, -pulled.matrix[i].reshape(m, width), w),
        ]
        bodies.append((w, free + u))
        total -= w
    if total.any():
        bodies.append((total, free))
    of_start = pulled.start + jacobian @ of_carried
    return TurnedTerms(bodies, rows, (pulled.velocity + pulled.free)[::width], of_start.reshape(m, width))
