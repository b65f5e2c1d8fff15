"""The contact laws as properties: solved impulses obey them for all problems and options."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corekit.roles.pyramid import pyramid_directions
from corekit_lcp.config import Equilibration, RankSelection, Regularisation
from corekit_testing.rounding import rounding

unhurried = settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def redundant(rng, problem_of, contacts, coordinates, friction):
    """Contacts on few coordinates, some of them near-duplicates; frictions that cannot wedge: all open at once."""
    opening = rng.normal(size=coordinates)
    rows = rng.normal(size=(contacts, 3, coordinates))
    for c in range(1, contacts):
        if rng.random() < 0.4:
            rows[c] = rows[c - 1] + 10.0 ** rng.uniform(-12, -2) * rng.normal(size=(3, coordinates))
    away = rows @ opening
    rows[:, 0] *= np.sign(away[:, :1])
    cap = 0.9 * np.abs(away[:, 0]) / np.linalg.norm(away[:, 1:], axis=1)
    bias = np.zeros(3 * contacts)
    bias[::3] = rng.uniform(-0.5, 0.5, contacts)
    velocity = rng.normal(size=coordinates)
    flat = rows.reshape(-1, coordinates)
    return problem_of(np.eye(coordinates), flat, velocity, np.minimum(friction, cap), stabilisation=bias)


@unhurried
@given(
    seed=st.integers(0, 10**6),
    contacts=st.integers(1, 7),
    coordinates=st.integers(2, 9),
    count=st.sampled_from([4, 6, 8, 10, 12]),
    friction=st.floats(0.0, 1.5),
    letters=st.sampled_from(["", "q", "r", "t", "qr", "qt", "rt", "qrt"]),
    symmetric=st.booleans(),
    aligned=st.booleans(),
    spread=st.booleans(),
)
def test_solved_impulses_obey_complementarity_and_the_friction_cone(
    seed, contacts, coordinates, count, friction, letters, symmetric, aligned, spread, problem_of, solver_of
):
    rng = np.random.default_rng(seed)
    problem = redundant(rng, problem_of, contacts, coordinates, friction)
    solver = solver_of(
        friction_directions=count,
        aligned=aligned,
        spread=spread,
        rank_selection=RankSelection(enabled="q" in letters),
        equilibration=Equilibration(enabled="r" in letters, symmetric=symmetric),
        regularisation=Regularisation(enabled="t" in letters),
    )
    impulse = np.zeros(3 * contacts)
    info = solver.solve(problem, impulse)
    assert np.isfinite(impulse).all()
    w = (problem.delassus() @ impulse + problem.free_velocity).reshape(-1, 3)
    pushes = impulse.reshape(-1, 3)
    fault = np.abs(np.minimum(pushes[:, 0], w[:, 0])).max()
    assert fault == pytest.approx(info.residuals.normal, abs=1e-10)
    # the tolerance is 1e-9 of the largest free velocity, of impulses times their mobility
    mobility = np.diag(problem.delassus()).reshape(-1, 3).mean(axis=1)
    free = problem.free_velocity.reshape(-1, 3)
    allowed = 1e-9 * max(-free[:, 0].min(), np.abs(free[:, 1:]).max())
    if not info.status.solved:
        assert info.residuals.worst > allowed / max(1.0, mobility.max())
        return
    assert info.residuals.worst <= allowed / min(1.0, mobility.min())
    bound = problem.friction * pushes[:, 0]
    size = np.linalg.norm(pushes[:, 1:], axis=1)
    assert (size <= bound + 1e-8).all()
    # friction opposes sliding, and a contact that slides uses at least the friction of the inscribed pyramid
    speed = np.linalg.norm(w[:, 1:], axis=1)
    assert ((pushes[:, 1:] * w[:, 1:]).sum(axis=1) <= 1e-8 * (1.0 + speed)).all()
    sliding = speed > 1e-6
    assert (size[sliding] >= bound[sliding] * np.cos(np.pi / count) - 1e-7).all()


@unhurried
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([1e-3, 10.0, 1e4]))
def test_impulses_scale_with_the_mass_and_velocities_do_not(seed, scale, problem_of, solver_of):
    rng = np.random.default_rng(seed)
    rows, velocity = rng.normal(size=(9, 11)), rng.normal(size=11)
    light = problem_of(np.eye(11), rows, velocity, 0.1)
    heavy = problem_of(scale * np.eye(11), rows, velocity, 0.1)
    one, other = np.zeros(9), np.zeros(9)
    assert solver_of().solve(light, one).status.solved
    assert solver_of().solve(heavy, other).status.solved
    np.testing.assert_allclose(heavy.after(other), light.after(one), atol=1e-6)


def test_pyramid_lies_inside_the_cone_and_misses_at_most_its_inscribed_share():
    for count in (4, 6, 8, 10):
        corners = pyramid_directions(3, count)
        middle = 0.5 * (corners + np.roll(corners, -1, axis=1))
        np.testing.assert_allclose(np.linalg.norm(middle, axis=0), np.cos(np.pi / count), atol=rounding(24))
