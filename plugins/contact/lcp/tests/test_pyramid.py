"""Aligned pyramids, and loads distributed over all touching contacts."""

import numpy as np
import pytest

from corekit.data.status import Status
from corekit_lcp.config import RankSelection
from corekit_testing.rounding import rounding


@pytest.mark.parametrize("heading", np.linspace(0.0, np.pi, 7))
@pytest.mark.parametrize("count", [4, 8])
def test_aligned_friction_on_a_sliding_point_is_exact_in_every_direction(
    heading, count, problem_of, solver_of
):
    velocity = [-1.0, 2.0 * np.cos(heading), 2.0 * np.sin(heading)]
    impulse = np.zeros(3)
    info = solver_of(friction_directions=count, aligned=True).solve(
        problem_of(np.eye(3), np.eye(3), velocity, 0.5), impulse
    )
    assert info.status is Status.CONVERGED
    expected = [1.0, -0.5 * np.cos(heading), -0.5 * np.sin(heading)]
    np.testing.assert_allclose(impulse, expected, atol=1e-9)


def test_unaligned_friction_between_two_directions_is_short_by_the_inscribed_polygon(problem_of, solver_of):
    heading = np.pi / 4
    velocity = [-1.0, 2.0 * np.cos(heading), 2.0 * np.sin(heading)]
    impulse = np.zeros(3)
    problem = problem_of(np.eye(3), np.eye(3), velocity, 0.5)
    solver_of(friction_directions=4, aligned=False).solve(problem, impulse)
    assert np.linalg.norm(impulse[1:]) == pytest.approx(0.5 * np.cos(np.pi / 4), abs=1e-9)


def test_alignment_changes_nothing_in_a_plane(problem_of, solver_of):
    for velocity in ([-1.0, 0.3], [-1.0, -2.0]):
        problem = problem_of(np.eye(2), np.eye(2), velocity, 0.5, width=2)
        one, other = np.zeros(2), np.zeros(2)
        solver_of(aligned=False).solve(problem, one)
        solver_of(aligned=True).solve(problem, other)
        np.testing.assert_allclose(one, other, atol=rounding(64))


@pytest.mark.parametrize("sideways", [0.0, 0.2, 3.0])
def test_equal_contacts_share_a_load_equally_when_it_is_spread(sideways, problem_of, solver_of):
    selection = RankSelection(enabled=True)
    problem = problem_of(np.eye(3), np.tile(np.eye(3), (5, 1)), [-1.0, sideways, 0.0], 0.5)
    alone, shared = np.zeros(15), np.zeros(15)
    solver_of(rank_selection=selection).solve(problem, alone)
    info = solver_of(spread=True, rank_selection=selection).solve(problem, shared)
    assert np.count_nonzero(alone[::3]) == 1
    np.testing.assert_allclose(shared[::3], 0.2, atol=1e-5)
    assert info.residuals.worst <= 1e-8
    np.testing.assert_allclose(problem.after(shared), problem.after(alone), atol=1e-9)


def test_spread_loads_a_plank_where_it_touches_and_keeps_its_motion(problem_of, solver_of):
    selection = RankSelection(enabled=True)
    # (height, pitch) of a plank of unit mass and inertia over seven points, one of them out of reach
    along = np.linspace(-1.0, 1.0, 7)
    rows = np.zeros((21, 3))
    rows[::3, 0], rows[::3, 1], rows[1::3, 2] = 1.0, along, 1.0
    reach = np.zeros(21)
    reach[9] = 5.0
    problem = problem_of(np.eye(3), rows, [-1.0, 0.0, 0.3], 0.3, stabilisation=reach)
    alone, shared = np.zeros(21), np.zeros(21)
    solver_of(rank_selection=selection).solve(problem, alone)
    solver_of(spread=True, rank_selection=selection).solve(problem, shared)
    np.testing.assert_allclose(problem.after(shared), problem.after(alone), atol=1e-8)
    np.testing.assert_allclose(shared[::3][[0, 1, 2, 4, 5, 6]], 1 / 6, atol=1e-5)
    assert shared[9] == 0.0
    tangential = np.linalg.norm(shared.reshape(-1, 3)[:, 1:], axis=1)
    assert (tangential <= 0.3 * shared[::3] + 1e-8).all()


def test_bounded_rows_keep_their_impulses_when_loads_are_spread(problem_of, solver_of):
    selection = RankSelection(enabled=True)
    rows = np.vstack([np.tile(np.eye(3), (3, 1)), [[0.0, 1.0, 0.0]]])
    problem = problem_of(np.eye(3), rows, [-1.0, 1.0, 0.0], 0.2, bounds=[(-0.1, 0.1)])
    alone, shared = np.zeros(10), np.zeros(10)
    solver_of(rank_selection=selection).solve(problem, alone)
    solver_of(spread=True, rank_selection=selection).solve(problem, shared)
    assert shared[9] == alone[9] == pytest.approx(-0.1)
    np.testing.assert_allclose(problem.after(shared), problem.after(alone), atol=1e-8)
