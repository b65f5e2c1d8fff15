"""The slow reference against what neither it nor the plugin computed: published figures, ODEs, Lagrange."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import linalg
from scipy.integrate import solve_ivp
from scipy.optimize import root

from corekit_testing.rounding import rounding

from .reference_basis import MODES, gauss, legendre_shape, modes
from .reference_linkages import TENDONS, published_arm, typed_arm
from .reference_series import expm, hat, pose
from .reference_tree import Link, Piece, Tree, circle

PUBLISHED = json.loads((Path(__file__).parent / "accelerations_51.json").read_text())


@pytest.mark.parametrize("basis", ["legendre", "fem_quadratic"])
def test_accelerations_are_those_of_the_published_equations(basis):
    data, tree = PUBLISHED[basis], published_arm(basis)
    for q, v, published, tip in zip(*(np.array(data[k]) for k in ("Q", "QD", "QDD", "TIP")), strict=True):
        mass, parts = tree.terms(q, v)
        force = sum(parts.values())
        points, tips = tree.sweep(q, v)
        for strength, (path, slope, pieces) in zip(data["u_const"], TENDONS, strict=True):
            force = force + strength * tree.cable(q, path, slope, pieces, points=points)[0]
        found = np.linalg.solve(mass, force)
        assert np.linalg.norm(found - published) < 1e-10 * np.linalg.norm(published)
        np.testing.assert_allclose(
            tips[0].pose[:3, 3], tip, atol=rounding(32 * 12)
        )  # some thirty steps, four products each


def test_exponentials_of_stacks_are_those_of_a_general_routine():
    stack = np.array([hat(twist) for twist in np.random.default_rng(0).uniform(-4, 4, (5, 6))])
    np.testing.assert_allclose(expm(stack), linalg.expm(stack), rtol=1e-12, atol=1e-12)


def strained(points, order):
    basis = modes(MODES, legendre_shape(2))
    piece = Piece(0.4, basis, (np.linspace(0, 1, points + 1), np.zeros(points + 1)), lambda x: circle(0.01))
    piece.order = order
    return Tree([Link([piece])]), piece


@pytest.mark.parametrize("order", [2, 4])
def test_steps_converge_to_the_differential_equation_with_their_order(order):
    q = np.random.default_rng(1).uniform(-1, 1, 18)
    _, piece = strained(1, order)

    def along(x, g):
        return (0.4 * g.reshape(4, 4) @ hat(piece.strain(x, q, q, 0.0)[0])).ravel()

    exact = solve_ivp(along, (0, 1), pose().ravel(), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    errors = []
    for points in (4, 8):
        tree, _ = strained(points, order)
        errors.append(np.abs(tree.sweep(q, 0 * q)[1][0].pose.ravel() - exact).max())
    assert 0.8 * 2**order < errors[0] / errors[1] < 1.25 * 2**order


def test_velocity_forces_are_lagrange_s():
    """c = Ṁ·q̇ − ½·∂(q̇ᵀ·M·q̇)/∂q for a basis that depends on its coordinates."""
    tree, q, v = typed_arm()
    step, n = 1e-5, tree.size

    def inertia(at):
        return tree.inertia(at)

    rate = (inertia(q + step * v) - inertia(q - step * v)) / (2 * step)
    slope = [v @ (inertia(q + step * e) - inertia(q - step * e)) @ v / (2 * step) for e in np.eye(n)]
    bias = -tree.terms(q, v)[1]["bias"]
    np.testing.assert_allclose(bias, rate @ v - np.array(slope) / 2, rtol=1e-7, atol=1e-9 * abs(bias).max())


def test_weight_and_elasticity_are_slopes_of_the_energy():
    tree, q, v = typed_arm()
    step = 1e-5
    slope = [
        (tree.energy(q + step * e, 0 * v)[1] - tree.energy(q - step * e, 0 * v)[1]) / (2 * step)
        for e in np.eye(tree.size)
    ]
    parts = tree.terms(q, 0 * v)[1]
    np.testing.assert_allclose(parts["weight"] + parts["elastic"], -np.array(slope), rtol=1e-6, atol=1e-9)


def planar_rod(order, points, load=0.0):
    """A rod of length 1 with E·I = 1 that bends about y, and how far q is from rest under a dead tip load."""

    def section(x):
        return (1.0, 1.0, 1.0)

    piece = Piece(1.0, modes(("bend_y",), legendre_shape(order)), gauss(points), section, 1.0)
    tree = Tree([Link([piece])], gravity=(0, 0, 0))

    def out_of_balance(q):
        tip = tree.sweep(q, 0 * q)[1][0]
        return tree.terms(q, 0 * q)[1]["elastic"] + tree.force_at(tip, np.array([0, 0, load]))

    return tree, out_of_balance


def test_elastica_under_a_dead_tip_load_is_that_of_the_elliptic_integrals():
    """α = P·L²/(E·I) = 2: tip at (0.8393582791748332, 0.4934574803967118)·L."""
    errors = []
    for order in (2, 4):
        tree, out_of_balance = planar_rod(order, 8, 2.0)
        q = root(out_of_balance, np.zeros(order + 1), tol=1e-12).x
        x, _, z = tree.sweep(q, 0 * q)[1][0].pose[:3, 3]
        errors.append(np.hypot(x - 0.8393582791748332, z - 0.4934574803967118))
    assert errors[0] < 1e-3
    assert errors[1] < 2e-5


def test_bending_waves_of_a_cantilever_have_the_frequencies_of_euler_and_bernoulli():
    """ω = β²·√(E·I/(ρA)), cos β·cosh β = −1; the rotary inertia of the thin section is 2e-5 of that."""
    radius, young = 0.002, 1e6
    piece = Piece(
        1.0, modes(("bend_y",), legendre_shape(5)), gauss(12), lambda x: circle(radius), young, density=1000
    )
    tree = Tree([Link([piece])], gravity=(0, 0, 0))
    rest, step = np.zeros(6), 1e-4
    stiffness = -np.array([tree.terms(step * e, rest)[1]["elastic"] for e in np.eye(6)]) / step
    found = np.sqrt(linalg.eigvalsh(stiffness, tree.inertia(rest))[:2])
    exact = np.array([1.8751040687, 4.6940911330]) ** 2 * np.sqrt(young * radius**2 / 4 / 1000)
    np.testing.assert_allclose(found, exact, rtol=1e-4)
