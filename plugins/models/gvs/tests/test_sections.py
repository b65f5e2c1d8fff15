"""Sections of soft links: twist by Saint-Venant's constant, shear by Cowper's coefficients, holes."""

import numpy as np
import pytest
from scipy.linalg import eigh

from corekit.errors import ConfigError
from corekit_gvs.config import Basis, Division, Link, Load
from corekit_testing.rounding import rounding

from .robots import Robot

LENGTH, YOUNG, POISSON, DENSITY = 0.1, 1e6, 0.45, 1000.0
SHEAR = 0.5 * YOUNG / (1 + POISSON)
STRIP = {"section": "rectangle", "height": 0.02, "width": 0.002}
STRIP_J = 0.02 * 0.002**3 * (1 - 0.630249 * 0.1) / 3  # its rest is of order e^(−10·π)


def rod(section, *strain):
    link = Link.soft(
        "rod", length=LENGTH, young=YOUNG, poisson=POISSON, density=DENSITY, strain=strain, **section
    )
    return Robot((link,), loads=(Load(name="tip", at="rod.tip"),))


def work(robot, wrench):
    """Work of a small wrench at the tip on the displacement that it causes, from the rest shape on [J]."""
    stiffness = robot.tangent()[0]
    _, force = robot.at(inputs=wrench).dynamics()
    return force @ np.linalg.solve(stiffness, force)


@pytest.mark.parametrize(
    ("section", "torsion"),
    [
        (STRIP, STRIP_J),
        ({"section": "ellipse", "height": 0.01, "width": 0.001}, np.pi * 1e-15 / (1e-4 + 1e-6)),
        ({"radius": 0.01}, 0.5 * np.pi * 1e-8),
        ({"radius": 0.01, "inner_radius": 0.009}, 0.5 * np.pi * (1e-8 - 0.009**4)),
    ],
)
def test_a_torque_twists_a_rod_by_saint_venants_constant(section, torsion):
    """T·L/(G·J): 0.058 rad of a strip of 20 × 2 mm by 10 µN·m, 27 times what its polar moment would give."""
    torque = 1e-5
    found = work(rod(section, Basis.constant("torsion")), np.array([torque, 0, 0, 0, 0, 0]))
    assert found == pytest.approx(torque**2 * LENGTH / (SHEAR * torsion), rel=1e-6)


def test_a_strip_rings_in_twist_with_the_inertia_of_its_polar_moment():
    """f = √(G·J/(ρ·I_p))/(4·L) = 8.94 Hz: what twists is the polar moment, what resists is not."""
    robot = rod(STRIP, Basis.legendre(4, "torsion"))
    lowest = np.sqrt(eigh(robot.tangent()[0], robot.dynamics()[0], eigvals_only=True)[0]) / (2 * np.pi)
    polar = 0.02 * 0.002 * (0.02**2 + 0.002**2) / 12
    assert lowest == pytest.approx(np.sqrt(SHEAR * STRIP_J / (DENSITY * polar)) / (4 * LENGTH), rel=1e-6)
    assert lowest == pytest.approx(8.94, abs=5e-3)


@pytest.mark.parametrize(
    ("section", "area", "inertia", "coefficient"),
    [
        (
            {"section": "rectangle", "height": 0.03, "width": 0.02},
            6e-4,
            0.03 * 0.02**3 / 12,
            10 * 1.45 / (12 + 11 * 0.45),
        ),
        ({"radius": 0.02}, np.pi * 4e-4, np.pi * 0.02**4 / 4, 6 * 1.45 / (7 + 6 * 0.45)),
    ],
)
def test_a_tip_force_bends_and_shears_a_timoshenko_beam(section, area, inertia, coefficient):
    """F·L³/(3·E·I) + F·L/(k·G·A)."""
    robot = rod(section, Basis.legendre(1, "bend-y"), Basis.constant("shear-z"))
    found = work(robot, np.array([0.0, 0, 0, 0, 0, 1.0]))
    expected = LENGTH**3 / (3 * YOUNG * inertia) + LENGTH / (coefficient * SHEAR * area)
    assert found == pytest.approx(expected, rel=rounding(100, robot.size))


def test_viscosity_resists_twist_and_shear_with_the_same_shape():
    """Kelvin and Voigt: Υ is what Σ says of the section's shape, so that D = (η/G)·K in twist and shear."""
    strain = (Basis.constant("torsion", "shear-z"),)
    link = Link.soft("rod", young=YOUNG, poisson=POISSON, viscosity=30.0, strain=strain, **STRIP)
    K, D = Robot(link).tangent()
    np.testing.assert_allclose(D, 30.0 / SHEAR * K, rtol=rounding(20))


def test_a_hole_must_fit_into_a_circle():
    with pytest.raises(ConfigError, match=r"inner_radius.*below the radius"):
        Robot(Link.soft("rod", radius=(0.01, -0.005), inner_radius=0.006))
    with pytest.raises(ConfigError, match="inner_radius"):
        Division(section="rectangle", inner_radius=0.001)
