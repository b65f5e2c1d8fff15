"""The nonlinear program over the horizon, put together from the functions of one step.

Step k's functions see y_k = (z_{k−1}, z_k), columns (k − 1)·n … (k + 1)·n − 1 of the whole program. The non-zeros of
all steps are gathered into the whole Jacobian by an index and into the whole Hessian by a constant 0/1 matrix, as
the blocks of z_k from step k and from step k + 1 add:

    J[r, c] = J_k[r_k, c_k],    vec H = S·vec(H_0, …, H_{N−1})                             (1)

Columns before step 0 belong to the given start and are left out, as are the rows that are not taken.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit_mpcc.nlp.derivatives import StepFunctions

__all__ = ["Horizon", "horizon"]


@frozen(eq=False)
class Horizon:
    """The program as CasADi functions of x = (z_0, …, z_{N−1}) and p = (shared, own_0 …, start, ε).

    Attributes:
        nlp: x, p, f, g as MX.
        gradient: (x, p) → (f, ∂f/∂x).
        jacobian: (x, p) → (g, ∂g/∂x).
        hessian: (x, p, λ_f, λ_g) → upper triangle.
        rows: place of each row of g in the matrix of all rows [step, row] counted step by step, shape (m,).
        functions: of one step; they live as long as what calls them.
    """

    nlp: dict[str, Any]
    gradient: ca.Function
    jacobian: ca.Function
    hessian: ca.Function
    rows: IntArray
    functions: StepFunctions


def _places(sparsity: ca.Sparsity) -> tuple[IntArray, IntArray]:
    row, column = sparsity.get_triplet()
    return np.asarray(row, dtype=np.int64), np.asarray(column, dtype=np.int64)


def horizon(functions: StepFunctions, stages: int, taken: Any) -> Horizon:
    """Put the program together.

    Args:
        functions: of one step.
        stages: N.
        taken: which rows there are, booleans of shape (N, rows of a step).
    """
    value = functions.value
    previous, n = value.numel_in(0), value.numel_in(1)
    shared, own = value.numel_in(2), value.numel_in(3)
    count = value.numel_out(1)
    x, p = ca.MX.sym("x", n * stages), ca.MX.sym("p", shared + own * stages + previous + 1)
    common, each, start, epsilon = ca.vertsplit(
        p, [0, shared, shared + own * stages, shared + own * stages + previous, p.numel()]
    )
    z = ca.reshape(x, n, stages)
    before = ca.horzcat(start, z[:, :-1]) if previous else ca.MX(0, stages)
    arguments = [
        before,
        z,
        ca.repmat(common, 1, stages),
        ca.reshape(each, own, stages),
        ca.repmat(epsilon, 1, stages),
    ]
    rows = np.flatnonzero(np.asarray(taken, dtype=bool).reshape(-1)).astype(np.int64)
    keep = rows.tolist()

    cost, all_rows = value.map(stages)(*arguments)
    f, g = ca.sum2(cost), ca.vec(all_rows)[keep]

    cost_g, slope = functions.gradient.map(stages)(*arguments)
    gradient = slope[previous:, :]
    if previous:
        gradient = gradient + ca.horzcat(slope[:previous, 1:], ca.MX.zeros(previous, 1))
    gradient_function = ca.Function("nlp_grad_f", [x, p], [ca.sum2(cost_g), ca.vec(gradient)])

    rows_j, blocks = functions.jacobian.map(stages)(*arguments)
    pattern, order = _jacobian(functions.jacobian.sparsity_out(1), rows, (stages, count, n, previous))
    jacobian = ca.MX(pattern, blocks.nz[order.tolist()])
    jacobian_function = ca.Function("nlp_jac_g", [x, p], [ca.vec(rows_j)[keep], jacobian])

    lambda_f, lambda_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", len(keep))
    spread = ca.DM(
        ca.Sparsity(count * stages, len(keep), list(range(len(keep) + 1)), keep), np.ones(len(keep))
    )
    lambda_rows = ca.reshape(ca.mtimes(spread, lambda_g), count, stages)
    curvature = functions.hessian.map(stages)(*arguments, ca.repmat(lambda_f, 1, stages), lambda_rows)
    pattern, gather = _hessian(functions.hessian.sparsity_out(0), stages, n, previous)
    entries = curvature.nz[list(range(curvature.nnz()))]
    hessian = ca.MX(pattern, ca.mtimes(gather, entries)) if pattern.nnz() else ca.MX(pattern)
    hessian_function = ca.Function("nlp_hess_l", [x, p, lambda_f, lambda_g], [hessian])
    return Horizon(
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
    """The whole pattern, and for each of its non-zeros the place among the steps' non-zeros."""
    stages, count, n, previous = sizes
    row, column = _places(step)
    steps = np.arange(stages)[:, None]
    at_row = np.full(stages * count, -1, dtype=np.int64)
    at_row[rows] = np.arange(len(rows))
    all_rows = at_row[(steps * count + row).reshape(-1)]
    all_columns = (steps * n - previous + column).reshape(-1)
    inside = np.flatnonzero((all_rows >= 0) & (all_columns >= 0))
    order = inside[np.lexsort((all_rows[inside], all_columns[inside]))]
    pattern = _pattern(all_rows[order], all_columns[order], (len(rows), stages * n))
    return pattern, order


def _hessian(step: ca.Sparsity, stages: int, n: int, previous: int) -> tuple[ca.Sparsity, ca.DM]:
    """The whole pattern and S of (1)."""
    row, column = _places(step)
    steps = np.arange(stages)[:, None]
    all_rows = (steps * n - previous + row).reshape(-1)
    all_columns = (steps * n - previous + column).reshape(-1)
    inside = np.flatnonzero((all_rows >= 0) & (all_columns >= 0))
    size = stages * n
    places, target = np.unique(all_columns[inside] * size + all_rows[inside], return_inverse=True)
    pattern = _pattern(places % size, places // size, (size, size))
    one_each = np.zeros(len(all_rows) + 1, dtype=np.int64)
    one_each[inside + 1] = 1
    starts = np.cumsum(one_each)
    gather = ca.Sparsity(len(places), len(all_rows), starts.tolist(), np.asarray(target).reshape(-1).tolist())
    return pattern, ca.DM(gather, np.ones(len(inside)))


def _pattern(rows: Array | IntArray, columns: Array | IntArray, shape: tuple[int, int]) -> ca.Sparsity:
    starts = np.searchsorted(columns, np.arange(shape[1] + 1))
    return ca.Sparsity(shape[0], shape[1], starts.tolist(), rows.tolist())
