"""Constants of sections against series, limits and tables of other derivations."""

import numpy as np
import pytest

from corekit.geometry.sections import ellipse, rectangle, tube
from corekit_testing.rounding import rounding


def membrane(height, width, terms=2001):
    """J of a rectangle as twice the volume under Prandtl's membrane, by the double sine series,

    J = (256·h·w/π⁶)·Σ Σ 1/(m²·n²·(m²/h² + n²/w²)),   m, n = 1, 3, 5, …; the rest is below 2/terms³ of it.
    """
    m = np.arange(1.0, terms, 2.0)
    each = (m[:, None] * m) ** 2 * ((m[:, None] / height) ** 2 + (m / width) ** 2)
    return 256.0 * height * width / np.pi**6 * np.sum(1.0 / each)


@pytest.mark.parametrize(("height", "width"), [(1.0, 1.0), (2.0, 1.0), (0.02, 0.002)])
def test_a_rectangle_twists_as_prandtls_membrane_says(height, width):
    found = rectangle(np.array([height, width]), np.array([width, height])).torsion
    assert found == pytest.approx(membrane(height, width), rel=1e-8)
    assert found[0] == found[1]


def test_a_square_and_a_strip_have_the_constants_of_the_tables():
    """0.140577015·a⁴ of a square; e·d³/3·(1 − 0.630249·d/e) of a strip, to rounding from e = 12·d on."""
    assert rectangle(np.ones(1), np.ones(1)).torsion == pytest.approx(0.14057701495515551, rel=1e-14)
    strip = rectangle(np.full(1, 1e3), np.ones(1)).torsion
    zeta = 1.0369277551433699  # ζ(5)
    assert strip == pytest.approx((1e3 - 192.0 / np.pi**5 * 31.0 / 32.0 * zeta) / 3.0, rel=rounding(50))


def test_an_ellipse_is_a_circle_where_its_axes_are_equal():
    one, hollow = np.array([0.7, 2.0]), tube(np.array([0.7, 2.0]))
    for found, expected in zip(ellipse(one, one), hollow, strict=True):
        np.testing.assert_allclose(found, expected, rtol=rounding(20))
    assert hollow.torsion == pytest.approx(hollow.inertia_y + hollow.inertia_z)


def test_a_thin_ellipse_twists_as_a_strip_of_its_thickness():
    """J → (1/3)·∫(thickness)³ dy = (1/3)·(2·b)³·a·∫(1 − s²)^(3/2) ds = π·a·b³, to order (b/a)²."""
    assert ellipse(np.ones(1), np.full(1, 1e-3)).torsion == pytest.approx(np.pi * 1e-9, rel=2e-6)


@pytest.mark.parametrize("poisson", [0.0, 0.3, 0.5])
def test_shear_coefficients_are_cowpers(poisson):
    """The formulas of his table; of a thin tube 2·(1 + ν)/(4 + 3·ν)."""
    one, nu = np.ones(1), poisson
    for section, expected in (
        (tube(one), 6 * (1 + nu) / (7 + 6 * nu)),
        (tube(one, 1 - 1e-5), 2 * (1 + nu) / (4 + 3 * nu)),
        (rectangle(one, 7.0 * one), 10 * (1 + nu) / (12 + 11 * nu)),
        (ellipse(2 * one, one), 12 * (1 + nu) * 4 * 13 / ((40 + 37 * nu) * 16 + (16 + 10 * nu) * 4 + nu)),
    ):
        assert section.shear_coefficients(nu)[0] == pytest.approx(expected, rel=1e-9)


def test_a_hollow_section_is_a_full_one_less_its_hole():
    whole, hole = tube(np.ones(2)), tube(np.array([0.3, 0.9]))
    hollow = tube(np.ones(2), np.array([0.3, 0.9]))
    for k in range(4):
        assert hollow[k] == pytest.approx(whole[k] - hole[k])
