"""What others got wrong, each as a claim: bases as tabled, smooth small angles, quadrature, re-centring."""

from __future__ import annotations

import numpy as np
import pytest

from corekit_gvs.config import Basis, Division, GVSInitial, Joint, Link, LinkInitial
from corekit_testing.rounding import rounding

from . import reference_basis as slow
from .reference_tree import Link as SlowLink
from .reference_tree import Piece, Tree, circle
from .robots import DOWN, Robot

KINDS = {
    "constant": (Basis.constant("bend-y"), slow.legendre_shape(0), 1),
    "monomial": (Basis.monomial(3, "bend-y"), slow.monomial_shape(3), 1),
    "legendre": (Basis.legendre(3, "bend-y"), slow.legendre_shape(3), 1),
    "chebyshev": (Basis.chebyshev(3, "bend-y"), slow.chebyshev_shape(3), 1),
    "fourier": (Basis.fourier(2, "bend-y"), slow.fourier_shape(2), 1),
    "fem-linear": (Basis.fem("linear", 2, "bend-y"), slow.lagrange_shape(2, 1), 2),
    "fem-quadratic": (Basis.fem("quadratic", 2, "bend-y"), slow.lagrange_shape(2, 2), 2),
    "fem-cubic": (Basis.fem("cubic", 2, "bend-y"), slow.lagrange_shape(2, 3), 2),
    "hermite": (Basis.hermite(2, "bend-y"), slow.hermite_shape(2), 2),
    "gaussian": (Basis.gaussian(2, "bend-y"), slow.gaussian_shape(2), 2),
    "inverse-multiquadric": (Basis.inverse_multiquadric(2, "bend-y"), slow.multiquadric_shape(2), 2),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_basis_is_that_of_its_table(kind):
    """Chebyshev is no Legendre, Hermite's slopes carry the element's width, local bases are split at elements."""
    basis, shape, elements = KINDS[kind]
    robot = Robot(Link.soft("arm", length=0.3, radius=0.02, viscosity=30, strain=(basis,), points=5), DOWN)
    piece = Piece(
        0.3,
        slow.modes(("bend_y",), shape),
        slow.gauss(5, elements),
        lambda x: circle(0.02),
        1e6,
        0.5,
        1000,
        30,
    )
    tree = Tree([SlowLink([piece])])
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-1, 1, tree.size), rng.uniform(-1, 1, tree.size)
    mass, force = robot.at(q, v).dynamics()
    wanted, parts = tree.terms(q, v)
    np.testing.assert_allclose(mass, wanted, rtol=1e-10, atol=1e-12 * np.abs(wanted).max())
    np.testing.assert_allclose(force, sum(parts.values()), rtol=1e-10, atol=1e-10 * np.abs(force).max())


@pytest.mark.parametrize("angle", [1e-9, 1e-2, 0.29999, 0.3])
def test_poses_have_no_jump_where_a_series_would_end(angle):
    """Constant strain: the tip of the exact circle of that angle, and the same on either side of the switch."""
    robot = Robot(Link.soft("arm", length=1.0, strain=(Basis.constant("bend-z"),), points=1))
    for factor in (1 - 1e-9, 1.0, 1 + 1e-9):
        for scale in (1.0, 2.0, 4.0):
            whole = angle * factor * scale
            place, _ = robot.at([whole]).place("arm.tip")
            half = whole / 2
            chord = np.sin(half) / half
            np.testing.assert_allclose(
                place, [chord * np.cos(half), chord * np.sin(half), 0], atol=rounding(48)
            )


def test_magnus_steps_have_the_order_asked_for():
    """Against the slow reference's exact steps it is tested elsewhere; here the option reaches the kernel."""
    tips = {}
    for order in (2, 4):
        for points in (4, 9):
            division = Division(
                length=0.4,
                strain=(Basis.monomial(2, "torsion", "bend-y", "bend-z"),),
                points=points,
                magnus=order,
            )
            q = np.array([0.9, -1.2, 0.7, 1.1, -0.4, 0.8, 0.3, 1.0, -0.9])
            tips[order, points] = Robot(Link.soft("arm", division)).at(q).place("arm.tip")[0]
    fine = (
        Robot(Link.soft("arm", Division(length=0.4, strain=(Basis.monomial(2),), points=40)))
        .at(q)
        .place("arm.tip")[0]
    )
    error = {key: np.linalg.norm(value - fine) for key, value in tips.items()}
    assert error[4, 4] < error[2, 4] / 5
    assert error[2, 4] / error[2, 9] > 2
    assert error[4, 4] / error[4, 9] > 4


