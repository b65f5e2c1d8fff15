"""What the solver reports: status, names, residuals, internal state."""

import numpy as np
import pytest

from corekit.data.status import Status
from corekit_lcp._spec import lcp
from corekit_lcp.config import Equilibration, LCPContactConfig, RankSelection, Regularisation
from corekit_lcp.residuals import measure_residuals
from corekit_testing.rounding import rounding

NOTHING = {
    "rank_selection": RankSelection(enabled=False),
    "equilibration": Equilibration(enabled=False),
    "regularisation": Regularisation(enabled=False),
}


def crushed(problem_of):
    """A point between two walls that approach each other: no velocity satisfies both."""
    rows = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [-1.0, 0, 0], [0, -1.0, 0], [0, 0, 1.0]])
    return problem_of(np.eye(3), rows, np.zeros(3), 0.5, stabilisation=[-1.0, 0, 0, -1.0, 0, 0])


def falling(problem_of):
    return problem_of(np.eye(3), np.eye(3), [-1.0, 0.3, 0.0], 0.5)


def test_infeasible_problem_ends_on_a_ray(problem_of, solver_of):
    impulse = np.zeros(6)
    info = solver_of().solve(crushed(problem_of), impulse)
    assert info.status is Status.RAY
    assert info.residuals.worst > 0.1
    assert np.isfinite(impulse).all()


def test_infeasible_problem_where_a_solver_merely_gave_up_is_inaccurate(problem_of, solver_of):
    info = solver_of(fallback=("quitter",)).solve(crushed(problem_of), np.zeros(6))
    assert info.status is Status.INACCURATE
    assert info.residuals.worst > 0.1


def test_first_answer_is_converged_and_named(problem_of, solver_of):
    info = solver_of().solve(falling(problem_of), np.zeros(3))
    assert (info.status, info.answered_by) == (Status.CONVERGED, "modes")
    info = solver_of(warm_start=False).solve(falling(problem_of), np.zeros(3))
    assert (info.status, info.answered_by) == (Status.CONVERGED, "lemke")
    info = solver_of(**NOTHING).solve(falling(problem_of), np.zeros(3))
    assert (info.status, info.answered_by) == (Status.CONVERGED, "lemke")


def test_fallback_is_recorded(problem_of, solver_of):
    impulse = np.zeros(3)
    info = solver_of(lcp_solver="refuses", fallback=("enumeration", "lemke"), warm_start=False).solve(
        falling(problem_of), impulse
    )
    assert (info.status, info.answered_by) == (Status.FALLBACK, "enumeration")
    np.testing.assert_allclose(impulse, [1.0, -0.3, 0.0], atol=1e-8)


def test_solver_that_lies_is_not_believed(problem_of, solver_of):
    info = solver_of(lcp_solver="refuses", warm_start=False).solve(falling(problem_of), np.zeros(3))
    assert not info.status.solved
    assert info.residuals.normal == pytest.approx(1.0)


def test_non_finite_problem_is_said_and_leaves_no_nan(problem_of, solver_of):
    impulse = np.zeros(3)
    problem = falling(problem_of)
    problem.free_velocity[1] = np.nan
    info = solver_of(fallback=("quitter",)).solve(problem, impulse)
    assert info.status is Status.NON_FINITE
    assert not impulse.any()


def certificate(problem, impulse, count=8):
    angle = 2 * np.pi * np.arange(count) / count
    directions = np.array([np.cos(angle), np.sin(angle)])
    return measure_residuals(
        problem.delassus(),
        problem.free_velocity,
        problem.friction,
        np.repeat(directions[None], problem.contact_count, axis=0),
        problem.lower,
        problem.upper,
        np.ones(problem.contact_count),
        np.ones(problem.contact_count),
        1.0,
        1.0,
        np.zeros(problem.contact_count, dtype=bool),
        np.array(impulse, float),
        np.zeros(count),
        np.zeros(problem.free_velocity.size),
    )


