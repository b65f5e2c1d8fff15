"""Elastic laws by a strain energy: Hooke's by its text, Ramberg–Osgood's and Mooney–Rivlin's beams, and mistakes.

Ramberg–Osgood with exponent 3 is k = M/B·(1 + (M/M₀)²); with y = M/M₀ and s = B·k/M₀ it is y³ + y = s, so

    y = 2/√3·sinh(asinh(1.5·√3·s)/3),   W = M₀²/B·(s·y − y²/2 − y⁴/4),   dW/dk = M                        (1)

Mooney–Rivlin's bar of stretch λ = 1 + e bears N = w′(λ)·A. Bent, its fibres at z are stretched by λ + k·z; to k²,

    W = A·w(λ) + ½·I·w″(λ)·k²,   w = C₁·(λ² + 2/λ − 3) + C₂·(1/λ² + 2·λ − 3)                             (2)

which couples stretch and bending. Both beams are solved by `solve_bvp` from their balance of forces and moments.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.integrate import quad, solve_bvp, solve_ivp
from scipy.optimize import brentq

from corekit.errors import ConfigError
from corekit.roles.code import code_allowed
from corekit_gvs.config import Basis, Cable, Distributed, Division, GVSConfig, Link, Load
from corekit_gvs.formula import KNOWN
from corekit_gvs.model import GVS
from corekit_testing.rounding import rounding

from .robots import Robot

HOOKE = "(GJ*torsion**2 + EIy*bend_y**2 + EIz*bend_z**2 + EA*stretch**2 + GAy*shear_y**2 + GAz*shear_z**2)/2"
LENGTH, RADIUS = 0.3, 0.01
AREA, INERTIA = np.pi * RADIUS**2, np.pi * RADIUS**4 / 4
B, YIELD = 1e6 * INERTIA, 0.02
S = f"(EIy*bend_y/{YIELD})"
Y = f"(2/sqrt(3)*sinh(log(1.5*sqrt(3)*{S} + sqrt(1 + 6.75*{S}**2))/3))"
RAMBERG_OSGOOD = f"{YIELD}**2/EIy*({S}*{Y} - {Y}**2/2 - {Y}**4/4)"
C1, C2 = 1.2e5, 0.4e5
L = "(1 + stretch)"
FIBRE = f"{AREA}*({C1}*({L}**2 + 2/{L} - 3) + {C2}*(1/{L}**2 + 2*{L} - 3))"
MOONEY = f"{FIBRE} + {INERTIA}/2*({C1}*(2 + 4/{L}**3) + {C2}*6/{L}**4)*bend_y**2"


def pull(stretch):
    """w′ of (2)."""
    return 2 * (stretch - 1 / stretch**2) * (C1 + C2 / stretch)


def slope(stretch):
    """w″."""
    return C1 * (2 + 4 / stretch**3) + C2 * 6 / stretch**4


def bend(stretch):
    """w‴."""
    return -12 * C1 / stretch**4 - 24 * C2 / stretch**5


def arm(law, *strain, **options):
    own: dict[str, Any] = {"length": LENGTH, "radius": RADIUS, "young": 1e6, "strain_energy": law, **options}
    return Link.soft("arm", strain=strain or (Basis.legendre(2),), **own)


def loaded(law, *strain, gravity=(0.0, 0.0, 0.0), **options):
    return Robot(
        GVSConfig(links=(arm(law, *strain, **options),), loads=(Load(name="tip", at="arm.tip"),)), gravity
    )


def settled(robot, wrench=()):
    """Statics by Newton's method, in twenty load steps."""
    for share in np.linspace(0.05, 1.0, 20):
        robot.at(inputs=share * np.asarray(wrench, dtype=float))
        for _ in range(30):
            move = np.linalg.solve(robot.tangent()[0], robot.dynamics()[1])
            robot.state.q += move
            if np.abs(move).max() < 1e-12 * max(1.0, np.abs(robot.state.q).max()):
                break
        else:
            pytest.fail("Newton's method did not converge")
    return robot