def test_drag_does_not_depend_on_the_number_of_quadrature_points():
    def power(points):
        link = Link.soft(
            "arm", length=0.2, radius=0.01, strain=(Basis.legendre(2, "bend-y"),), points=points,
            drag=(0, 1.1, 1.1), joint=Joint.revolute("y"),
        )  # fmt: skip
        robot = Robot(link, fluid_density=1000.0)
        return robot.at([0, 0, 0, 0], [2.0, 0, 0, 0]).terms()["drag"][0]

    exact = -1000 * 0.01 * 1.1 * 2.0**2 * 0.2**4 / 4  # ∫ ρ·r·C·(ω·s)²·s ds
    assert power(4) == pytest.approx(exact, rel=1e-12)
    assert power(11) == pytest.approx(exact, rel=1e-12)


def test_added_mass_enters_the_gyroscopic_term():
    """A body that rotates and translates in a fluid feels the moment v × (M_a·v) of its added mass alone."""
    link = Link.rigid(
        "hull", 1.0, (1, 1, 1), Joint.free(), added_mass=(0, 0, 0, 0, 0, 3.0), buoyant_volume=1e-3
    )
    robot = Robot(link, fluid_density=1000.0)
    v = np.array([0, 0, 0, 0.5, 0.0, 0.8])
    _, force = robot.at(np.zeros(6), v).dynamics()
    np.testing.assert_allclose(force[:3], -np.cross(v[3:], [0.5, 0, 4 * 0.8]), atol=1e-12)


def test_recentring_a_free_joint_keeps_the_motion():
    """|k| > π: another chart, the same pose and the same twist."""
    robot = Robot(Link.rigid("box", 0.5, (1e-3, 2e-3, 3e-3), Joint.free()))
    robot.at([0.3, 3.4, -0.2, 0.1, 0.2, 0.3], [1.0, -2.0, 0.5, 0.3, 0.1, -0.4])
    place, rotation = robot.place("box.base")
    energy = robot.energy()[0]
    step = 1e-6
    velocity = (robot.at(robot.state.q + step * robot.state.v).place("box.base")[0] - place) / step
    robot.at(robot.state.q - step * robot.state.v)
    assert robot.model.reparametrise(robot.state)
    assert np.linalg.norm(robot.state.q[:3]) < np.pi
    after, turned = robot.place("box.base")
    np.testing.assert_allclose(after, place, atol=1e-12)
    np.testing.assert_allclose(turned, rotation, atol=1e-12)
    assert robot.energy()[0] == pytest.approx(energy, rel=1e-12)
    moved = robot.at(robot.state.q + step * robot.state.v).place("box.base")[0]
    np.testing.assert_allclose((moved - after) / step, velocity, atol=1e-5)
    robot.at([0.3, 0.4, -0.2, 0.1, 0.2, 0.3])
    assert not robot.model.reparametrise(robot.state)


def running_bump(base="fixed") -> Robot:
    """A bump of strain that runs along the arm with t, and two coordinates of its own."""
    basis = Basis(
        kind="dependent", modes=("bend-y",), coordinates=2, functions=("q1*exp(-q2**2*(X - t/2 - 0.3)**2)",)
    )  # fmt: skip
    return Robot(
        Link.soft(
            "arm",
            joint=Joint() if base == "fixed" else Joint.revolute("y"),
            length=0.5,
            strain=(basis,),
            points=41,
        )
    )


@pytest.mark.parametrize("base", ["fixed", "revolute"])
def test_a_basis_that_moves_with_time_starts_at_rest(base):
    """q̇ = 0 would turn what is behind the bump; T is least where it changes with no q̇."""
    robot = running_bump(base)
    q = [0.2] * (robot.size - 2) + [2.0, 8.0]
    robot.model.compute_initial_state(GVSInitial(coordinates=tuple(q)), robot.state)
    rest = robot.state.v.copy()
    least = robot.energy()[0]
    for push in np.eye(robot.size) * np.abs(rest).max():
        slope = robot.at(v=rest + push).energy()[0] - robot.at(v=rest - push).energy()[0]
        assert abs(slope) < 1e-6 * robot.at(v=rest + push).energy()[0]
    assert least < 0.2 * robot.at(v=0 * rest).energy()[0]


def test_rates_that_are_given_stay_as_they_are():
    robot = running_bump("revolute")
    robot.model.compute_initial_state(GVSInitial(velocity=(0.1, 0.2, 0.3)), robot.state)
    assert robot.state.v.tolist() == [0.1, 0.2, 0.3]
    given = LinkInitial(name="arm", coordinates=(0.2, 2.0, 8.0))
    robot.model.compute_initial_state(GVSInitial(links=(given,)), robot.state)
    assert robot.state.v.all()


def test_a_basis_without_authority_leaves_m_singular_until_it_is_regularised():
    """q₁ = 0: the other coordinates move nothing."""
    link = Link.soft("arm", length=0.2, strain=(Basis.named("bump", "bend-y"),), points=21)
    mass, _ = Robot(link).at([0.0, 5.0, 0.5]).dynamics()
    assert np.linalg.matrix_rank(mass) == 1
    mass, _ = Robot(link, regularisation=1e-6).at([0.0, 5.0, 0.5]).dynamics()
    assert np.linalg.eigvalsh(mass)[0] == pytest.approx(1e-6, rel=1e-6)
