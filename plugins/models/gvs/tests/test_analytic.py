"""Rods whose answers are closed forms: elastica, heavy elastica, circle, torsion, stretch, buckling, frequencies.

Figures: elliptic integrals and boundary value problems solved apart from this project's code, to 1e-13.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh, eigvalsh
from scipy.optimize import brentq

from corekit_gvs.cable_friction import SMOOTHING
from corekit_gvs.config import Basis, Cable, Division, GVSConfig, Link, Load

from .robots import Robot

ALL = ("torsion", "bend-y", "bend-z", "stretch", "shear-y", "shear-z")
LENGTH, RADIUS, YOUNG = 0.3, 0.015, 1e6
AREA, INERTIA = np.pi * RADIUS**2, np.pi * RADIUS**4 / 4
RIGIDITY = YOUNG * INERTIA


def arm(basis, points=8, follows=False, gravity=(0.0, 0.0, 0.0), **options):
    """The arm of case 5.1 as one division, with a wrench at its tip and a cable beside its axis."""
    link = Link.soft(
        "arm",
        length=LENGTH,
        radius=RADIUS,
        young=YOUNG,
        poisson=0.5,
        strain=(basis,),
        points=points,
        **options,
    )
    return Robot(
        GVSConfig(
            links=(link,),
            loads=(Load(name="tip", at="arm.tip", follows=follows),),
            cables=(Cable(name="side", link="arm", y=0.01),),
        ),
        gravity,
    )


def settle(robot, inputs):
    """Statics by Newton's method, in five load steps."""
    for share in (0.2, 0.4, 0.6, 0.8, 1.0):
        robot.at(inputs=share * np.asarray(inputs, dtype=float))
        for _ in range(30):
            _, force = robot.dynamics()
            move = np.linalg.solve(robot.tangent()[0], force)
            robot.state.q += move
            if np.abs(move).max() < 1e-13 * max(1.0, np.abs(robot.state.q).max()):
                break
        else:
            pytest.fail("Newton's method did not converge")
    return robot


def wrench(moment=(0, 0, 0), force=(0, 0, 0), tension=0.0):
    """Inputs in the order cable, load."""
    return np.array([tension, *moment, *force], dtype=float)


@pytest.mark.parametrize(
    ("alpha", "order", "x", "deflection"),
    [(1, 4, 0.9435667637166234, 0.3017207737998131), (10, 7, 0.4450044022462487, 0.8106090248802966)],
)
def test_dead_tip_load_bends_the_elastica_of_the_elliptic_integrals(alpha, order, x, deflection):
    """α = P·L²/(E·I); with a basis fine enough the error is that of the Magnus steps, of order 4."""
    load = alpha * RIGIDITY / LENGTH**2
    errors = []
    for points in (8, 16):
        robot = settle(arm(Basis.legendre(order, "bend-y"), points), wrench(force=(0, 0, load)))
        place = robot.place("arm.tip")[0] / LENGTH
        errors.append(np.hypot(place[0] - x, place[2] - deflection))
    assert errors[1] < errors[0] / 10
    assert errors[1] < 5e-6


@pytest.mark.parametrize(
    ("gamma", "x", "drop"),
    [(1.0, 0.9912463953467281, 0.12347140198341953), (5.0, 0.8466571799542212, 0.49590504462247625)],
)
def test_own_weight_bends_the_heavy_elastica(gamma, x, drop):
    """γ = ρ·A·g·L³/(E·I); with fem-quadratic the error of the place falls at least fourfold a halving."""
    gravity = gamma * RIGIDITY / (1000 * AREA * LENGTH**3)
    errors = []
    for elements in (1, 2, 4):
        robot = settle(arm(Basis.fem("quadratic", elements, "bend-y"), 4, gravity=(0, 0, -gravity)), wrench())
        place = robot.place("arm.tip")[0] / LENGTH
        errors.append(np.hypot(place[0] - x, place[2] + drop))
    assert errors[1] < errors[0] / 4
    assert errors[2] < errors[1] / 4
    assert errors[2] < 2e-5


