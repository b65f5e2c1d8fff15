"""Every factorisation against the dense saddle system it stands for."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit.linalg.constraint_rows import EliminatedConstraints
from corekit.linalg.factorisation import make_factorisation
from corekit.linalg.matrices import (
    Banded,
    BlockDiagonal,
    Dense,
    Diagonal,
    Matrix,
    Sparse,
    SparsePattern,
    widest,
)
from corekit_testing.rounding import rounding

STRUCTURES = ("diagonal", "block-diagonal", "banded", "wide-band", "sparse", "dense")


def random_matrix(structure: str, n: int, rng: np.random.Generator) -> Matrix:
    """A random symmetric positive definite matrix in a layout."""
    if structure == "diagonal":
        matrix = Diagonal(n)
        matrix.data[:] = rng.uniform(0.5, 2.0, n)
        return matrix
    if structure == "block-diagonal":
        matrix = BlockDiagonal(n // 3, 3)
        part = rng.normal(size=(n // 3, 3, 3))
        matrix.data[:] = part @ part.swapaxes(1, 2) + np.eye(3)
        return matrix
    if structure in {"banded", "wide-band"}:
        matrix = Banded(n, 8 if structure == "banded" else 12)
        matrix.data[:] = rng.uniform(-1, 1, matrix.data.shape)
        matrix.data[0] = 15.0
        return matrix
    if structure == "sparse":
        rows, columns = rng.integers(0, n, (2, 3 * n))
        sparse = Sparse(SparsePattern.from_entries(n, rows, columns))
        sparse.data[:] = rng.uniform(-1, 1, len(sparse.data))
        sparse.symmetrise()
        sparse.data[sparse.pattern.diagonal] = 2.0 * n
        return sparse
    matrix = Dense(n)
    part = rng.normal(size=(n, n))
    matrix.data[:] = part @ part.T + np.eye(n)
    return matrix


def saddle_solution(a, rows, b, prescribed, fixed, target=None):
    """x, λ of the dense system with prescribed entries moved over."""
    n = len(b)
    free = np.setdiff1d(np.arange(n), prescribed)
    known = np.zeros(n)
    known[prescribed] = fixed
    j = rows.to_dense(n) if rows is not None else np.zeros((0, n))
    compliance = np.diag(rows.compliance) if rows is not None else np.zeros((0, 0))
    if target is None:
        target = rows.rhs if rows is not None else np.zeros(0)
    full = np.block([[a[np.ix_(free, free)], -j[:, free].T], [j[:, free], compliance]])
    answer = np.linalg.solve(full, np.concatenate([(b - a @ known)[free], target - j @ known]))
    x = known.copy()
    x[free] = answer[: len(free)]
    return x, answer[len(free) :]


def random_rows(blocks: int, rng: np.random.Generator) -> EliminatedConstraints:
    """Rows between neighbouring blocks of three unknowns, some of them compliant."""
    rows = EliminatedConstraints(blocks - 1, 4)
    for r in range(blocks - 1):
        rows.dofs[r] = 3 * r + np.array([1, 2, 4, 5])
    rows.values[:] = rng.normal(size=rows.values.shape)
    rows.compliance[:] = rng.choice([0.0, 0.3], blocks - 1)
    rows.rhs[:] = rng.normal(size=blocks - 1)
    return rows


@given(
    structure=st.sampled_from(STRUCTURES),
    blocks=st.integers(2, 8),
    constrained=st.booleans(),
    held=st.booleans(),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=40, deadline=None)
def test_solution_and_columns_equal_the_dense_saddle_system(structure, blocks, constrained, held, seed):
    rng = np.random.default_rng(seed)
    n = 3 * blocks
    matrix = random_matrix(structure, n, rng)
    prescribed = np.array([0, 4], dtype=np.int64) if held else np.zeros(0, dtype=np.int64)
    fixed = rng.normal(size=len(prescribed))
    rows = random_rows(blocks, rng) if constrained else None
    b = rng.normal(size=n)
    answer = make_factorisation(matrix, rows, prescribed)
    assert answer.refactor(matrix, rows)
    x, impulse = np.zeros(n), np.zeros(0 if rows is None else rows.count)
    kept = b.copy()
    answer.solve(b, fixed, x, impulse)
    expected, expected_impulse = saddle_solution(matrix.dense(), rows, b, prescribed, fixed)
    assert np.array_equal(b, kept)
    assert np.allclose(x, expected, rtol=1e-8, atol=1e-8)
    assert np.allclose(impulse, expected_impulse, rtol=1e-8, atol=1e-7)
    assert np.array_equal(x[prescribed], fixed)
    # G·block is the same with nothing prescribed to move and no target
    block = np.asfortranarray(rng.normal(size=(n, 3)))
    homogeneous = EliminatedConstraints(rows.count, 4) if rows is not None else None
    if rows is not None and homogeneous is not None:
        homogeneous.dofs[:], homogeneous.values[:] = rows.dofs, rows.values
        homogeneous.compliance[:] = rows.compliance
    columns = np.stack(
        [saddle_solution(matrix.dense(), homogeneous, c, prescribed, 0 * fixed)[0] for c in block.T], axis=1
    )
    answer.solve_columns(block)
    assert np.allclose(block, columns, rtol=1e-8, atol=1e-8)


def test_memory_of_a_long_chain_grows_with_its_length_before_its_rows_are_known_too():
    """Dofs of zero would tie all rows to one unknown, whose LU is dense: 5000 blocks would take 3 GB, not 20 MB."""
    blocks, rng = 5000, np.random.default_rng(0)
    matrix = random_matrix("block-diagonal", 3 * blocks, rng)
    tracemalloc.start()
    answer = make_factorisation(matrix, EliminatedConstraints(blocks - 1, 4), np.zeros(0, dtype=np.int64))
    rows = random_rows(blocks, rng)
    assert answer.refactor(matrix, rows)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e8


@given(
    structure=st.sampled_from((*STRUCTURES, "unsymmetric-sparse", "unsymmetric-dense")),
    blocks=st.integers(2, 12),
    constrained=st.booleans(),
    held=st.booleans(),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=40, deadline=None)
def test_the_transposed_solution_is_the_adjoint_of_the_solution(structure, blocks, constrained, held, seed):
    """⟨x̄, x⟩ + ⟨λ̄, λ⟩ = ⟨b, b̄⟩ + ⟨r, r̄⟩: S⁻¹ of the saddle-point matrix here, S⁻ᵀ there."""
    rng = np.random.default_rng(seed)
    n, symmetric = 3 * blocks, not structure.startswith("unsymmetric")
    matrix = random_matrix(structure.removeprefix("unsymmetric-"), n, rng)
    if not symmetric:
        # a part xᵀ·N·x = 0 leaves the symmetric part positive definite
        skew = rng.normal(size=(n, n))
        i, j, where = matrix.entries()
        matrix.data.ravel(order="K")[where] += (skew - skew.T)[i, j]
    prescribed = np.array([0, 4], dtype=np.int64) if held else np.zeros(0, dtype=np.int64)
    rows = random_rows(blocks, rng) if constrained else None
    count = 0 if rows is None else rows.count
    solver = make_factorisation(matrix, rows, prescribed, symmetric)
    assert solver.refactor(matrix, rows)
    b, x, impulse = rng.normal(size=n), np.zeros(n), np.zeros(count)
    target = np.zeros(0) if rows is None else rows.rhs
    solver.solve(b, np.zeros(len(prescribed)), x, impulse)
    x_bar, impulse_bar, b_bar, r_bar = (
        rng.normal(size=n),
        rng.normal(size=count),
        np.zeros(n),
        np.zeros(count),
    )
    solver.solve_transposed(x_bar, -impulse_bar, b_bar, r_bar)
    free = np.setdiff1d(np.arange(n), prescribed)
    one = x_bar[free] @ x[free] + impulse_bar @ impulse
    other = b[free] @ b_bar[free] - target @ r_bar
    assert one == pytest.approx(other, rel=1e-8, abs=1e-8)
    assert not b_bar[prescribed].any()
    dense = matrix.dense().T
    expected = saddle_solution(dense, rows, x_bar, prescribed, np.zeros(len(prescribed)), -impulse_bar)
    assert np.allclose(b_bar, expected[0], rtol=1e-8, atol=1e-8)
    assert np.allclose(r_bar, expected[1], rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_singular_without_rows_but_positive_on_their_kernel(structure):
    """A massless coordinate tied to a massive one by a row."""
    n = 6
    matrix = random_matrix(structure, n, np.random.default_rng(0))
    dense = matrix.dense()
    matrix.zero()
    keep = np.zeros((n, n))
    keep[:5, :5] = np.diag(np.diag(dense)[:5])
    diagonal = Diagonal(n)
    diagonal.data[:] = np.diag(keep)
    matrix.add(diagonal)
    assert not make_factorisation(matrix).refactor(matrix, None)
    rows = EliminatedConstraints(1, 2)
    rows.dofs[0], rows.values[0] = [4, 5], [1.0, -1.0]
    tied = make_factorisation(matrix, rows)
    assert tied.refactor(matrix, rows)
    x, impulse = np.zeros(n), np.zeros(1)
    tied.solve(np.ones(n), np.zeros(0), x, impulse)
    assert x[5] == pytest.approx(x[4]) == pytest.approx(2.0 / dense[4, 4])


@pytest.mark.parametrize("structure", STRUCTURES)
def test_indefinite_matrix_is_refused(structure):
    matrix = random_matrix(structure, 6, np.random.default_rng(1))
    poison = Diagonal(6)
    poison.data[2] = -100.0
    matrix.add(poison)
    assert not make_factorisation(matrix).refactor(matrix, None)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_nan_never_gives_a_finite_answer(structure):
    """Cholesky of some BLAS says that all is well: then the nan shows in the answer."""
    matrix = random_matrix(structure, 6, np.random.default_rng(1))
    poison = Diagonal(6)
    poison.data[2] = np.nan
    matrix.add(poison)
    answer, x = make_factorisation(matrix), np.zeros(6)
    if answer.refactor(matrix, None):
        answer.solve(np.ones(6), np.zeros(0), x, np.zeros(0))
        assert not np.isfinite(x[2])


def test_rows_whose_pattern_changes_are_reordered():
    rng = np.random.default_rng(2)
    matrix = random_matrix("banded", 12, rng)
    rows = EliminatedConstraints(2, 2)
    answer = make_factorisation(matrix, rows)
    for first in (0, 5, 9):
        rows.dofs[:] = [[first, first + 1], [first + 1, first + 2]]
        rows.values[:] = rng.normal(size=(2, 2))
        b, x, impulse = rng.normal(size=12), np.zeros(12), np.zeros(2)
        assert answer.refactor(matrix, rows)
        answer.solve(b, np.zeros(0), x, impulse)
        expected, expected_impulse = saddle_solution(
            matrix.dense(), rows, b, np.zeros(0, dtype=np.int64), np.zeros(0)
        )
        assert np.allclose(x, expected)
        assert np.allclose(impulse, expected_impulse)


@given(st.sampled_from(STRUCTURES), st.sampled_from(STRUCTURES), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_sums_and_products_equal_those_of_dense_matrices(one, other, seed):
    rng = np.random.default_rng(seed)
    a, b = random_matrix(one, 9, rng), random_matrix(other, 9, rng)
    total = widest(a, b)
    total.add(a)
    total.add(b, -0.5)
    assert np.allclose(total.dense(), a.dense() - 0.5 * b.dense())
    x, out = rng.normal(size=9), np.zeros(9)
    total.multiply(x, out)
    assert np.allclose(out, total.dense() @ x)


def test_symmetrise_takes_the_symmetric_part():
    rng = np.random.default_rng(3)
    # a full band has square data too, and is symmetric whatever they are
    dense, blocks, band = Dense(6), BlockDiagonal(2, 3), Banded(3, 2)
    for matrix in (dense, blocks, band):
        matrix.data[:] = rng.normal(size=matrix.data.shape)
        before = matrix.dense()
        matrix.symmetrise()
        assert np.allclose(
            matrix.dense(), 0.5 * (before + before.T), rtol=0, atol=rounding(2, np.abs(before).max())
        )


def test_unsymmetric_dense_matrix_is_solved_when_asked():
    rng = np.random.default_rng(4)
    matrix = Dense(5)
    matrix.data[:] = rng.normal(size=(5, 5)) + 3 * np.eye(5)
    general = make_factorisation(matrix, prescribed=np.array([1]), symmetric=False)
    assert general.refactor(matrix, None)
    x = np.zeros(5)
    b = rng.normal(size=5)
    general.solve(b, np.array([0.7]), x, np.zeros(0))
    expected, _ = saddle_solution(matrix.data, None, b, np.array([1]), np.array([0.7]))
    assert np.allclose(x, expected)
