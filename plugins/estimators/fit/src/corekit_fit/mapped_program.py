"""A sparse nonlinear program from few small functions, each mapped over many places.

With x all unknowns, l_k = B_k·x the few that a function needs at place k, and p_k numbers that belong to the place,

    min  ½·Σ_k |e(l_k, p_k)|² + ½·Σ_i d_i·(x_i − c_i)²    s.t.  g = Σ_k R_k·r(l_k, p_k) + A·x = 0          (1)

Only e and r are expressions. Derivatives are those of the small functions, and constant matrices S bring their
non-zeros to those of the whole, B and R included:

    nz(∂g/∂x) = S_J·nz(∂r/∂l) + nz(A),    nz(∂²L/∂x²) = S_H·(nz(∂²(λᵀr)/∂l²), nz(∂²(½|e|²)/∂l²), d)        (2)

so that time and memory to build the program do not depend on the number of places. The Hessian is exact, or that of
Gauss and Newton, ∂e/∂lᵀ·∂e/∂l, which leaves out the curvature of r and e.

Source: Bock (1983), "Recent advances in parameter identification techniques for ODE", on Gauss-Newton with constraints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import casadi as ca
import numpy as np
from attrs import frozen
from scipy import sparse

from corekit.data.arrays import Array, BoolArray, IntArray

__all__ = ["Block", "Problem", "Rows", "make_solver", "select_rows"]

Expression = Any


@frozen(eq=False)
class Block:
    """One function at many places.

    Args:
        function: (l, p) → r or e, an SX function of dense columns.
        local: B of all places, one below the other, CSR of shape (places·size of l, unknowns).
        data: p of the places, shape (size of p, places).
        rows: row of g of every entry of r, −1 for none, shape (places, size of r); unused for e.
        jacobian: (l, p) → ∂r/∂l where it is known in a shorter form than by differentiation.
    """

    function: Any
    local: Any
    data: Array
    rows: IntArray
    jacobian: Any = None

    @property
    def places(self) -> int:
        """How many places."""
        return self.data.shape[1]


@frozen(eq=False)
class Problem:
    """(1): blocks of r and of e, A (CSR), d and c of the size of x."""

    constraints: Sequence[Block]
    residuals: Sequence[Block]
    linear: Any
    weight: Array
    centre: Array


def select_rows(index: IntArray, size: int, weight: Array | float = 1.0) -> Any:
    """Return the CSR matrix that picks the unknowns of an index, times weights; a zero row where the index is −1."""
    flat = index.reshape(-1)
    known = np.flatnonzero(flat >= 0)
    values = np.broadcast_to(np.asarray(weight, dtype=float), index.shape).reshape(-1)[known]
    return sparse.csr_matrix((values, (known, flat[known])), shape=(len(flat), size))


@final
class Rows:
    """Rows of g that are being numbered, with A of (1)."""

    def __init__(self) -> None:
        self.count = 0
        self._parts: list[tuple[IntArray, IntArray, Array]] = []

    def new(self, kept: BoolArray) -> IntArray:
        """Return numbers of new rows where `kept`, −1 elsewhere."""
        out = np.where(kept, self.count - 1 + np.cumsum(kept).reshape(kept.shape), -1)
        self.count += int(kept.sum())
        return out

    def add(self, rows: IntArray, unknowns: IntArray, values: Array) -> None:
        """Add values·x of unknowns to rows, where both are numbered: (places, terms), or (terms,) for values."""
        known = (rows >= 0) & (unknowns >= 0)
        self._parts.append((rows[known], unknowns[known], np.broadcast_to(values, rows.shape)[known]))

    def matrix(self, size: int) -> Any:
        """Return A, CSR, for so many unknowns."""
        rows, columns, values = (np.concatenate(each) for each in zip(*self._parts, strict=True))
        return sparse.csr_matrix((values, (rows, columns)), shape=(self.count, size))


def make_solver(problem: Problem, options: dict[str, Any], *, exact: bool) -> tuple[Any, Any, Any]:
    """Return IPOPT for (1) with its options, (x, p, λ_f, λ_g) → upper triangle of the Hessian, and (x, p) → g, ∂g/∂x.

    Args:
        problem: (1).
        options: of the solver.
        exact: whether the Hessian is exact.
    """
    count, size = problem.linear.shape
    x, p = ca.MX.sym("x", size), ca.MX.sym("p", 0)
    lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", count)
    g = ca.mtimes(_matrix(problem.linear), x)
    slope = ca.DM(problem.weight) * (x - ca.DM(problem.centre))
    f = 0.5 * ca.dot(slope, x - ca.DM(problem.centre))
    jacobian, hessian = _Scatter(count, size), _Scatter(size, size)
    jacobian.add_constant(problem.linear)
    hessian.add_constant(sparse.diags_array(problem.weight), lam_f)
    made: dict[int, _Derivatives] = {}
    for block in problem.constraints:
        if id(block.function) not in made:
            made[id(block.function)] = _Derivatives(block, exact=exact, squares=False)
        own = made[id(block.function)]
        arguments, place = (_local(block, x), ca.DM(block.data)), select_rows(block.rows, count)
        g = g + ca.mtimes(_matrix(place.T.tocsr()), ca.vec(own.value.map(block.places)(*arguments)))
        jacobian.add_block(own.first.map(block.places)(*arguments), own.first, block)
        if exact:
            multiplier = ca.reshape(ca.mtimes(_matrix(place), lam_g), block.rows.shape[1], block.places)
            curvature = own.second.map(block.places)(*arguments, multiplier)
            hessian.add_symmetric(curvature, own.second, block)
    for block in problem.residuals:
        if id(block.function) not in made:
            made[id(block.function)] = _Derivatives(block, exact=exact, squares=True)
        own = made[id(block.function)]
        arguments = (_local(block, x), ca.DM(block.data))
        f = f + ca.sum2(own.value.map(block.places)(*arguments))
        gradient = ca.vec(own.first.map(block.places)(*arguments))
        slope = slope + ca.mtimes(_matrix(block.local.T.tocsr()), gradient)
        curvature = own.second.map(block.places)(*arguments, ca.repmat(lam_f, 1, block.places))
        hessian.add_symmetric(curvature, own.second, block)
    derivatives = {
        "grad_f": ca.Function("nlp_grad_f", [x, p], [f, slope]),
        "jac_g": ca.Function("nlp_jac_g", [x, p], [g, jacobian.matrix()]),
        "hess_lag": ca.Function("nlp_hess_l", [x, p, lam_f, lam_g], [hessian.matrix()]),
    }
    solver = ca.nlpsol("fit", "ipopt", {"x": x, "p": p, "f": f, "g": g}, {**derivatives, **options})
    return solver, derivatives["hess_lag"], derivatives["jac_g"]


class _Derivatives:
    """A block's function with its derivatives by l: ∂r/∂l and ∂²(λᵀr)/∂l², λ the last argument, or those of ½|e|²."""

    def __init__(self, block: Block, *, exact: bool, squares: bool) -> None:
        function = block.function
        l, p = (ca.SX.sym(name, function.numel_in(i)) for i, name in enumerate(("l", "p")))  # noqa: E741
        out = function(l, p)
        if squares:
            rows = ca.jacobian(out, l)
            cost, factor = 0.5 * ca.sumsqr(out), ca.SX.sym("lambda")
            second = ca.hessian(cost, l)[0] if exact else rows.T @ rows
            self.value = ca.Function("cost", [l, p], [cost])
            self.first = ca.Function("slope", [l, p], [ca.densify(rows.T @ out)])
            self.second = ca.Function("curvature", [l, p, factor], [ca.triu(factor * second)])
            return
        self.value = function
        self.first = block.jacobian or ca.Function("rows", [l, p], [ca.jacobian(out, l)])
        if exact:
            multiplier = ca.SX.sym("lambda", function.numel_out(0))
            second = ca.hessian(ca.dot(multiplier, out), l)[0]
            self.second = ca.Function("curvature", [l, p, multiplier], [ca.triu(second)])