def cantilever(rod):
    """A rod of (θ, M, x, z) that is clamped at s = 0 and free of moment at its end."""

    def ends(a, b):
        return np.array([a[0], b[1], a[2], a[3]])

    places = np.linspace(0.0, LENGTH, 101)
    found = solve_bvp(rod, ends, places, np.zeros((4, 101)), tol=1e-11, max_nodes=10**5)
    assert found.success
    return found


ROBOTS = {
    "independent": (Basis.legendre(2), Basis.constant("stretch", "shear-y", "shear-z")),
    "dependent": (
        Basis.dependent("q1*X + q2*X**2*cos(q1)", 2, "bend-y"),
        Basis.constant("torsion", "bend-z", "stretch"),
    ),
}


@pytest.mark.parametrize("strain", ROBOTS)
def test_hooke_s_text_is_hooke_s_law(strain):
    def robot(law):
        own = {"viscosity": 100.0, "points": 9, "reference": ("0", "1 + X", "0", "1.1", "0", "0")}
        link = Link.soft(
            "arm", length=LENGTH, radius=(0.01, -0.004), strain_energy=law, strain=ROBOTS[strain], **own
        )
        cable = Cable(name="side", link="arm", y=0.005, friction=0.3)
        push = Distributed(name="push", link="arm", wrench=("0", "X*t", "0", "0", "0", "0"), input=False)
        return Robot(GVSConfig(links=(link,), cables=(cable,), distributed=(push,)), (0.0, 1.0, -9.81))

    typed, built_in = robot(HOOKE), robot("")
    q, v = np.random.default_rng(3).uniform(-0.4, 0.4, (2, typed.size))
    for each in (typed, built_in):
        each.at(q, v, t=0.3, inputs=[2.0])
    answers = [(*each.dynamics(), *each.tangent()) for each in (typed, built_in)]
    for one, other in zip(*answers, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=rounding(64, np.abs(other).max()))
    np.testing.assert_allclose(typed.energy(), built_in.energy(), rtol=rounding(64))
    others = built_in.terms()
    for name, value in typed.terms().items():
        np.testing.assert_allclose(value, others[name], rtol=0, atol=rounding(64, np.abs(others[name]).max()))
    applied = [np.zeros((each.size, 1)) for each in (typed, built_in)]
    for each, out in zip((typed, built_in), applied, strict=True):
        each.model.compute_input_jacobian(each.state, each.inputs, out)
    np.testing.assert_allclose(*applied, rtol=0, atol=rounding(64, np.abs(applied[1]).max()))


def test_a_python_function_makes_the_law_of_its_text():
    def law(strains, X, rigidity):
        return (rigidity[1] * strains[1] ** 2 * (1 + X) + rigidity[3] * strains[3] ** 2) / 2

    strain = Basis.legendre(2, "bend-y", "stretch")
    made, typed = Robot(arm(law, strain)), Robot(arm("(EIy*bend_y**2*(1 + X) + EA*stretch**2)/2", strain))
    q = np.linspace(-0.4, 0.4, made.size)
    for one, other in zip(made.at(q).dynamics(), typed.at(q).dynamics(), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=rounding(64, np.abs(other).max()))


