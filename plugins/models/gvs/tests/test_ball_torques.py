"""Damping and drives of spherical and free joints: the torque τ − d·ω about the link's axes, at every turn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corekit_gvs.config import GVSConfig, Joint, Link
from corekit_testing.conformance import conformance

from .robots import Robot

D = np.array([0.3, 0.7, 1.1])
TURNS = [(0.0, 0.0, 0.0), (1e-4, 0.0, -2e-4), (0.9, -1.2, 0.4), (1.8, -2.0, 1.2)]
RATE = np.array([0.4, -0.9, 1.3])
DAMPED: dict[str, Any] = {
    "links": [
        {"name": "a", "kind": "rigid", "mass": 0.2, "inertia": [2e-3, 3e-3, 4e-3], "tip": [0.1, 0.0, 0.0],
         "joint": {"kind": "free", "damping": [0.3, 0.7, 1.1, 0.2, 0.3, 0.4], "driven": True}},
        {"name": "b", "on": "a.tip", "kind": "rigid", "mass": 0.1, "inertia": [1e-3, 2e-3, 2e-3],
         "joint": {"kind": "spherical", "damping": 0.5, "driven": True}},
    ]
}  # fmt: skip
test_damped_balls = conformance("models", "gvs", DAMPED)


def ball(kind, damping=tuple(D)):
    shift = (0.0,) * 3 if kind == "free" else ()
    link = Link.rigid(
        "b", mass=1.0, inertia=(0.01, 0.02, 0.03), joint=Joint(kind=kind, damping=(*damping, *shift))
    )
    return Robot(GVSConfig(links=(link,)))


def at(robot, k):
    q, v = np.zeros((2, robot.size))
    q[:3], v[:3] = k, RATE
    return robot.at(q, v)


def body_rates(k):
    """ω = B·k̇ about the link's axes, B by differences of turns."""
    h, here = 1e-6, Rotation.from_rotvec(k)
    turned = [(here.inv() * Rotation.from_rotvec(np.array(k) + e)).as_rotvec() for e in (h * np.eye(3))]
    back = [(here.inv() * Rotation.from_rotvec(np.array(k) - e)).as_rotvec() for e in (h * np.eye(3))]
    return (np.array(turned) - np.array(back)).T / (2.0 * h)


@pytest.mark.parametrize("kind", ["spherical", "free"])
@pytest.mark.parametrize("k", TURNS)
def test_the_force_has_the_power_of_the_torque_against_the_turn(kind, k):
    """fᵀ·k̇ = −ωᵀ·d·ω for every k̇, and f is Bᵀ·(−d·ω); in exponential coordinates −d·k̇ was neither."""
    robot, B = at(ball(kind), k), body_rates(k)
    wanted = -B.T @ (D * (B @ RATE))
    found = robot.terms()["viscous"]
    assert found[:3] == pytest.approx(wanted, abs=1e-8)
    assert found[3:] == pytest.approx(0.0, abs=0.0)


@pytest.mark.parametrize("k", TURNS[2:])
def test_the_damping_is_the_same_before_and_after_coordinates_are_centred(k):
    """Angular acceleration −I⁻¹·(d·ω + ω × I·ω) about the link's axes, at k and in the frame that stands there."""
    inertia, B = np.array([0.01, 0.02, 0.03]), body_rates(k)
    spin = B @ RATE
    wanted = (-D * spin - np.cross(spin, inertia * spin)) / inertia
    robot = at(ball("spherical"), k)
    mass, force = robot.dynamics()
    h = 1e-6
    bias = (body_rates(np.array(k) + h * RATE) - body_rates(np.array(k) - h * RATE)) @ RATE / (2.0 * h)
    assert B @ np.linalg.solve(mass, force) + bias == pytest.approx(wanted, abs=2e-3)
    centred = ball("spherical")
    centred.at(np.zeros(3), spin).state.aux[:9] = Rotation.from_rotvec(k).as_matrix().ravel()
    mass, force = centred.dynamics()
    assert np.linalg.solve(mass, force) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("kind", ["spherical", "free"])
