"""Projected Gauss–Seidel against Lemke's solutions and hand calculation."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corekit.data.status import Status
from corekit.roles.pyramid import pyramid_coefficients
from corekit_complementarity.config import LemkeConfig, ProjectedGaussSeidelConfig
from corekit_complementarity.lemke import Lemke
from corekit_complementarity.local_contact import solve_contact
from corekit_complementarity.pgs import ProjectedGaussSeidel
from corekit_testing.rounding import rounding

unhurried = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
INF = np.inf


def solve(solver, problem, guess=None):
    z = np.zeros(len(problem.vector)) if guess is None else guess.copy()
    return z, solver.solve(problem, z)


@pytest.fixture
def pgs():
    return ProjectedGaussSeidel(ProjectedGaussSeidelConfig(max_iterations=20000))


def directions(count):
    angle = 2 * np.pi * np.arange(count) / count
    return np.array([np.cos(angle), np.sin(angle)])


@unhurried
@given(seed=st.integers(0, 10**6), count=st.sampled_from([4, 6, 8, 10]), friction=st.floats(0.05, 1.5))
def test_local_solution_satisfies_the_pyramid_law(seed, count, friction):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    matrix, velocity, pyramid = root @ root.T + 0.05 * np.eye(3), rng.normal(size=3), directions(count)
    coefficients, trial, impulse = np.zeros(count), np.zeros(3), np.zeros(3)
    solve_contact(matrix, velocity, friction, pyramid, coefficients, trial, impulse)
    w = matrix @ impulse + velocity
    assert abs(min(impulse[0], w[0])) < 1e-10
    pyramid_coefficients(pyramid, impulse[1:], coefficients)
    np.testing.assert_allclose(pyramid @ coefficients, impulse[1:], atol=1e-12)
    along = pyramid.T @ w[1:]
    slack = max(0.0, -along.min())
    assert np.abs(np.minimum(coefficients, along + slack)).max() < 1e-10
    assert abs(min(slack, friction * impulse[0] - coefficients.sum())) < 1e-10


def test_sliding_along_a_direction_has_the_full_friction_impulse():
    # decoupled unit mass pressed by 1 m/s, sliding at 3 m/s along the first direction, μ = 0.5
    impulse = np.zeros(3)
    solve_contact(
        np.eye(3), np.array([-1.0, 3.0, 0.0]), 0.5, directions(8), np.zeros(8), np.zeros(3), impulse
    )
    np.testing.assert_allclose(impulse, [1.0, -0.5, 0.0], atol=rounding(16))


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_velocities_equal_those_of_lemke_where_contacts_are_independent(
    seed, width, pgs, frictional_problem, true_residual
):
    # more coordinates than rows and little friction: the solution is unique
    rng = np.random.default_rng(seed)
    problem = frictional_problem(rng, contacts=3, coordinates=14, count=8, width=width, scaled=True)
    problem.contact_problem.friction[:] *= 0.2
    count = problem.contact_problem.directions.shape[2]
    for i in range(3):
        cone, normal = i * (count + 2) + count + 1, i * (count + 2)
        problem.matrix[cone, normal] *= 0.2
    z, info = solve(pgs, problem)
    z_lemke, reference = solve(Lemke(LemkeConfig()), problem)
    assert info.status is Status.CONVERGED
    assert reference.status is Status.CONVERGED
    assert true_residual(problem, z) <= problem.tolerance
    moving = np.abs((problem.matrix @ (z - z_lemke)) / problem.row_scale)
    assert moving.max() < 1e-6


@pytest.mark.parametrize("relaxation", [0.7, 1.3])
def test_relaxed_sweeps_converge_to_the_same_velocities(relaxation, frictional_problem, true_residual):
    for seed in range(4):
        problem = frictional_problem(np.random.default_rng(seed), contacts=2, coordinates=16, count=8)
        problem.contact_problem.friction[:] *= 0.1
        for i in range(2):
            problem.matrix[i * 10 + 9, i * 10] *= 0.1
        relaxed = ProjectedGaussSeidel(
            ProjectedGaussSeidelConfig(relaxation=relaxation, max_iterations=20000)
        )
        z, info = solve(relaxed, problem)
        z_lemke, _ = solve(Lemke(LemkeConfig()), problem)
        assert info.status is Status.CONVERGED
        assert true_residual(problem, z) <= problem.tolerance
        np.testing.assert_allclose(problem.matrix @ z, problem.matrix @ z_lemke, atol=1e-6)


def test_under_relaxation_costs_sweeps(frictional_problem):
    problem = frictional_problem(np.random.default_rng(8), contacts=3, coordinates=10, count=8)
    problem.contact_problem.friction[:] = 0.0
    for i in range(3):
        problem.matrix[i * 10 + 9, i * 10] = 0.0
    sweeps = {}
    for relaxation in (0.5, 1.0):
        config = ProjectedGaussSeidelConfig(relaxation=relaxation, max_iterations=20000, check_every=1)
        _, info = solve(ProjectedGaussSeidel(config), problem)
        assert info.status is Status.CONVERGED
        sweeps[relaxation] = info.iterations
    assert sweeps[1.0] < sweeps[0.5]


@unhurried
@given(seed=st.integers(0, 10**6), contacts=st.integers(1, 5), coordinates=st.integers(2, 12))
def test_claim_of_convergence_is_true(
    seed, contacts, coordinates, frictional_problem, true_residual, true_residual_rounding
):
    problem = frictional_problem(np.random.default_rng(seed), contacts, coordinates, scaled=True)
    z, info = solve(ProjectedGaussSeidel(ProjectedGaussSeidelConfig(max_iterations=300)), problem)
    rounded = true_residual_rounding(problem, z)
    assert info.residuals.normal == pytest.approx(true_residual(problem, z), rel=1e-6, abs=rounded)
    assert info.status.solved == (info.residuals.normal <= problem.tolerance)


@pytest.mark.parametrize("bounds", [((0.0, INF),), ((-INF, 0.1),), ((-0.2, 0.3), (0.0, 0.0)), ((-INF, INF),)])
def test_bounded_rows_agree_with_lemke(bounds, pgs, frictional_problem, true_residual):
    for seed in range(4):
        problem = frictional_problem(
            np.random.default_rng(seed), contacts=1, coordinates=9, bounds=bounds, scaled=True
        )
        z, info = solve(pgs, problem)
        _, reference = solve(Lemke(LemkeConfig()), problem)
        assert info.status is Status.CONVERGED
        assert reference.status is Status.CONVERGED
        assert true_residual(problem, z) <= problem.tolerance


def test_guess_at_the_solution_needs_no_sweep(pgs, frictional_problem):
    problem = frictional_problem(np.random.default_rng(3), contacts=3, coordinates=14, scaled=True)
    first, cold = solve(pgs, problem)
    again, warm = solve(pgs, problem, first)
    assert warm.status is Status.CONVERGED
    assert warm.iterations == 0 < cold.iterations
    np.testing.assert_allclose(again, first, atol=1e-14)


def test_positive_definite_problem_without_contacts_has_the_enumerated_solution(
    pgs, plain_problem, enumerate_solutions
):
    rng = np.random.default_rng(1)
    root = rng.normal(size=(6, 6))
    matrix, vector = root @ root.T + np.eye(6), rng.normal(size=6)
    z, info = solve(pgs, plain_problem(matrix, vector))
    assert info.status is Status.CONVERGED
    np.testing.assert_allclose(z, enumerate_solutions(matrix, vector)[0], atol=1e-7)


def test_zero_diagonal_without_contacts_is_singular(pgs, plain_problem):
    _, info = solve(pgs, plain_problem([[1.0, 1.0], [-1.0, 0.0]], [-1.0, 0.5]))
    assert info.status is Status.SINGULAR


def test_infeasible_problem_is_not_reported_as_solved(plain_problem):
    solver = ProjectedGaussSeidel(ProjectedGaussSeidelConfig(max_iterations=200))
    _, info = solve(solver, plain_problem([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]))
    assert not info.status.solved


def test_relaxation_outside_its_range_is_an_error():
    with pytest.raises(ValueError, match="relaxation"):
        ProjectedGaussSeidelConfig(relaxation=2.5)
