"""Quaternions and distances against closed forms, contact against finite motion of material points."""

import casadi as ca
import numpy as np
import pytest

from corekit.geometry.frames import Pose, rotation_from_quat_wxyz, rotation_from_rpy
from corekit_mpcc.plan_certificate import orientation_error
from corekit_mpcc.transcription.contact import (
    ContactKinematics,
    ContactShape,
    compute_contact_terms,
    friction_directions,
)
from corekit_mpcc.transcription.gap import signed_distance
from corekit_mpcc.transcription.quaternion import quat_conjugate, quat_exp, quat_product
from corekit_testing.rounding import rounding

RADIUS, HALF_HEIGHT = 0.05, 0.005


def numbers(expression):
    return np.asarray(ca.evalf(ca.SX(expression)), dtype=float).squeeze()


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.3, 2.0, np.pi])
def test_the_exponential_rotates_by_the_angle_about_the_axis(angle):
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    quat = numbers(quat_exp(ca.SX(angle * axis)))
    assert quat == pytest.approx([np.cos(angle / 2), *(np.sin(angle / 2) * axis)], abs=rounding(32))
    assert np.linalg.norm(quat) == pytest.approx(1.0, abs=rounding(32))


def test_the_exponential_has_the_right_derivatives_at_rest():
    a = ca.SX.sym("a", 3)
    slope = ca.Function("slope", [a], [ca.jacobian(quat_exp(a), a), ca.hessian(quat_exp(a)[0], a)[0]])
    first, second = (np.asarray(each) for each in slope(0.0))
    assert first == pytest.approx(np.vstack([np.zeros(3), 0.5 * np.eye(3)]), abs=rounding(16))
    assert second == pytest.approx(-0.25 * np.eye(3), abs=rounding(16))


def test_a_product_of_quaternions_is_the_product_of_their_rotations():
    chance = np.random.default_rng(1)
    a, b = (each / np.linalg.norm(each) for each in chance.standard_normal((2, 4)))
    both = numbers(quat_product(ca.SX(a), ca.SX(b)))
    wanted = rotation_from_quat_wxyz(a) @ rotation_from_quat_wxyz(b)
    assert rotation_from_quat_wxyz(both) == pytest.approx(wanted, abs=rounding(32))
    assert numbers(quat_product(ca.SX(a), quat_conjugate(ca.SX(a)))) == pytest.approx(
        [1, 0, 0, 0], abs=rounding(16)
    )


def test_the_orientation_error_keeps_its_digits_near_the_target():
    turned = np.array([np.cos(5e-7), np.sin(5e-7), 0.0, 0.0])
    assert orientation_error(turned, np.array([1.0, 0, 0, 0])) == pytest.approx(np.sin(5e-7) ** 2, rel=1e-9)


@pytest.mark.parametrize(
    ("point", "wanted"),
    [
        ((0.01, 0.02, 0.035), 0.03),  # above the face
        ((0.0, -0.08, 0.001), 0.03),  # beside the wall
        ((0.08, 0.0, 0.045), 0.05),  # off the rim: 30 mm and 40 mm
        ((0.0, 0.01, 0.003), -0.002),  # inside, below the face
    ],
)
def test_the_distance_of_a_cylinder_is_the_closed_form_up_to_the_smoothing(point, wanted):
    found = numbers(signed_distance("cylinder", (RADIUS, HALF_HEIGHT), ca.SX(ca.DM(point)), 1e-12))
    assert found == pytest.approx(wanted, abs=2e-6)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "half-space"])
def test_other_shapes_have_the_closed_form_of_the_distance(kind):
    point = ca.SX(ca.DM([0.03, 0.04, 0.1]))
    size = {"sphere": (0.02,), "capsule": (0.02, 0.1), "half-space": ()}[kind]
    wanted = {"sphere": np.sqrt(0.0125) - 0.02, "capsule": 0.03, "half-space": 0.1}[kind]
    assert numbers(signed_distance(kind, size, point, 1e-14)) == pytest.approx(wanted, abs=2e-6)


def test_slip_and_force_of_a_contact_are_those_of_its_material_points():
    chance = np.random.default_rng(3)
    place = ContactShape("p", "cylinder", (RADIUS, HALF_HEIGHT), "b", 0, Pose(), True)
    R, spin = rotation_from_rpy((0.3, -0.2, 0.5)), chance.standard_normal(3)
    x, y, omega, radius = (
        np.array([0.01, 0.02, 0.055]),
        0.1 * chance.standard_normal(3),
        chance.standard_normal(3),
        0.05,
    )
    tip = ContactKinematics(*(ca.SX(ca.DM(each)) for each in (x, y, R, spin)))
    f_z, f_t = 2.0, chance.uniform(0.0, 1.0, 6)
    touch = compute_contact_terms(
        place, tip, radius, ca.SX(ca.DM(omega)), ca.SX(f_z), ca.SX(ca.DM(f_t)), 1e-14
    )
    n = np.array([0.0, 0.0, 1.0])  # above the face
    assert numbers(touch.gap) == pytest.approx(0.055 - HALF_HEIGHT - radius, abs=1e-6)
    # short motion of the ball's lowest point relative to the disk's point below it, in the disk's axes
    h, low = 1e-6, x - radius * n
    turned = np.eye(3) + h * (R.T @ _hat(omega) @ R - _hat(spin))
    moved = (x + h * y) + turned @ (low - x)
    velocity = (moved - low) / h
    assert numbers(touch.slip) == pytest.approx(velocity[:2], abs=1e-5)
    tangential = friction_directions(6) @ f_t
    force = np.array([*tangential, f_z])
    assert numbers(touch.force) == pytest.approx(force, abs=1e-6)
    # torque of the force at the contact point
    torque = np.cross(-radius * n, force)
    assert -radius * numbers(touch.lever) == pytest.approx(torque, abs=1e-7)


def _hat(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