def _local(block: Block, x: Expression) -> Expression:
    return ca.reshape(ca.mtimes(_matrix(block.local), x), block.function.numel_in(0), block.places)


def _matrix(of: Any) -> ca.DM:
    columns = of.tocsc()
    columns.sort_indices()
    pattern = ca.Sparsity(*columns.shape, columns.indptr.tolist(), columns.indices.tolist())
    return ca.DM(pattern, columns.data)


def _spread(matrix: Any, rows: IntArray) -> tuple[IntArray, IntArray, Array]:
    """Return (i, column, value) of all non-zeros of `matrix[rows[i]]`."""
    counts = np.diff(matrix.indptr)[rows]
    which = np.repeat(np.arange(len(rows)), counts)
    offset = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = matrix.indptr[rows][which] + offset
    return which, matrix.indices[at].astype(np.int64), matrix.data[at]


class _Scatter:
    """Collects non-zeros of small matrices, and where each goes in the whole one: S of (2)."""

    def __init__(self, rows: int, columns: int) -> None:
        self._shape = rows, columns
        self._count = 0
        self._sources: list[Expression] = []
        self._parts: list[tuple[IntArray, IntArray, IntArray, Array]] = []

    def _new(self, values: Expression) -> int:
        """Keep a column of non-zeros and return the number of its first."""
        first = self._count
        self._sources.append(values)
        self._count += values.numel()
        return first

    def add_constant(self, matrix: Any, factor: Expression = 1.0) -> None:
        """Add factor·matrix."""
        given = matrix.tocoo()
        source = np.full(given.nnz, self._new(ca.MX(factor)))
        self._parts.append((given.row.astype(np.int64), given.col.astype(np.int64), source, given.data))

    def add_block(self, values: Expression, function: Any, block: Block) -> None:
        """Add R·(∂r/∂l)·B of all places."""
        i, j = _places(function, block, block.rows.shape[1])
        row = block.rows.reshape(-1)[i]
        kept = np.flatnonzero(row >= 0)
        which, column, weight = _spread(block.local, j[kept])
        self._parts.append((row[kept][which], column, self._new(ca.vec(values.nz[:])) + kept[which], weight))

    def add_symmetric(self, values: Expression, function: Any, block: Block) -> None:
        """Add the upper triangle of Bᵀ·H·B of all places from the upper triangles H."""
        i, j = _places(function, block, block.function.numel_in(0))
        first, row, left = _spread(block.local, i)
        second, column, right = _spread(block.local, j[first])
        source, row, weight = first[second], row[second], left[second] * right
        begin = self._new(ca.vec(values.nz[:]))
        # an entry beside H's diagonal stands for its mirror image too
        mirrored = i[source] != j[source]
        for a, b, kept in ((row, column, row <= column), (column, row, mirrored & (column <= row))):
            self._parts.append((a[kept], b[kept], begin + source[kept], weight[kept]))

    def matrix(self) -> Expression:
        """Return the whole matrix."""
        rows, columns, source, weight = (np.concatenate(each) for each in zip(*self._parts, strict=True))
        height, width = self._shape
        positions, target = np.unique(columns * height + rows, return_inverse=True)
        starts = np.searchsorted(positions // height, np.arange(width + 1))
        pattern = ca.Sparsity(height, width, starts.tolist(), (positions % height).tolist())
        S = sparse.csr_matrix((weight, (target.reshape(-1), source)), shape=(len(positions), self._count))
        return ca.MX(pattern, ca.mtimes(_matrix(S), ca.vertcat(*self._sources)))


def _places(function: Any, block: Block, height: int) -> tuple[IntArray, IntArray]:
    """Return row and column of the non-zeros of a mapped derivative, in all r or l and in all l."""
    row, column = (np.asarray(each, dtype=np.int64) for each in function.sparsity_out(0).get_triplet())
    step = np.arange(block.places)[:, None]
    return (step * height + row).reshape(-1), (step * block.function.numel_in(0) + column).reshape(-1)
