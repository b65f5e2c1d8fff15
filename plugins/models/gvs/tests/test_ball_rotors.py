"""Armature of spherical joints: a rotor that turns with ω, as much about every axis and at every turn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corekit_gvs.config import GVSConfig, Joint, Link
from corekit_testing.conformance import conformance

from .robots import Robot
from .test_ball_torques import RATE, TURNS, body_rates

ARMATURE, INERTIA = 0.02, np.array([0.01, 0.02, 0.03])
CHAIN: dict[str, Any] = {
    "links": [
        {"name": "a", "kind": "rigid", "mass": 0.2, "inertia": [2e-3, 3e-3, 4e-3], "tip": [0.1, 0.0, 0.0],
         "joint": {"kind": "spherical", "armature": 0.01}},
        {"name": "b", "on": "a.tip", "kind": "rigid", "mass": 0.1, "inertia": [1e-3, 2e-3, 2e-3],
         "joint": {"kind": "spherical", "damping": 0.5, "driven": True, "armature": 0.003}},
    ]
}  # fmt: skip
test_balls_with_rotors = conformance("models", "gvs", CHAIN)


def at(k, rate=RATE):
    joint = Joint(kind="spherical", armature=ARMATURE)
    robot = Robot(GVSConfig(links=(Link.rigid("b", mass=1.0, inertia=tuple(INERTIA), joint=joint),)))
    return robot.at(np.array(k), np.array(rate))


@pytest.mark.parametrize("k", TURNS)
def test_the_mass_is_that_of_a_rotor_about_every_axis(k):
    """M = Bᵀ·(I + a)·B with ω = B·k̇; a rotor of the coordinates had a·1 in place of a·BᵀB."""
    B = body_rates(k)
    mass, _ = at(k).dynamics()
    assert mass == pytest.approx(B.T @ np.diag(INERTIA + ARMATURE) @ B, abs=1e-9)


@pytest.mark.parametrize("k", TURNS)
def test_it_spins_as_eulers_equations_say(k):
    """(I + a)·ω̇ = −ω × I·ω about the link's axes: the rotor has inertia and no gyroscopic moment of its own."""
    B = body_rates(k)
    spin = B @ RATE
    mass, force = at(k).dynamics()
    h = 1e-6
    bias = (body_rates(np.array(k) + h * RATE) - body_rates(np.array(k) - h * RATE)) @ RATE / (2.0 * h)
    found = B @ np.linalg.solve(mass, force) + bias
    assert found == pytest.approx(-np.cross(spin, INERTIA * spin) / (INERTIA + ARMATURE), abs=2e-3)


@pytest.mark.parametrize("k", TURNS[2:])
def test_its_energy_stays_as_coordinates_are_centred(k):
    robot, spin = at(k), body_rates(k) @ RATE
    wanted = 0.5 * spin @ ((INERTIA + ARMATURE) * spin)
    assert robot.model.compute_energies(robot.state)[0] == pytest.approx(wanted, rel=1e-8)
    robot.state.q[:] = 0.0
    robot.state.v[:] = spin
    robot.state.aux[:9] = Rotation.from_rotvec(k).as_matrix().ravel()
    assert robot.model.compute_energies(robot.state)[0] == pytest.approx(wanted, rel=1e-8)
