"""One cantilever in four theories: each model tends to the answer of its own beam theory, at second order."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit_scenarios.cases.beam.answers import elastica_tip, frequencies
from corekit_scenarios.cases.beam.theories import (
    AXIAL,
    LENGTH,
    RADIUS,
    RIGIDITY,
    WEIGHT,
    modes_of,
    tip_of,
)

LOAD = 2.0 * RIGIDITY / LENGTH**2
GRAVITY = RIGIDITY / (WEIGHT * LENGTH**3)


def test_the_elastica_is_that_of_the_tables():
    """P·L²/(E·I) = 2: Bisshopp and Drucker (1945) give 0.4935 and 0.1606 of the length."""
    x, z = elastica_tip(LENGTH, RIGIDITY, 0.0, LOAD) / LENGTH
    assert (-z, 1.0 - x) == pytest.approx((0.4935, 0.1606), abs=1e-4)


def test_a_small_weight_bends_by_the_formula_of_the_cantilever():
    weight = 1e-3 * RIGIDITY / LENGTH**3
    assert elastica_tip(LENGTH, RIGIDITY, weight, 0.0)[1] == pytest.approx(
        -weight * LENGTH**4 / (8 * RIGIDITY), rel=1e-6
    )


def test_rotary_inertia_slows_a_beam_by_rayleighs_quotient():
    """To first order ω² falls by the share ρI·∫w′²/(ρA·∫w²): of the first mode 4.65/L²·I/A."""
    plain, heavy = (frequencies(LENGTH, RIGIDITY, WEIGHT, WEIGHT * share) for share in (0.0, 1e-8))
    assert 1.0 - (heavy[0] / plain[0]) ** 2 == pytest.approx(4.6478 * 1e-8 / LENGTH**2, rel=1e-3)


@pytest.mark.parametrize(("model", "sizes"), [("pcc", (4, 8)), ("der", (10, 20)), ("vine", (10, 20))])
def test_a_model_tends_to_its_theory_at_second_order(model, sizes):
    bent = elastica_tip(LENGTH, RIGIDITY, WEIGHT * GRAVITY, LOAD, AXIAL[model])
    slow, _ = frequencies(LENGTH, RIGIDITY, WEIGHT)
    place = [float(np.linalg.norm(tip_of(model, size, GRAVITY, LOAD) - bent)) for size in sizes]
    rate = [abs(modes_of(model, size)[0] - slow) for size in sizes]
    for errors in (place, rate):
        assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.35)


def test_strain_polynomials_reach_rayleighs_beam_with_four_coordinates():
    bent = elastica_tip(LENGTH, RIGIDITY, WEIGHT * GRAVITY, LOAD)
    slow, fast = frequencies(LENGTH, RIGIDITY, WEIGHT, WEIGHT * RADIUS**2 / 4)
    assert np.linalg.norm(tip_of("gvs", 3, GRAVITY, LOAD) - bent) < 1e-4 * LENGTH
    assert modes_of("gvs", 4)[:2] == pytest.approx([slow, fast], rel=1e-4)
