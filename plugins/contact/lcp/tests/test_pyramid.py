"""Aligned and anisotropic pyramids, and loads distributed over all touching contacts."""

import numpy as np
import pytest

from corekit.data.status import Status
from corekit.roles.friction import ANISOTROPIC_COULOMB
from corekit.roles.pyramid import pyramid_directions
from corekit_lcp.config import RankSelection
from corekit_lcp.pyramid import align, stretch_directions
from corekit_testing.rounding import rounding


@pytest.mark.parametrize("count", [4, 6, 8, 10])
def test_aligned_pyramid_opposes_the_free_sliding_and_stays_regular(count):
    free = np.array([-1.0, 0.3, -0.4, -1.0, 0.0, 0.0, -1.0, -2.0, 1e-3])
    directions = np.empty((3, 2, count))
    align(pyramid_directions(3, count), free, directions)
    np.testing.assert_allclose(directions[0, :, 0], [-0.6, 0.8], atol=rounding(8))
    np.testing.assert_allclose(directions[1], pyramid_directions(3, count), atol=rounding(8))
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0, atol=rounding(8))
    for own in directions:
        np.testing.assert_allclose(
            own[:, : count // 2], -own[:, count // 2 :], atol=rounding(16)
        )  # angles up to 2π are rounded
        turns = own[0] * np.roll(own[1], -1) - own[1] * np.roll(own[0], -1)
        np.testing.assert_allclose(turns, np.sin(2 * np.pi / count), atol=rounding(24))


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
    solver_of(friction_directions=4).solve(problem_of(np.eye(3), np.eye(3), velocity, 0.5), impulse)
    assert np.linalg.norm(impulse[1:]) == pytest.approx(0.5 * np.cos(np.pi / 4), abs=1e-9)


def test_alignment_changes_nothing_in_a_plane(problem_of, solver_of):
    for velocity in ([-1.0, 0.3], [-1.0, -2.0]):
        problem = problem_of(np.eye(2), np.eye(2), velocity, 0.5, width=2)
        one, other = np.zeros(2), np.zeros(2)
        solver_of().solve(problem, one)
        solver_of(aligned=True).solve(problem, other)
        np.testing.assert_allclose(one, other, atol=rounding(64))


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("count", [4, 6, 8, 10])
def test_anisotropic_directions_are_corners_of_the_admissible_friction(count, aligned):
    """μ·d_k has the gauge 1, in the order of the angle; an aligned d₁ dissipates the most against the free slip."""
    random = np.random.default_rng(count)
    records, free = random.uniform(0.1, 1.0, (20, 3)), random.normal(size=60)
    base, directions = pyramid_directions(3, count), np.empty((20, 2, count))
    stretch_directions(base, free, records, aligned, np.empty_like(base), directions)
    law, largest = ANISOTROPIC_COULOMB, records.max(axis=1)
    for c in range(20):
        corners = largest[c] * directions[c]
        gauges = [law.gauge(records[c], *corner) for corner in corners.T]
        np.testing.assert_allclose(gauges, 1.0, rtol=rounding(20))
        turns = corners[0] * np.roll(corners[1], -1) - corners[1] * np.roll(corners[0], -1)
        assert turns.min() > 0.0
        slip = free[3 * c + 1 : 3 * c + 3]
        dissipation = -corners.T @ slip
        if aligned:
            most = law.dissipation(records[c], *slip)
            np.testing.assert_allclose(dissipation[0], most, rtol=rounding(40))
        else:
            np.testing.assert_allclose(corners[:, 0], [records[c, 1], 0.0], atol=rounding(4))


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
