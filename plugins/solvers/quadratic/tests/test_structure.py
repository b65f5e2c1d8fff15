"""Structure of the banded solver: chains stay narrow, guesses save work, dependence and contradictions are detected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corekit.data.status import Status
from corekit.linalg.matrices import Dense, Diagonal
from corekit.registry.resolve import load_target, resolve
from corekit.roles.problem import QPProblem
from corekit_quadratic.banded import BandedSolver
from corekit_quadratic.config import BandedConfig
from corekit_quadratic.narrow import NARROW, factorise_narrow, solve_narrow
from corekit_quadratic.pairs import MAX_DISTANCE, Pairs, find_pairs, form_gram
from corekit_quadratic.skyline import BAND, factorise_rows, order_rows, solve_rows
from corekit_quadratic.whiten import lower_factor, whiten_rows


def chain(links, contacts=(), *, upper=np.inf):
    """Points on a line, each at a distance from the last, and some of them above a floor; rows in random order."""
    n, k = links, links + len(contacts)
    hessian = Diagonal(n)
    hessian.data[:] = np.linspace(1.0, 2.0, n)
    dofs, values = np.zeros((k, 2), dtype=np.int64), np.zeros((k, 2))
    for i in range(links):
        dofs[i] = max(i - 1, 0), i
        values[i] = (-1.0 if i else 0.0), 1.0
    for i, contact in enumerate(contacts):
        dofs[links + i], values[links + i] = (contact, contact), (1.0, 0.0)
    lower, high = np.full(k, 0.1), np.full(k, 0.1)
    lower[links:], high[links:] = -1e-3, upper
    compliance = np.zeros(k)
    compliance[:links] = 0.3
    order = np.random.default_rng(1).permutation(k)
    return QPProblem(
        hessian, np.ones(n), dofs[order], values[order], lower[order], high[order], compliance[order],
        np.full(k, -np.inf), np.full(k, np.inf),
    )  # fmt: skip


def solve(problem, guess=None, **options):
    x = np.zeros(len(problem.gradient))
    y = np.zeros(len(problem.lower)) if guess is None else guess.copy()
    return x, y, BandedSolver(BandedConfig(**options)).solve(problem, x, y)


def residual(problem, x, y):
    rows = np.zeros((len(y), len(x)))
    np.add.at(rows, (np.arange(len(y))[:, None], problem.dofs), problem.values)
    z = rows @ x - problem.compliance * y
    bound = np.where(
        problem.lower == problem.upper, z - problem.lower, z - np.clip(z + y, problem.lower, problem.upper)
    )
    balance = problem.hessian.dense() @ x + problem.gradient + rows.T @ y
    return max(np.abs(bound).max(initial=0.0), np.abs(balance).max(initial=0.0))


def new_pairs(order, start, column, n, capacity=4000):
    """The pairs of rows, with their own arrays."""
    k = len(order)
    unsigned = [
        np.zeros(size, np.uint32)
        for size in (capacity, capacity, capacity + 1, capacity, capacity, k, k, capacity)
    ]
    row, other, begin, left, rhs, diagonal, far, source = unsigned
    head, counters = np.array([-1, 0, 0]), np.zeros(2 * (MAX_DISTANCE + 1), np.int64)
    pairs: Any = Pairs(
        head,
        row,
        other,
        begin,
        left,
        rhs,
        diagonal,
        far,
        source,
        np.zeros(capacity),
        np.zeros(k, np.int64),
        counters,
    )
    assert find_pairs(pairs, order, start, column, np.zeros(n, np.uint32), np.zeros((2, capacity), np.uint32))
    return pairs


@pytest.mark.parametrize("springs", [False, True], ids=["pins", "springs"])
def test_rows_of_a_chain_with_contacts_couple_only_with_their_neighbours(springs):
    problem = chain(40, contacts=range(0, 40, 3))
    n, k = 40, len(problem.lower)
    # springs between second neighbours widen the band
    hessian = np.zeros((n, 3))
    hessian[:, 0], hessian[:-2:4, 2] = problem.hessian.data + 0.5 * springs, -0.4 * springs
    lower = np.zeros((n, 3 if springs else 1))
    assert lower_factor(hessian, lower)
    places: Any = (
        np.zeros(k + 1, np.uint32),
        *(np.zeros(500, np.uint32) for _ in "as"),
        np.zeros(k, np.uint32),
    )
    start, column, source, order = places
    entry, lowest = np.zeros(500), np.zeros(k, np.int64)
    work = np.zeros(n)
    assert whiten_rows(lower, problem.dofs, problem.values, work, start, column, entry, source, lowest)
    order_rows(lowest, np.zeros(n + 1, np.int64), order)
    first, base = np.zeros(k, np.int64), np.zeros(k, np.int64)
    seen: Any = np.zeros(n, np.uint32)
    size = np.zeros(k + BAND)
    pairs = new_pairs(order, start, column, n)
    form_gram(pairs, entry)
    dense, H = np.zeros((k, n)), np.diag(hessian[:, 0])
    np.add.at(dense, (np.arange(k)[:, None], problem.dofs), problem.values)
    H[np.arange(2, n), np.arange(n - 2)] = H[np.arange(n - 2), np.arange(2, n)] = hessian[:-2, 2]
    S = dense @ np.linalg.solve(H, dense.T) + np.diag(problem.compliance)
    rhs = np.random.default_rng(0).normal(size=k)
    for active in (order, order[order % 3 > 0]):
        m = len(active)
        active_rhs, active_S = rhs[active], S[np.ix_(active, active)]
        # as a narrow band, and inside the envelope if the workspace is too small for its fixed width
        for capacity in ((k + BAND) * (BAND + 1), 6 * k):
            factor = np.zeros(capacity)
            assert not factorise_rows(
                active,
                m,
                start,
                column,
                entry,
                problem.compliance,
                pairs,
                seen,
                work,
                size,
                first,
                base,
                factor,
            )
            assert (first[0] < 0) == (capacity > 6 * k)
            solutions = np.append(active_rhs, np.full(BAND, np.nan))
            solve_rows(m, first, base, factor, solutions)
            np.testing.assert_allclose(solutions[:m], np.linalg.solve(active_S, active_rhs), rtol=1e-9)
        assert np.max(np.arange(m) - first[:m]) <= (8 if springs else 4)


def test_a_row_that_depends_on_others_is_omitted_from_a_narrow_band():
    m = 12
    L = np.tril(np.triu(np.full((m, m), 0.3), -NARROW), -1) + np.eye(m)
    L[6] = 0.0
    S = L @ L.T
    factor = np.zeros((m + BAND) * (BAND + 1))
    for j in range(m):
        column = S[j : j + BAND + 1, j]
        factor[j * (BAND + 1) :][: len(column)] = column
    assert factorise_narrow(m, BAND, 1e-13, np.diag(S).copy() + 1.0 * (np.arange(m) == 6), factor) == 1
    x = np.append(np.arange(1.0, m + 1), np.zeros(BAND))
    solve_narrow(m, BAND, factor, x)
    kept_rows = np.delete(np.arange(m), 6)
    assert x[6] == 0.0
    np.testing.assert_allclose(
        x[kept_rows], np.linalg.solve(S[np.ix_(kept_rows, kept_rows)], kept_rows + 1.0), rtol=1e-9
    )


def test_no_solution_depends_on_earlier_solves():
    # the solver detects added and removed entries: the second solution is bit for bit that of a new solver
    first, second = chain(20, contacts=range(0, 20, 2)), chain(20, contacts=range(0, 20, 2))
    second.values[second.dofs == 7] = 0.0
    solver = BandedSolver(BandedConfig())
    solutions = []
    for problem in (first, second, first):
        x, y = np.zeros(20), np.zeros(len(problem.lower))
        assert solver.solve(problem, x, y).status is Status.CONVERGED
        fresh_x, fresh_y, _ = solve(problem)
        np.testing.assert_array_equal(x, fresh_x)
        np.testing.assert_array_equal(y, fresh_y)
        solutions.append(x)
    assert np.abs(solutions[0] - solutions[1]).max() > 1e-3


def test_added_and_removed_rows_have_the_solution_of_a_new_solver():
    # the workspaces stay, with the description of another number of rows
    solver = BandedSolver(BandedConfig())
    for every in (7, 3, 1, 2, 20, 3):
        problem = chain(20, contacts=range(0, 20, every))
        x, y = np.zeros(20), np.zeros(len(problem.lower))
        assert solver.solve(problem, x, y).status is Status.CONVERGED
        fresh_x, fresh_y, _ = solve(problem)
        np.testing.assert_array_equal(x, fresh_x)
        np.testing.assert_array_equal(y, fresh_y)


def test_a_program_whose_numbers_change_in_place_is_solved_with_the_new_ones():
    problem, other = chain(15, contacts=range(0, 15, 4)), chain(15, contacts=range(0, 15, 4))
    solver, x, y = BandedSolver(BandedConfig()), np.zeros(15), np.zeros(len(problem.lower))
    solver.solve(problem, x, y)
    problem.values[:] *= 1.5
    problem.gradient[:] *= -0.7
    problem.hessian.data[:] *= 2.0
    solver.solve(problem, x, y)
    assert residual(problem, x, y) < 1e-12
    solver.solve(other, x, y)
    assert residual(other, x, y) < 1e-12


def test_arrays_with_gaps_are_read_at_every_solve():
    problem = chain(15, contacts=range(0, 15, 4))
    gaps = evolve(problem, values=np.asfortranarray(problem.values))
    solver, x, y = BandedSolver(BandedConfig()), np.zeros(15), np.zeros(len(problem.lower))
    for factor in (1.0, 1.5):
        gaps.values[:] = factor * problem.values
        solver.solve(gaps, x, y)
        assert residual(gaps, x, y) < 1e-12


def test_a_row_that_couples_distant_points_is_solved_like_others():
    problem = chain(60, contacts=(0, 59))
    problem.dofs[0], problem.values[0] = (2, 55), (0.7, -0.4)
    x, y, info = solve(problem)
    assert info.status is Status.CONVERGED
    assert residual(problem, x, y) < 1e-12


def test_a_good_guess_ends_in_one_round():
    problem = chain(30, contacts=range(30))
    _, y, first = solve(problem)
    x, again, second = solve(problem, y)
    assert first.status is second.status is Status.CONVERGED
    assert second.iterations == 1 < first.iterations
    np.testing.assert_allclose(again, y, atol=1e-12)
    assert residual(problem, x, again) < 1e-12


def test_single_changes_end_at_the_solution_of_block_changes():
    problem = chain(20, contacts=range(20))
    x, _, _ = solve(problem)
    slow, _, info = solve(problem, patience=0)
    assert info.status is Status.CONVERGED
    np.testing.assert_allclose(slow, x, atol=1e-11)


# a dependent row among the first active ones leaves huge multipliers behind, which the next round starts from
@example(seed=182717, n=3, rows=4, copies=False)
@example(seed=816246, n=5, rows=6, copies=False)
@example(seed=656107, n=2, rows=3, copies=False)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 7), rows=st.integers(0, 12), copies=st.booleans())
def test_any_feasible_program_is_solved_with_dependent_rows_too(seed, n, rows, copies):
    random = np.random.default_rng(seed)
    root, hessian = random.normal(size=(n, n)), Dense(n)
    hessian.data[:] = root @ root.T + np.eye(n)
    C = random.normal(size=(rows, n))
    at = C @ random.normal(size=n)
    low, high = at - random.uniform(0, 1, rows), at + np.where(random.random(rows) < 0.5, np.inf, 0.5)
    equal = (random.random(rows) < 0.3) & (np.cumsum(np.ones(rows)) <= n)
    low[equal] = high[equal] = at[equal]
    if copies:
        C, low, high = np.vstack([C, C]), np.tile(low, 2), np.tile(high, 2)
    k = len(low)
    problem = QPProblem(
        hessian, 3 * random.normal(size=n), np.tile(np.arange(n), (k, 1)), C, low, high, np.zeros(k),
        np.full(k, -np.inf), np.full(k, np.inf),
    )  # fmt: skip
    x, y, info = solve(problem, random.normal(size=k))
    assert info.status is Status.CONVERGED
    assert residual(problem, x, y) < 1e-10


def test_a_compliant_row_without_entries_is_solved_from_any_guess():
    """z = −E·y must be in [1, 2], whatever x is: y = −1/E; in [−1, 2] it is y = 0."""
    hessian = Dense(1)
    hessian.data[:] = 2.0
    for lower, expected in ((1.0, -4.0), (-1.0, 0.0)):
        problem = QPProblem(
            hessian, np.array([-3.0]), np.zeros((1, 1), dtype=np.int64), np.zeros((1, 1)), np.array([lower]),
            np.array([2.0]), np.array([0.25]), np.array([-np.inf]), np.array([np.inf]),
        )  # fmt: skip
        for guess in (0.0, 5.0, -5.0):
            x, y, info = solve(problem, np.array([guess]))
            assert info.status is Status.CONVERGED
            assert x == pytest.approx([1.5])
            assert y == pytest.approx([expected])


def test_a_row_against_a_rigid_chain_is_reported_as_infeasible():
    problem = chain(6, contacts=(5,))
    problem.compliance[:] = 0.0
    problem.lower[problem.lower != problem.upper] = 1.0
    x, y, info = solve(problem)
    assert info.status is Status.INFEASIBLE
    assert info.residuals.normal == pytest.approx(0.4)
    assert np.isfinite(x).all()
    assert np.isfinite(y).all()


def test_numbers_that_are_not_finite_are_reported():
    problem = chain(5)
    problem.gradient[2] = np.nan
    x, _, info = solve(problem)
    assert info.status is Status.NON_FINITE
    assert not x.any()
    assert np.isinf(info.residuals.worst)


def test_too_few_iterations_are_reported():
    problem = chain(30, contacts=range(30))
    x, y, info = solve(problem, max_iterations=1)
    assert info.status is Status.ITERATION_LIMIT
    assert info.residuals.normal == pytest.approx(residual(problem, x, y), rel=1e-6)


@pytest.mark.parametrize("name", ["banded", "osqp", "piqp", "proxqp"])
def test_a_program_in_other_units_needs_the_same_iterations_to_the_same_solution(name):
    pytest.importorskip({"banded": "numba", "proxqp": "proxsuite"}.get(name, name))
    # metres, kilogrammes and newton seconds; then millimetres, grammes and their products
    problem, length, mass = chain(12, contacts=range(0, 12, 2)), 1e3, 1e3
    hessian = Diagonal(12)
    hessian.data[:] = mass * problem.hessian.data
    other = evolve(
        problem,
        hessian=hessian,
        gradient=mass * length * problem.gradient,
        lower=length * problem.lower,
        upper=length * problem.upper,
        compliance=problem.compliance / mass,
    )
    spec = resolve("qp_solvers", name)
    solutions = []
    for one in (problem, other):
        # OSQP without the exact last solve, so that the test compares its own scaling
        config = load_target(spec.config)(**({"polish": False} if name == "osqp" else {}))
        x, y = np.zeros(12), np.zeros(len(problem.lower))
        solutions.append((load_target(spec.target)(config).solve(one, x, y).iterations, x))
    assert solutions[0][0] == solutions[1][0]
    np.testing.assert_allclose(solutions[1][1] / length, solutions[0][1], atol=1e-9)
