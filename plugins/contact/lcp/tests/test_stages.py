"""Each conditioning stage alone against other implementations of the same linear algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.linalg import qr

from corekit.roles.pyramid import pyramid_coefficients, pyramid_directions
from corekit_lcp.assemble import assemble, variable_count
from corekit_lcp.scale import equilibrate
from corekit_lcp.select import add_back, select_contacts
from corekit_testing.rounding import rounding

NONE = np.zeros(0)


def chosen(delassus, gap, width, tolerance, reference=1e-3, free=None, guess=None):
    m = gap.size
    guess = np.zeros(len(delassus)) if guess is None else guess
    free = -np.ones(len(delassus)) if free is None else free
    dropped, kept = np.zeros(m, dtype=bool), np.zeros(m, dtype=np.int64)
    count = select_contacts(
        delassus,
        free,
        guess,
        gap,
        width,
        tolerance,
        reference,
        np.empty((m, m)),
        np.empty(m),
        np.empty(m),
        dropped,
        kept,
    )
    return kept[:count], dropped


@pytest.mark.parametrize("seed", range(8))
def test_chosen_contacts_are_the_pivots_of_whitened_qr(seed):
    # LAPACK's column-pivoted QR of Y = L⁻¹·J_nᵀ, eq. (14)–(15) of the paper
    rng = np.random.default_rng(seed)
    normals = rng.normal(size=(13, 4)) @ rng.normal(size=(4, 9)) + 1e-2 * rng.normal(size=(13, 9))
    root = rng.normal(size=(9, 9))
    mass = root @ root.T + np.eye(9)
    whitened = np.linalg.solve(np.linalg.cholesky(mass), normals.T)
    rows = np.zeros((39, 9))
    rows[0::3] = normals
    delassus = rows @ np.linalg.solve(mass, rows.T)
    _, triangle, order = qr(whitened, pivoting=True, mode="economic")
    diagonal = np.abs(np.diag(triangle))
    for tolerance in (0.3, 0.05, 1e-3, 1e-6):
        expected = np.sort(order[: diagonal.size][diagonal > tolerance * diagonal[0]])
        kept, dropped = chosen(delassus, np.zeros(13), 3, tolerance)
        np.testing.assert_array_equal(kept, expected)
        np.testing.assert_array_equal(np.flatnonzero(~dropped), expected)


def test_closest_of_equal_contacts_is_kept():
    rows = np.tile(np.eye(3), (5, 1))
    gap = np.array([4e-3, 2e-3, 1e-4, 3e-3, 5e-3])
    kept, _ = chosen(rows @ rows.T, gap, 3, 1e-3)
    np.testing.assert_array_equal(kept, [2])


def test_of_equal_contacts_the_one_that_carried_is_kept():
    # three rows of one normal; the second contact is open, and carried load in the last step
    delassus, gap = np.ones((3, 3)), np.array([0.0, 1e-3, -1e-4])
    loaded = np.array([0.0, 0.2, 0.0])
    assert chosen(delassus, gap, 1, 1e-3, guess=loaded)[0].tolist() == [1]
    assert chosen(delassus, gap, 1, 1e-3)[0].tolist() == [0]


def test_of_equal_contacts_the_one_that_presses_hardest_is_kept():
    free = np.array([-0.1, -0.3, -0.2])
    assert chosen(np.ones((3, 3)), np.zeros(3), 1, 1e-3, free=free)[0].tolist() == [1]


def test_contacts_that_open_by_themselves_are_left_out_at_first():
    free = np.zeros(9)
    free[::3] = [0.2, -0.1, 0.0]
    kept, _ = chosen(np.eye(9), np.zeros(3), 3, 1e-3, free=free)
    np.testing.assert_array_equal(kept, [1])


def test_only_penetrating_left_out_contacts_are_added_back():
    dropped, kept = np.array([False, True, True, True]), np.zeros(4, dtype=np.int64)
    velocity = np.array([-1.0, 9.0, -2e-8, 9.0, 1.0, 9.0, -5e-9, 9.0])
    work = np.empty((4, 4)), np.empty(4), np.empty(4)
    assert add_back(np.eye(8), velocity, 2, 1e-8, 1e-3, *work, dropped, kept) == 2
    np.testing.assert_array_equal(kept[:2], [0, 1])


def test_of_near_duplicates_that_penetrate_the_worst_is_added_back():
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1e-5], [1.0, -1e-5]])  # normals only
    wide = np.zeros((8, 2))
    wide[::2] = rows
    dropped, kept = np.array([False, True, True, True]), np.zeros(4, dtype=np.int64)
    velocity = np.zeros(8)
    velocity[2::2] = [-1.0, -3.0, -2.0]
    work = np.empty((4, 4)), np.empty(4), np.empty(4)
    assert add_back(wide @ wide.T, velocity, 2, 1e-8, 1e-3, *work, dropped, kept) == 2
    np.testing.assert_array_equal(kept[:2], [0, 2])


@given(
    matrix=arrays(float, (6, 6), elements=st.floats(-4, 4).map(lambda x: 0.0 if abs(x) < 1e-3 else 10.0**x)),
    symmetric=st.booleans(),
)
@settings(deadline=None, max_examples=50)
def test_scaling_is_what_its_factors_say_and_keeps_signs(matrix, symmetric):
    scaled, vector = matrix.copy(), np.arange(6.0)
    r, c = np.empty(6), np.empty(6)
    equilibrate(scaled, vector, 10, symmetric, *work_of(np.arange(6)), r, c)
    assert (r > 0).all()
    assert (c > 0).all()
    np.testing.assert_allclose(scaled, r[:, None] * matrix * c, rtol=1e-12)
    np.testing.assert_allclose(vector, r * np.arange(6.0), rtol=1e-12)
    if symmetric:
        np.testing.assert_array_equal(r, c)


def test_symmetric_scaling_keeps_the_contact_block_symmetric_and_positive_semidefinite():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(9, 6)) * 10.0 ** rng.uniform(-2, 2, (9, 1))
    for symmetric in (True, False):
        matrix, vector, paired_row = lcp_of(rows @ rows.T, rows @ rng.normal(size=6), np.full(3, 0.5), 4)
        n = len(vector)
        contact = np.setdiff1d(np.arange(n), np.arange(5, n, 6))  # all but the slacks γ
        equilibrate(matrix, vector, 10, symmetric, *work_of(paired_row), np.empty(n), np.empty(n))
        block = matrix[np.ix_(contact, contact)]
        skew = np.abs(block - block.T).max()
        if symmetric:
            assert skew <= rounding(2 * 10, np.abs(block).max())  # one factor per sweep on either side
            assert np.linalg.eigvalsh(block).min() >= -1e-12
        else:
            assert skew > 1e-3


def test_equilibration_reaches_unit_norms_on_a_contact_problem():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(12, 14)) * 10.0 ** rng.uniform(-2, 2, (12, 1))
    matrix, vector, paired_row = lcp_of(rows @ rows.T, rows @ rng.normal(size=14), np.full(4, 0.5), 8)
    before = np.linalg.norm(matrix, axis=1)
    n = len(vector)
    equilibrate(matrix, vector, 50, False, *work_of(paired_row), np.empty(n), np.empty(n))
    assert before.max() / before.min() > 1e2
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1.0, atol=0.02)
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=0), 1.0, atol=0.02)


@pytest.mark.parametrize(("width", "count", "symmetric"), [(3, 4, False), (3, 10, True), (2, 4, False)])
def test_sweeping_one_of_two_opposite_directions_scales_as_sweeping_both(width, count, symmetric):
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(3 * width + 2, 7)) * 10.0 ** rng.uniform(-2, 2, (3 * width + 2, 1))
    problem = rows @ rows.T, rng.normal(size=len(rows)), np.array([0.5, 0.0, 0.9]), count
    bounds = np.array([0.0, -1.0]), np.array([np.inf, 1.0])
    scaled, scales = [], []
    for shared in (True, False):
        matrix, vector, paired_row = lcp_of(*problem, *bounds, width)
        n = len(vector)
        assert (paired_row != np.arange(n)).sum() == 3 * (1 if width == 2 else count // 2)
        r, c = np.empty(n), np.empty(n)
        equilibrate(matrix, vector, 10, symmetric, *work_of(paired_row if shared else np.arange(n)), r, c)
        scaled.append(matrix)
        scales.append((r, c))
    np.testing.assert_allclose(scaled[0], scaled[1], rtol=1e-12, atol=rounding(64))
    np.testing.assert_allclose(scales[0], scales[1], rtol=1e-12)


def work_of(paired_row):
    """The arguments of `equilibrate` from `paired_row` to its norms."""
    n = len(paired_row)
    return paired_row, np.empty(n, dtype=np.int64), np.empty(n), np.empty((n, n)), np.empty(n), np.empty(n)


def lcp_of(delassus, free, friction, count, lower=NONE, upper=NONE, width=3):
    directions = np.repeat(pyramid_directions(width, count)[None], friction.size, axis=0)
    n = variable_count(friction.size, directions.shape[2], lower, upper)
    matrix, vector, paired_row = np.empty((n, n)), np.empty(n), np.empty(n, dtype=np.int64)
    assemble(
        delassus,
        free,
        friction,
        directions,
        lower,
        upper,
        np.empty(n, dtype=np.int64),
        np.empty((n, 2)),
        paired_row,
        np.empty(free.size),
        np.empty((free.size, n)),
        matrix,
        vector,
    )
    return matrix, vector, paired_row


def test_assembly_equals_the_papers_blocks():
    # eq. (11)–(13): diagonal blocks with the cone's row and column, off-diagonal blocks without
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(6, 8))
    delassus, free, friction = rows @ rows.T, rng.normal(size=6), np.array([0.3, 0.7])
    r, d = 6, pyramid_directions(3, 6)
    matrix, vector, _ = lcp_of(delassus, free, friction, r)
    for i in range(2):
        for j in range(2):
            block = matrix[i * 8 : i * 8 + 8, j * 8 : j * 8 + 8]
            part = delassus[3 * i : 3 * i + 3, 3 * j : 3 * j + 3]
            expected = np.zeros((8, 8))
            expected[0, 0] = part[0, 0]
            expected[0, 1:7] = part[0, 1:] @ d
            expected[1:7, 0] = d.T @ part[1:, 0]
            expected[1:7, 1:7] = d.T @ part[1:, 1:] @ d
            if i == j:
                expected[1:7, 7] = 1.0
                expected[7, 0] = friction[i]
                expected[7, 1:7] = -1.0
            np.testing.assert_allclose(block, expected, atol=1e-13)
        np.testing.assert_allclose(
            vector[i * 8 : i * 8 + 8], [free[3 * i], *(d.T @ free[3 * i + 1 : 3 * i + 3]), 0]
        )


def test_assembled_matrix_is_copositive():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(11, 5))
    bounds = np.array([[0.0, np.inf], [-np.inf, 1.0], [-1.0, 1.0], [-np.inf, np.inf], [0.0, 0.5]])
    matrix, *_ = lcp_of(
        rows @ rows.T, np.zeros(11), np.array([0.5, 0.2]), 8, bounds[:, 0].copy(), bounds[:, 1].copy()
    )
    for _ in range(500):
        z = rng.exponential(size=len(matrix)) * (rng.random(len(matrix)) < 0.5)
        assert z @ matrix @ z >= -1e-12


@given(st.floats(-5, 5), st.floats(-5, 5), st.sampled_from([4, 6, 8, 10, 12]))
@settings(deadline=None)
def test_shares_rebuild_the_impulse_with_least_sum(x, y, count):
    directions, beta = pyramid_directions(3, count), np.zeros(count)
    pyramid_coefficients(directions, np.array([x, y]), beta)
    np.testing.assert_allclose(directions @ beta, [x, y], atol=1e-12)
    assert (beta >= 0).all()
    # the gauge of the polygon, by its edges' outward normals
    middle = np.pi / count * (2 * np.arange(count) + 1)
    gauge = max(0.0, (np.cos(middle) * x + np.sin(middle) * y).max() / np.cos(np.pi / count))
    assert beta.sum() == pytest.approx(gauge, abs=1e-11)


def test_directions_come_in_opposite_pairs():
    for count in (4, 6, 8):
        d = pyramid_directions(3, count)
        np.testing.assert_allclose(
            d[:, : count // 2], -d[:, count // 2 :], atol=rounding(16)
        )  # angles up to 2π are rounded
    np.testing.assert_array_equal(pyramid_directions(2, 8), [[1.0, -1.0]])
