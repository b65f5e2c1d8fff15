"""Nonlinear program over the horizon, assembled from the functions of one step.

The functions of step k depend on y_k = (z_{k−1}, z_k), columns (k − 1)·n … (k + 1)·n − 1 of the program. An index maps
the non-zeros of all steps to the Jacobian. A constant 0/1 matrix maps them to the Hessian, because
the blocks of z_k from step k and from step k + 1 add:

    J[r, c] = J_k[r_k, c_k],    vec H = S·vec(H_0, …, H_{N−1})                             (1)

Columns before step 0 belong to the start and are excluded, like the rows outside the mask.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit_mpcc.nlp.derivatives import StepFunctions

__all__ = ["HorizonProgram", "build_horizon_program"]


@frozen(eq=False)
class HorizonProgram:
    """The program as CasADi functions of x = (z_0, …, z_{N−1}) and p = (shared, own_0 …, start, ε).

    Attributes:
        nlp: x, p, f, g as MX.
        gradient: (x, p) → (f, ∂f/∂x).
        jacobian: (x, p) → (g, ∂g/∂x).
        hessian: (x, p, λ_f, λ_g) → upper triangle.
        rows: index of each row of g in the rows of all steps, step by step, shape (m,).
        functions: functions of one step; the reference keeps their callbacks alive.
    """

    nlp: dict[str, Any]
    gradient: ca.Function
    jacobian: ca.Function
    hessian: ca.Function
    rows: IntArray
    functions: StepFunctions


def _triplets(sparsity: ca.Sparsity) -> tuple[IntArray, IntArray]:
    row, column = sparsity.get_triplet()
    return np.asarray(row, dtype=np.int64), np.asarray(column, dtype=np.int64)


def build_horizon_program(functions: StepFunctions, stages: int, row_mask: Any) -> HorizonProgram:
    """Assemble the program.

    Args:
        functions: functions of one step.
        stages: N.
        row_mask: mask of the included rows, shape (N, rows of a step).
    """
    value = functions.value
    previous, n = value.numel_in(0), value.numel_in(1)
    shared, own = value.numel_in(2), value.numel_in(3)
    count = value.numel_out(1)
    x, p = ca.MX.sym("x", n * stages), ca.MX.sym("p", shared + own * stages + previous + 1)
    shared_p, per_step, start, epsilon = ca.vertsplit(
        p, [0, shared, shared + own * stages, shared + own * stages + previous, p.numel()]
    )
    z = ca.reshape(x, n, stages)
    before = ca.horzcat(start, z[:, :-1]) if previous else ca.MX(0, stages)
    arguments = [
        before,
        z,
        ca.repmat(shared_p, 1, stages),
        ca.reshape(per_step, own, stages),
        ca.repmat(epsilon, 1, stages),
    ]
    rows = np.flatnonzero(np.asarray(row_mask, dtype=bool).reshape(-1)).astype(np.int64)
    keep = rows.tolist()

    cost, all_rows = value.map(stages)(*arguments)
    f, g = ca.sum2(cost), ca.vec(all_rows)[keep]

    cost_g, step_gradient = functions.gradient.map(stages)(*arguments)
    gradient = step_gradient[previous:, :]
    if previous:
        gradient = gradient + ca.horzcat(step_gradient[:previous, 1:], ca.MX.zeros(previous, 1))
    gradient_function = ca.Function("nlp_grad_f", [x, p], [ca.sum2(cost_g), ca.vec(gradient)])

    rows_j, blocks = functions.jacobian.map(stages)(*arguments)
    pattern, order = _jacobian(functions.jacobian.sparsity_out(1), rows, (stages, count, n, previous))
    jacobian = ca.MX(pattern, blocks.nz[order.tolist()])
    jacobian_function = ca.Function("nlp_jac_g", [x, p], [ca.vec(rows_j)[keep], jacobian])

    lambda_f, lambda_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", len(keep))
    scatter = ca.DM(
        ca.Sparsity(count * stages, len(keep), list(range(len(keep) + 1)), keep), np.ones(len(keep))
    )
    lambda_rows = ca.reshape(ca.mtimes(scatter, lambda_g), count, stages)
    step_hessians = functions.hessian.map(stages)(*arguments, ca.repmat(lambda_f, 1, stages), lambda_rows)
    pattern, gather = _hessian(functions.hessian.sparsity_out(0), stages, n, previous)
    entries = step_hessians.nz[list(range(step_hessians.nnz()))]
    hessian = ca.MX(pattern, ca.mtimes(gather, entries)) if pattern.nnz() else ca.MX(pattern)
    hessian_function = ca.Function("nlp_hess_l", [x, p, lambda_f, lambda_g], [hessian])
    return HorizonProgram(
        nlp={"x": x, "p": p, "f": f, "g": g},
        gradient=gradient_function,
        jacobian=jacobian_function,
        hessian=hessian_function,
        rows=rows,
        functions=functions,
    )


def _jacobian(
    step: ca.Sparsity, rows: IntArray, sizes: tuple[int, int, int, int]
) -> tuple[ca.Sparsity, IntArray]:
    """Return the pattern of the Jacobian, and the index of each non-zero among those of the steps."""
    stages, count, n, previous = sizes
    row, column = _triplets(step)
    steps = np.arange(stages)[:, None]
    row_index = np.full(stages * count, -1, dtype=np.int64)
    row_index[rows] = np.arange(len(rows))
    all_rows = row_index[(steps * count + row).reshape(-1)]
    all_columns = (steps * n - previous + column).reshape(-1)
    included = np.flatnonzero((all_rows >= 0) & (all_columns >= 0))
    order = included[np.lexsort((all_rows[included], all_columns[included]))]
    pattern = _pattern(all_rows[order], all_columns[order], (len(rows), stages * n))
    return pattern, order


def _hessian(step: ca.Sparsity, stages: int, n: int, previous: int) -> tuple[ca.Sparsity, ca.DM]:
    """Return the pattern of the Hessian and S of (1)."""
    row, column = _triplets(step)
    steps = np.arange(stages)[:, None]
    all_rows = (steps * n - previous + row).reshape(-1)
    all_columns = (steps * n - previous + column).reshape(-1)
    included = np.flatnonzero((all_rows >= 0) & (all_columns >= 0))
    size = stages * n
    positions, target = np.unique(all_columns[included] * size + all_rows[included], return_inverse=True)
    pattern = _pattern(positions % size, positions // size, (size, size))
    counts = np.zeros(len(all_rows) + 1, dtype=np.int64)
    counts[included + 1] = 1
    starts = np.cumsum(counts)
    gather = ca.Sparsity(
        len(positions), len(all_rows), starts.tolist(), np.asarray(target).reshape(-1).tolist()
    )
    return pattern, ca.DM(gather, np.ones(len(included)))


def _pattern(rows: Array | IntArray, columns: Array | IntArray, shape: tuple[int, int]) -> ca.Sparsity:
    starts = np.searchsorted(columns, np.arange(shape[1] + 1))
    return ca.Sparsity(shape[0], shape[1], starts.tolist(), rows.tolist())
