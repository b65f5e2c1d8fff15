"""Derivatives of the smooth accelerations, for implicit schemes of a differential equation.

    ∂a/∂δ = −G·(K + PᵀK_cP + J_sᵀJ_s/α − ∂(Jᵀλ)/∂q) − H·J/τ²                                      (1)
    ∂a/∂v = −G·(D + PᵀD_cP + J_sᵀJ_s/α) − H·J·(2/τ or 1/τ)                                        (2)

with a = G·(f + Pᵀf_c) + H·r, G = M⁻¹ on the kernel of the rigid rows and J·H = 1. J_s are compliant rows, of
position in (1) and of velocity in (2). K is that of f − M·a for models with inverse dynamics, else of f without the
derivative of M. The derivatives of J and d(J)/dt·v are left out but for ∂(Jᵀλ)/∂q.
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.dynamics.body_terms import BodyTerms
from corekit.dynamics.world_terms import WorldTerms

__all__ = ["acceleration_jacobian"]


def acceleration_jacobian(
    world: WorldTerms,
    state: State,
    acceleration: Array,
    settling: float,
    da_dq: Array,
    da_dv: Array,
    *,
    damped: bool,
) -> None:
    """Write (1) and (2), both (nv, nv).

    Args:
        state, acceleration: where, with the terms of a `SmoothAccelerations.compute` at this state.
        settling: τ [s].
        damped: whether the models' D counts; else it is frozen.
    """
    da_dq.fill(0.0)
    da_dv.fill(0.0)
    for terms, where, own in zip(world.bodies, world.slices, state.body_states, strict=True):
        stiffness, damping = da_dq[where, where], da_dv[where, where]
        _add_body(terms, own, acceleration[where], stiffness, damping, damped=damped)
        _add_constraints(terms, own, stiffness, damping)
    forces = world.forces
    if forces is not None and forces.count:
        for j, unit in enumerate(np.eye(world.nv)):
            da_dq[:, j] += forces.tangent_product(unit, 0.0, 1.0)
            da_dv[:, j] += forces.tangent_product(unit, 1.0, 0.0)
    for terms, where in zip(world.bodies, world.slices, strict=True):
        for matrix in (da_dq, da_dv):
            block = np.array(matrix[where], order="F")
            terms.factor.solve_columns(block)
            np.negative(block, out=matrix[where])
        _subtract_stabilisation(terms, settling, da_dq[where, where], da_dv[where, where])
        da_dq[:, where][:, terms.prescribed] = 0.0
        da_dv[:, where][:, terms.prescribed] = 0.0


def _add_body(
    terms: BodyTerms, state: State, acceleration: Array, stiffness: Array, damping: Array, *, damped: bool
) -> None:
    """K and D of the model."""
    if terms.stiffness is None or terms.damping is None:
        return
    model, inputs = terms.body.model, terms.inputs_at(state.time)
    if "inverse-dynamics" in terms.body.abilities:
        model.compute_residual_derivatives(state, inputs, acceleration, terms.stiffness, terms.damping)
    else:
        model.compute_stiffness_and_damping(state, inputs, terms.stiffness, terms.damping)
    stiffness += terms.stiffness.dense()
    if damped:
        damping += terms.damping.dense()


def _add_constraints(terms: BodyTerms, state: State, stiffness: Array, damping: Array) -> None:
    """The terms of compliant rows in K and D, and the gradient of all rows' forces."""
    rows = terms.rows
    if rows is None:
        return
    soft = (rows.compliance > 0) & ~rows.bounded
    safe = np.where(soft, rows.compliance, 1.0)
    full = rows.to_dense(terms.body.nv)
    for is_rate, matrix in ((False, stiffness), (True, damping)):
        chosen = soft & (rows.is_velocity_level == is_rate)
        matrix += full[chosen].T @ (full[chosen] / safe[chosen, None])
    if terms.stiffness is not None:
        compliant = (
            np.where(rows.is_velocity_level, rows.target_rate - rows.product(state.v), -rows.position_error)
            / safe
        )
        force = np.where(soft, compliant, np.where(rows.bounded, 0.0, terms.row_impulse))
        gradient = terms.body.model.new_stiffness_and_damping()[0]
        terms.body.model.compute_constraint_force_gradient(state, force, gradient)
        stiffness -= gradient.dense()


def _subtract_stabilisation(terms: BodyTerms, settling: float, da_dq: Array, da_dv: Array) -> None:
    """The last terms of (1) and (2), H one column per rigid row."""
    rows, eliminated = terms.rows, terms.eliminated
    if rows is None or eliminated is None:
        return
    kept = ~rows.bounded
    rigid, is_rate = (rows.compliance <= 0)[kept], rows.is_velocity_level[kept]
    n, given = terms.body.nv, eliminated.rhs.copy()
    nothing, fixed, force = np.zeros(n), np.zeros(len(terms.prescribed)), np.zeros(eliminated.count)
    response = np.zeros((n, eliminated.count), order="F")
    for r in np.flatnonzero(rigid):
        eliminated.rhs[:] = 0.0
        eliminated.rhs[r] = 1.0
        terms.factor.solve(nothing, fixed, response[:, r], force)
    eliminated.rhs[:] = given
    full = eliminated.to_dense(n)
    da_dq -= response @ (full * np.where(is_rate, 0.0, 1.0 / settling**2)[:, None])
    da_dv -= response @ (full * np.where(is_rate, 1.0, 2.0)[:, None] / settling)
