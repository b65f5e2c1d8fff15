"""Functions of users in Python in place of formulas and inputs: the same answers, exact tangents, clear mistakes."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import sympy

from corekit.errors import ConfigError
from corekit.roles.code import code_allowed
from corekit.roles.component import BuildContext
from corekit_gvs.config import Basis, Distributed, Division, GVSConfig, Joint, Link, Load
from corekit_gvs.model import GVS
from corekit_testing.rounding import rounding

from .robots import DOWN, Robot

MODULE = """
import numpy as np

def bump(X):
    return np.sin(np.pi * X)

def push(X, t):
    nothing = 0.0 * X
    return np.stack([nothing, nothing, nothing, nothing, nothing, t * X])

def lift(X, t):
    return t * X

def short(X, t):
    return np.zeros(3)

def broken(X, t):
    raise RuntimeError("no data")

def wave(X, t, q1):
    return q1 * X

number = 3.0
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "my_functions.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    with code_allowed(True):
        yield "my_functions"
    sys.modules.pop("my_functions", None)


def arm(*strain, **options):
    own = {"length": 0.3, "radius": 0.01, "young": 1e5, "viscosity": 100.0}
    return Link.soft("arm", strain=strain or (Basis.legendre(2),), **own, **options)


def same(one, other):
    for a, b in zip(one.dynamics(), other.dynamics(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=rounding(64, np.abs(b).max()))


def test_a_basis_of_python_functions_is_that_of_their_formulas(module):
    q, v = np.array([0.4, -0.2]), np.array([0.3, 0.8])
    typed = Robot(arm(Basis.custom(("X**2", "sin(pi*X)"), "bend-y"))).at(q, v)
    for functions in [(lambda X: X**2, "sin(pi*X)"), ("X**2", f"{module}:bump")]:
        same(Robot(arm(Basis.custom(functions, "bend-y"))).at(q, v), typed)


def test_a_dependent_basis_made_in_python_is_the_typed_one():
    def pulse(X, t, q1, q2):
        return q1 * sympy.exp(-((q2 * (X - t / 2)) ** 2))

    q, v = np.array([0.6, 1.3]), np.array([0.3, -0.8])
    typed = Robot(arm(Basis.dependent("q1*exp(-(q2*(X - t/2))**2)", 2))).at(q, v, 0.4)
    made = Robot(arm(Basis.dependent(pulse, 2))).at(q, v, 0.4)
    same(made, typed)
    for a, b in zip(made.tangent(), typed.tangent(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=rounding(64, np.abs(b).max()))


@pytest.mark.parametrize("kind", ["internal", "section", "world"])
def test_a_distributed_wrench_of_python_functions_is_that_of_its_formulas(module, kind):
    def loaded(*wrench):
        given = Distributed(name="pull", link="arm", wrench=wrench, kind=kind)
        return Robot(GVSConfig(links=(arm(),), distributed=(given,)))

    q = np.linspace(-0.5, 0.5, 9)
    for t in (0.0, 0.7):
        typed = loaded(0, 0, 0, 0, 0, "t*X").at(q, t=t)
        same(loaded(f"{module}:push").at(q, t=t), typed)
        same(loaded("0", 0, 0, 0, 0, f"{module}:lift").at(q, t=t), typed)


def tugged(function, *, follows=False, offset=(0.0, 0.0, 0.0)):
    half = Division(length=0.15, radius=0.015, young=1e5, viscosity=100.0, strain=(Basis.legendre(2),))
    link = Link.soft("arm", half, half, joint=Joint.revolute("y"))
    load = Load(name="tug", at="arm.tip", function=function, follows=follows, offset=offset)
    return Robot(GVSConfig(links=(link,), loads=(load,)), DOWN)


def pull(t, position, rotation, velocity):
    """A spring that stiffens, a current that drags, a magnet that turns."""
    away = position - np.array([0.2, 0.1 * t, 0.3])
    force = -30.0 * away * (1.0 + away @ away) - 2.0 * velocity[3:] * (velocity @ velocity)
    moment = 0.2 * np.cross(rotation[:, 0], [0.0, 0.0, 1.0]) - 0.05 * velocity[:3]
    return np.concatenate([moment, force])


@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize("still", [False, True])
def test_tangents_hold_how_a_load_from_python_changes(follows, still):
    robot = tugged(pull, follows=follows, offset=(0.01, 0.02, -0.03))
    rng = np.random.default_rng(2)
    q, v, w = rng.uniform(-0.6, 0.6, (3, robot.size))
    v, w = (0.0 * v, 0.0 * w) if still else (v, 20.0 * w)
    stiffness, damping = robot.model.new_stiffness_and_damping()
    robot.at(q, v, 0.3).model.compute_residual_derivatives(robot.state, robot.inputs, w, stiffness, damping)

    def unbalanced(q, v):
        out = np.zeros(robot.size)
        robot.at(q, v).model.compute_dynamics_residual(robot.state, robot.inputs, w, out)
        return out

    sizes = [1e-8 * np.abs(each.data).max() for each in (stiffness, damping)]
    for k, unit in enumerate(np.eye(robot.size)):
        by_q = (unbalanced(q + 1e-5 * unit, v) - unbalanced(q - 1e-5 * unit, v)) / 2e-5
        by_v = (unbalanced(q, v + 1e-5 * unit) - unbalanced(q, v - 1e-5 * unit)) / 2e-5
        np.testing.assert_allclose(stiffness.data[:, k], -by_q, rtol=1e-5, atol=sizes[0])
        np.testing.assert_allclose(damping.data[:, k], -by_v, rtol=1e-5, atol=sizes[1])


@pytest.mark.parametrize("follows", [False, True])
def test_a_load_from_python_that_is_constant_is_that_of_an_input(follows):
    wrench = np.array([0.01, -0.02, 0.03, 0.4, 0.5, -0.6])
    given = tugged(lambda t, position, rotation, velocity: wrench, follows=follows, offset=(0.0, 0.02, 0.0))
    by_input = tugged(None, follows=follows, offset=(0.0, 0.02, 0.0))
    q, v = np.random.default_rng(5).uniform(-0.6, 0.6, (2, given.size))
    by_input.at(q, v, inputs=wrench)
    same(given.at(q, v), by_input)
    for one, other in zip(given.tangent(), by_input.tangent(), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12 * np.abs(other).max())


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("my_functions:short", "numbers of shape"),
        ("my_functions:broken", "no data"),
        ("my_functions:nothing", "none called 'nothing'"),
        ("my_functions:number", "none called 'number'"),
        ("no_such_module:push", "of a file beside the scenario"),
    ],
)
def test_what_is_wrong_with_a_python_function_is_reported_where_it_stands(module, entry, said):
    given = Distributed(name="pull", link="arm", wrench=(entry,))
    with pytest.raises(ConfigError, match=said) as caught:
        GVS(GVSConfig(links=(arm(),), distributed=(given,)))
    assert caught.value.mistakes[0].path.endswith("distributed[0].wrench")


