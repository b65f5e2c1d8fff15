"""Sparse matrices: sums, products, and eliminations analysed once, against dense algebra and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import ldl

from corekit.linalg.factorisation import make_factorisation
from corekit.linalg.matrices import Banded, BlockDiagonal, Dense, Diagonal, Sparse, SparsePattern, widest
from corekit.linalg.sparse_lu import SparseLU


def unsymmetric(n, seed, density=0.15):
    """Random values on a random symmetric pattern, with a positive definite symmetric part."""
    rng = np.random.default_rng(seed)
    rows, columns = np.nonzero(rng.random((n, n)) < density)
    matrix = Sparse(SparsePattern.from_entries(n, rows, columns))
    matrix.data[:] = rng.uniform(-1, 1, len(matrix.data))
    matrix.data[matrix.pattern.diagonal] = 1.0 + 2.0 * n * density + rng.uniform(0, 1, n)
    return matrix


@given(n=st.integers(1, 40), seed=st.integers(0, 10_000), symmetric=st.booleans())
@settings(max_examples=50, deadline=None)
def test_elimination_solves_what_dense_algebra_solves(n, seed, symmetric):
    matrix = unsymmetric(n, seed)
    if symmetric:
        matrix.symmetrise()
    right = np.random.default_rng(seed + 1).normal(size=n)
    elimination = SparseLU(matrix.pattern)
    assert elimination.refactor(matrix.data, symmetric)
    x = right.copy()
    elimination.solve(x)
    assert np.allclose(matrix.dense() @ x, right, rtol=0, atol=1e-9)
    out = np.zeros(n)
    matrix.multiply(x, out)
    assert np.allclose(out, matrix.dense() @ x, rtol=0, atol=1e-12)


def test_one_analysis_serves_every_matrix_of_the_pattern():
    first, second = unsymmetric(30, 3), unsymmetric(30, 3)
    second.data *= np.random.default_rng(4).uniform(0.5, 1.0, len(second.data))
    second.data[second.pattern.diagonal] += 10.0
    elimination = SparseLU(first.pattern)
    right = np.ones(30)
    for matrix in (first, second, first):
        assert elimination.refactor(matrix.data, symmetric=False)
        x = right.copy()
        elimination.solve(x)
        assert np.allclose(matrix.dense() @ x, right, atol=1e-10)


def test_an_indefinite_or_non_finite_matrix_is_reported_and_spoils_nothing():
    matrix = unsymmetric(20, 5)
    elimination = SparseLU(matrix.pattern)
    good = matrix.data.copy()
    for value in (np.nan, np.inf):
        bad = good.copy()
        bad[matrix.pattern.diagonal[7]] = value
        assert not elimination.refactor(bad, symmetric=False)
    matrix.symmetrise()
    for value in (-5.0, 0.0):
        bad = matrix.data.copy()
        bad[matrix.pattern.diagonal[7]] = value
        assert not elimination.refactor(bad, symmetric=True)
    matrix.data[:] = good
    assert elimination.refactor(good, symmetric=False)
    x = np.ones(20)
    elimination.solve(x)
    assert np.allclose(matrix.dense() @ x, 1.0, atol=1e-10)


def test_pivots_have_the_signs_of_the_inertia():
    """Sylvester: a symmetric matrix with one negative eigenvalue is refused, its positive shift is not."""
    matrix = unsymmetric(15, 6)
    matrix.symmetrise()
    lowest = np.linalg.eigvalsh(matrix.dense())[0]
    elimination = SparseLU(matrix.pattern)
    for shift, definite in ((-1.05 * lowest, False), (-0.95 * lowest, True)):
        shifted = matrix.data.copy()
        shifted[matrix.pattern.diagonal] += shift
        assert elimination.refactor(shifted, symmetric=True) == definite
        dense = matrix.dense() + shift * np.eye(15)
        assert bool((np.diag(ldl(dense)[1]) > 0).all()) == definite


def arms(count, length, width):
    """The pattern of chains that meet in one hub, each unknown coupled to `width` before it along its arm."""
    rows, columns = [], []
    for arm in range(count):
        chain = [0, *range(1 + arm * length, 1 + (arm + 1) * length)]
        for i in range(len(chain)):
            for j in range(max(0, i - width), i):
                rows.append(chain[i])
                columns.append(chain[j])
    return SparsePattern.from_entries(1 + count * length, np.array(rows), np.array(columns))


def test_minimum_degree_goes_from_the_leaves_to_the_hub_without_fill():
    """A tree of scalars has an order without any fill; numbered from the hub it fills the whole."""
    star = arms(6, 40, 1)
    below = np.count_nonzero(star.row > star.column)
    assert SparseLU(star).fill == below
    hub_first = SparsePattern.from_entries(30, np.zeros(29, dtype=np.int64), np.arange(1, 30))
    assert SparseLU(hub_first, natural=True).fill == 29 * 30 // 2
    assert SparseLU(hub_first).fill == 29
    assert np.array_equal(np.sort(SparseLU(hub_first).permutation), np.arange(30))


def test_a_chain_keeps_its_band_and_a_star_of_chains_stays_linear():
    chain = SparsePattern.from_entries(
        200, *np.nonzero(np.abs(np.subtract.outer(np.arange(200), np.arange(200))) <= 4)
    )
    elimination = SparseLU(chain)
    assert elimination.fill == np.count_nonzero(chain.row > chain.column)
    assert np.array_equal(elimination.permutation, np.arange(200))
    small, large = (SparseLU(arms(5, length, 4)).fill for length in (40, 80))
    assert large < 2.3 * small


def test_sums_of_layouts_hold_every_entry():
    rng = np.random.default_rng(8)
    sparse = unsymmetric(12, 9)
    diagonal, blocks, band = Diagonal(12), BlockDiagonal(4, 3), Banded(12, 2)
    for matrix in (diagonal, blocks, band):
        matrix.data[:] = rng.normal(size=matrix.data.shape)
    whole = widest(diagonal, blocks, band, sparse)
    assert isinstance(whole, Sparse)
    expected = np.zeros((12, 12))
    for share, matrix in ((1.0, diagonal), (2.0, blocks), (-0.5, band), (3.0, sparse)):
        for _ in range(2):  # the second time from the map kept
            whole.add(matrix, share)
        expected += 2 * share * matrix.dense()
    assert np.allclose(whole.dense(), expected, atol=1e-13)
    same = widest(sparse, diagonal)
    assert isinstance(same, Sparse)
    assert same.pattern is sparse.pattern
    assert isinstance(widest(sparse, Dense(12)), Dense)


def test_what_does_not_fit_is_refused():
    sparse = Sparse(SparsePattern.from_entries(6, np.array([0]), np.array([5])))
    with pytest.raises(TypeError, match="widest"):
        sparse.add(Banded(6, 1))
    with pytest.raises(TypeError, match="Dense"):
        sparse.add(Dense(6))
    with pytest.raises(TypeError, match="size"):
        sparse.add(Diagonal(5))


@pytest.mark.parametrize("symmetric", [True, False])
def test_factor_holds_prescribed_entries_of_an_unsymmetric_matrix(symmetric):
    matrix, held = unsymmetric(18, 11), np.array([2, 9])
    if symmetric:
        matrix.symmetrise()
    answer = make_factorisation(matrix, None, held, symmetric)
    assert answer.refactor(matrix, None)
    right, fixed, x = np.arange(18.0), np.array([0.3, -0.7]), np.zeros(18)
    answer.solve(right, fixed, x, np.zeros(0))
    free = np.setdiff1d(np.arange(18), held)
    assert np.array_equal(x[held], fixed)
    assert np.allclose((matrix.dense() @ x - right)[free], 0.0, atol=1e-10)
