"""Lemke's method against enumeration, known solutions and known failures."""

import numpy as np
import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corekit.data.status import Status
from corekit_complementarity.config import LemkeConfig
from corekit_complementarity.lemke import Lemke
from corekit_testing.rounding import rounding

unhurried = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def lemke():
    return Lemke(LemkeConfig())


def solve(solver, problem):
    z = np.zeros(len(problem.vector))
    return z, solver.solve(problem, z)


def test_two_by_two_has_its_hand_solution(lemke, plain_problem):
    # 2x + y = 5, x + 2y = 6
    z, info = solve(lemke, plain_problem([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]))
    assert info.status is Status.CONVERGED
    np.testing.assert_allclose(z, [4 / 3, 7 / 3], rtol=rounding(16))


def test_nonnegative_vector_is_solved_by_zero(lemke, plain_problem):
    z, info = solve(lemke, plain_problem(-np.eye(3), [0.0, 1.0, 2.0]))
    assert info.status is Status.CONVERGED
    assert info.iterations == 0
    assert not z.any()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_positive_definite_solution_is_the_only_one_that_enumeration_finds(
    n, lemke, plain_problem, enumerate_solutions
):
    rng = np.random.default_rng(n)
    for _ in range(5):
        root = rng.normal(size=(n, n))
        skew = rng.normal(size=(n, n))
        matrix, vector = root @ root.T + 0.1 * np.eye(n) + skew - skew.T, rng.normal(size=n)
        z, info = solve(lemke, plain_problem(matrix, vector))
        (only,) = {tuple(np.round(s, 7)) for s in enumerate_solutions(matrix, vector)}
        assert info.status is Status.CONVERGED
        np.testing.assert_allclose(z, only, atol=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_small_indefinite_problem_is_solved_only_if_enumeration_finds_a_solution(
    seed, lemke, plain_problem, enumerate_solutions, true_residual
):
    rng = np.random.default_rng(seed)
    problem = plain_problem(rng.integers(-3, 4, (4, 4)), rng.integers(-3, 4, 4))
    z, info = solve(lemke, problem)
    if info.status is Status.CONVERGED:
        assert true_residual(problem, z) <= problem.tolerance
        assert enumerate_solutions(problem.matrix, problem.vector)
    else:
        assert true_residual(problem, z) > problem.tolerance


def test_degenerate_ties_do_not_cycle(lemke, plain_problem, true_residual):
    # every contact of a stack of equal bodies ties with every other
    n = 24
    matrix = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    copies = np.kron(np.ones((3, 3)), matrix)
    problem = plain_problem(copies, -np.ones(3 * n))
    z, info = solve(lemke, problem)
    assert info.status is Status.CONVERGED
    assert true_residual(problem, z) <= 1e-9


def test_murty_example_visits_every_basis_and_ends(lemke, plain_problem):
    # Murty (1978): 2ⁿ pivots for n variables, with this right-hand side
    n = 6
    matrix = np.eye(n) + 2 * np.triu(np.ones((n, n)), 1)
    vector = -np.array([2.0 ** (n + 1) - 2.0 ** (i + 1) for i in range(n)])
    z, info = solve(lemke, plain_problem(matrix, vector))
    assert info.status is Status.CONVERGED
    assert info.iterations == 2**n
    np.testing.assert_allclose(z, [0, 0, 0, 0, 0, 64], atol=1e-12)


def test_iteration_limit_is_reported(plain_problem):
    n = 6
    matrix = np.eye(n) + 2 * np.triu(np.ones((n, n)), 1)
    vector = -np.array([2.0 ** (n + 1) - 2.0 ** (i + 1) for i in range(n)])
    _, info = solve(Lemke(LemkeConfig(max_iterations=5, attempts=1)), plain_problem(matrix, vector))
    assert info.status is Status.ITERATION_LIMIT


@pytest.mark.parametrize(
    ("matrix", "vector"),
    [
        ([[-1.0]], [-1.0]),
        ([[0.0]], [-1.0]),
        ([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]),
        ([[0.0, 1.0], [-1.0, 0.0]], [-1.0, -1.0]),
    ],
)
def test_infeasible_problem_ends_on_a_ray(matrix, vector, lemke, plain_problem):
    z, info = solve(lemke, plain_problem(matrix, vector))
    assert info.status is Status.RAY
    assert not info.status.solved
    assert np.isfinite(z).all()


def test_non_finite_data_is_reported(lemke, plain_problem):
    _, info = solve(lemke, plain_problem([[np.nan, 0.0], [0.0, 1.0]], [-1.0, -1.0]))
    assert info.status is Status.NON_FINITE


def test_empty_problem_is_solved(lemke, plain_problem):
    _, info = solve(lemke, plain_problem(np.zeros((0, 0)), []))
    assert info.status is Status.CONVERGED


@unhurried
@given(
    seed=st.integers(0, 10**6),
    contacts=st.integers(1, 6),
    coordinates=st.integers(1, 8),
    width=st.sampled_from([2, 3]),
    scaled=st.booleans(),
)
def test_copositive_frictional_problem_is_solved_in_physical_units(
    seed, contacts, coordinates, width, scaled, frictional_problem, true_residual, true_residual_rounding
):
    # free velocities are in the range of the rows and λ_n is unbounded: feasible unless normals oppose
    rng = np.random.default_rng(seed)
    problem = frictional_problem(rng, contacts, coordinates, width=width, scaled=scaled)
    z, info = solve(Lemke(LemkeConfig()), problem)
    true_value = true_residual(problem, z)
    rounded = true_residual_rounding(problem, z)
    assert info.residuals.normal == pytest.approx(true_value, rel=1e-6, abs=rounded)
    if info.status is Status.CONVERGED:
        assert true_value <= problem.tolerance * (1 + 1e-6)
        assert z.min() >= 0.0
    if contacts * width <= coordinates:
        assert info.status is Status.CONVERGED


@pytest.mark.parametrize("seed", range(6))
def test_the_cover_of_friction_rows_changes_the_path_and_not_the_motion(
    seed, lemke, frictional_problem, true_residual
):
    with_contacts = frictional_problem(np.random.default_rng(seed), contacts=6, coordinates=9, count=8)
    without_contacts = evolve(with_contacts, contact_problem=None)
    with_blocks, without = (solve(lemke, each) for each in (with_contacts, without_contacts))
    assert with_blocks[1].status is without[1].status is Status.CONVERGED
    assert (
        max(true_residual(with_contacts, with_blocks[0]), true_residual(with_contacts, without[0]))
        <= with_contacts.tolerance
    )
    A, b = with_contacts.matrix, with_contacts.vector
    np.testing.assert_allclose((A @ with_blocks[0] + b)[:: 8 + 2], (A @ without[0] + b)[:: 8 + 2], atol=1e-7)


def test_row_and_column_scales_are_those_of_the_residual(lemke, plain_problem, true_residual):
    rng = np.random.default_rng(4)
    root = rng.normal(size=(6, 6))
    physical = plain_problem(root @ root.T, rng.normal(size=6))
    r, c = 10.0 ** rng.uniform(-4, 4, 6), 10.0 ** rng.uniform(-4, 4, 6)
    scaled = type(physical)(
        np.ascontiguousarray(r[:, None] * physical.matrix * c), r * physical.vector, r, c, 1e-9
    )
    z, info = solve(lemke, scaled)
    assert info.status is Status.CONVERGED
    assert true_residual(physical, c * z) <= 1e-9


def test_problem_data_are_not_changed(lemke, frictional_problem):
    problem = frictional_problem(np.random.default_rng(0))
    before = problem.matrix.copy(), problem.vector.copy()
    solve(lemke, problem)
    np.testing.assert_array_equal(problem.matrix, before[0])
    np.testing.assert_array_equal(problem.vector, before[1])


def test_solution_does_not_depend_on_earlier_solves(frictional_problem):
    problems = [frictional_problem(np.random.default_rng(seed), contacts=2 + seed) for seed in range(4)]
    reused = Lemke(LemkeConfig())
    for problem in problems + problems[::-1]:
        again, _ = solve(reused, problem)
        fresh, _ = solve(Lemke(LemkeConfig()), problem)
        np.testing.assert_array_equal(again, fresh)
