"""Derived equations against closed forms, other models, differences, and the same system written otherwise."""

from __future__ import annotations

import math
from importlib import import_module
from operator import attrgetter

import casadi as ca
import numpy as np
import pytest
from scipy.special import ellipk

from corekit.data.state import State
from corekit.errors import ConfigError, PluginError
from corekit.roles.component import BuildContext
from corekit_lagrangian.config import LagrangianInitial
from corekit_lagrangian.system import System
from corekit_lagrangian.tape import Tape, flat, write_program
from corekit_lagrangian.tape_kernel import OPERATIONS
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.small_world import small_world

CART = {"cart": 0.5, "mass": 0.2, "length": 0.3, "stiffness": 20.0}
CHAIN = {"lengths": (0.3, 0.2, 0.5), "masses": (0.4, 0.1, 0.2), "damping": 0.03}
ROUND = 1e-13
"""Some hundred operations on numbers below 10, each within 1.1e-16 of its result."""


def test_a_chain_of_masses_is_the_reference_pendulum_written_by_hand(make, numbers, context):
    random = np.random.default_rng(3)
    q, v, u, w = random.normal(size=(4, 3))
    by_hand = Pendulum(PendulumConfig(**CHAIN, angles=(0.0,) * 3, rates=(0.0,) * 3), context)
    one, other = numbers(make("pendulum", **CHAIN), q, v, u, w), numbers(by_hand, q, v, u, w)
    for name, value in one.items():
        np.testing.assert_allclose(value, other[name], atol=30 * ROUND, err_msg=name)


def test_sympy_and_casadi_give_the_same_numbers(make, numbers):
    random = np.random.default_rng(4)
    arguments = [*random.normal(size=(2, 2)), random.normal(size=1), random.normal(size=2)]
    upright = BuildContext(gravity=np.array([0.0, 0.0, -9.81]))
    models = [make(name, upright, **CART) for name in ("cart", "cart_by_sympy")]
    one, other = (numbers(model, *arguments) for model in models)
    for name, value in one.items():
        np.testing.assert_allclose(value, other[name], atol=30 * ROUND, err_msg=name)
    outlines = [model.compute_outline(State(arguments[0], np.zeros(2), np.zeros(0))) for model in models]
    np.testing.assert_allclose(outlines[0].points, outlines[1].points, atol=ROUND)


def test_a_body_in_a_gimbal_turns_as_eulers_equations_say(make, numbers):
    """I·ω̇ + ω × I·ω = moment of the weight about the fixed point, ω in body axes, at M·v̇ = f."""
    inertia, mass, centre = np.array([0.01, 0.02, 0.015]), 0.4, np.array([0.02, 0.01, -0.08])
    where = BuildContext(gravity=np.array([1.0, 2.0, -9.0]))
    model = make("gimbal", where, mass=mass, inertia=tuple(inertia), centre=tuple(centre))
    q, v = np.array([0.3, 0.5, -0.7]), np.array([1.0, -2.0, 0.5])
    found = numbers(model, q, v, np.zeros(0), np.zeros(3))
    acceleration = np.linalg.solve(found["M"], found["f"])

    def rotation(t):
        at = q + v * t + 0.5 * acceleration * t * t
        return numbers(model, at, v, np.zeros(0), np.zeros(3))["rotations"][0]

    def spin(t, h=1e-4):
        turn = rotation(t)
        rate = turn.T @ (rotation(t + h) - rotation(t - h)) / (2 * h)
        return np.array([rate[2, 1], rate[0, 2], rate[1, 0]])

    omega, change = spin(0.0), (spin(1e-3) - spin(-1e-3)) / 2e-3
    about_point = np.diag(inertia) + mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    moment = np.cross(centre, mass * rotation(0.0).T @ where.gravity)
    # differences of second order: 1e-6 and 1e-8 times third derivatives of a few hundred 1/s³
    np.testing.assert_allclose(about_point @ change + np.cross(omega, about_point @ omega), moment, atol=2e-5)


