"""How many points along a link are enough, and that fewer than its basis can be told apart by are refused."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from scipy.linalg import eigh

from corekit.errors import ConfigError
from corekit_gvs import discretise
from corekit_gvs.config import Basis, Division, Link
from corekit_gvs.functions import shape_functions
from corekit_testing.rounding import rounding

from .robots import Robot

BENDING, ALL = ("bend-y",), ("torsion", "bend-y", "bend-z", "stretch")
BASES = {
    "constant": Basis.constant,
    "legendre 1": lambda *modes: Basis.legendre(1, *modes),
    "legendre 2": lambda *modes: Basis.legendre(2, *modes),
    "legendre 4": lambda *modes: Basis.legendre(4, *modes),
    "legendre 6": lambda *modes: Basis.legendre(6, *modes),
    "legendre 8": lambda *modes: Basis.legendre(8, *modes),
    "monomial 3": lambda *modes: Basis.monomial(3, *modes),
    "monomial 5": lambda *modes: Basis.monomial(5, *modes),
    "chebyshev 5": lambda *modes: Basis.chebyshev(5, *modes),
    "fourier 1": lambda *modes: Basis.fourier(1, *modes),
    "fourier 2": lambda *modes: Basis.fourier(2, *modes),
    "linear 1": lambda *modes: Basis.fem("linear", 1, *modes),
    "linear 3": lambda *modes: Basis.fem("linear", 3, *modes),
    "quadratic 1": lambda *modes: Basis.fem("quadratic", 1, *modes),
    "quadratic 2": lambda *modes: Basis.fem("quadratic", 2, *modes),
    "cubic 2": lambda *modes: Basis.fem("cubic", 2, *modes),
    "hermite 2": lambda *modes: Basis.hermite(2, *modes),
    "gaussian 3": lambda *modes: Basis.gaussian(3, *modes),
    "multiquadric 3": lambda *modes: Basis.inverse_multiquadric(3, *modes),
    "custom": lambda *modes: Basis.custom(("1", "sin(pi*X)", "X**2"), *modes),
}
FINE = 60
"""Points of the reference, a division or an element: 3 times the default's at least, 1/81 of its error of order 4."""


def rod(basis: Basis, points: int = 0, radius=0.01, **options) -> Robot:
    return Robot(Link.soft("arm", length=0.3, radius=radius, strain=(basis,), points=points, **options))


def bent(basis: Basis, angle: float) -> np.ndarray:
    """Coordinates of an arc of `angle` in the plane of bend-y, as well as the basis can."""
    X = np.linspace(0.0, 1.0, 401)
    shapes = shape_functions(basis, X, "")
    count, q = shapes.shape[1], np.zeros(basis.size)
    first = sorted(basis.modes, key=list(discretise.MODES).index).index("bend-y") * count
    q[first : first + count] = np.linalg.lstsq(shapes, np.full(len(X), angle), rcond=None)[0]
    return q