def test_a_tip_moment_bends_a_circle_whatever_the_basis():
    kappa = 0.05 / RIGIDITY
    assert kappa == pytest.approx(1.2575205380100374, rel=1e-14)
    for basis in (Basis.constant(), Basis.chebyshev(2), Basis.hermite(2)):
        robot = settle(arm(basis, follows=True), wrench(moment=(0, 0, 0.05)))
        place, rotation = robot.place("arm.tip")
        np.testing.assert_allclose(place, [0.29293435720587946, 0.05592045097318884, 0], atol=1e-12)
        assert np.arctan2(rotation[1, 0], rotation[0, 0]) == pytest.approx(0.3772561614030112, abs=1e-12)


def test_torsion_and_stretch_follow_hooke():
    robot = settle(arm(Basis.constant("torsion")), wrench(moment=(0.01, 0, 0)))
    assert robot.state.q[0] == pytest.approx(0.11317684842090338, rel=1e-12)  # an angle over the division
    robot = settle(arm(Basis.constant("stretch")), wrench(force=(1, 0, 0)))
    assert robot.place("arm.tip")[0][0] - LENGTH == pytest.approx(0.0004244131815783876, rel=1e-9)


def test_a_parallel_cable_bends_a_circle():
    """T = 5 N at 0.01 m beside the axis is the moment 0.05 N·m; the rod is inextensible."""
    robot = settle(arm(Basis.legendre(3, "bend-z")), wrench(tension=5.0))
    place, _ = robot.place("arm.tip")
    np.testing.assert_allclose(place, [0.29293435720587946, 0.05592045097318884, 0], atol=1e-12)


def test_euler_s_load_makes_the_straight_rod_indifferent():
    """With the order of the Magnus steps: twice the points, more than ten times nearer."""
    errors = []
    for points in (8, 16):
        robot = arm(Basis.legendre(4, "bend-y"), points)

        def softest(load, robot=robot):
            return eigvalsh(robot.at(inputs=wrench(force=(-load, 0, 0))).tangent()[0])[0]

        errors.append(abs(brentq(softest, 0.5, 1.5, xtol=1e-12) / 1.0900644145417904 - 1))
    assert errors[1] < errors[0] / 10
    assert errors[1] < 5e-6


def test_frequencies_are_those_of_beam_theory():
    """Rotary inertia lowers bending by ½·(π·r/2L)²-like amounts; a thin rod has 2e-5 of it left."""
    thin = Link.soft(
        "arm", length=1.0, radius=0.002, young=1e6, poisson=0.5, strain=(Basis.legendre(6),), points=14
    )
    robot = Robot(thin)
    mass, _ = robot.dynamics()
    found = np.sqrt(eigh(robot.tangent()[0], mass, eigvals_only=True))
    bending = np.array([1.875104068711961, 4.694091132974175]) ** 2 * np.sqrt(1e6 * 0.002**2 / 4 / 1000)
    np.testing.assert_allclose(found[[0, 2]], bending, rtol=1e-4)
    np.testing.assert_allclose(found[[1, 3]], found[[0, 2]], rtol=1e-10)  # the same in both planes
    torsion = np.pi / 2 * np.sqrt(1e6 / 3 / 1000)
    assert np.abs(found / torsion - 1).min() < 1e-7
    robot = arm(Basis.legendre(4, "stretch"))
    mass, _ = robot.dynamics()
    lowest = np.sqrt(eigh(robot.tangent()[0], mass, eigvals_only=True)[0]) / (2 * np.pi)
    assert lowest == pytest.approx(26.352313834736496, rel=1e-6)


def test_damping_ratio_is_that_of_a_kelvin_voigt_beam():
    """η is in shear: ζ = 3·η·ω/(2·E) where the rod bends or stretches, η·ω/(2·G) where it twists."""
    thin = Link.soft(
        "arm",
        length=1.0,
        radius=0.002,
        young=1e6,
        poisson=0.5,
        viscosity=2e3,
        strain=(Basis.legendre(6),),
        points=14,
    )
    robot = Robot(thin)
    mass, _ = robot.dynamics()
    stiffness, damping = robot.tangent()
    squared, modes = eigh(stiffness, mass)
    ratio = np.einsum("ia,ij,ja->a", modes, damping, modes) / (2 * np.sqrt(squared))
    # with ν = ½, 3/E = 1/G
    np.testing.assert_allclose(ratio, 1.5 * 2e3 / 1e6 * np.sqrt(squared), rtol=1e-9)