@pytest.mark.parametrize(
    ("law", "modes"),
    [(RAMBERG_OSGOOD, ("bend-y",)), (MOONEY, ("bend-y", "stretch"))],
    ids=["osgood", "mooney"],
)
def test_stress_is_the_slope_of_the_energy_and_the_tangent_that_of_the_stress(law, modes):
    robot = Robot(arm(law, Basis.legendre(2, *modes)))
    q = np.array([0.9, -0.3, 0.2, 0.15, -0.05, 0.03])[: robot.size]
    step, n = 1e-5, robot.size

    def at(k, share):
        return robot.at(q + share * step * np.eye(n)[k])

    slopes = [(at(k, 1).energy()[1] - at(k, -1).energy()[1]) / (2 * step) for k in range(n)]
    bends = np.array([(at(k, -1).dynamics()[1] - at(k, 1).dynamics()[1]) / (2 * step) for k in range(n)])
    force, stiffness = robot.at(q).dynamics()[1], robot.tangent()[0]
    # differences err by step²·(third derivative), and by 1e-16·W/step
    np.testing.assert_allclose(slopes, -force, rtol=0, atol=1e-8 * np.abs(stiffness).max())
    np.testing.assert_allclose(bends, stiffness, rtol=0, atol=1e-7 * np.abs(stiffness).max())
    np.testing.assert_allclose(stiffness, stiffness.T, rtol=0, atol=rounding(64, np.abs(stiffness).max()))


def test_a_ramberg_osgood_cantilever_is_that_of_the_boundary_value_problem():
    """M = P·(x_tip − x): θ′ = k(M), M′ = −P·cos θ. Beyond M₀ near the base, by a quarter as stiff as at rest."""
    force = 0.25

    def rod(s, y):
        theta, moment = y[:2]
        k = moment / B * (1 + (moment / YIELD) ** 2)
        return np.stack([k, -force * np.cos(theta), np.cos(theta), -np.sin(theta)])

    found = cantilever(rod)
    assert found.y[1, 0] > 1.8 * YIELD
    errors = []
    for order in (4, 8, 12):
        robot = settled(
            loaded(RAMBERG_OSGOOD, Basis.legendre(order, "bend-y"), points=160), [0, 0, 0, 0, 0, -force]
        )
        tip = robot.place("arm.tip")[0]
        errors.append(np.hypot(tip[0] - found.y[2, -1], tip[2] - found.y[3, -1]) / LENGTH)
    # the strain is smooth: every four orders bring the tip a hundred times nearer; measured 3.3e-4, 4.0e-7, 9.7e-10
    assert errors[1] < errors[0] / 100
    assert errors[2] < errors[1] / 100
    assert errors[2] < 1e-8


def test_a_mooney_rivlin_bar_stretches_by_its_closed_form():
    robot = loaded(MOONEY, Basis.constant("stretch", "bend-y"))
    for exact in (0.8, 1.3, 2.1):
        settled(robot.at(q=np.zeros(robot.size)), [0, 0, 0, AREA * pull(exact), 0, 0])
        # Newton's method leaves 1e-12
        assert robot.place("arm.tip")[0][0] == pytest.approx(LENGTH * exact, rel=1e-11)
        w = C1 * (exact**2 + 2 / exact - 3) + C2 * (1 / exact**2 + 2 * exact - 3)
        assert robot.energy()[1] == pytest.approx(LENGTH * AREA * w, rel=1e-10)


def test_a_mooney_rivlin_beam_is_that_of_the_boundary_value_problem():
    """N = F·t and M′ = −(r′ × F)·e_y with r′ = λ·t: stretch and curvature follow from (N, M) at every place."""
    push, along = 0.5, 40.0

    def strains(tension, moment):
        stretch, k = np.ones_like(tension), np.zeros_like(tension)
        for _ in range(50):
            k = moment / (INERTIA * slope(stretch))
            left = AREA * pull(stretch) + INERTIA / 2 * bend(stretch) * k**2 - tension
            stretch = stretch - left / (AREA * slope(stretch))
        return stretch, k

    def rod(s, y):
        theta, moment = y[:2]
        stretch, k = strains(along * np.cos(theta) + push * np.sin(theta), moment)
        turn = stretch * (along * np.sin(theta) - push * np.cos(theta))
        return np.stack([k, turn, stretch * np.cos(theta), -stretch * np.sin(theta)])

    found = cantilever(rod)
    assert found.y[2, -1] > 1.1 * LENGTH
    robot = settled(
        loaded(MOONEY, Basis.legendre(12, "bend-y", "stretch"), points=20), [0, 0, 0, along, 0, -push]
    )
    tip = robot.place("arm.tip")[0]
    assert np.hypot(tip[0] - found.y[2, -1], tip[2] - found.y[3, -1]) < 1e-6 * LENGTH