def test_a_pendulum_swings_with_the_period_of_the_elliptic_integral(make):
    length, amplitude = 0.5, 1.2
    model = make("pendulum", BuildContext(), lengths=(length,), masses=(0.3,), damping=0.0)
    period = 4 * math.sqrt(length / 9.81) * ellipk(math.sin(amplitude / 2) ** 2)
    midpoint = ImplicitEuler(ImplicitEulerConfig(theta=0.5), BuildContext(step=period / 400))
    simulation = small_world({"it": model}, midpoint, step=period / 400)
    simulation.state.q[:] = amplitude
    simulation.run(period)
    assert simulation.state.q[0] == pytest.approx(amplitude, rel=2e-4)


def test_options_are_parameters_of_the_expressions(make, numbers):
    model, heavier = (make("cart", **{**CART, "mass": mass}) for mass in (0.2, 0.7))
    symbolic = model.symbolic()
    assert symbolic.parameters["parameters.mass"].value == 0.2
    q, v, u = ca.DM([0.1, 0.7]), ca.DM([0.3, -2.0]), ca.DM([1.0])
    found = symbolic.with_parameters({"parameters.mass": ca.DM(0.7)}).force(q, v, u)
    expected = numbers(heavier, [0.1, 0.7], [0.3, -2.0], np.ones(1), np.zeros(2))["f"]
    np.testing.assert_allclose(np.array(found).ravel(), expected, atol=ROUND * 10)
    # as expressions of either kind
    for kind in (ca.SX, ca.MX):
        x = kind.sym("q", 2)
        value = ca.Function(
            "f", [x], [symbolic.with_parameters({"parameters.mass": kind(0.7)}).force(x, v, u)]
        )(q)
        np.testing.assert_allclose(np.array(value).ravel(), expected, atol=ROUND * 10)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_of_a_tape_is_casadis(name):
    x, none = ca.SX.sym("x", 2), [ca.SX.sym("none", 0) for _ in range(4)]
    a, b = x[0], x[1]
    more = {
        "ASSIGN": a, "ADD": a + b, "SUB": a - b, "MUL": a * b, "DIV": a / b, "NEG": -a, "SQ": a * a, "TWICE": 2 * a,
        "INV": 1 / a, "POW": a**b, "CONSTPOW": a**1.7, "LT": a < b, "LE": a <= b, "EQ": a == b, "NE": a != b,
        "NOT": ca.logic_not(a), "AND": ca.logic_and(a, b), "OR": ca.logic_or(a, b),
        "IF_ELSE_ZERO": ca.if_else(a < b, a, 0),
    }  # fmt: skip
    two = {"ATAN2": ca.atan2, "FMIN": ca.fmin, "FMAX": ca.fmax, "COPYSIGN": ca.copysign, "HYPOT": ca.hypot,
           "FMOD": ca.fmod}  # fmt: skip
    if name in more:
        expression = more[name]
    else:
        expression = two[name](a, b) if name in two else getattr(ca, name.lower())(a)
    tape, function = (
        Tape(write_program(name, [x, *none], [flat(expression)])),
        ca.Function("f", [x], [expression]),
    )
    for at in ([0.3, 0.8], [0.8, -0.3], [-0.6, 0.5], [1.5, 1.5], [0.0, 2.0], [-2.5, -1.2]):
        found, empty = np.zeros(1), np.zeros(0)
        tape(np.array(at), empty, empty, empty, empty, found)
        # two libraries, each within two units of the last place
        np.testing.assert_allclose(found[0], float(function(at)), rtol=1e-15, atol=1e-300)


def wrong_energy(system):
    _, v = system.coordinates("a")
    system.kinetic_energy(v**4)


def massless(system):
    _, v = system.coordinates("a", "b")
    system.kinetic_energy(v[0] ** 2)


def foreign(system):
    _, v = system.coordinates("a")
    system.kinetic_energy(ca.SX.sym("stranger") * v**2)


def not_a_potential(system):
    _, v = system.coordinates("a")
    system.potential_energy(v)


WRONG = {
    wrong_energy: "not quadratic in the velocities",
    massless: "nothing that moves with b has mass",
    foreign: "symbols that the system did not give: stranger",
    not_a_potential: "depends on velocities",
    lambda system: None: "has no coordinates",
    lambda system: system.coordinates("a", "a"): "each once",
    lambda system: system.coordinates("a", rest=(1, 2)): "2 numbers for 1",
    lambda system: system.mass(1.0, [1, 2]): r"position of a mass has shape \(2, 1\)",
    lambda system: system.frame("x", [0, 0, 0], [1, 2, 3]): "rotation of frame x has shape",
    lambda system: system.shape("sphere", [0.1], 0): "stands on frame 0; there are 0",
    lambda system: system.force([1, 2]): "there are 0 coordinates",
    lambda system: system.input("pull", "N", lower=2.0, upper=-2.0): "its lower bound 2 is not below",
}