def test_every_name_of_a_function_is_refused_where_code_is_not_allowed(module):
    def refused(**options):
        links = options.pop("links", (arm(),))
        with code_allowed(False), pytest.raises(ConfigError, match="allow it with --allow-code") as caught:
            GVS(GVSConfig(links=links, **options), BuildContext(path="bodies.arm"))
        return [(each.path, each.found) for each in caught.value.mistakes]

    at, name = "bodies.arm.options.", f"{module}:bump"
    push = Distributed(name="push", link="arm", wrench=(name,))
    lift = Distributed(name="lift", link="arm", wrench=("0", 0, 0, 0, 0, name))
    assert refused(distributed=(push, lift)) == [
        (f"{at}distributed[0].wrench", name), (f"{at}distributed[1].wrench[5]", name),
    ]  # fmt: skip
    tug = Load(name="tug", at="arm.tip", function=name)
    assert refused(loads=(tug,)) == [(f"{at}loads[0].function", name)]
    custom = arm(Basis.custom(("X", name), "bend-y"))
    assert refused(links=(custom,)) == [(f"{at}links[0].divisions[0].strain[0].functions[1]", name)]
    assert module not in sys.modules


def test_a_dependent_basis_asks_anew_for_every_robot(module):
    made = arm(Basis.dependent(f"{module}:wave", 1))
    Robot(made)
    with code_allowed(False), pytest.raises(ConfigError, match="allow it with --allow-code"):
        Robot(made)


def test_a_dependent_basis_in_python_has_to_make_a_formula():
    with pytest.raises(ConfigError, match="must make a formula"):
        Robot(arm(Basis.dependent(lambda X, t, q1: np.sin(X), 1)))
    with pytest.raises(ConfigError, match="y is none of them"):
        Robot(arm(Basis.dependent(lambda X, t, q1: q1 * sympy.Symbol("y"), 1)))


def test_a_load_without_a_function_s_name_is_refused():
    with pytest.raises(ValueError, match="name a Python function"):
        Load(name="tug", at="arm.tip", function="push")


def test_what_does_work_without_an_input_is_reported():
    def wrench(scaled):
        given = Distributed(name="muscle", link="arm", wrench=("0", 0.1, 0, 0, 0, 0), input=scaled)
        return GVSConfig(links=(arm(),), distributed=(given,))

    assert Robot(wrench(True)).description.untracked_work == tugged(None).description.untracked_work == ""
    assert Robot(wrench(False)).description.untracked_work == "the distributed wrench 'muscle'"
    assert tugged(pull).description.untracked_work == "the load 'tug'"
    assert "moves with t" in Robot(arm(Basis.dependent("q1*X*t", 1))).description.untracked_work


def test_a_function_that_was_changed_is_that_of_the_next_robot(module, monkeypatch):
    """What a name stands for is not remembered, nor a function of Python itself: it may change its mind."""
    named = Basis.custom((f"{module}:bump",), "bend-y")
    before = Robot(arm(named)).dynamics()[0]
    monkeypatch.setattr(f"{module}.bump", lambda X: 2.0 * np.sin(np.pi * X))
    np.testing.assert_allclose(Robot(arm(named)).dynamics()[0], 4.0 * before, rtol=rounding(64))
