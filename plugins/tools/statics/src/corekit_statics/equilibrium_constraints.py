"""Bilateral rows at rest: what they ask of a displacement, what rate rows hold, and what cannot rest.

position row       J_b·δ + α·λ = −c                                                 (1)
rigid rate row     J_b·δ = −∫J_b·dq over the steps so far: it holds what its rate integrates to   (2)
compliant one      the constant force u/α, as J_b·v − u + α·λ = 0 at v = 0           (3)
bounded rate row   J_b·δ = 0, or it slips at a bound: like friction it rests anywhere it holds    (4)
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dsytrf

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.dynamics.body_constraints import FREE_ROW
from corekit.dynamics.body_terms import BodyTerms
from corekit.errors import CompositionError
from corekit.linalg.matrices import Matrix

__all__ = ["check_rates", "diagonal", "negatives", "row_error", "saddle_matrix", "slip", "take_rows"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


def check_rates(part: BodyTerms, time: float) -> None:
    """Refuse rows that cannot rest, at the inputs of a time [s].

    Raises:
        CompositionError: a row drives, or binds a rate with compliance and bounds at once.
    """
    rows, body = part.rows, part.body
    if rows is None or not rows.is_velocity_level.any():
        return
    state = State.zeros(*body.sizes)
    body.model.initial_state(None, state)
    body.model.bilateral(state, body.inputs.at(time), rows)
    moving = rows.is_velocity_level & (rows.compliance == 0) & (rows.target_rate != 0)
    if moving.any():
        r = int(np.flatnonzero(moving)[0])
        raise CompositionError(
            f"row {r} of body {body.name!r} is driven at {rows.target_rate[r]:.4g} per second at t = {time:g} s: "
            "nothing rests while it moves. Choose a time at which its input is zero."
        )
    if (rows.is_velocity_level & rows.bounded & (rows.compliance > 0)).any():
        raise CompositionError(
            f"body {body.name!r} has rows that bind a rate, with compliance and force bounds at once: "
            "statics cannot say what they hold at rest. Let a run with damping come to rest instead."
        )


def take_rows(part: BodyTerms, state: State, inputs: Array, slipped: Array) -> None:
    """Write (1)–(4) into a part, and the forces (3) into its right-hand side.

    Args:
        part: whose rows are read anew.
        state: of its body.
        inputs: u.
        slipped: ∫J_b·dq of every row so far, shape (nb,) [m or rad].
    """
    rows = part.rows
    assert rows is not None
    part.body.model.bilateral(state, inputs, rows)
    flows = rows.is_velocity_level & (rows.compliance > 0)
    assert part.constraints is not None
    part.constraints.set_rows(
        np.where(flows, FREE_ROW, rows.compliance),
        np.where(rows.is_velocity_level, np.where(flows | rows.bounded, 0.0, -slipped), -rows.position_error),
    )
    if flows.any():
        force = np.where(flows, rows.target_rate / np.where(flows, rows.compliance, 1.0), 0.0)
        rows.add_transpose_product(force, part.rhs)


def row_error(part: BodyTerms) -> float:
    """Largest |c + α·λ| of position rows, one-sided where a row gives way at its bound [m or rad]."""
    rows, force = part.rows, part.row_impulse
    if rows is None:
        return 0.0
    error = rows.position_error + rows.compliance * force
    near = 1e-9 * (1.0 + np.abs(force))
    error = np.where(rows.bounded & (force >= rows.upper - near), np.maximum(error, 0.0), error)
    error = np.where(rows.bounded & (force <= rows.lower + near), np.minimum(error, 0.0), error)
    return float(np.max(np.abs(error[~rows.is_velocity_level]), initial=0.0))


def slip(part: BodyTerms, start: State, step: Array, time: float) -> Array:
    """∫J_b·dq along a step, by Gauss's rule, for the rows of (2); 0 for the others, shape (nb,)."""
    model = part.body.model
    rows = model.bilateral_rows()
    between, total = start.copy(), np.zeros(rows.count)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        model.advance(start, step, 0.5 * (1.0 + node), start, between)
        model.bilateral(between, part.body.inputs.at(time), rows)
        total += 0.5 * weight * rows.product(step)
    return np.where(rows.is_velocity_level & ~rows.bounded & (rows.compliance == 0), total, 0.0)


def guess_forces(part: BodyTerms) -> bool:
    """Give rigid rows without forces those that balance f best, λ = argmin |f + J_bᵀλ|; False where some are known.

    A mechanism that hangs in its rows (a platform on ropes) is stiff through them alone, by ∂(J_bᵀλ)/∂q: without λ
    nothing guides the first steps.
    """
    rows, joints = part.rows, part.constraints
    if rows is None or joints is None or part.row_impulse.any():
        return False
    rigid = np.flatnonzero((rows.compliance == 0) & ~rows.bounded)
    dense = np.zeros((len(rigid), part.body.nv))
    for k, r in enumerate(rigid):
        np.add.at(dense[k], rows.dofs[r], rows.values[r])
    forces, *_ = np.linalg.lstsq(dense[:, part.free].T, -part.rhs[part.free], rcond=1e-10)
    part.row_impulse[rigid] = forces
    joints.eliminated_impulse[:] = part.row_impulse[joints.kept]
    return bool(forces.any())


def saddle_matrix(part: BodyTerms) -> Array:
    """[[A, J_bᵀ], [J_b, −E]] of the free coordinates and the eliminated rows, dense and symmetric."""
    rows, n = part.eliminated, part.body.nv
    count = 0 if rows is None else rows.count
    full = np.zeros((n + count, n + count))
    full[:n, :n] = part.matrix.dense()
    if rows is not None:
        for r in range(count):
            np.add.at(full[n + r], rows.dofs[r], rows.values[r])
            full[n + r, n + r] = -rows.compliance[r]
        full[:n, n:] = full[n:, :n].T
    kept = np.concatenate([part.free, np.ones(count, dtype=bool)])
    full = full[np.ix_(kept, kept)]
    return 0.5 * (full + full.T)


def diagonal(matrix: Matrix) -> Array:
    """The diagonal of a matrix of any layout, shape (n,)."""
    rows, columns, where = matrix.entries()
    on, found = rows == columns, np.zeros(matrix.n)
    found[rows[on]] = matrix.data.ravel(order="K")[where[on]]
    return found


def negatives(matrix: Array) -> int:
    """Negative eigenvalues of a symmetric matrix, by the inertia of its factors.

    Source: Bunch and Kaufman (1977), "Some stable methods for calculating inertia and solving symmetric systems".
    """
    lower, pivots, _info = dsytrf(matrix, lower=1)
    diagonal = lower.diagonal()
    single = pivots > 0
    # a pivot of two rows has one eigenvalue of each sign
    return int(np.count_nonzero(diagonal[single] < 0) + np.count_nonzero(~single) // 2)
