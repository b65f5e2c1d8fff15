"""The search for slip speeds: contractions in a few iterations, and intervals on which secants are useless."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.registry.resolve import load_target, resolve
from corekit.roles.contact_scale import ScaledContactProblem
from corekit.roles.pyramid import pyramid_directions
from corekit_qp.programs import ReducedProgram
from corekit_qp.slip import SlipSearch
from corekit_testing.conformance.contact_problems import feasible


def iteration_count(slip_of, start, tolerance, limit=100):
    """Count the proposals until γ(σ) − σ is within the tolerance."""
    search, sigma = SlipSearch(), start
    for k in range(limit):
        slip = slip_of(sigma)
        if np.abs(slip - sigma).max() <= tolerance:
            return k
        sigma = search.propose(sigma, slip)
        assert (sigma >= 0.0).all()
    return limit


@pytest.mark.parametrize("seed", range(5))
def test_a_linear_map_of_five_contacts_takes_little_more_than_five_iterations(seed):
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(5, 5))
    matrix *= 0.9 / np.abs(np.linalg.eigvals(matrix)).max()
    fixed = random.uniform(1.0, 2.0, 5)
    assert iteration_count(lambda sigma: fixed + matrix @ (sigma - fixed), fixed + 0.05, 1e-9) <= 15


@pytest.mark.parametrize("root", [5e-6, 1.38e-5, 4e-5])
def test_a_residual_of_constant_size_ends_where_its_sign_changes(root):
    """γ(σ) − σ = ±c except near the root, which (1) without a step factor reaches in root/c iterations."""
    constant, width = 6e-8, 2e-7

    def slip_of(sigma):
        return sigma + constant * np.clip((root - sigma) / width, -1.0, 1.0)

    assert root / constant > 80
    assert iteration_count(slip_of, np.zeros(1), 2e-8) <= 80


def turning_map(slope, kink):
    """γ(σ) with γ(σ) − σ = −(1 + slope)·(σ − kink): (1) jumps from side to side of the kink and away from it."""
    return lambda sigma: kink - slope * (sigma - kink)


@pytest.mark.parametrize("slope", [1.5, 4.0])
def test_newton_s_step_ends_on_its_piece(slope):
    slip_of = turning_map(slope, np.array([0.7, 0.2]))
    newton = lambda sigma: sigma + (slip_of(sigma) - sigma) / (1.0 + slope)  # noqa: E731
    search, sigma = SlipSearch(), np.ones(2)
    for _ in range(2):
        sigma = search.propose(sigma, slip_of(sigma), newton)
    np.testing.assert_allclose(sigma, [0.7, 0.2], atol=1e-12)


def test_a_useless_newton_s_step_leaves_the_sequence_as_it_is():
    """A third of the proposals are trials at most; the others are those of a search without them."""
    random = np.random.default_rng(0)
    matrix = random.normal(size=(5, 5))
    matrix *= 0.9 / np.abs(np.linalg.eigvals(matrix)).max()
    fixed = random.uniform(1.0, 2.0, 5)
    wrong = np.full(5, 9.0)
    plain, tried = SlipSearch(), SlipSearch()
    one = other = fixed + 0.05
    for _ in range(8):
        one = plain.propose(one, fixed + matrix @ (one - fixed))
        other = tried.propose(other, fixed + matrix @ (other - fixed), lambda _: wrong)
        if other is wrong:
            other = tried.propose(other, fixed + matrix @ (other - fixed), lambda _: wrong)
        np.testing.assert_array_equal(one, other)


def slope_of_slip_is_that_of_differences(seed):
    """Whether it could be asked: nothing is where a shift is cut off at 0, on which rounding decides."""
    random = np.random.default_rng(seed)
    problem = feasible(random, 4, 0.8)
    solver = load_target(resolve("qp_solvers", "banded").target)(
        load_target(resolve("qp_solvers", "banded").config)()
    )
    directions = pyramid_directions(3, 8)[None].copy()
    program = ReducedProgram(ScaledContactProblem(), problem, np.zeros(12), directions, 1e-12)
    sigma = program.solve_shifted(solver, np.full(4, 0.1)).slip.copy()
    slip = program.solve_shifted(solver, sigma).slip.copy()
    assert program.newton is not None
    found = program.newton(sigma)
    if not slip.any() or not (found > 0.0).all():
        return False
    step = found - sigma
    share = 1e-6
    ahead = program.solve_shifted(solver, sigma + share * step).slip.copy()
    # (I − ∂γ/∂σ)·Δ = γ − σ where something slides
    slides = slip > 0.0
    np.testing.assert_allclose((step - (ahead - slip) / share)[slides], (slip - sigma)[slides], atol=1e-6)
    return True


def test_the_slope_of_the_slip_speeds_is_that_of_differences():
    """On a piece the step solves γ(σ + Δ) = σ + Δ with Δ to first order: γ is measured a little ahead along Δ."""
    assert sum(slope_of_slip_is_that_of_differences(seed) for seed in range(14)) >= 7
