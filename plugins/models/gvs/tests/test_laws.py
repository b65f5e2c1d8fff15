"""Laws that hold at every state: cable length, skew symmetry, energy, momentum, one kernel for all bases."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit_gvs.config import Basis, Division, Joint, Link
from corekit_gvs.formula import evaluator, expression
from corekit_testing.rounding import rounding

from . import reference_basis as slow
from .reference_linkages import TENDONS, typed_arm
from .reference_linkages import published_arm as slow_arm
from .reference_tree import soft
from .robots import DOWN, Robot, octopus, published_arm


@pytest.fixture(scope="module")
def cable_arm():
    return Robot(published_arm("legendre"), DOWN)


def lengths(q):
    """Lengths of the four cables, by the slow reference."""
    tree = slow_arm("legendre")
    return np.array([tree.cable(q, *tendon)[1] for tendon in TENDONS])


def test_cable_forces_are_the_gradients_of_the_cables_lengths(cable_arm):
    rng = np.random.default_rng(0)
    q, along, step = rng.uniform(-0.2, 0.2, 30), rng.uniform(-1, 1, 30), 1e-5
    columns = np.zeros((30, 4))
    cable_arm.at(q).model.compute_input_jacobian(cable_arm.state, cable_arm.inputs, columns)
    slope = (lengths(q + step * along) - lengths(q - step * along)) / (2 * step)
    np.testing.assert_allclose(-columns.T @ along, slope, rtol=1e-8, atol=1e-10)


@cache
def mixed() -> Robot:
    """Every multi-dof joint, a rigid body, and a rod whose strain depends on its coordinates and the time."""
    rod = Division(
        length=0.2, radius=(0.02, -0.005), young=1e4, poisson=0.4, viscosity=10, points=6,
        strain=(Basis.dependent(("q1*exp(-(q2*(X-q3))**2)", "q4*X", "q5*sin(q4)"), 5, "bend-y", "torsion", "stretch"),),
    )  # fmt: skip
    return Robot(
        (
            Link.soft("arm", rod, joint=Joint.spherical()),
            Link.rigid(
                "hand", 0.2, (1e-3, 2e-3, 3e-3), Joint.revolute("z", stiffness=(0.1,)), on="arm.tip",
                position=(0, 0.01, 0), centre=(0.05, 0.02, 0), tip=(0.1, 0.02, 0),
            ),
        ),
        DOWN,
    )  # fmt: skip


def test_a_typed_dependent_basis_keeps_every_second_derivative():
    """Against the slow reference, whose derivatives are Taylor series: b_qq·q̇·q̇ is in f."""
    tree, q, v = typed_arm()
    points = slow.trapezoid(6)
    soft(tree.links[0])[0].points = points
    mass, force = mixed().at(q, v).dynamics()
    wanted, parts = tree.terms(q, v)
    np.testing.assert_allclose(mass, wanted, rtol=1e-10, atol=1e-10 * np.abs(wanted).max())
    np.testing.assert_allclose(force, sum(parts.values()), rtol=1e-9, atol=1e-10 * np.abs(force).max())


@given(st.integers(0, 2**31))
@settings(max_examples=5, deadline=None)
def test_inertia_changes_as_fast_as_velocity_forces_take_power(seed):
    """q̇ᵀ·(Ṁ·q̇ − 2·c) = 0, c the velocity forces of inertia."""
    robot = mixed()
    rng = np.random.default_rng(seed)
    q, v, step = rng.uniform(-0.5, 0.5, robot.size), rng.uniform(-1, 1, robot.size), 1e-5
    q[3:6] = [0.8, 3.0, 0.4]
    before, after = (robot.at(q + side * step * v, 0 * v).dynamics()[0] for side in (-1, 1))
    power = v @ (after - before) @ v / (2 * step)
    still = robot.at(q, 0 * v).dynamics()[1]
    moving = robot.at(q, v).dynamics()[1]
    damped = robot.terms()
    bias = still - moving + damped["viscous"]
    assert v @ bias == pytest.approx(power / 2, rel=1e-6, abs=1e-9)


def test_power_of_all_forces_is_the_rate_of_the_energy():
    """d(T + V)/dt = −q̇ᵀ·D·q̇: only damping takes energy."""
    robot, rng = mixed(), np.random.default_rng(8)
    q, v, step = rng.uniform(-0.5, 0.5, robot.size), rng.uniform(-1, 1, robot.size), 1e-6
    q[3:6] = [0.8, 3.0, 0.4]
    mass, force = robot.at(q, v).dynamics()
    damping = robot.terms()["viscous"]
    rate = np.linalg.solve(mass, force)
    energies = [sum(robot.at(q + s * step * v, v + s * step * rate).energy()) for s in (-1, 1)]
    power = abs(v @ robot.terms()["gravity"])
    assert (energies[1] - energies[0]) / (2 * step) == pytest.approx(v @ damping, abs=1e-8 * power)
    assert abs(v @ damping) > 1e-5 * power


def test_the_dependent_kernel_with_a_linear_strain_is_the_independent_one():
    """The same quadrature for both: another strain of the division is dependent, so both are trapezoids."""

    def arm(basis):
        twist = Basis.dependent("q1*X*exp(-q2)", 2, "torsion")
        return Robot(
            Link.soft("arm", length=0.3, radius=0.01, viscosity=50, strain=(basis, twist), points=9), DOWN
        )

    linear = arm(Basis.dependent("q1 + q2*(2*X - 1) + q3*(6*X**2 - 6*X + 1)", 3, "bend-y"))
    legendre = arm(Basis.legendre(2, "bend-y"))
    rng = np.random.default_rng(2)
    q, v = rng.uniform(-1, 1, 5), rng.uniform(-1, 1, 5)
    for one, other in zip(linear.at(q, v).dynamics(), legendre.at(q, v).dynamics(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=rounding(64, np.abs(other).max()))


@pytest.mark.parametrize("build", [mixed, lambda: Robot(published_arm("legendre"), DOWN)])
def test_the_tangent_at_rest_is_the_limit_of_that_of_a_slow_motion(build):
    """At rest what inertia and drag would add is left out; at 1e-200 of a velocity it is worked out, and nothing."""
    robot = build()
    q = np.random.default_rng(5).uniform(0.1, 0.3, robot.size)
    robot.at(q, 0.0, inputs=np.linspace(0.5, 1.5, len(robot.inputs)))
    at_rest = robot.tangent()
    slow_motion = robot.at(v=1e-200).tangent()
    for one, other in zip(at_rest, slow_motion, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=rounding(64, np.abs(other).max()))


def test_an_answer_does_not_depend_on_what_was_asked_before():
    """Sweeps are kept between questions: a model asked elsewhere in between answers as one asked for the first time."""
    rng = np.random.default_rng(6)
    busy, fresh = mixed(), mixed()
    here, there = rng.uniform(0.1, 0.3, (2, busy.size)), rng.uniform(0.1, 0.3, (2, busy.size))
    for q, v in (here, there, here):
        busy.at(q, v).dynamics()
        busy.place("hand.tip")
        busy.terms()
        for one, other in zip(busy.tangent(), fresh.at(q, v).tangent(), strict=True):
            assert np.array_equal(one, other)
        busy.at(*there).energy()
        for one, other in zip(busy.at(q, v).dynamics(), fresh.dynamics(), strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("power", [-9, -8, -3, -2, -1, 2, 3, 8, 9, 0.5])
def test_powers_in_formulas_are_powers(power):
    """Those that are printed as products too, of places and of coordinates, with their slopes."""
    X = np.linspace(0.4, 1.3, 5)
    text = expression(f"X**({power}) + q**({power})*X", ["X", "q"], "formula")
    slope = text.diff(*[each for each in text.free_symbols if str(each) == "X"])
    value, rate = evaluator([text, slope], ["X", "q"])(X, 1.7)
    np.testing.assert_allclose(value, X**power + 1.7**power * X, rtol=rounding(48))
    first, second = power * X ** (power - 1), 1.7**power  # of two signs where the power is negative
    np.testing.assert_array_less(np.abs(rate - (first + second)), rounding(48) * (np.abs(first) + second))


INERTIAS = {
    "octopus": lambda: Robot(octopus("dependent"), DOWN),
    "mixed": mixed,
    "arm-legendre": lambda: Robot(published_arm("legendre"), DOWN),
    "arm-fem": lambda: Robot(published_arm("fem_quadratic"), DOWN),
}


@pytest.mark.parametrize("which", INERTIAS)
def test_inertia_s_share_of_the_tangent_is_its_slope(which):
    """K at q̈ = w holds ∂(M·w)/∂q and b_qq's part of it: against differences of f − M·w, extrapolated."""
    robot = INERTIAS[which]()
    rng = np.random.default_rng(7)
    start = np.array([-14.5, 10.7, 0.5, 0, 0, 0]) if which == "octopus" else np.zeros(robot.size)
    # light as the arm is for how stiff it is, it accelerates faster
    large = 3000.0 if which.startswith("arm") else 100.0
    q = start + rng.uniform(0.2, 0.5, robot.size)
    v, w = rng.uniform(-1, 1, robot.size), large * rng.uniform(-1, 1, robot.size)
    stiffness, damping = robot.model.new_stiffness_and_damping()
    robot.at(q, v).model.compute_residual_derivatives(robot.state, robot.inputs, w, stiffness, damping)
    plain, _ = robot.tangent()

    def unbalanced(q, v):
        out = np.zeros(robot.size)
        robot.at(q, v).model.compute_dynamics_residual(robot.state, robot.inputs, w, out)
        return out

    def slope(along):
        coarse, fine = ((along(h) - along(-h)) / (2 * h) for h in (2e-4, 1e-4))
        return (4 * fine - coarse) / 3

    for k in range(robot.size):
        unit = np.eye(robot.size)[k]
        by_q = slope(lambda h: unbalanced(q + h * unit, v))  # noqa: B023 - called here
        by_v = slope(lambda h: unbalanced(q, v + h * unit))  # noqa: B023
        np.testing.assert_allclose(stiffness.data[:, k], -by_q, rtol=1e-6, atol=1e-7 * np.abs(by_q).max())
        np.testing.assert_allclose(damping.data[:, k], -by_v, rtol=1e-6, atol=1e-7 * np.abs(by_v).max())
    # without it the matrix would be another one
    assert np.abs(stiffness.data - plain).max() > 0.1 * np.abs(plain).max()


def test_a_tangent_is_the_same_wherever_the_robot_stands():
    """Levers are those of the robot, not of the world: a kilometre away only rounding of its places is left."""
    half = Division(length=0.15, radius=0.015, viscosity=1e4, strain=(Basis.legendre(3),))
    rng = np.random.default_rng(3)
    near, far = (
        Robot(Link.soft("arm", half, half, position=(x, 0.0, 0.0)), DOWN, fluid_density=1000.0)
        for x in (0.0, 1000.0)
    )
    q, v, w = rng.uniform(-1, 1, (3, near.size))

    def tangents(robot):
        found = robot.model.new_stiffness_and_damping()
        robot.at(q, v).model.compute_residual_derivatives(robot.state, robot.inputs, 1000.0 * w, *found)
        return [each.data for each in found]

    for one, other in zip(tangents(near), tangents(far), strict=True):
        # 20 steps along the arm, each place rounded at 1000 m and told apart on an arm of 0.3 m
        bound = rounding(20, 1000.0 / 0.3, np.abs(one).max())
        np.testing.assert_allclose(other, one, rtol=0, atol=bound)
