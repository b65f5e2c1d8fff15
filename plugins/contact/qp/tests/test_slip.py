"""The search for slip speeds: contractions in a few rounds, and stretches on which its secants say nothing."""

from __future__ import annotations

import numpy as np
import pytest

from corekit_qp.slip import SlipSearch


def rounds(answer, start, tolerance, most=100):
    """How many proposals until γ(σ) − σ is within the tolerance."""
    search, sigma = SlipSearch(), start
    for k in range(most):
        gave = answer(sigma)
        if np.abs(gave - sigma).max() <= tolerance:
            return k
        sigma = search.next(sigma, gave)
        assert (sigma >= 0.0).all()
    return most


@pytest.mark.parametrize("seed", range(5))
def test_a_linear_map_of_five_contacts_is_solved_in_as_many_rounds_and_a_few(seed):
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(5, 5))
    matrix *= 0.9 / np.abs(np.linalg.eigvals(matrix)).max()
    fixed = random.uniform(1.0, 2.0, 5)
    assert rounds(lambda sigma: fixed + matrix @ (sigma - fixed), fixed + 0.05, 1e-9) <= 15


@pytest.mark.parametrize("place", [5e-6, 1.38e-5, 4e-5])
def test_a_creep_of_constant_rate_ends_where_it_turns(place):
    """γ(σ) − σ = ±c apart from a short stretch about the place, which plain rounds take place/c rounds to reach."""
    creep, width = 6e-8, 2e-7

    def answer(sigma):
        return sigma + creep * np.clip((place - sigma) / width, -1.0, 1.0)

    assert place / creep > 80
    assert rounds(answer, np.zeros(1), 2e-8) <= 80
