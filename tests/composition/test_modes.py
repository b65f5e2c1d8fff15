"""Natural frequencies of beams against Euler and Bernoulli's, and of a column up to its critical load."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit.scenario.load import load
from corekit_statics.scenario_modes import find_modes

ROOTS = np.array([1.8751040687, 4.6940911330, 7.8547574382])
"""Of cos(x)·cosh(x) = −1."""
LENGTH, RADIUS, YOUNG, DENSITY = 0.4, 0.004, 39788735.77297383, 994.7183943243459
FREQUENCIES = (ROOTS / LENGTH) ** 2 * math.sqrt(YOUNG * RADIUS**2 / 4 / DENSITY) / (2 * math.pi)


def frequencies(model, *overrides):
    scenario = load(f"beam/{model}", ["world.gravity=[0.0, 0.0, 0.0]", *overrides])
    return find_modes(scenario, at=0.0, count=3).modes.frequencies


def test_a_rod_of_edges_nears_beam_theory_with_the_square_of_their_length():
    errors = [
        np.abs(frequencies("der", f"bodies[0].options.limbs[0].nodes={n}") / FREQUENCIES - 1)
        for n in (41, 81)
    ]
    np.testing.assert_allclose(errors[0] / errors[1], 4.0, rtol=0.1)


def test_a_strain_basis_has_the_frequencies_that_it_can_represent():
    """Rotary inertia, which the theory leaves out, lowers ω² by the order of (k·r/2)², with k the wave number."""
    wave = ROOTS[:2] / LENGTH * RADIUS / 2
    assert (np.abs(frequencies("gvs")[:2] / FREQUENCIES[:2] - 1) < wave**2 + 1e-4).all()


def test_a_column_loses_its_first_frequency_at_eulers_load():
    """A load P along the axis at the tip: stable with a frequency below P = π²·E·I/(4·L²), growing above it."""
    euler = math.pi**2 * YOUNG * math.pi * RADIUS**4 / 4 / (4 * LENGTH**2)
    found = []
    for share in (0.99, 1.01):
        pushed = f'bodies[0].inputs=[{{channel="force-tip", signal=[{-share * euler}, 0.0, 0.0]}}]'
        scenario = load("beam/der", ["world.gravity=[0.0, 0.0, 0.0]", pushed])
        found.append(find_modes(scenario, at=0.0, count=1))
    assert [str(each.equilibrium.stability).split()[0].rstrip(",") for each in found] == [
        "stable",
        "unstable",
    ]
    # the square of the frequency falls almost in proportion to the load
    assert found[0].modes.squares[0] == pytest.approx(-found[1].modes.squares[0], rel=0.2)
