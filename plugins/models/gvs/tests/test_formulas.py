"""Formulas that users type: what has no finite real value is a mistake with its place; kinks have slopes."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from corekit.errors import ConfigError
from corekit_gvs.config import Basis, Distributed, GVSConfig, Link
from corekit_gvs.formula import evaluator, expression
from corekit_gvs.model import GVS

from .robots import Robot


def arm(*strain):
    return Link.soft("arm", length=0.3, radius=0.01, strain=strain or (Basis(),))


@pytest.mark.parametrize("text", ["q1/0", "q1*0/0", "log(0)*q1", "sqrt(-1)*q1", "q1 + log(-1)", "1e400*q1"])
def test_a_formula_without_a_finite_real_value_is_refused_where_it_stands(text):
    with pytest.raises(ConfigError, match="no finite real value") as caught:
        GVS(GVSConfig(links=(arm(Basis.dependent(text, 1)),)))
    assert caught.value.mistakes[0].path.endswith("links[0].divisions[0].strain[0].functions[0]")


def within(template, count, text):
    for _ in range(count):
        text = template.format(text)
    return text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (within("({})**20", 8, "9"), "may hold numbers up to 1e308"),
        (within("({})**20", 8, "(1/9)"), "may hold numbers up to 1e308"),
        (within("({})**(1/3)", 20, "q"), "16 functions and powers within each other"),
        (within("abs({}-q)", 60, "q"), "16 functions and powers within each other"),
        (within("sqrt({}+q)", 100, "q"), "16 functions and powers within each other"),
        ("q+" * 990 + "q", "may hold 400 signs"),
        ("2**(1/0)", "may hold powers up to 64"),
        ("q**sqrt(-1)", "may hold powers up to 64"),
    ],
    ids=["whole", "fraction", "roots", "abs", "sqrt", "sum", "infinite", "imaginary"],
)
def test_what_would_take_for_ever_or_end_raw_is_one_sentence(text, said):
    with pytest.raises(ConfigError, match=said):
        expression(text, ["q"], "formula")


def test_powers_of_numbers_are_those_of_python():
    tower = "3**(1/3)**(1/3)**(1/3)"
    for text in ("2**10", "2**0.5", "9**(1/2)", "2**(2**0.5)", "0.5**3", "2**-3", "(1/3)**20", tower):
        assert float(expression(text, [], "formula")) == pytest.approx(eval(text), rel=1e-14)


@pytest.mark.parametrize(
    ("text", "value", "slope", "bend"),
    [
        ("abs(q)", abs, np.sign, lambda q: 0.0 * q),
        ("q*abs(q)", lambda q: q * abs(q), lambda q: 2 * abs(q), lambda q: 2 * np.sign(q)),
        ("max(q, 0.1)", lambda q: max(q, 0.1), lambda q: float(q > 0.1), lambda q: 0.0),
        ("min(q, 0.1)", lambda q: min(q, 0.1), lambda q: float(q < 0.1), lambda q: 0.0),
    ],
)  # fmt: skip
def test_kinks_have_the_slopes_beside_them(text, value, slope, bend):
    q = sympy.Symbol("q", real=True)
    found = expression(text, ["q"], "formula")
    function = evaluator([found, sympy.diff(found, q), sympy.diff(found, q, 2)], ["q"])
    for at in (-0.7, 0.4):
        np.testing.assert_allclose(function(at), [value(at), slope(at), bend(at)])


def test_a_basis_of_a_magnitude_bends_as_one_of_its_sign():
    """At q1 < 0 a strain of |q1| is that of −q1, with inertia alike and forces of the other sign."""
    q, v = np.array([-0.4]), np.array([0.8])
    found = Robot(arm(Basis.dependent("abs(q1)*X", 1))).at(q, v).dynamics()
    wanted = Robot(arm(Basis.dependent("-q1*X", 1))).at(q, v).dynamics()
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


OVERFLOWS = pytest.mark.to_nearest("what overflows is the largest finite number", "down", "zero")


@pytest.mark.parametrize(
    ("text", "at"), [("1/q", 0.0), ("q**0.3", -0.2), pytest.param("(q + 1)**q", 1e200, marks=OVERFLOWS)]
)
def test_what_is_not_finite_at_a_state_is_reported_as_a_number(text, at):
    """Python's own numbers would raise, or turn complex."""
    assert not np.isfinite(evaluator([expression(text, ["q"], "formula")], ["q"])(at)).any()


def test_a_wrench_that_begins_infinite_is_refused_where_it_stands():
    infinite = Distributed(name="pull", link="arm", wrench=("1/t", "0", "0", "0", "0", "0"))
    with pytest.raises(ConfigError, match="not finite at t = 0") as caught:
        GVS(GVSConfig(links=(arm(),), distributed=(infinite,)))
    assert caught.value.mistakes[0].path.endswith("distributed[0].wrench")


@pytest.mark.parametrize("kind", ["internal", "section", "world"])
def test_a_wrench_that_becomes_infinite_is_the_force_term_that_is_not_finite(kind):
    """So that a run that stops there names it, and not gravity."""
    ends = Distributed(name="pull", link="arm", kind=kind, wrench=("0", "log(1 - t)", "0", "0", "0", "0"))
    robot = Robot((arm(),), distributed=(ends,)).at(t=2.0)
    terms = robot.model.compute_force_terms(robot.state, robot.inputs)
    assert [name for name, force in terms.items() if not np.isfinite(force).all()] == ["applied"]
