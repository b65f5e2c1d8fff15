"""Redundant contacts have the loads of soft pads that become rigid, whatever the guess and the rounding of gaps are."""

import numpy as np
import pytest

from corekit.data.status import Status
from corekit_testing.conformance.contact_problems import DenseProblem

FALL = 9.81e-3


def on_plane(random, slip, spin, mu):
    """A plate of 1 kg on six points of a plane, in pairs about its centre, in one step of gravity; and the points.

    It has the velocity of a slide and of a spin.
    """
    half = random.uniform(-0.1, 0.1, (3, 2))
    place = np.c_[np.concatenate([half, -half]), np.full(6, -0.03)]
    axes = np.tile(np.eye(3)[[2, 0, 1]], (6, 1, 1))
    rows = np.concatenate([axes, np.cross(place[:, None, :], axes)], axis=2).reshape(-1, 6)
    speed = np.array([*slip * random.normal(size=2) * 0.02, -FALL, 0.0, 0.0, spin * random.normal() * 0.3])
    return DenseProblem(np.diag([1.0, 1.0, 1.0, 3e-3, 4e-3, 5e-3]), rows, speed, mu), place


def solved(solve, problem, random, **options):
    """The impulses, and those from three bad guesses and from gaps that rounding made contradict each other."""
    impulse, info = solve(problem, **options)
    assert info.status is Status.CONVERGED
    others = []
    for size in (0.1, 1.0, 10.0):
        guess = size * np.abs(impulse).max() * random.normal(size=len(impulse))
        others.append(solve(problem, guess, **options))
    exact = problem.free_velocity.copy()
    for _ in range(2):
        problem.free_velocity[::3] = exact[::3] + 1e-13 * random.normal(size=problem.contact_count)
        others.append(solve(problem, **options))
    problem.free_velocity = exact
    assert all(each.status is Status.CONVERGED for _, each in others)
    return impulse, np.array([each for each, _ in others])


def projected(friction, point):
    """The nearest points of the cones, shape (m, 3)."""
    size = np.hypot(point[:, 1], point[:, 2])
    load = (point[:, 0] + friction * size) / (1.0 + friction**2)
    inside = size <= friction * point[:, 0]
    load = np.where(inside, point[:, 0], np.maximum(load, 0.0))
    factor = np.where(inside, 1.0, friction * load / np.maximum(size, 1e-300))
    return np.c_[load, factor[:, None] * point[:, 1:]]


def of_soft_pads(problem, compliance):
    """λ of Coulomb's law with w + e·λ in place of w, by fixed-point iteration of the natural map."""
    soft = problem.matrix + compliance * np.eye(len(problem.free_velocity))
    step = 1.0 / np.linalg.eigvalsh(soft)[-1]
    impulse = np.zeros((problem.contact_count, 3))
    for _ in range(100000):
        velocity = (soft @ impulse.ravel() + problem.free_velocity).reshape(-1, 3)
        velocity[:, 0] += problem.friction * np.hypot(velocity[:, 1], velocity[:, 2])
        after = projected(problem.friction, impulse - step * velocity)
        if np.abs(after - impulse).max() < 1e-7 * compliance * np.abs(after).max():
            break
        impulse = after
    return after.ravel()


