"""The search for slip speeds: contractions in a few iterations, and intervals on which secants are useless."""

from __future__ import annotations

import numpy as np
import pytest

from corekit_qp.slip import SlipSearch


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