def test_a_mass_on_a_mooney_rivlin_spring_swings_with_its_period_and_keeps_its_energy():
    """T = ∮ dx/v with ½·m·v² = E − W: 1.4 % less than in small motion, as it hardens when pressed."""
    mass = 0.5
    links = (
        arm(FIBRE, Basis.constant("stretch"), density=1e-6),
        Link.rigid("bob", mass, on="arm.tip"),
    )
    robot = Robot(links)
    start = 1.0
    energy = robot.at(q=[start]).energy()[1]

    def left(x):
        return energy - robot.at(q=[x], v=[0.0]).energy()[1]

    far = brentq(left, -0.8, -0.05, xtol=1e-15)
    middle, half = 0.5 * (start + far), 0.5 * (start - far)

    def share(phase):  # x = middle + half·sin: the ends are no longer singular
        x = middle + half * np.sin(phase)
        return half * np.cos(phase) * LENGTH * np.sqrt(mass / (2 * left(x)))

    period = 2 * quad(share, -np.pi / 2, np.pi / 2, epsrel=1e-9)[0]

    def motion(t, y):
        matrix, force = robot.at(q=y[:1], v=y[1:]).dynamics()
        return [y[1], force[0] / matrix[0, 0]]

    def back(t, y):
        return y[1]

    vars(back)["direction"] = -1.0  # at the longest
    run = solve_ivp(
        motion,
        (0.0, 1.5 * period),
        [start, 0.0],
        "DOP853",
        rtol=1e-11,
        atol=1e-12,
        events=back,
        dense_output=True,
    )
    turns = [t for t in run.t_events[0] if t > 0.1 * period]
    assert turns[0] == pytest.approx(period, rel=1e-7)
    kept = [sum(robot.at(q=q, v=v).energy()) for q, v in run.y.reshape(2, -1, 1).transpose(1, 0, 2)]
    np.testing.assert_allclose(kept, energy, rtol=1e-8)
    small = 2 * np.pi * LENGTH * np.sqrt(mass / robot.at(q=[0.0]).tangent()[0][0, 0])
    assert small == pytest.approx(2 * np.pi * np.sqrt(mass * LENGTH / (6 * (C1 + C2) * AREA)), rel=1e-6)
    assert period < 0.99 * small


def test_expressions_are_those_of_the_model():
    pytest.importorskip("casadi")
    law = f"{MOONEY} + EIz/2*max(bend_z, 0)**2 + EIz/2*bend_z**2*step(bend_z - 1) + GJ/2*abs(torsion)*abs(torsion)"
    law += " + EIz*bend_z**2"
    robot = Robot(arm(law, Basis.legendre(1), Basis.constant("stretch"), points=4))
    q, v = np.random.default_rng(1).uniform(-0.4, 0.4, (2, robot.size))
    tree, (_, force) = robot.model.symbolic(), robot.at(q, v).dynamics()
    np.testing.assert_allclose(
        np.array(tree.force(q, v, np.zeros(0))).ravel(),
        force,
        rtol=0,
        atol=rounding(2000, np.abs(force).max()),
    )
    assert float(tree.potential_energy(q)) == pytest.approx(robot.energy()[1], rel=rounding(2000))
    assert set(tree.parameters) == {"links[0].divisions[0].young", "links[0].divisions[0].viscosity"}
    free = Robot(arm(FIBRE, Basis.constant("stretch"))).model.symbolic()
    assert set(free.parameters) == {
        "links[0].divisions[0].viscosity"
    }  # Young's modulus changes nothing there