def frequencies(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Of small motion by elasticity about q, rad/s: K is the same at every q."""
    stiffness = robot.at(0.0 * q).tangent()[0]
    mass, _ = robot.at(q).dynamics()
    return np.sqrt(eigh(stiffness, mass, eigvals_only=True))


@pytest.mark.parametrize("angle", [0.0, np.pi])
@pytest.mark.parametrize("modes", [BENDING, ALL])
@pytest.mark.parametrize("name", BASES)
def test_the_default_reaches_a_thousandth_in_every_frequency(name, modes, angle):
    basis = BASES[name](*modes)
    q = bent(basis, angle)
    np.testing.assert_allclose(frequencies(rod(basis), q), frequencies(rod(basis, FINE), q), rtol=1e-3)


@pytest.mark.parametrize("name", ["legendre 2", "legendre 4", "linear 3", "quadratic 2"])
def test_the_default_serves_a_rod_that_thins(name):
    """M̄ of a radius linear in X is of degree 4 in X, of its weight 2: the points kept for the arc hold it."""
    basis = BASES[name](*ALL)
    radius = (0.0125, -0.0105)
    found, fine = (frequencies(rod(basis, n, radius), np.zeros(basis.size)) for n in (0, FINE))
    np.testing.assert_allclose(found, fine, rtol=1e-3)


def unchecked(basis: Basis, points: int) -> Robot:
    """A rod with a number of points that is refused otherwise."""
    unremembered = discretise._discretise.__wrapped__
    with patch.multiple(discretise, _blind=lambda *_: [], _discretise=unremembered):
        return rod(basis, points)


def deficits(robot: Robot) -> tuple[int, int]:
    """How many directions of q̇ have no inertia, and how many of q no stiffness."""
    q = np.random.default_rng(3).uniform(-0.5, 0.5, robot.size)
    mass, stiffness = robot.at(q).dynamics()[0], robot.at(0.0 * q).tangent()[0]
    counts = []
    for matrix in (mass, stiffness):
        scale = 1.0 / np.sqrt(np.where(np.diag(matrix) > 0.0, np.diag(matrix), 1.0))
        counts.append(
            robot.size - int(np.linalg.matrix_rank(matrix * scale * scale[:, None], hermitian=True))
        )
    return counts[0], counts[1]


SMALLEST = {
    "constant": 1, "legendre 1": 2, "legendre 4": 5, "legendre 6": 7, "monomial 3": 4, "chebyshev 5": 6,
    "fourier 1": 3, "fourier 2": 5, "linear 1": 2, "linear 3": 2, "quadratic 1": 3, "quadratic 2": 3, "cubic 2": 4,
    "gaussian 3": 2, "multiquadric 3": 2, "custom": 3,
}  # fmt: skip
"""As many points as functions; of polynomials on elements, which share their ends, one more than the degree."""


@pytest.mark.parametrize("name", SMALLEST)
def test_as_few_points_as_make_m_or_k_singular_are_refused(name):
    basis, smallest = BASES[name]("torsion", "bend-y", "bend-z"), SMALLEST[name]
    assert deficits(rod(basis, smallest)) == (0, 0)
    for points in range(1, smallest):
        assert max(deficits(unchecked(basis, points))) > 0
        with pytest.raises(ConfigError) as told:
            rod(basis, points)
        (mistake,) = told.value.mistakes
        assert mistake.path == "links[0].divisions[0].points"
        assert mistake.found == points
        assert f"must be ≥ {smallest}" in mistake.allowed


def test_the_number_is_counted_over_all_elements_and_bases_of_a_division():
    """Constant torsion alone would do with 1 point an element; quadratic bending asks for 3."""
    strain = (Basis.constant("torsion"), Basis.fem("quadratic", 2, "bend-y"))
    with pytest.raises(ConfigError, match="must be ≥ 3 an element"):
        Robot(Link.soft("arm", Division(length=0.3, strain=strain, points=2)))
    strain = (Basis.legendre(5, "torsion"), Basis.fem("linear", 3, "bend-y"))
    assert deficits(Robot(Link.soft("arm", Division(length=0.3, strain=strain, points=2)))) == (0, 0)


@pytest.mark.parametrize(("coordinates", "points"), [(3, 3), (6, 2)])
def test_a_dependent_basis_needs_a_point_beyond_the_base_for_every_coordinate(coordinates, points):
    basis = Basis.named({3: "sigmoid", 6: "bump-quadratic"}[coordinates], "bend-y")
    with pytest.raises(ConfigError, match=f"must be ≥ {coordinates + 1}, or 0"):
        rod(basis, points)


@pytest.mark.parametrize("points", [0, 9])
def test_functions_that_no_points_tell_apart_are_refused_by_name(points):
    with pytest.raises(ConfigError, match="must be linearly independent") as told:
        rod(Basis.custom(("1", "X", "2*X - 1"), "bend-y"), points)
    assert told.value.mistakes[0].path == "links[0].divisions[0].strain[0].functions"


def test_a_remembered_discretisation_is_that_of_a_robot_built_for_the_first_time():
    """The second rod finds the first one's bases; its length and section are its own."""
    strain = (Basis.legendre(2, "torsion", "stretch"), Basis.fem("quadratic", 2, "bend-y", "bend-z"))
    long, short = (Link.soft("arm", Division(length=L, radius=L / 30, strain=strain)) for L in (0.3, 0.1))
    Robot(long)
    after = Robot(short)
    discretise._discretise.cache_clear()
    fresh = Robot(short)
    q = np.random.default_rng(5).uniform(-0.5, 0.5, fresh.size)
    for one, other in zip(after.at(q).dynamics(), fresh.at(q).dynamics(), strict=True):
        np.testing.assert_array_equal(one, other)


RULES = {"gauss": 9, "trapezoid": 1, "simpson": 3}
"""Highest degree that five points an element integrate exactly."""
DIVIDED = {
    "whole": Basis.legendre(1),
    "elements": Basis.fem("linear", 2),
    "dependent": Basis.named("sigmoid", "bend-y"),
}


def summed(division: Division, degree: int) -> float:
    """∫Xᵐ over [0, 1] by a division's points."""
    X, weight, *_ = discretise.discretise(division, "")
    return float(weight @ X**degree)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("name", DIVIDED)
def test_a_rule_is_exact_to_its_degree_and_no_further(rule, name):
    division = Division(strain=(DIVIDED[name],), points=5, quadrature=rule)
    for degree in range(RULES[rule] + 1):
        assert summed(division, degree) == pytest.approx(1.0 / (degree + 1), abs=rounding(12, 1.0))
    assert abs(summed(division, RULES[rule] + 1) * (RULES[rule] + 2) - 1.0) > 100 * rounding(12, 1.0)


@pytest.mark.parametrize(("rule", "order"), [("trapezoid", 2), ("simpson", 4)])
def test_a_rule_errs_by_its_order_and_as_the_module_says(rule, order):
    errors, m = [], 6
    for points in (17, 33):
        division = Division(strain=(Basis.legendre(2),), points=points, quadrature=rule)
        errors.append((m + 1) * summed(division, m) - 1.0)
        h = 1.0 / (points - 1)
        said = h**2 * m * (m + 1) / 12 if order == 2 else h**4 * (m + 1) * m * (m - 1) * (m - 2) / 180
        assert errors[-1] == pytest.approx(said, rel=0.05)
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.02)


