"""The banded solver's structure: chains stay narrow, guesses save work, dependence and contradictions are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit.data.status import Status
from corekit.linalg.matrices import Dense, Diagonal
from corekit.registry.resolve import load_target, resolve
from corekit.roles.problem import QPProblem
from corekit_quadratic.banded import BandedSolver
from corekit_quadratic.config import BandedConfig
from corekit_quadratic.narrow import NARROW, factor_narrow, solve_narrow
from corekit_quadratic.pairs import REACH, Pairs, find_pairs, form_gram
from corekit_quadratic.skyline import BAND, factor_rows, order_rows, solve_rows
from corekit_quadratic.whiten import lower_factor, whiten_rows


def chain(links, contacts=(), *, upper=np.inf):
    """Points on a line, each held at a distance from the last, and some of them above a floor; shuffled rows."""
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


def solved(problem, guess=None, **options):
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


def pairs_of(order, start, at, n, room=4000):
    """The pairs of rows, with arrays of their own."""
    k = len(order)
    unsigned = [np.zeros(size, np.uint32) for size in (room, room, room + 1, room, room, k, k, room)]
    row, other, begin, left, right, own, far, source = unsigned
    head, number = np.array([-1, 0, 0]), np.zeros(2 * (REACH + 1), np.int64)
    pairs: Any = Pairs(
        head, row, other, begin, left, right, own, far, source, np.zeros(room), np.zeros(k, np.int64), number
    )
    assert find_pairs(pairs, order, start, at, np.zeros(n, np.uint32), np.zeros((2, room), np.uint32))
    return pairs


@pytest.mark.parametrize("springs", [False, True], ids=["pins", "springs"])
def test_rows_of_a_chain_reach_back_to_their_neighbours_only_contacts_among_them(springs):
    problem = chain(40, contacts=range(0, 40, 3))
    n, k = 40, len(problem.lower)
    # springs between neighbours but one let rows reach farther
    hessian = np.zeros((n, 3))
    hessian[:, 0], hessian[:-2:4, 2] = problem.hessian.data + 0.5 * springs, -0.4 * springs
    lower = np.zeros((n, 3 if springs else 1))
    assert lower_factor(hessian, lower)
    places: Any = (
        np.zeros(k + 1, np.uint32),
        *(np.zeros(500, np.uint32) for _ in "as"),
        np.zeros(k, np.uint32),
    )
    start, at, source, order = places
    entry, lowest = np.zeros(500), np.zeros(k, np.int64)
    work = np.zeros(n)
    assert whiten_rows(lower, problem.dofs, problem.values, work, start, at, entry, source, lowest)
    order_rows(lowest, np.zeros(n + 1, np.int64), order)
    first, base = np.zeros(k, np.int64), np.zeros(k, np.int64)
    seen: Any = np.zeros(n, np.uint32)
    size = np.zeros(k + BAND)
    pairs = pairs_of(order, start, at, n)
    form_gram(pairs, entry)
    dense, H = np.zeros((k, n)), np.diag(hessian[:, 0])
    np.add.at(dense, (np.arange(k)[:, None], problem.dofs), problem.values)
    H[np.arange(2, n), np.arange(n - 2)] = H[np.arange(n - 2), np.arange(2, n)] = hessian[:-2, 2]
    S = dense @ np.linalg.solve(H, dense.T) + np.diag(problem.compliance)
    right = np.random.default_rng(0).normal(size=k)
    for chosen in (order, order[order % 3 > 0]):
        m = len(chosen)
        held, among = right[chosen], S[np.ix_(chosen, chosen)]
        # as a narrow band, and, where there is no room for its fixed width, inside the envelope
        for room in ((k + BAND) * (BAND + 1), 6 * k):
            factor = np.zeros(room)
            assert not factor_rows(
                chosen, m, start, at, entry, problem.compliance, pairs, seen, work, size, first, base, factor
            )
            assert (first[0] < 0) == (room > 6 * k)
            found = np.append(held, np.full(BAND, np.nan))
            solve_rows(m, first, base, factor, found)
            np.testing.assert_allclose(found[:m], np.linalg.solve(among, held), rtol=1e-9)
        assert np.max(np.arange(m) - first[:m]) <= (8 if springs else 4)


def test_a_row_that_depends_on_others_is_left_out_of_a_narrow_band():
    m = 12
    L = np.tril(np.triu(np.full((m, m), 0.3), -NARROW), -1) + np.eye(m)
    L[6] = 0.0
    S = L @ L.T
    factor = np.zeros((m + BAND) * (BAND + 1))
    for j in range(m):
        column = S[j : j + BAND + 1, j]
        factor[j * (BAND + 1) :][: len(column)] = column
    assert factor_narrow(m, BAND, 1e-13, np.diag(S).copy() + 1.0 * (np.arange(m) == 6), factor) == 1
    x = np.append(np.arange(1.0, m + 1), np.zeros(BAND))
    solve_narrow(m, BAND, factor, x)
    rest = np.delete(np.arange(m), 6)
    assert x[6] == 0.0
    np.testing.assert_allclose(x[rest], np.linalg.solve(S[np.ix_(rest, rest)], rest + 1.0), rtol=1e-9)


def test_what_was_solved_before_never_changes_an_answer():
    # entries that come and go are looked for anew: the second program's answer is bit for bit that of a fresh solver
    first, second = chain(20, contacts=range(0, 20, 2)), chain(20, contacts=range(0, 20, 2))
    second.values[second.dofs == 7] = 0.0
    solver = BandedSolver(BandedConfig())
    answers = []
    for problem in (first, second, first):
        x, y = np.zeros(20), np.zeros(len(problem.lower))
        assert solver.solve(problem, x, y).status is Status.CONVERGED
        fresh_x, fresh_y, _ = solved(problem)
        np.testing.assert_array_equal(x, fresh_x)
        np.testing.assert_array_equal(y, fresh_y)
        answers.append(x)
    assert np.abs(answers[0] - answers[1]).max() > 1e-3


def test_rows_that_come_and_go_are_answered_as_by_a_fresh_solver():
    # the work arrays stay, taken apart for another number of rows
    solver = BandedSolver(BandedConfig())
    for every in (7, 3, 1, 2, 20, 3):
        problem = chain(20, contacts=range(0, 20, every))
        x, y = np.zeros(20), np.zeros(len(problem.lower))
        assert solver.solve(problem, x, y).status is Status.CONVERGED
        fresh_x, fresh_y, _ = solved(problem)
        np.testing.assert_array_equal(x, fresh_x)
        np.testing.assert_array_equal(y, fresh_y)


def test_a_program_whose_numbers_change_in_place_is_solved_as_it_stands():
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


def test_arrays_with_gaps_are_read_as_they_stand_now():
    problem = chain(15, contacts=range(0, 15, 4))
    gaps = evolve(problem, values=np.asfortranarray(problem.values))
    solver, x, y = BandedSolver(BandedConfig()), np.zeros(15), np.zeros(len(problem.lower))
    for factor in (1.0, 1.5):
        gaps.values[:] = factor * problem.values
        solver.solve(gaps, x, y)
        assert residual(gaps, x, y) < 1e-12


def test_a_row_that_reaches_far_is_answered_as_others_are():
    problem = chain(60, contacts=(0, 59))
    problem.dofs[0], problem.values[0] = (2, 55), (0.7, -0.4)
    x, y, info = solved(problem)
    assert info.status is Status.CONVERGED
    assert residual(problem, x, y) < 1e-12


def test_a_good_guess_ends_in_one_round():
    problem = chain(30, contacts=range(30))
    _, y, first = solved(problem)
    x, again, second = solved(problem, y)
    assert first.status is second.status is Status.CONVERGED
    assert second.iterations == 1 < first.iterations
    np.testing.assert_allclose(again, y, atol=1e-12)
    assert residual(problem, x, again) < 1e-12


def test_one_row_at_a_time_reaches_what_blocks_reach():
    problem = chain(20, contacts=range(20))
    x, _, _ = solved(problem)
    slow, _, info = solved(problem, patience=0)
    assert info.status is Status.CONVERGED
    np.testing.assert_allclose(slow, x, atol=1e-11)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 7), rows=st.integers(0, 12), copies=st.booleans())
def test_any_feasible_program_is_solved_whatever_depends_on_what(seed, n, rows, copies):
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
    x, y, info = solved(problem, random.normal(size=k))
    assert info.status is Status.CONVERGED
    assert residual(problem, x, y) < 1e-7


def test_a_row_against_a_rigid_chain_is_contradictory_and_said_so():
    problem = chain(6, contacts=(5,))
    problem.compliance[:] = 0.0
    problem.lower[problem.lower != problem.upper] = 1.0
    x, y, info = solved(problem)
    assert info.status is Status.INFEASIBLE
    assert info.residuals.normal == pytest.approx(0.4)
    assert np.isfinite(x).all()
    assert np.isfinite(y).all()


def test_numbers_that_are_not_finite_are_named():
    problem = chain(5)
    problem.gradient[2] = np.nan
    x, _, info = solved(problem)
    assert info.status is Status.NON_FINITE
    assert not x.any()
    assert np.isinf(info.residuals.worst)


def test_too_few_iterations_are_said_to_be_too_few():
    problem = chain(30, contacts=range(30))
    x, y, info = solved(problem, max_iterations=1)
    assert info.status is Status.ITERATION_LIMIT
    assert info.residuals.normal == pytest.approx(residual(problem, x, y), rel=1e-6)


@pytest.mark.parametrize("name", ["banded", "osqp", "piqp", "proxqp"])
def test_a_program_in_other_units_takes_the_same_iterations_to_the_same_answer(name):
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
    found = []
    for one in (problem, other):
        # OSQP as the splitting leaves it, so that its own scaling is what is asked
        config = load_target(spec.config)(**({"polish": False} if name == "osqp" else {}))
        x, y = np.zeros(12), np.zeros(len(problem.lower))
        found.append((load_target(spec.target)(config).solve(one, x, y).iterations, x))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[1][1] / length, found[0][1], atol=1e-9)
