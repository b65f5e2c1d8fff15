"""What limits the choice among redundant loads: the bodies that touch, the iterations allowed, and rounding."""

import numpy as np
import pytest
from scipy.linalg import block_diag

from corekit.data.status import Status
from corekit_testing.conformance.contact_problems import DenseProblem

FALL = 9.81e-3
AXES = np.eye(3)[[2, 0, 1]]


def plate(random, mass=1.0, points=6, slide=0.0, spin=None, mu=0.5):
    """A plate on points of a plane in one step of gravity."""
    half = random.uniform(-0.1, 0.1, (points // 2, 2))
    place = np.c_[np.concatenate([half, -half]), np.full(points, -0.03)]
    axes = np.tile(AXES, (points, 1, 1))
    rows = np.concatenate([axes, np.cross(place[:, None, :], axes)], axis=2).reshape(-1, 6)
    inertia = mass * np.diag([1.0, 1.0, 1.0, 3e-3, 4e-3, 5e-3])
    turn = 10.0 * slide if spin is None else spin
    return DenseProblem(inertia, rows, np.array([slide, 0.0, -FALL, 0.0, 0.0, turn]), mu)


def beside(first, second):
    """Both in one world, unconnected."""
    mass, rows = block_diag(first.mass, second.mass), block_diag(first.rows, second.rows)
    friction = np.concatenate([first.friction, second.friction])
    return DenseProblem(mass, rows, np.concatenate([first.velocity, second.velocity]), friction)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("slide", [0.0, 0.02])
def test_a_heavy_body_elsewhere_changes_no_loads(slide, seed, solve):
    """Two unconnected plates of 1 mg and 10 t, from a bad guess: each has the loads that it has alone."""
    random = np.random.default_rng(seed)
    light, heavy = plate(random, 1e-6, slide=slide, mu=0.2), plate(random, 1e4, slide=slide, mu=0.2)
    alone = [solve(each)[0] for each in (light, heavy)]
    guess = np.concatenate([10.0 * np.abs(each).max() * random.normal(size=18) for each in alone])
    for start in (None, guess):
        impulse, info = solve(beside(light, heavy), start)
        assert info.status is Status.CONVERGED
        for found, expected in zip(np.split(impulse, 2), alone, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(3))
def test_a_choice_that_takes_more_than_the_limit_is_ambiguous(seed, solve, residual_of):
    """A plate that slides straight on, with loads that move it alike and are not linear over it."""
    problem = plate(np.random.default_rng(seed), slide=0.02, spin=0.0, mu=0.2)
    expected, _ = solve(problem)
    slip = problem.relative(expected).reshape(-1, 3)[:, 1:]
    along = np.zeros((18, 6))
    for c, each in enumerate(slip):
        along[3 * c : 3 * c + 3, c] = [1.0, *(-0.2 * each / np.linalg.norm(each))]
    kernel = np.linalg.svd(problem.matrix @ along)[2][-1]
    other = expected + along @ kernel * 0.5 * expected[::3].min()
    assert residual_of(problem, other) < 1e-12 * FALL
    impulse, info = solve(problem, other, max_iterations=1)
    assert info.status is Status.AMBIGUOUS
    assert info.iterations <= 1
    np.testing.assert_allclose(impulse, other, atol=1e-12 * FALL)
    impulse, info = solve(problem, other)
    assert info.status is Status.CONVERGED
    np.testing.assert_allclose(impulse, expected, atol=1e-8 * FALL)


@pytest.mark.parametrize("mu", [0.0, 0.3])
@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("approach", [1.0, -1.0])
def test_no_compliance_is_left_in_bounded_rows(approach, width, mu, solve):
    """Two motors that stop one wheel, the weaker at its bound; another body comes to a contact or leaves it."""
    contact = np.c_[np.eye(width), np.zeros(width)]
    rows = np.r_[contact, [[0.0] * width + [1.0]] * 2]
    velocity = np.array([-approach, *[0.5] * (width - 1), -1.0])
    problem = DenseProblem(
        np.eye(width + 1), rows, velocity, mu, width=width, bounds=[(-0.1, 0.1), (-10.0, 10.0)]
    )
    guess = np.r_[max(approach, 0.0), np.zeros(width - 1), 0.05, 0.95]
    impulse, info = solve(problem, guess)
    assert info.status is Status.CONVERGED
    np.testing.assert_allclose(impulse[width:], [0.1, 0.9], atol=1e-12)


@pytest.mark.parametrize("lever", [0.05, 0.03])
def test_nearly_redundant_bounded_rows_alone_are_shared_to_rounding(lever, solve):
    """Four motors that stop two wheels, one at its bound: the others have the least Σ W_ii·λ_i² that stops both.

    A bounded row is soft relative to its own mobility W_ii.
    """
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, lever], [1.0, -lever]])
    velocity = np.array([-1.0, -0.2])
    problem = DenseProblem(np.eye(2), rows, velocity, bounds=[(-0.1, 0.1), *[(-10.0, 10.0)] * 3])
    guess = np.array([0.05, 0.05, 0.45 + 0.1 / lever, 0.45 - 0.1 / lever])
    impulse, info = solve(problem, guess)
    assert info.status is Status.CONVERGED
    scale = 1.0 / np.linalg.norm(rows[1:], axis=1)
    expected = scale * np.linalg.lstsq(rows[1:].T * scale, -velocity - 0.1 * rows[0], rcond=None)[0]
    np.testing.assert_allclose(impulse, [0.1, *expected], rtol=0.0, atol=1e-9)


