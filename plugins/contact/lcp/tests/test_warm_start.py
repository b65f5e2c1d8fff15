"""The warm start is used only if its residuals meet the tolerance, and then it agrees with mechanics."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from corekit.data.status import Status
from corekit_lcp.config import Regularisation
from corekit_lcp.least_norm import solve_softly
from corekit_lcp.mode_warm_start import SOFT
from corekit_testing.rounding import rounding

INF = np.inf
unhurried = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def point(problem_of, velocity, friction=0.5):
    return problem_of(2.0 * np.eye(3), np.eye(3), velocity, friction)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([-1.0, 0.2, 0.1], [-1.1, 0.25, 0.05]),  # sticks
        ([-1.0, 0.9, 0.0], [-1.2, 1.0, 0.0]),  # slides along a direction
        ([-1.0, 0.9, 0.2], [-1.0, 0.8, 0.15]),  # slides between two
        ([-1.0, 0.0, 0.0], [-0.5, 0.0, 0.0]),  # sticks without friction
        ([1.0, 0.3, 0.0], [0.5, 0.1, 0.0]),  # open
    ],
)
def test_unchanged_modes_are_answered_without_an_lcp(before, after, problem_of, solver_of):
    warm, cold = solver_of(), solver_of(warm_start=False)
    impulse, reference = np.zeros(3), np.zeros(3)
    cold.solve(point(problem_of, before), impulse)
    problem = point(problem_of, after)
    info = warm.solve(problem, impulse)
    assert (info.status, info.answered_by, info.iterations) == (Status.CONVERGED, "warm", 0)
    assert info.residuals.worst <= 1e-8
    cold.solve(problem, reference)
    np.testing.assert_allclose(impulse, reference, atol=1e-9)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([-1.0, 0.2, 0.0], [-1.0, 0.9, 0.0]),  # begins to slide
        ([-1.0, 0.9, 0.0], [-1.0, 0.2, 0.0]),  # stops
        ([-1.0, 0.9, 0.0], [-1.0, -0.9, 0.0]),  # reverses
        ([-1.0, 0.2, 0.0], [1.0, 0.2, 0.0]),  # separates
        ([1.0, 0.2, 0.0], [-1.0, 0.2, 0.0]),  # touches
    ],
)
def test_changed_modes_are_noticed(before, after, problem_of, solver_of):
    impulse, reference = np.zeros(3), np.zeros(3)
    # of a pyramid that stands still: one that turns has the same mode after a reversal
    solver_of(warm_start=False, aligned=False).solve(point(problem_of, before), impulse)
    problem = point(problem_of, after)
    again = impulse.copy()
    info = solver_of(aligned=False).solve(problem, impulse)
    assert (info.status, info.answered_by) == (Status.CONVERGED, "modes")
    rigid = solver_of(regularisation=Regularisation(enabled=False), aligned=False)
    assert rigid.solve(problem, again).answered_by == "lemke"
    solver_of(warm_start=False, aligned=False).solve(problem, reference)
    np.testing.assert_allclose(impulse, reference, atol=1e-9)


@pytest.mark.parametrize("bounds", [(0.0, INF), (-INF, 0.25), (-0.4, 0.4), (-INF, INF), (0.2, 0.2)])
@pytest.mark.parametrize("velocity", [-1.0, -0.1, 0.1, 1.0])
def test_bounded_rows_are_answered_from_their_own_answer(bounds, velocity, problem_of, solver_of):
    problem = problem_of(np.eye(1), np.eye(1), [velocity], bounds=[bounds])
    impulse = np.zeros(1)
    solver_of(warm_start=False).solve(problem, impulse)
    again = impulse.copy()
    info = solver_of().solve(problem, again)
    assert info.answered_by == "warm"
    np.testing.assert_allclose(again, impulse, atol=1e-9)


def test_redundant_contacts_share_loads_equally_whatever_the_guess(problem_of, solver_of):
    problem = problem_of(np.eye(3), np.tile(np.eye(3), (4, 1)), [-1.0, 0.1, 0.0], 0.5)
    impulse = np.tile([0.25, -0.025, 0.0], 4)
    impulse[:3] *= 1.2
    info = solver_of().solve(problem, impulse)
    assert info.answered_by == "warm"
    np.testing.assert_allclose(problem.after(impulse), 0.0, atol=1e-12)
    np.testing.assert_allclose(impulse[::3], 0.25, rtol=rounding(64) / SOFT)
    few = np.array([1.0, -0.1, 0.0] + 9 * [0.0])  # one contact has all the load
    info = solver_of().solve(problem, few)
    assert info.answered_by == "warm"
    np.testing.assert_allclose(few[::3], 0.25, rtol=rounding(64) / SOFT)


def test_contacts_without_load_stay_so_where_soft_contacts_would_lift_off(problem_of, solver_of):
    """A plank on five points, pressed beside its middle so far that soft points at the other end would pull."""
    along = np.linspace(-1.0, 1.0, 5)
    rows = np.zeros((15, 3))
    rows[::3, 0], rows[::3, 1], rows[1::3, 2] = 1.0, along, 1.0
    problem = problem_of(np.eye(3), rows, [-1.0, -0.7, 0.0], 0.3)
    impulse = np.zeros(15)
    solver_of().solve(problem, impulse)
    loads, matrix = impulse[::3], np.vstack([np.ones(5), along])
    best = nnls(np.vstack([1e6 * matrix, np.eye(5)]), np.array([1e6, 0.7e6, 0, 0, 0, 0, 0]))[0]
    assert best[0] == 0.0
    np.testing.assert_allclose(loads, best, atol=1e-9)
    again = impulse.copy()
    info = solver_of().solve(problem, again)
    assert info.answered_by == "warm"
    np.testing.assert_allclose(again, impulse, atol=rounding(64) / SOFT)


@unhurried
@given(
    seed=st.integers(0, 10**6),
    contacts=st.integers(1, 6),
    coordinates=st.integers(2, 9),
    aligned=st.booleans(),
)
def test_warm_answers_satisfy_the_contact_laws(seed, contacts, coordinates, aligned, problem_of, solver_of):
    # for any guess: a problem reported as solved must satisfy the laws
    rng = np.random.default_rng(seed)
    rows, velocity = rng.normal(size=(3 * contacts, coordinates)), rng.normal(size=coordinates)
    problem = problem_of(np.eye(coordinates), rows, velocity, 0.4)
    impulse = rng.normal(size=3 * contacts) * (rng.random(3 * contacts) < 0.7)
    info = solver_of(lcp_solver="refuses", aligned=aligned).solve(problem, impulse)
    if not info.status.solved:
        assert info.status is Status.RAY
        return
    assert info.answered_by == "warm" or info.answered_by.endswith("modes") or not impulse.any()
    w = problem.delassus() @ impulse + problem.free_velocity
    assert np.abs(np.minimum(impulse[::3], w[::3])).max() <= 1e-8
    slide, friction = w.reshape(-1, 3)[:, 1:], impulse.reshape(-1, 3)[:, 1:]
    bound = 0.4 * impulse[::3]
    assert (np.linalg.norm(friction, axis=1) <= bound + 1e-8).all()
    assert (np.einsum("ij,ij->i", slide, friction) <= 1e-8 * (1 + np.abs(slide).max())).all()
    moving = np.linalg.norm(slide, axis=1) > 1e-6
    assert (np.linalg.norm(friction, axis=1)[moving] >= bound[moving] * np.cos(np.pi / 8) - 1e-7).all()


def test_solution_of_every_mode_is_recognised_as_its_own(problem_of, solver_of):
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(60):
        rows, velocity = rng.normal(size=(12, 14)), rng.normal(size=14)
        problem = problem_of(np.eye(14), rows, velocity, 0.4)
        impulse = np.zeros(12)
        # a pyramid that turns is another one after the solution, which is another one too
        if solver_of(warm_start=False, aligned=False).solve(problem, impulse).status is not Status.CONVERGED:
            continue
        info = solver_of(aligned=False).solve(problem, impulse)
        assert info.answered_by == "warm"
        hits += 1
    assert hits > 50


@pytest.mark.parametrize("rank", [2, 5, 8])
def test_of_dependent_equations_the_solution_of_least_norm_is_found(rank):
    """As the pseudo-inverse has it; the error is that of a system with the condition 1/ε."""
    rng = np.random.default_rng(rank)
    root = rng.normal(size=(8, rank))
    matrix, soft = root @ root.T, 1e-4
    right = matrix @ rng.normal(size=8)
    first, x, order, error = np.empty(8), np.empty(8), np.empty(8, dtype=np.int64), np.empty(8)
    left = solve_softly(matrix, matrix + soft * np.eye(8), right, order, first, x, error)
    scale = np.abs(right).max() + np.abs(matrix).max() * np.abs(x).max()
    assert left <= rounding(8 * 8, scale)
    np.testing.assert_allclose(x, np.linalg.pinv(matrix) @ right, atol=rounding(8 * 8, scale) / soft)
    np.testing.assert_allclose(
        first, np.linalg.solve(matrix + soft * np.eye(8), right), atol=rounding(8 * 8, scale) / soft
    )


def test_equations_that_stay_singular_are_said_to():
    zeros = np.zeros((2, 2))
    work = np.empty(2, dtype=np.int64), np.empty(2), np.empty(2), np.empty(2)
    assert solve_softly(zeros, zeros.copy(), np.ones(2), *work) == INF


def test_guess_that_is_not_finite_is_not_used(problem_of, solver_of):
    impulse = np.array([np.nan, 0.0, 0.0])
    info = solver_of().solve(point(problem_of, [-1.0, 0.2, 0.0]), impulse)
    assert info.answered_by != "warm"
    assert np.isfinite(impulse).all()


@pytest.mark.parametrize(("rows", "expected"), [("scaled-normals", 0.5), ("proximal-normals", 0.7)])
def test_loads_that_satisfy_the_laws_stay_only_where_the_compliance_spares_them(
    rows, expected, problem_of, solver_of
):
    """Two equal contacts stop 1 kg at 1 m/s by 0.7 and 0.3 N·s: the least compliance of both is at 0.5 and 0.5."""
    impulse = np.array([0.7, 0.0, 0.0, 0.3, 0.0, 0.0])
    solver = solver_of(warm_start=False, regularisation=Regularisation(rows=rows, weight=1e-4))
    info = solver.solve(problem_of(np.eye(3), np.vstack([np.eye(3)] * 2), [-1.0, 0.0, 0.0]), impulse)
    assert info.status is Status.CONVERGED
    np.testing.assert_allclose(impulse, [expected, 0.0, 0.0, 1.0 - expected, 0.0, 0.0], atol=1e-9)