@pytest.mark.parametrize(
    ("impulse", "expected"),
    [
        ([1.0, -0.3, 0.0], (0.0, 0.0, 0.0)),  # the solution: sticks
        ([0.9, -0.3, 0.0], (0.1, 0.0, 0.0)),  # still approaching at 0.1 m/s
        ([1.2, -0.3, 0.0], (0.2, 0.0, 0.0)),  # pushes 0.2 m/s too far
        ([1.0, -0.2, 0.0], (0.0, 0.1, 0.0)),  # slides at 0.1 m/s below the friction bound
        (
            [1.0, -0.7, 0.0],
            (0.0, 0.7, 0.2),
        ),  # friction drives the slip, 0.2 N·s beyond its bound
        ([0.0, 0.0, 0.0], (1.0, 0.0, 0.0)),
    ],
)
def test_certificate_of_a_point_by_hand(impulse, expected, problem_of):
    normal, friction, cone, worst, kept = certificate(falling(problem_of), impulse)
    np.testing.assert_allclose((normal, friction, cone), expected, atol=rounding(32))
    assert worst == kept == max(normal, friction, cone)


def test_certificate_is_in_physical_units_whatever_the_scale(problem_of, solver_of):
    # the same problem in grams or tonnes: velocities equal, impulses scale with the mass
    for mass in (1e-3, 1.0, 1e3):
        problem = problem_of(mass * np.eye(3), np.eye(3), [-1.0, 0.9, 0.0], 0.5)
        impulse = np.zeros(3)
        info = solver_of().solve(problem, impulse)
        assert info.status is Status.CONVERGED
        np.testing.assert_allclose(impulse / mass, [1.0, -0.5, 0.0], atol=1e-7)


def test_guess_becomes_lcp_variables_and_every_attempt_starts_from_it(problem_of, solver_of):
    velocity = np.array([-1.0, 0.3, 0, -2.0, 0, 0.4])
    problem = problem_of(np.eye(6), np.eye(6), velocity, 0.5)
    rigid = Regularisation(enabled=False)
    solver = solver_of(lcp_solver="refuses", warm_start=False, regularisation=rigid, aligned=False)
    solver.solve(problem, np.array([0.5, -0.1, 0.0, 0.0, 0.0, 0.0]))
    first, again = (guess.reshape(2, 10) for guess in solver._attempts.solvers[0].guesses)
    np.testing.assert_allclose(first, again, atol=rounding(16))
    first *= 2.0  # the unit of the problem: its largest free velocity is 2 m/s, its mobility 1/kg
    # λ_n, β along −t₁ (direction 4 of 8), γ = remaining slip
    np.testing.assert_allclose(first[0], [0.5, 0, 0, 0, 0, 0.1, 0, 0, 0, 0.2], atol=rounding(16))
    np.testing.assert_allclose(first[1], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0.4], atol=rounding(16))


def test_internal_state_is_that_of_the_lcp_solvers(problem_of, solver_of):
    solver = solver_of(lcp_solver="lemke", fallback=("refuses",))
    solver._attempts.solvers[1].guesses.append(None)
    memory = solver.internal_state()
    assert set(memory) == {"1/calls"}
    restored = solver_of(lcp_solver="lemke", fallback=("refuses",))
    restored.restore(memory)
    assert restored.internal_state()["1/calls"] == 1.0
    restored.restore({})
    assert restored.internal_state()["1/calls"] == 0.0


def test_problem_arrays_are_not_changed(problem_of, solver_of):
    problem = crushed(problem_of)
    before = problem.delassus().copy(), problem.free_velocity.copy(), problem.gap.copy()
    solver_of(fallback=("quitter",)).solve(problem, np.zeros(6))
    for was, now in zip(before, (problem.delassus(), problem.free_velocity, problem.gap), strict=True):
        np.testing.assert_array_equal(was, now)


def test_growing_and_shrinking_problems_do_not_disturb_each_other(problem_of, solver_of):
    rng = np.random.default_rng(0)
    problems = []
    for contacts in (1, 5, 2, 7, 3):
        rows = rng.normal(size=(3 * contacts, 3 * contacts + 1))
        problems.append(problem_of(np.eye(3 * contacts + 1), rows, rng.normal(size=3 * contacts + 1), 0.3))
    used = solver_of()
    for problem in problems + problems[::-1]:
        ours, fresh = np.zeros(problem.free_velocity.size), np.zeros(problem.free_velocity.size)
        used.solve(problem, ours)
        solver_of().solve(problem, fresh)
        np.testing.assert_array_equal(ours, fresh)


@pytest.mark.parametrize("count", [3, 5, 66])
def test_odd_or_excessive_directions_are_errors(count):
    with pytest.raises(ValueError, match="friction_directions"):
        LCPContactConfig(friction_directions=count)


def test_spec_says_that_an_lcp_solver_is_needed():
    assert lcp.provides == {"impulses", "anisotropic-coulomb", "compiled-form", "convex-friction"}
    assert "lcp_solvers" in lcp.requires