def pile(ratio):
    """A light plate on the floor, and on it a heavy one, on the same four corners; both lie still."""
    corners = np.array([[0.1, 0.1], [0.1, -0.1], [-0.1, 0.1], [-0.1, -0.1]])
    axes = np.tile(AXES, (4, 1, 1))

    def rows_at(height):
        place = np.c_[corners, np.full(4, height)]
        return np.concatenate([axes, np.cross(place[:, None, :], axes)], axis=2).reshape(-1, 6)

    below, above = rows_at(-0.03), rows_at(0.03)
    rows = np.zeros((24, 12))
    rows[:12, :6], rows[12:, :6], rows[12:, 6:] = below, -above, below
    mass = np.zeros((12, 12))
    mass[:6, :6] = np.diag([1.0, 1.0, 1.0, 3e-3, 4e-3, 5e-3])
    mass[6:, 6:] = ratio * mass[:6, :6]
    velocity = np.zeros(12)
    velocity[[2, 8]] = -FALL
    return DenseProblem(mass, rows, velocity, 0.5)


@pytest.mark.parametrize("ratio", [1e-8, 1e-3, 1.0, 1e3, 1e5])
def test_a_pile_has_even_loads(ratio, solve):
    """All eight corners alike, by symmetry: a quarter of what rests on them."""
    impulse, info = solve(pile(ratio))
    assert info.status is Status.CONVERGED
    expected = 0.25 * FALL * np.repeat([1.0 + ratio, ratio], 4)
    np.testing.assert_allclose(impulse[::3], expected, rtol=1e-6)


@pytest.mark.parametrize("ratio", [1e10, 1e11])
def test_where_rounding_decides_which_rows_depend_the_answer_is_ambiguous(ratio, solve, residual_of):
    """The compliance of the light plate's pads is rounding beside the mobility of others: what rests still rests."""
    problem = pile(1.0 / ratio)
    impulse, info = solve(problem)
    assert info.status is Status.AMBIGUOUS
    assert residual_of(problem, impulse) < 1e-6 * FALL


@pytest.mark.parametrize("slide", [0.0, 0.02])
@pytest.mark.parametrize("is_first", [False, True])
def test_a_part_that_is_lost_changes_nothing_of_others(is_first, slide, solve):
    """A plate beside a pile of which rounding hides the loads has those that it has alone, from any guess."""
    random = np.random.default_rng(5)
    alone, lost = plate(random, slide=slide, mu=0.2), pile(1e-10)
    expected, info = solve(alone)
    assert info.status is Status.CONVERGED
    kernel = np.linalg.svd(alone.matrix)[2][6:]
    moved = (
        expected + kernel.T @ (kernel @ (0.2 * FALL * random.normal(size=18))) if slide == 0.0 else expected
    )
    held, info = solve(lost)
    assert info.status is Status.AMBIGUOUS
    both = beside(lost, alone) if is_first else beside(alone, lost)
    for guess in (moved, 10.0 * FALL * random.normal(size=18)):
        impulse, info = solve(both, np.concatenate([held, guess] if is_first else [guess, held]))
        assert info.status is Status.AMBIGUOUS
        found = impulse[24:] if is_first else impulse[:18]
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-7 * np.abs(expected).max())


def test_of_many_contacts_any_loads_are_an_answer(solve):
    """From 24 contacts loads are not shared: a guess that solves the law stays."""
    problem = plate(np.random.default_rng(2), points=24)
    guess = np.linalg.lstsq(problem.matrix, -problem.free_velocity, rcond=1e-10)[0]
    kernel = np.linalg.svd(problem.matrix)[2][6:]
    guess += kernel.T @ (
        kernel @ np.where(np.arange(72) % 3 == 0, 0.1 * guess[0] * np.sin(np.arange(72)), 0.0)
    )
    impulse, info = solve(problem, guess)
    assert info.status is Status.CONVERGED
    np.testing.assert_allclose(impulse, guess, atol=1e-12 * FALL)