@pytest.mark.parametrize("k", TURNS)
def test_its_stiffness_and_damping_are_slopes(kind, k):
    robot, none = ball(kind), ball(kind, (0.0,) * 3)
    found = [one - other for one, other in zip(at(robot, k).tangent(), at(none, k).tangent(), strict=True)]
    step = 1e-5
    for number, slope in enumerate(found):
        for j, e in enumerate(step * np.eye(robot.size)):
            ends = []
            for sign in (1.0, -1.0):
                moved = [0.0 * e, 0.0 * e]
                moved[number] = sign * e
                at(robot, k)
                robot.at(robot.state.q + moved[0], robot.state.v + moved[1])
                ends.append(robot.terms()["viscous"].copy())
            assert slope[:, j] == pytest.approx(-(ends[0] - ends[1]) / (2.0 * step), abs=1e-7)


@pytest.mark.parametrize("k", TURNS)
def test_expressions_damp_as_numbers_do(k):
    pytest.importorskip("casadi")
    robot = at(ball("free"), k)
    force = robot.model.symbolic().functions()["force"]
    found = np.array(force(robot.state.q, robot.state.v, np.zeros(0))).ravel()
    assert found == pytest.approx(robot.dynamics()[1], abs=1e-11)


TORQUE = np.array([0.4, -0.7, 0.2])


def driven(kind, k):
    link = Link.rigid("b", mass=1.0, inertia=(0.01, 0.02, 0.03), joint=Joint(kind=kind, driven=True))
    robot = at(Robot(GVSConfig(links=(link,))), k)
    robot.inputs[:] = 0.0
    robot.inputs[:3] = TORQUE
    return robot


@pytest.mark.parametrize("kind", ["spherical", "free"])
@pytest.mark.parametrize("k", TURNS)
def test_a_drive_is_a_torque_about_the_axes_of_the_link(kind, k):
    """f = Bᵀ·τ, which a drive conjugate to exponential coordinates is at k = 0 alone; ∂f/∂u and K are its slopes."""
    pytest.importorskip("casadi")
    robot, B = driven(kind, k), body_rates(k)
    assert robot.terms()["applied"][:3] == pytest.approx(B.T @ TORQUE, abs=1e-8)
    found = np.zeros((robot.size, len(robot.inputs)))
    robot.model.compute_input_jacobian(robot.state, robot.inputs, found)
    assert found[:3, :3] == pytest.approx(B.T, abs=1e-8)
    assert found[3:, 3:] == pytest.approx(np.eye(robot.size - 3))
    force = robot.model.symbolic().functions()["force"]
    expressed = np.array(force(robot.state.q, robot.state.v, robot.inputs)).ravel()
    assert expressed == pytest.approx(robot.dynamics()[1], abs=1e-11)
    with_drive = robot.tangent()[0]
    without = robot.at(inputs=0.0).tangent()[0]
    h = 1e-5
    for j, e in enumerate(h * np.eye(3)):
        slope = -(body_rates(np.array(k) + e) - body_rates(np.array(k) - e)).T @ TORQUE / (2.0 * h)
        assert (with_drive - without)[:3, j] == pytest.approx(slope, abs=2e-4)


def test_a_drive_turns_a_ball_the_same_way_before_and_after_coordinates_are_centred():
    """A ball at rest gets I·ω̇ = τ about its own axes, wherever its coordinates count from."""
    k = np.array([1.8, -2.0, 1.7])
    wanted = TORQUE / np.array([0.01, 0.02, 0.03])
    robot = driven("spherical", k).at(v=np.zeros(3))
    for B in (body_rates(k), np.eye(3)):
        mass, force = robot.dynamics()
        assert B @ np.linalg.solve(mass, force) == pytest.approx(wanted, rel=1e-8)
        robot.model.reparametrise(robot.state)
    assert robot.state.q == pytest.approx(np.zeros(3))
