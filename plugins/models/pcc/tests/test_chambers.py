import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corekit_pcc.chambers import chamber_maps
from corekit_testing.rounding import rounding

LENGTHS = st.floats(-0.1, 0.1, allow_subnormal=False).map(lambda x: x if abs(x) > 1e-100 else 0.0)
"""Python's own powers refuse what underflows where it is rounded up."""


@given(LENGTHS, LENGTHS, LENGTHS, st.floats(0.01, 0.2))
def test_three_elongations_give_the_published_arc_parameters(l1, l2, l3, r):
    chamber, to_arc = chamber_maps(3, r)
    extension, bx, by = to_arc @ (l1, l2, l3)
    assert np.array_equal(chamber, np.eye(3))
    assert extension == pytest.approx((l1 + l2 + l3) / 3, abs=rounding(8, 0.3))
    assert bx == pytest.approx((l2 + l3 - 2 * l1) / (3 * r), abs=1e-13 / r)
    assert by == pytest.approx((l3 - l2) / (np.sqrt(3) * r), abs=1e-13 / r)
    # theory note 1.1: the subtended angle of the polar form
    square = l1**2 + l2**2 + l3**2 - l1 * l2 - l1 * l3 - l2 * l3
    assert (1.5 * r) ** 2 * (bx**2 + by**2) == pytest.approx(
        square, abs=rounding(24, 0.09)
    )  # six products up to 0.01 m² each


@given(st.integers(3, 12), st.floats(0.01, 0.2), st.floats(-3.0, 3.0), st.tuples(LENGTHS, LENGTHS, LENGTHS))
def test_elongations_follow_from_the_arc_and_its_least_squares_gives_it_back(c, r, angle, x):
    chamber, to_arc = chamber_maps(c, r, angle)
    psi = angle + 2 * np.pi * np.arange(c) / c
    design = np.column_stack([np.ones(c), -r * np.cos(psi), -r * np.sin(psi)])
    elongations = chamber @ x
    # the angles of the chambers, up to 10 rad, are rounded too
    assert design @ (to_arc @ x) == pytest.approx(elongations, abs=rounding(16, 0.3, 10.0))
    assert np.linalg.lstsq(design, elongations, rcond=None)[0] == pytest.approx(to_arc @ x, abs=1e-11)


@pytest.mark.parametrize("c", [3, 4, 6, 9])
def test_chamber_stiffness_sums_to_axial_ck_and_bending_half_ckr2(c):
    k, r = 265.0, 0.05
    chamber, to_arc = chamber_maps(c, r)
    per_arc = np.linalg.inv(to_arc)
    stiffness = per_arc.T @ (k * chamber.T @ chamber) @ per_arc
    assert stiffness == pytest.approx(
        np.diag([c * k, c / 2 * k * r**2, c / 2 * k * r**2]), abs=rounding(4 * c, c * k)
    )


def test_the_paper_arm_has_the_stiffness_of_the_note():
    chamber, to_arc = chamber_maps(3, 0.05)
    per_arc = np.linalg.inv(to_arc)
    stiffness = np.diag(265.0 * per_arc.T @ chamber.T @ chamber @ per_arc)
    assert stiffness == pytest.approx([795.0, 0.99375, 0.99375])