@pytest.mark.parametrize(("rule", "degree"), [("gauss", 4), ("trapezoid", 1), ("simpson", 2)])
@pytest.mark.parametrize("name", ["whole", "elements"])
def test_what_friction_sums_along_a_cable_is_exact_to_its_degree(rule, degree, name):
    """Of a function's values at the points, ∫ from 0 to each of them and to 1: of polynomials, lines or parabolas."""
    division = Division(strain=(DIVIDED[name],), points=5, quadrature=rule)
    X, weight, *_ = discretise.discretise(division, "")
    places = X[weight > 0.0]
    integrals, ends = discretise.running_integrals(division, places), np.append(places, 1.0)
    for m in range(degree + 1):
        np.testing.assert_allclose(
            integrals @ places**m, ends ** (m + 1) / (m + 1), rtol=0, atol=rounding(60, 1.0)
        )


@pytest.mark.parametrize("rule", ["trapezoid", "simpson"])
@pytest.mark.parametrize("name", ["legendre 2", "legendre 4", "fourier 1", "linear 3", "cubic 2"])
def test_even_points_reach_a_thousandth_too(rule, name):
    basis = BASES[name](*ALL)
    found = frequencies(rod(basis, quadrature=rule), np.zeros(basis.size))
    np.testing.assert_allclose(found, frequencies(rod(basis, FINE), np.zeros(basis.size)), rtol=1e-3)


def test_a_dependent_basis_may_have_gauss_s_points():
    """Far fewer than the 101 even ones do, where the strain is smooth."""
    basis, q = Basis.dependent("q1*exp(-(2*X - 1)**2*q2)", 2, "bend-y"), np.array([0.8, 0.7])
    many, even, few = (
        rod(basis, points, quadrature=rule).at(q, [0.3, 0.2]).dynamics()
        for points, rule in ((401, "simpson"), (0, "by-basis"), (12, "gauss"))
    )
    for one, other, exact in zip(few, even, many, strict=True):
        assert np.abs(one - exact).max() < np.abs(other - exact).max() / 10
        np.testing.assert_allclose(one, exact, rtol=0, atol=1e-5 * np.abs(exact).max())


@pytest.mark.parametrize(
    ("rule", "points", "said"), [("simpson", 8, "must be odd"), ("trapezoid", 1, "must be ≥ 2")]
)
def test_a_number_that_makes_no_rule_is_refused(rule, points, said):
    with pytest.raises(ConfigError, match=said) as told:
        rod(Basis.constant("bend-y"), points, quadrature=rule)
    assert told.value.mistakes[0].path == "links[0].divisions[0].points"


def test_few_even_points_are_refused_by_the_smallest_number_that_makes_a_rule():
    with pytest.raises(ConfigError, match="must be ≥ 7"):
        rod(Basis.legendre(5, "bend-y"), 5, quadrature="simpson")
