"""Semismooth Newton against enumeration, Lemke's solutions, finite differences and known failures."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corekit.data.status import Status
from corekit_complementarity.config import LemkeConfig, SemismoothNewtonConfig
from corekit_complementarity.damped import compute_damped_increment
from corekit_complementarity.equations import compute_jacobian, evaluate_equations
from corekit_complementarity.lemke import Lemke
from corekit_complementarity.semismooth_newton import METHODS, SemismoothNewton
from corekit_testing.rounding import rounding

unhurried = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def newton():
    return SemismoothNewton(SemismoothNewtonConfig())


@pytest.fixture
def in_trust_region():
    return SemismoothNewton(SemismoothNewtonConfig(globalisation="trust-region"))


def solve(solver, problem, guess=None):
    z = np.zeros(len(problem.vector)) if guess is None else guess.copy()
    return z, solver.solve(problem, z)


def test_gradient_of_the_merit_function_is_that_of_differences():
    rng = np.random.default_rng(0)
    n = 7
    matrix, vector, z = rng.normal(size=(n, n)), rng.normal(size=n), rng.normal(size=n)
    w, values, slope_matrix, gradient = np.empty(n), np.empty(n), np.empty((n, n)), np.empty(n)
    evaluate_equations(matrix, vector, z, w, values)
    compute_jacobian(matrix, z, w, values, slope_matrix, gradient)
    for i in range(n):
        offset = np.zeros(n)
        offset[i] = 1e-6
        above = evaluate_equations(matrix, vector, z + offset, np.empty(n), np.empty(n))
        below = evaluate_equations(matrix, vector, z - offset, np.empty(n), np.empty(n))
        assert gradient[i] == pytest.approx((above - below) / 2e-6, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(
    ("z", "w"), [(3.0, 4.0), (1e-9, 7.0), (-2.0, 1.0), (0.0, 0.0), (0.0, 5.0), (-3.0, -4.0)]
)
def test_equation_is_the_fischer_burmeister_function(z, w):
    values = np.empty(1)
    evaluate_equations(np.zeros((1, 1)), np.array([w]), np.array([z]), np.empty(1), values)
    assert values[0] == pytest.approx(np.hypot(z, w) - z - w, abs=rounding(4, abs(z) + abs(w)))


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("globalised", ["newton", "in_trust_region"])
def test_positive_definite_solution_is_the_only_one_that_enumeration_finds(
    n, globalised, plain_problem, enumerate_solutions, request
):
    solver = request.getfixturevalue(globalised)
    rng = np.random.default_rng(n)
    for _ in range(5):
        root, skew = rng.normal(size=(2, n, n))
        matrix, vector = root @ root.T + 0.1 * np.eye(n) + skew - skew.T, rng.normal(size=n)
        z, info = solve(solver, plain_problem(matrix, vector))
        (only,) = {tuple(np.round(s, 7)) for s in enumerate_solutions(matrix, vector)}
        assert info.status is Status.CONVERGED
        np.testing.assert_allclose(z, only, atol=1e-6)


def test_convergence_is_quadratic_near_a_solution(plain_problem):
    rng = np.random.default_rng(4)
    root = rng.normal(size=(12, 12))
    problem = plain_problem(root @ root.T + np.eye(12), rng.normal(size=12), tolerance=1e-13)
    exact, _ = solve(Lemke(LemkeConfig()), problem)
    errors = []
    for limit in range(1, 12):
        once = SemismoothNewton(SemismoothNewtonConfig(max_iterations=limit, starts=1))
        z, info = solve(once, problem)
        errors.append(np.abs(z - exact).max())
        if info.status is Status.CONVERGED:
            break
    assert errors[-1] < 1e-12
    assert errors[-2] < 1e-4
    assert errors[-1] < 10 * errors[-2] ** 2 + 1e-13


@pytest.mark.parametrize("seed", range(12))
def test_small_indefinite_problem_is_solved_only_if_enumeration_finds_a_solution(
    seed, newton, plain_problem, enumerate_solutions, true_residual
):
    rng = np.random.default_rng(seed)
    problem = plain_problem(rng.integers(-3, 4, (4, 4)), rng.integers(-3, 4, 4))
    z, info = solve(newton, problem)
    if info.status is Status.CONVERGED:
        assert true_residual(problem, z) <= problem.tolerance
        assert enumerate_solutions(problem.matrix, problem.vector)
    else:
        assert true_residual(problem, z) > problem.tolerance


@unhurried
@given(
    seed=st.integers(0, 10**6),
    contacts=st.integers(1, 6),
    coordinates=st.integers(1, 8),
    width=st.sampled_from([2, 3]),
    scaled=st.booleans(),
)
def test_claim_of_convergence_is_true_in_physical_units(
    seed,
    contacts,
    coordinates,
    width,
    scaled,
    newton,
    frictional_problem,
    true_residual,
    true_residual_rounding,
):
    problem = frictional_problem(
        np.random.default_rng(seed), contacts, coordinates, width=width, scaled=scaled
    )
    z, info = solve(newton, problem)
    true_value = true_residual(problem, z)
    rounded = true_residual_rounding(problem, z)
    assert info.residuals.normal == pytest.approx(true_value, rel=1e-6, abs=rounded)
    assert info.status.solved == (true_value <= problem.tolerance)
    assert z.min() >= 0.0


def test_independent_contacts_are_always_solved(newton, frictional_problem):
    for seed in range(40):
        problem = frictional_problem(np.random.default_rng(seed), 4, 16, count=8, scaled=True)
        _, info = solve(newton, problem)
        assert info.status is Status.CONVERGED


def test_guess_at_a_solution_with_exact_zeros_converges(newton, frictional_problem):
    # redundant contacts: at the last step's impulses V is singular and φ not differentiable
    for seed in range(20):
        problem = frictional_problem(np.random.default_rng(seed), 4, 12, count=8, scaled=True)
        first, cold = solve(Lemke(LemkeConfig()), problem)
        assert cold.status is Status.CONVERGED
        problem.vector[:] *= 1.001
        _, info = solve(newton, problem, first)
        assert info.status is Status.CONVERGED


def test_a_bad_guess_leads_to_the_cold_start(newton, frictional_problem):
    problem = frictional_problem(np.random.default_rng(3), 3, 12, count=8)
    _, cold = solve(newton, problem)
    _, info = solve(newton, problem, np.full(len(problem.vector), 1e9))
    assert cold.status is Status.CONVERGED
    assert info.status is Status.CONVERGED


@pytest.mark.parametrize(
    ("matrix", "vector"),
    [([[-1.0]], [-1.0]), ([[0.0]], [-1.0]), ([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0])],
)
def test_infeasible_problem_is_not_reported_as_solved(matrix, vector, newton, plain_problem):
    z, info = solve(newton, plain_problem(matrix, vector))
    assert not info.status.solved
    assert info.residuals.normal > 0.1
    assert np.isfinite(z).all()


def test_iteration_limit_is_reported(plain_problem):
    problem = plain_problem(np.eye(3) + 1.0, [-1.0, -2.0, -3.0])
    _, info = solve(SemismoothNewton(SemismoothNewtonConfig(max_iterations=1, starts=1)), problem)
    assert info.status is Status.ITERATION_LIMIT
    assert info.iterations == 1


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_non_finite_data_are_reported(broken, newton, plain_problem):
    _, info = solve(newton, plain_problem([[broken, 0.0], [0.0, 1.0]], [-1.0, -1.0]))
    assert info.status is Status.NON_FINITE


def test_solution_does_not_depend_on_earlier_solves(frictional_problem):
    problems = [frictional_problem(np.random.default_rng(seed), contacts=2 + seed) for seed in range(4)]
    reused = SemismoothNewton(SemismoothNewtonConfig())
    for problem in problems + problems[::-1]:
        again, _ = solve(reused, problem)
        fresh, _ = solve(SemismoothNewton(SemismoothNewtonConfig()), problem)
        np.testing.assert_array_equal(again, fresh)


def test_the_answer_of_a_nearby_problem_leads_to_that_of_a_redundant_one(frictional_problem):
    careful = SemismoothNewton(SemismoothNewtonConfig(starts=0, interior=0.0))
    for seed in range(20):
        problem = frictional_problem(np.random.default_rng(seed), 4, 12, count=8, scaled=True)
        first, _ = solve(Lemke(LemkeConfig()), problem)
        problem.vector[:] *= 1.001
        assert solve(careful, problem, first)[1].status is Status.CONVERGED


def test_no_further_starts_still_leave_the_one_from_zero_without_a_guess(frictional_problem):
    alone = SemismoothNewton(SemismoothNewtonConfig(starts=0))
    for seed in range(10):
        problem = frictional_problem(np.random.default_rng(seed), 4, 16, count=8, scaled=True)
        assert solve(alone, problem)[1].status is Status.CONVERGED


def test_redundant_contacts_take_few_iterations_from_zero(frictional_problem):
    """Sixteen contacts of one body: V is singular at every solution, where increments without a shift get stuck."""
    once = SemismoothNewton(SemismoothNewtonConfig(starts=0))
    plain = SemismoothNewton(SemismoothNewtonConfig(starts=0, globalisation="line-search"))
    solved = 0
    for seed in range(10):
        problem = frictional_problem(np.random.default_rng(seed), 16, 6, count=8, scaled=True)
        _, info = solve(once, problem)
        assert info.status is Status.CONVERGED
        assert info.iterations <= 40
        solved += solve(plain, problem)[1].status.solved
    assert solved < 10


@pytest.mark.parametrize("rank", [3, 9])
@pytest.mark.parametrize("damping", [1e-6, 1e-2, 10.0])
def test_damped_increment_is_the_least_squares_solution(rank, damping):
    rng = np.random.default_rng(rank)
    n = 9
    jacobian = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n))
    values, increment = rng.normal(size=n), np.empty(n)
    assert compute_damped_increment(jacobian, values, damping, np.empty((n + 2, 2 * n)), increment)
    stacked = np.vstack([jacobian, np.sqrt(damping) * np.eye(n)])
    expected = np.linalg.lstsq(stacked, np.concatenate([-values, np.zeros(n)]), rcond=None)[0]
    np.testing.assert_allclose(increment, expected, rtol=0.0, atol=1e-7 * np.abs(expected).max())


def test_trust_region_leads_where_increments_alone_get_stuck(
    in_trust_region, frictional_problem, true_residual
):
    """Sixteen contacts of one body, V singular at every solution: the answers are true, and there are more of them."""
    alone = SemismoothNewton(SemismoothNewtonConfig(starts=0, globalisation="line-search"))
    solved = {True: 0, False: 0}
    for seed in range(6):
        problem = frictional_problem(np.random.default_rng(seed), 16, 6, count=8, scaled=True)
        for solver, led in ((in_trust_region, True), (alone, False)):
            z, info = solve(solver, problem)
            assert info.status.solved == (true_residual(problem, z) <= problem.tolerance)
            solved[led] += info.status.solved
    assert solved[True] == 6
    assert solved[False] < 6


def test_trust_region_does_not_solve_what_has_no_solution(in_trust_region, plain_problem):
    for matrix, vector in ([[[-1.0]], [-1.0]], [[[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]]):
        z, info = solve(in_trust_region, plain_problem(matrix, vector))
        assert not info.status.solved
        assert np.isfinite(z).all()
    _, info = solve(in_trust_region, plain_problem([[np.nan, 0.0], [0.0, 1.0]], [-1.0, -1.0]))
    assert info.status is Status.NON_FINITE


@pytest.mark.parametrize("method", METHODS)
def test_a_guess_is_forgotten_on_request(method, frictional_problem):
    """Not a number of the answer depends on it: both begin at zero."""
    cold = SemismoothNewton(SemismoothNewtonConfig(warm_start=False, globalisation=method))
    problem = frictional_problem(np.random.default_rng(5), 3, 12, count=8)
    from_zero, first = solve(cold, problem)
    from_guess, second = solve(cold, problem, np.full(len(problem.vector), 3.0))
    np.testing.assert_array_equal(from_guess, from_zero)
    assert second.iterations == first.iterations > 0