@pytest.mark.parametrize(("wound", "limit"), [(5e-3, np.inf), (5e-3, 1.5), (-5e-3, np.inf)])
def test_a_wound_up_cable_stretches_in_series_with_the_rod(wound, limit):
    """u = T·(1/k + L/(E·A) + d²·L/(E·I)) where the cable runs beside the axis; let out, it is slack."""
    stiffness, offset = 300.0, 0.01
    link = Link.soft(
        "arm",
        length=LENGTH,
        radius=RADIUS,
        young=YOUNG,
        strain=(Basis.constant("bend-z", "stretch"),),
        points=4,
    )
    cable = Cable(name="side", link="arm", y=offset, drive="length", stiffness=stiffness, limit=limit)
    robot = settle(Robot(GVSConfig(links=(link,), cables=(cable,)), (0.0, 0.0, 0.0)), [wound])
    compliance = 1 / stiffness + LENGTH / (YOUNG * AREA) + offset**2 * LENGTH / RIGIDITY
    tension = min(max(wound / compliance, 0.0), limit)
    bending, stretch = tension * offset * LENGTH / RIGIDITY, -tension / (YOUNG * AREA)
    assert robot.state.q == pytest.approx([bending, stretch], rel=1e-9, abs=1e-15)
    (channel,) = robot.description.inputs
    assert (channel.name, channel.unit) == ("length-side", "m")


def test_friction_takes_from_the_bending_what_the_capstan_equation_says():
    """E·I·θ′ = d·T·exp(−μ·θ), so θ(L) = ln(1 + μ·d·T·L/(E·I))/μ, also where a cable runs through two divisions."""
    mu, offset, tension = 0.8, 0.01, 30.0
    half = {"length": 0.5 * LENGTH, "radius": RADIUS, "young": YOUNG, "poisson": 0.5}
    basis = Basis.legendre(4, "bend-z")
    cable = Cable(name="side", link="arm", y=offset, friction=mu)
    free = offset * tension * LENGTH / RIGIDITY
    expected = np.log(1.0 + mu * free) / mu
    assert expected < 0.8 * free
    for count in (1, 2):
        length = {"length": LENGTH / count}
        divisions = tuple(Division(**{**half, **length}, strain=(basis,), points=10) for _ in range(count))
        link = Link(name="arm", divisions=divisions)
        robot = settle(Robot(GVSConfig(links=(link,), cables=(cable,)), (0.0, 0.0, 0.0)), [tension])
        _, turned = robot.place("arm.tip")
        angle = np.arctan2(turned[1, 0], turned[0, 0])
        # ε along the link turns for nothing, and what is left of a fifth power series
        assert angle == pytest.approx(expected, abs=SMOOTHING * LENGTH * mu * free + 2e-5)


def test_friction_begins_at_the_base_whatever_the_order_in_which_divisions_are_named():
    """θ(s) = ln(1 + μ·d·T·s/(E·I))/μ at the half and at the end: the half at the base bends more."""
    mu, offset, tension = 0.8, 0.01, 30.0
    basis = Basis.legendre(4, "bend-z")
    half = Division(length=0.5 * LENGTH, radius=RADIUS, young=YOUNG, poisson=0.5, strain=(basis,), points=10)
    link = Link(name="arm", divisions=(half, half))
    turns = []
    for order in ((0, 1), (1, 0)):
        cable = Cable(name="side", link="arm", y=offset, friction=mu, divisions=order)
        robot = settle(Robot(GVSConfig(links=(link,), cables=(cable,)), (0.0, 0.0, 0.0)), [tension])
        q = robot.state.q.reshape(2, -1)
        turns.append([q[0, 0], q[:, 0].sum()])  # the constant polynomial alone turns a division
    expected = np.log(1.0 + mu * offset * tension * LENGTH * np.array([0.5, 1.0]) / RIGIDITY) / mu
    assert expected[0] > 0.55 * expected[1]
    for found in turns:
        assert found == pytest.approx(expected, abs=2e-4)
