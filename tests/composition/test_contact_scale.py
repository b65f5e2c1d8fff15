"""Contact solvers in worlds of every scale: answers of slow and fast ones, of light and heavy ones are the same.

A problem with velocities s·w₀ and m·W has the impulses (s/m)·λ. What solvers do must not depend on s and m: they need
the same iterations and leave the same residual relative to the problem, which they judge by.
"""

import numpy as np
import pytest

from corekit.data.status import Status
from corekit.roles.options import ComponentRef
from corekit_scenarios.cases.cusp.random_contacts import build
from corekit_testing.conformance.contact_problems import DenseProblem, crushed, feasible, point_mass

TOLERANCE = 1e-9
SOLVERS = {
    "lemke": ("lcp", {"fallback": ()}),
    "pgs": ("lcp", {"lcp_solver": "pgs", "fallback": ()}),
    "semismooth-newton": ("lcp", {"lcp_solver": "semismooth-newton", "fallback": ()}),
    "chain": ("lcp", {"lcp_solver": ComponentRef("chain", {"solvers": ("pgs", "lemke")}), "fallback": ()}),
    "aligned": ("lcp", {"aligned": True, "fallback": ()}),
    "spread": ("lcp", {"spread": True, "fallback": ()}),
    "qp": ("qp", {"aligned": False}),
    "relaxed": ("qp", {"friction": "relaxed", "aligned": False}),
    "qp, aligned": ("qp", {"aligned": True}),
    "relaxed, aligned": ("qp", {"friction": "relaxed", "aligned": True}),
    "cone": ("cone", {}),
}
TIES = ("qp, aligned", "relaxed, aligned")
"""The directions on either side of the slip are as far from it: rounding decides which enters a program first."""
SCALES = [(1e-6, 1.0), (1e6, 1.0), (1.0, 1e-6), (1.0, 1e6), (1e-6, 1e6), (1e6, 1e-6), (3e-3, 7e4)]


def scaled(problem, s, m):
    """The problem with velocities times s and mobilities times m."""
    rows, mass = problem.rows, problem.mass / m
    shift = s * (problem.free_velocity - rows @ problem.velocity)
    bounds = np.column_stack([problem.lower, problem.upper]) * (s / m)
    return DenseProblem(
        mass, rows, s * problem.velocity, problem.friction, width=problem.rows_per_contact, bounds=bounds,
        stabilisation=shift,
    )  # fmt: skip


def problems():
    """Whose free velocities and mobilities are of the size of 1."""
    random = np.random.default_rng(4)
    yield point_mass([-1.0, 0.9, 0.3], 0.4, mass=1.0)
    yield point_mass([-1.0, 0.1], 0.4, mass=1.0, width=2)
    yield point_mass([-1.0, 0.9, 0.3], 0.4, mass=1.0, copies=3)
    for count, mu, bounds in (
        (1, 0.5, ()),
        (4, 0.6, ()),
        (3, 0.0, ((-0.1, 0.1), (-np.inf, 0.02))),
        (2, 0.3, ((-0.05, 0.05), (0.2, 0.5))),
        (8, 0.4, ()),
    ):
        yield feasible(random, count, mu, bounds)


PROBLEMS = list(problems())
COPIED = PROBLEMS[2]


def answer(solver, problem, guess=None):
    impulse = np.zeros(len(problem.free_velocity)) if guess is None else guess.copy()
    return impulse, solver.solve(problem, impulse)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("number", range(len(PROBLEMS)))
def test_answers_iterations_and_relative_residuals_are_those_of_every_scale(name, number):
    """To rounding, which the condition of these problems, below 10³, multiplies."""
    use, options = SOLVERS[name]
    problem = PROBLEMS[number]
    cold, said = answer(build("contact_solvers", ComponentRef(use, options)), problem)
    warm_start = cold * np.linspace(0.9, 1.1, len(cold))
    warm, said_again = answer(build("contact_solvers", ComponentRef(use, options)), problem, warm_start)
    for s, m in SCALES:
        other, unit = scaled(problem, s, m), s / m
        for base, info, guess in ((cold, said, None), (warm, said_again, warm_start * unit)):
            impulse, report = answer(build("contact_solvers", ComponentRef(use, options)), other, guess)
            assert report.status == info.status
            assert name in TIES or report.iterations == info.iterations
            assert report.answered_by == info.answered_by
            speed, load = problem.relative(base), max(1.0, np.abs(base).max())
            np.testing.assert_allclose(problem.relative(impulse / unit), speed, rtol=0, atol=1e-12 * load)
            if problem is not COPIED:  # whose impulses are not determined
                np.testing.assert_allclose(impulse / unit, base, rtol=0, atol=1e-12 * load)
            # judged in the problem whose speeds and masses are of the size of 1
            assert info.status.solved
            if options.get("friction") != "relaxed":
                assert problem.normal_error(impulse / unit) <= 20 * TOLERANCE
                assert problem.friction_error(impulse / unit) <= 20 * TOLERANCE


@pytest.mark.parametrize("name", [name for name in SOLVERS if SOLVERS[name][1].get("friction") != "relaxed"])
@pytest.mark.parametrize(("s", "m"), SCALES)
def test_contradictions_are_solved_at_no_scale(name, s, m):
    use, options = SOLVERS[name]
    problem = scaled(crushed(0.5), s, m)
    impulse, info = answer(build("contact_solvers", ComponentRef(use, options)), problem)
    assert not info.status.solved
    assert info.residuals.normal >= 0.1 * min(s, np.abs(impulse).max())


@pytest.mark.parametrize("name", SOLVERS)
def test_where_nothing_closes_nothing_is_left_of_a_guess(name):
    """w₀ = 0, or opening normals: the problem has no scale, and its answer is zero."""
    use, options = SOLVERS[name]
    for velocity in ([0.0, 0.0, 0.0], [0.3, 0.0, 0.0]):
        problem = point_mass(velocity, 0.4)
        guess = np.array([0.1, 0.02, 0.0])
        impulse, info = answer(build("contact_solvers", ComponentRef(use, options)), problem, guess)
        assert info.status is Status.CONVERGED
        np.testing.assert_array_equal(impulse, 0.0)


def test_one_scale_rules_a_problem():
    """A slow contact beside a fast one is solved to the tolerance times the speed of the fast one, not of its own."""
    slow, fast = 1e-6, 1.0
    rows, velocity = np.eye(6), np.array([-slow, 0.3 * slow, 0.0, -fast, 0.0, 0.0])
    problem = DenseProblem(np.diag([1e-3] * 3 + [1e3] * 3), rows, velocity, 0.5)
    for use, options in SOLVERS.values():
        if options.get("friction") == "relaxed":
            continue
        impulse, info = answer(build("contact_solvers", ComponentRef(use, options)), problem)
        assert info.status.solved
        assert np.abs(problem.after(impulse)).max() <= 20 * TOLERANCE * fast