@pytest.mark.parametrize("case", WRONG, ids=range(len(WRONG)))
def test_equations_that_make_no_model_are_refused_by_name(monkeypatch, make, case):
    monkeypatch.setattr(import_module("mechanisms"), "acrobot", lambda system, option: case(system))
    with pytest.raises(PluginError, match=WRONG[case]) as caught:
        make("acrobot")
    assert str(caught.value).startswith("bodies.it")


def test_what_a_function_raises_is_its_own_mistake(monkeypatch, make):
    def slip(system, option):
        system.coordinates("a")
        return option["mass"]

    monkeypatch.setattr(import_module("mechanisms"), "acrobot", slip)
    said = r"equations: found 'mechanisms:acrobot'; raised .*Error: .* \(line \d+ of .*test_equations"
    with pytest.raises(ConfigError, match=said):
        make("acrobot")


def test_symbols_of_sympy_that_nobody_gave_are_named():
    import sympy

    with pytest.raises(PluginError, match=r"k: symbols of SymPy that `system\.sympy` did not give"):
        System("it", np.zeros(3)).casadi(sympy.Symbol("k") ** 2)


def test_a_start_has_one_number_a_coordinate(make):
    model, state = make("cart", **CART), State.zeros(2, 2)
    model.compute_initial_state(LagrangianInitial(coordinates=(0.1, 0.2), velocities=(1.0, 2.0)), state)
    assert [*state.q, *state.v] == [0.1, 0.2, 1.0, 2.0]
    with pytest.raises(ConfigError, match=r"initial\.velocities: .*each of the 2 coordinates"):
        model.compute_initial_state(LagrangianInitial(velocities=(1.0,)), state)


def test_a_parameter_that_the_equations_do_not_read_is_refused(make):
    with pytest.raises(ConfigError) as refused:
        make("pendulum", **CHAIN, dampng=0.5, length=(0.3,))
    where = [mistake.path.rpartition("options.")[2] for mistake in refused.value.mistakes]
    assert where == ["parameters.dampng", "parameters.length"]
    assert "mechanisms:pendulum reads no parameter of this name" in str(refused.value)


@pytest.mark.parametrize(
    "read", [lambda option: option.number("mass"), lambda option: vars(option)["mass"], attrgetter("mass")]
)
def test_a_parameter_that_is_read_in_any_way_is_none_too_many(make, monkeypatch, read):
    def one_mass(system, option):
        q, _ = system.coordinates("x", unit="m")
        system.mass(read(option), ca.vertcat(q, 0, 0))

    monkeypatch.setattr(import_module("mechanisms"), "one_mass", one_mass, raising=False)
    assert make("one_mass", mass=2.0).description.coordinates[0].name == "x"


def test_symbols_of_one_name_stay_two_in_sympy(make, monkeypatch, numbers):
    """A coordinate, an input and an option named `slide`: f = u − k·(q − l) by SymPy, ∂f/∂q = −k, ∂f/∂u = 1."""

    def spring(system, option):
        q, _ = system.coordinates("slide", unit="m")
        u = system.input("slide", "N")
        system.mass(1.0, [q, 0, 0])
        x, rest, k = system.sympy(q, option.slide, option.k)
        again, push = system.sympy(q, u)
        assert again == x
        system.potential_energy(k * (x - rest) ** 2 / 2, "spring")
        system.force([push], "motor")

    monkeypatch.setattr("mechanisms.spring", spring, raising=False)
    model = make("spring", BuildContext(gravity=np.zeros(3)), slide=0.5, k=4.0)
    found = numbers(model, [0.7], [0.0], np.array([0.3]), np.zeros(1))
    assert found["f"] == pytest.approx([0.3 - 4.0 * 0.2], abs=1e-14)
    assert found["energies"] == pytest.approx([0.0, 0.5 * 4.0 * 0.2**2], abs=1e-14)
    assert found["K"] == pytest.approx(np.array([[4.0]]), abs=1e-14)
    assert found["B"] == pytest.approx(np.array([[1.0]]), abs=1e-14)