@pytest.mark.parametrize("seed", range(6))
def test_what_sticks_has_the_loads_of_least_norm(seed, solve):
    """A plate at rest on a rough plane: no cone is reached, so that they are those of the pseudoinverse."""
    random = np.random.default_rng(seed)
    problem, _ = on_plane(random, 0.0, 0.0, 0.5)
    impulse, others = solved(solve, problem, random)
    expected = np.linalg.lstsq(problem.matrix, -problem.free_velocity, rcond=1e-10)[0]
    np.testing.assert_allclose(impulse, expected, atol=1e-9 * FALL)
    np.testing.assert_allclose(others - impulse, 0.0, atol=1e-9 * FALL)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("slip", "spin"), [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_loads_under_a_sliding_face_are_linear_and_its_motion_is_one(slip, spin, seed, solve):
    """What compresses soft pads is a motion of the plate; other solutions have other friction and other motions."""
    random = np.random.default_rng(seed)
    problem, place = on_plane(random, slip, spin, 0.2)
    impulse, others = solved(solve, problem, random)
    plane, loads = np.c_[np.ones(6), place[:, :2]], impulse[::3]
    assert (loads > 1e-3 * FALL).all()
    assert (np.linalg.norm(problem.relative(impulse).reshape(-1, 3)[:, 1:], axis=1) > 1e-6).all()
    fit = np.linalg.lstsq(plane, loads, rcond=None)[0]
    np.testing.assert_allclose(plane @ fit, loads, atol=1e-9 * FALL)
    np.testing.assert_allclose(others - impulse, 0.0, atol=1e-8 * FALL)
    motion, bound = problem.after(impulse), 1e-9 * np.abs(problem.velocity).max()
    for other in others:
        np.testing.assert_allclose(problem.after(other), motion, atol=bound)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("slip", "spin"), [(0.0, 0.0), (1.0, 1.0), (0.3, 0.3)])
def test_loads_are_the_limit_of_soft_pads(slip, spin, seed, solve):
    """By another method, and extrapolated from three compliances; where the plate slows down, some points stick."""
    random = np.random.default_rng(100 + seed)
    problem, _ = on_plane(random, slip, spin, 0.3)
    impulse, _ = solve(problem, tolerance=1e-11)
    least = problem.matrix.diagonal().reshape(-1, 3).mean(axis=1).min()
    first, second, third = (of_soft_pads(problem, e * least) for e in (8e-3, 4e-3, 2e-3))
    limit = (8.0 * third - 6.0 * second + first) / 3.0
    np.testing.assert_allclose(impulse, limit, atol=1e-4 * np.abs(limit).max())


@pytest.mark.parametrize(("slip", "spin"), [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)])
def test_points_of_other_roughness_have_loads_of_soft_pads_too(slip, spin, solve):
    """Each with its own coefficient, a smooth one among them: the same limit, whatever sticks."""
    random = np.random.default_rng(0)
    problem, _ = on_plane(random, slip, spin, np.array([0.0, 0.1, 0.2, 0.4, 0.6, 0.3]))
    impulse, others = solved(solve, problem, random)
    least = problem.matrix.diagonal().reshape(-1, 3).mean(axis=1).min()
    first, second, third = (of_soft_pads(problem, e * least) for e in (8e-3, 4e-3, 2e-3))
    limit = (8.0 * third - 6.0 * second + first) / 3.0
    np.testing.assert_allclose(impulse, limit, atol=1e-4 * np.abs(limit).max())
    np.testing.assert_allclose(others - impulse, 0.0, atol=1e-8 * FALL)


@pytest.mark.parametrize("opening", [1e-1, 1e-3, 1e-5, 1e-6])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("slip", [0.0, 1.0])
def test_a_point_that_hardly_opens_carries_nothing(slip, seed, opening, solve):
    """However little it opens, rigid pads do not reach: the others have the loads that they have without it."""
    random = np.random.default_rng(seed)
    problem, _ = on_plane(random, slip, slip, 0.2)
    problem.free_velocity[15] = opening * FALL
    impulse, info = solve(problem)
    assert info.status is Status.CONVERGED
    alone = DenseProblem(problem.mass, problem.rows[:15], problem.velocity, 0.2)
    expected, _ = solve(alone)
    assert not impulse[15:].any()
    np.testing.assert_allclose(impulse[:15], expected, atol=1e-8 * FALL)


@pytest.mark.parametrize("seed", range(3))
def test_a_trace_of_a_load_on_an_open_point_changes_nothing(seed, solve):
    """As rounding leaves it in a guess that is a solution: the point is open, and no pad of the others reaches it."""
    random = np.random.default_rng(seed)
    problem, _ = on_plane(random, 1.0, 1.0, 0.2)
    problem.free_velocity[15] = FALL
    expected, _ = solve(problem)
    guess = expected.copy()
    guess[15] = 1e-13 * FALL
    impulse, info = solve(problem, guess)
    assert info.status is Status.CONVERGED
    np.testing.assert_allclose(impulse, expected, atol=1e-9 * FALL)
