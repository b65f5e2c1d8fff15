"""The methods of the search one by one: what the others would make up for."""

import numpy as np
import pytest

from corekit_cone.compliant import _respond_by_law
from corekit_cone.interior_point import begin_interior, interior_step
from corekit_cone.newton import assemble_newton
from corekit_cone.residuals import set_scales
from corekit_testing.conformance.contact_problems import feasible
from corekit_testing.rounding import rounding

NONE = np.zeros(0)


def alart_curnier(problem, impulse):
    """F of Alart and Curnier as velocities, ρ_n = 1/W_nn and ρ_t = 2/tr W_tt."""
    velocity, found = problem.relative(impulse), []
    mobility = problem.matrix.diagonal().reshape(-1, 3)
    for c, mu in enumerate(problem.friction):
        mine, k = slice(3 * c, 3 * c + 3), np.array([mobility[c, 0], *(2 * [mobility[c, 1:].mean()])])
        y = impulse[mine] - velocity[mine] / k
        radius, size = mu * max(y[0], 0.0), np.linalg.norm(y[1:])
        wanted = np.concatenate([[max(y[0], 0.0)], y[1:] * min(1.0, radius / size)])
        found.append((impulse[mine] - wanted) * k)
    return np.concatenate(found)


@pytest.mark.parametrize("seed", range(8))
def test_newton_s_step_removes_the_equations_to_first_order(seed):
    """F(λ) + F'(λ)·Δ = 0 with F' along Δ by central differences, where contacts open, stick and slide."""
    random = np.random.default_rng(seed)
    problem = feasible(random, 6, 0.5)
    impulse = 0.3 * random.normal(size=18)
    scales, index, step, shifted = np.zeros((2, 6)), np.zeros(18, dtype=np.int64), np.zeros(18), np.zeros(18)
    set_scales(problem.matrix.diagonal().copy(), problem.free_velocity, NONE, NONE, 3, scales[0], scales[1])
    matrix, rhs = np.zeros((18, 18)), np.zeros(18)
    count = assemble_newton(
        problem.matrix, 3, problem.friction, NONE, NONE, scales[0], impulse, problem.relative(impulse), 0.0,
        index, step, shifted, matrix, rhs,
    )  # fmt: skip
    step[index[:count]] = np.linalg.solve(matrix[:count, :count], rhs[:count])
    h = 1e-7 / np.abs(step).max()
    ahead, behind = (alart_curnier(problem, impulse + sign * h * step) for sign in (1.0, -1.0))
    value = alart_curnier(problem, impulse)
    size = np.abs(problem.matrix).max() * np.abs(impulse).max()
    # a difference of F over 2·h; the third derivative of the projection adds 1e-14/|y|² of the step
    noise = rounding(64, size) / h + 1e-9 * np.abs(value).max()
    np.testing.assert_allclose((ahead - behind) / (2.0 * h), -value, atol=noise)


@pytest.mark.parametrize("seed", range(6))
def test_the_central_path_alone_leads_to_coulomb_s_law_and_not_to_its_relaxation(seed, residual_of):
    """The relaxation lifts what slides at s by μ·s, so that its natural residual is of that size.

    The path only has to come near, since Newton's method ends the search: within a thousandth of that lift.
    """
    random = np.random.default_rng(seed)
    problem = feasible(random, 4, 0.4)
    impulse = follow_path(problem, -np.ones(4))
    loaded = impulse[::3] > 1e-6
    slip = np.linalg.norm(problem.tangential(problem.relative(impulse)), axis=1)[loaded]
    lift = 0.4 * slip.max()
    assert lift > 1e-2
    assert residual_of(problem, impulse) <= 1e-3 * lift


@pytest.mark.parametrize("seed", range(6))
def test_with_given_slips_the_central_path_ends_at_the_convex_program(seed):
    """K* ∋ w + μ·s·n ⊥ λ ∈ K for any s ≥ 0, by the dual cone and the inner product."""
    random = np.random.default_rng(seed)
    problem, slip = feasible(random, 4, 0.4), random.uniform(0.0, 1.0, 4)
    impulse = follow_path(problem, slip)
    velocity = problem.relative(impulse).reshape(-1, 3)
    velocity[:, 0] += 0.4 * slip
    load = impulse.reshape(-1, 3)
    assert (np.linalg.norm(load[:, 1:], axis=1) <= 0.4 * load[:, 0] + 1e-9).all()
    assert (0.4 * np.linalg.norm(velocity[:, 1:], axis=1) <= velocity[:, 0] + 1e-6).all()
    np.testing.assert_allclose(np.einsum("ci,ci->c", load, velocity), 0.0, atol=1e-6)


def follow_path(problem, slip, steps=40):
    """λ at the end of the central path."""
    rows, contacts = len(problem.free_velocity), problem.contact_count
    scales, work = np.zeros((2, contacts)), np.zeros((13, rows))
    index, order = np.zeros(rows, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    set_scales(problem.matrix.diagonal().copy(), problem.free_velocity, NONE, NONE, 3, scales[0], scales[1])
    count, energy = begin_interior(
        problem.free_velocity,
        3,
        problem.friction,
        NONE,
        NONE,
        scales[0],
        index,
        work[0],
        work[1],
        work[2],
        work[3],
    )
    for _ in range(steps):
        alpha, gap = interior_step(
            problem.matrix, problem.free_velocity, 3, problem.friction, NONE, NONE, energy, slip, index, count, order,
            work, np.zeros((rows, rows)),
        )  # fmt: skip
        if gap < 1e-18 or alpha < 1e-6:
            break
    return work[0] * work[1]


@pytest.mark.parametrize("width", [2, 3])
def test_the_slope_of_compliant_contacts_is_that_of_their_impulses(width):
    """C = −∂λ/∂w by central differences, where contacts are open, stick and slide; linear in w in all but sliding."""
    contacts, random = 60, np.random.default_rng(width)
    friction, rho = random.uniform(0.2, 1.0, contacts), random.uniform(0.5, 2.0, contacts)
    center, velocity = random.normal(size=(2, contacts * width))

    def respond(at):
        impulse, slope = np.empty(contacts * width), np.empty((contacts, width, width))
        _respond_by_law(width, friction, rho, center, at, impulse, slope)
        return impulse.reshape(contacts, width), slope

    impulse, slope = respond(velocity)
    sizes = np.linalg.norm(impulse[:, 1:], axis=1)
    slides = (impulse[:, 0] > 0.0) & np.isclose(sizes, friction * impulse[:, 0], rtol=1e-12)
    assert 5 < slides.sum() < (impulse[:, 0] > 0.0).sum() < contacts - 5
    h = 1e-6
    for j in range(width):
        ahead, behind = (respond(velocity + sign * h * (np.arange(contacts * width) % width == j))[0]
                         for sign in (1.0, -1.0))  # fmt: skip
        # the third derivative of a unit vector at |y| ≥ 0.05 adds h²/0.05², rounding 1e-16/h
        np.testing.assert_allclose((behind - ahead) / (2.0 * h), slope[:, :, j], atol=1e-8)
