"""Solutions against elementary mechanics, against other methods, and against the natural map in NumPy."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from corekit.data.status import Status
from corekit_testing.conformance.contact_problems import DenseProblem, crushed, feasible, point_mass
from corekit_testing.rounding import rounding

INF = np.inf
FALL = 9.81e-2
unhurried = settings(
    deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def on_slope(slope, heading, mu, copies=1):
    """2 kg at rest on a slope, one step of gravity; rows are normal, t₁, t₂, pull along `heading`."""
    pull = FALL * np.sin(slope)
    velocity = [-FALL * np.cos(slope), pull * np.cos(heading), pull * np.sin(heading)]
    return point_mass(velocity, mu, copies=copies)


@pytest.mark.parametrize("heading", 2.0 * np.pi * np.arange(16) / 16)
@pytest.mark.parametrize("copies", [1, 4])
def test_a_slope_is_slipped_alike_in_every_heading(heading, copies, solve):
    mu = 0.4
    for factor in (0.5, 0.9999, 1.0001, 2.0):
        slope = np.arctan(factor * mu)
        problem = on_slope(slope, heading, mu, copies)
        impulse, info = solve(problem, tolerance=1e-11)
        assert info.status is Status.CONVERGED
        slip = FALL * max(0.0, np.sin(slope) - mu * np.cos(slope))
        expected = [0.0, slip * np.cos(heading), slip * np.sin(heading)]
        np.testing.assert_allclose(problem.after(impulse), expected, atol=1e-10 * FALL)


@pytest.mark.parametrize("mass", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("speed", [1e-9, 1.0, 1e6])
def test_the_solution_scales_with_masses_and_speeds(mass, speed, solve):
    problem = point_mass([-speed, 0.6 * speed, 0.8 * speed], 0.5, mass=mass)
    impulse, info = solve(problem, tolerance=1e-11)
    assert info.status is Status.CONVERGED
    np.testing.assert_allclose(impulse / (mass * speed), [1.0, -0.3, -0.4], rtol=1e-9)


@pytest.mark.parametrize("speed", [1e-6, 1.0, 1e6])
def test_what_is_not_solved_is_not_said_to_be_at_any_scale(speed, solve):
    """Rounding leaves more than 1e-30, however small it is in m/s."""
    problem = redundant(np.random.default_rng(3), 12, 6, 0.8)
    problem.free_velocity *= speed
    _, info = solve(problem, max_iterations=1, tolerance=1e-30)
    assert info.status is Status.INACCURATE  # it has a solution, so that nothing proves the contrary
    _, info = solve(problem)
    assert info.status is Status.CONVERGED


def redundant(random, contacts, coordinates, mu, width=3):
    """Contacts on few coordinates, some near duplicates; friction cannot wedge: one motion opens all of them."""
    opening, rows = random.normal(size=coordinates), random.normal(size=(contacts, width, coordinates))
    for c in range(1, contacts):
        if random.random() < 0.4:
            rows[c] = rows[c - 1] + 10.0 ** random.uniform(-12, -2) * random.normal(size=(width, coordinates))
    away = rows @ opening
    rows[:, 0] *= np.sign(away[:, :1])
    cap = 0.9 * np.abs(away[:, 0]) / np.linalg.norm(away[:, 1:], axis=1)
    bias = np.zeros(width * contacts)
    bias[::width] = random.uniform(-0.5, 0.5, contacts)
    return DenseProblem(
        np.eye(coordinates), rows.reshape(-1, coordinates), random.normal(size=coordinates),
        np.minimum(mu, cap), width=width, stabilisation=bias,
    )  # fmt: skip


def bound_of(problem, tolerance):
    """The largest natural residual of a solved problem without bounded rows.

    e(ρ) = |λ − P_K(λ − ρ·ŵ)| grows with ρ, and e(ρ)/ρ does not. From e(ρ_c)/ρ_c ≤ tolerance·V with ρ_c = width/tr W_cc
    follows e(1) ≤ max(ρ_c, 1)·tolerance·V; V is at most the largest free velocity. w is a sum of as many terms as rows.
    """
    width, size = problem.rows_per_contact, np.abs(problem.free_velocity).max()
    traces = problem.matrix.diagonal().reshape(-1, width).sum(axis=1)
    noise = rounding(8 * len(problem.free_velocity), size + np.abs(problem.matrix).max())
    return max(1.0, width / traces.min()) * (tolerance * size + noise)


@unhurried
@given(
    seed=st.integers(0, 10**6),
    contacts=st.integers(1, 8),
    coordinates=st.integers(2, 10),
    mu=st.floats(0.0, 1.5),
    width=st.sampled_from([2, 3]),
)
def test_whatever_is_said_to_be_solved_satisfies_the_cone(
    seed, contacts, coordinates, mu, width, solve, residual_of
):
    problem = redundant(np.random.default_rng(seed), contacts, coordinates, mu, width)
    impulse, info = solve(problem)
    if info.status.solved:
        assert residual_of(problem, impulse) <= bound_of(problem, 1e-8)
    else:
        assert info.status is Status.INACCURATE
        assert info.residuals.worst > 0.0


@pytest.mark.parametrize("seed", range(40))
def test_random_contacts_of_independent_rows_are_solved(seed, solve, residual_of):
    random = np.random.default_rng(seed)
    problem = feasible(random, int(random.integers(1, 12)), float(random.uniform(0.0, 1.2)))
    for tolerance in (1e-6, 1e-8, 1e-11):
        impulse, info = solve(problem, tolerance=tolerance)
        assert info.status is Status.CONVERGED
        assert residual_of(problem, impulse) <= bound_of(problem, tolerance)


@pytest.mark.parametrize("seed", range(10))
def test_bounded_rows_and_contacts_hold_together(seed, solve, residual_of):
    random = np.random.default_rng(seed)
    bounds = [(0.0, INF), (-INF, 0.1), (-0.3, 0.2), (-INF, INF)]
    problem = feasible(random, 3, 0.5, bounds)
    impulse, info = solve(problem, tolerance=1e-11)
    assert info.status is Status.CONVERGED
    # a reference is a free velocity times the root of a ratio of mobilities, which is below 10 here
    mobility = problem.matrix.diagonal()
    assert 1.0 <= mobility.min() <= mobility.max() <= 100.0 * mobility.min()
    assert residual_of(problem, impulse) <= 10.0 * 1e-11 * np.abs(problem.free_velocity).max()


@pytest.mark.parametrize("seed", range(6))
def test_without_friction_the_velocity_is_that_of_gauss_s_principle(seed, solve):
    """min ½|v − v_f|² over J_n·v ≥ 0, by its dual, the non-negative least squares problem min |J_nᵀ·p + v_f|."""
    random = np.random.default_rng(seed)
    problem = redundant(random, 8, 5, 0.0)
    problem.free_velocity = problem.rows @ problem.velocity
    impulse, info = solve(problem, tolerance=1e-11)
    assert info.status is Status.CONVERGED
    normal = problem.rows[::3]
    best, _ = nnls(normal.T, -problem.velocity)
    np.testing.assert_allclose(problem.after(impulse), normal.T @ best + problem.velocity, atol=1e-8)


def test_a_guess_however_bad_leaves_the_velocity(solve):
    problem = feasible(np.random.default_rng(12), 4, 0.4)
    wanted = problem.after(solve(problem, tolerance=1e-11)[0])
    for size in (1.0, -3.0, 1e3, 1e9):
        guess = size * np.random.default_rng(13).normal(size=len(problem.free_velocity))
        impulse, info = solve(problem, guess, tolerance=1e-11)
        assert info.status is Status.CONVERGED
        np.testing.assert_allclose(problem.after(impulse), wanted, atol=1e-8)


def test_a_solution_as_guess_takes_one_iteration_at_most(solve):
    problem = redundant(np.random.default_rng(5), 6, 6, 0.5)
    impulse, _ = solve(problem)
    _, info = solve(problem, impulse)
    assert info.status is Status.CONVERGED
    assert info.iterations <= 1


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_walls_that_close_in_on_a_point_are_not_solved(mu, solve):
    impulse, info = solve(crushed(mu))
    assert info.status is Status.INFEASIBLE
    assert info.residuals.worst > 0.1
    assert np.isfinite(impulse).all()


def test_a_contact_that_nothing_can_move_and_that_closes_is_not_solved(solve):
    closing = np.array([-1.0, 0.0, 0.0])
    problem = DenseProblem(np.eye(3), np.zeros((3, 3)), np.zeros(3), 0.5, stabilisation=closing)
    _, info = solve(problem)
    assert info.status is Status.INFEASIBLE
    assert info.residuals.normal == pytest.approx(1.0)


def test_a_number_that_is_not_finite_is_named(solve):
    problem = point_mass([np.nan, 0.0, 0.0], 0.5)
    impulse, info = solve(problem)
    assert info.status is Status.NON_FINITE
    assert not impulse.any()


def test_a_frictionless_contact_that_parts_without_slip_has_no_error(solve):
    """The projection on a cone that is a ray: a point behind its tip and on its axis goes to the tip."""
    rows = np.eye(6)
    problem = DenseProblem(np.eye(6), rows, np.array([3.0, 0.0, 0.0, -1.0, 0.5, 0.0]), 0.0)
    impulse, info = solve(problem)
    assert info.status is Status.CONVERGED
    # it converges quadratically: beyond the tolerance of 1e-8 there is rounding alone
    assert info.residuals.worst <= 1e-8**1.5
    np.testing.assert_allclose(impulse, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], rtol=0, atol=1e-8**1.5)


def test_a_hundred_redundant_points_of_a_disk_brake_it_like_one(solve):
    """Six equations for three hundred impulses: it slides straight and does not turn, and loses μ·g·h."""
    angle, radius, height = 2.0 * np.pi * np.arange(100) / 100, 0.1, 0.02
    rows = np.zeros((100, 3, 6))
    for c, (x, y) in enumerate(radius * np.array([np.cos(angle), np.sin(angle)]).T):
        lever = np.array([[0.0, -height, -y], [height, 0.0, x], [y, -x, 0.0]])  # v + ω × (x, y, −height)
        rows[c, :, :3], rows[c, :, 3:] = np.eye(3)[[2, 0, 1]], lever[[2, 0, 1]]
    mass = np.diag([1.0, 1.0, 1.0, 3e-3, 3e-3, 5e-3])
    for slip in (1.0, 1e-3):
        direction = np.array([np.cos(0.7), np.sin(0.7)])
        velocity = np.concatenate([slip * direction, [-FALL, 0.0, 0.0, 0.0]])
        problem = DenseProblem(mass, rows.reshape(-1, 6), velocity, 0.3)
        impulse, info = solve(problem, tolerance=1e-11)
        assert info.status is Status.CONVERGED
        left = max(0.0, slip - 0.3 * FALL)
        np.testing.assert_allclose(problem.after(impulse)[:2], left * direction, atol=1e-9)
        np.testing.assert_allclose(problem.after(impulse)[2:], 0.0, atol=1e-8)
        assert impulse[::3].sum() == pytest.approx(FALL, rel=1e-9)


@pytest.mark.parametrize(
    ("impulse", "expected"),
    [
        ([1.0, -0.3, 0.0], (0.0, 0.0, 0.0)),  # the solution: sticks
        ([0.9, -0.3, 0.0], (0.1, 0.1, 0.0)),  # still closes at 0.1 m/s
        ([1.0, -0.2, 0.0], (0.0, 0.1, 0.0)),  # slides at 0.1 m/s inside of the cone
        ([1.0, -0.7, 0.0], (0.0, 0.7 - 0.3, 0.2)),  # friction drives the slip, 0.2 N·s outside
    ],
)
def test_the_residuals_of_a_point_are_those_found_by_hand(impulse, expected):
    """A unit mass that arrives at 1 m/s with a slip of 0.3 m/s, μ = 0.5; normal and cone, and friction at least."""
    from corekit_cone.residuals import measure_residuals

    problem, none = point_mass([-1.0, 0.3, 0.0], 0.5, mass=1.0), np.zeros(0)
    given = np.array(impulse)
    normal, friction, cone = measure_residuals(
        3, problem.friction, none, none, given, problem.relative(given)
    )
    np.testing.assert_allclose((normal, cone), (expected[0], expected[2]), atol=1e-15)
    assert friction >= expected[1] - 1e-15


def test_a_lever_that_wedges_has_the_root_of_its_equations(solve):
    """Painlevé's rod: W_nn − μ·W_nt is negative; sliding is impossible, and the contact sticks."""
    block = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    problem = DenseProblem(np.linalg.inv(block), np.eye(3), np.array([-1.0, 0.2, 0.0]), 1.5)
    impulse, info = solve(problem)
    assert info.status is Status.CONVERGED
    expected = -np.linalg.solve(block, [-1.0, 0.2, 0.0])
    assert np.hypot(*expected[1:]) <= 1.5 * expected[0]
    np.testing.assert_allclose(impulse, expected, rtol=1e-12)