def test_expressions_have_every_function_that_a_formula_may_hold():
    pytest.importorskip("casadi")
    from corekit_gvs.symbolic_formulas import FUNCTIONS

    assert set(FUNCTIONS) == KNOWN | {"sqrt"}


def test_what_is_not_finite_is_named_elastic():
    robot = Robot(arm("EA*(stretch - log(1 + stretch))", Basis.constant("stretch"), points=3))
    terms = robot.at(q=[-1.5]).terms()
    assert not np.isfinite(terms["elastic"]).all()
    assert all(np.isfinite(value).all() for name, value in terms.items() if name != "elastic")


@pytest.mark.parametrize(
    ("law", "said"),
    [
        ("EIy*bend_y**", "is not a formula"),
        ("EIy*kappa**2", "may hold numbers, torsion, bend_y"),
        ("EIy*bend_y**2", "stretch is not in it"),
        ("EIy*bend_y**2 + EA*(stretch - 0.1)**2", "stretch pulls with .* at X = .*`reference`"),
        ("EIy*bend_y**2 - EA*stretch**2/2", "minimum in the reference strain"),
        (
            "EIy*bend_y**2 + EA*stretch**2 + 2*sqrt(EIy*EA)*bend_y*stretch*1.5",
            "minimum in the reference strain",
        ),
        ("EIy*bend_y**2 + EA*abs(stretch)**1.5", "no finite value, stress or tangent at X = "),
        ("EIy*bend_y**2 + EA*stretch**2 + log(X - 2)", "no finite value, stress or tangent at X = "),
        (lambda e, X, s: np.sin(e[1]), "must make a formula"),
        (lambda e, X, s: e[1] * sympy.erf(e[1]), "erf is none of them"),
        (lambda e, X, s: e[1] * sympy.Symbol("y"), "y is none of them"),
        ("my_law:energy", "of a file beside the scenario"),
    ],
)
def test_a_mistake_is_told_once_where_it_stands(law, said):
    with code_allowed(True), pytest.raises(ConfigError, match=said) as caught:
        GVS(GVSConfig(links=(arm(law, Basis.constant("bend-y", "stretch")),)))
    assert [each.path for each in caught.value.mistakes] == ["links[0].divisions[0].strain_energy"]


@pytest.mark.parametrize("law", [0, 3.0, None])
def test_a_law_that_is_no_text_is_refused_and_not_taken_for_hooke_s(law):
    with pytest.raises(ValueError, match="give a formula in quotes, or a Python function"):
        Division(strain_energy=law)


def test_a_named_function_is_refused_where_code_is_not_allowed(tmp_path, monkeypatch):
    (tmp_path / "own_law.py").write_text("def energy(e, X, s):\n    return s[1] * e[1] ** 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    link = arm("own_law:energy", Basis.constant("bend-y"))
    try:
        with code_allowed(True):
            Robot(link)
        with code_allowed(False), pytest.raises(ConfigError, match="allow it with --allow-code"):
            Robot(link)
    finally:
        sys.modules.pop("own_law", None)


@pytest.mark.parametrize("law", ["EIy*bend_y**2", "0"])
def test_a_law_of_a_division_that_cannot_deform_does_nothing(law):
    def robot(law):
        stiff = Division(strain=(), strain_energy=law)
        return Robot(Link.soft("arm", stiff, Division(strain=(Basis.constant("bend-y"),)))).at(q=[0.3])

    for one, other in zip(robot(law).dynamics(), robot("").dynamics(), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(robot(law).tangent()[0], robot("").tangent()[0])


def test_other_numbers_of_a_material_are_those_of_a_robot_built_anew():
    """What a law makes of them is not written into the tables of another."""
    one, other = (
        GVSConfig(links=(arm("EIy*bend_y**2", Basis.constant("bend-y"), young=E),)) for E in (1e6, 2e6)
    )
    assert GVS(one).with_numbers(other) is None
