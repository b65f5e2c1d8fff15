"""The force of flowing matter against the momentum and the kinetic energy of wall, tail and gas, integrated apart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from corekit.data.state import State
from corekit.geometry.frames import rotation_from_rpy
from corekit.roles.component import BuildContext
from corekit_vine.config import VineConfig
from corekit_vine.inertia import compute_body_inertia
from corekit_vine.model import Vine

LINKS, RADIUS, WALL = 3, 1e-5, 2e-6
START, RATES = np.array([0.11, 0.07, 0.09]), np.array([0.2, 0.05, 0.11])
"""Lengths of the links at time 0 and their rates, which differ [m, m/s]."""
DENSITY = 1e10
"""As thin as this, the rotary inertia of a section is 1e-8 of a link's; its flow through a pin is not in the model."""
OPTIONS: dict[str, Any] = {
    "bodies": 2 * LINKS, "length": 0.3, "joint_stiffness": 0.0, "growth_input": "links", "diameter": 2.0 * RADIUS,
    "wall_thickness": WALL, "wall_density": DENSITY,
}  # fmt: skip
STEP = 1e-4
"""Of central differences [s]: their error is about STEP², their rounding ε/STEP²."""
NEAR = 1e-6


def angles(t):
    """Of the links [rad]."""
    return np.array([0.3, 1.1, -0.4]) + t * np.array([1.5, -2.0, 3.0]) + t * t * np.array([2.0, 4.0, -3.0])


def rate(function, t):
    return (function(t + STEP) - function(t - STEP)) / (2.0 * STEP)


def base(t):
    """Place and rotation of a base that moves."""
    place = np.array([0.2, -0.1, 0.3]) + t * np.array([0.7, -0.4, 0.2]) + t * t * np.array([1.0, 0.5, -2.0])
    return place, rotation_from_rpy((0.3 + 1.2 * t, -0.5 + 0.8 * t * t, 0.9 - 1.5 * t))


def spin(t):
    turn = rate(lambda s: base(s)[1], t) @ base(t)[1].T
    return np.array([turn[2, 1], turn[0, 2], turn[1, 0]])


def axes(t):
    return np.column_stack([np.cos(angles(t)), np.sin(angles(t))])


def pins(t, lengths):
    return np.vstack([np.zeros(2), np.cumsum(lengths[:, None] * axes(t), axis=0)])


def centres(t, offset):
    """x, y and angle of every body, whose centre stays at `offset` from its pin; shape (3n,)."""
    places, a = pins(t, START + t * RATES), axes(t)
    near, far = places[:-1] + offset[:, None] * a, places[1:] - offset[:, None] * a
    angle = angles(t)[:, None]
    return np.stack([np.hstack([near, angle]), np.hstack([far, angle])], axis=1).ravel()


def thin_robot(*, mounted, **options):
    context = BuildContext(gravity=np.zeros(3), free_base=mounted)
    return Vine(VineConfig(**{**OPTIONS, **options}), context)


def acting(model, *, mounted):
    """M·v̇ − f at time 0: what must act on the robot so that it moves as above."""
    offset, description = 0.25 * START, model.description
    state = State.zeros(len(description.coordinates), len(description.velocities), description.aux)
    model.compute_initial_state(None, state)

    def velocity(t):
        own = rate(lambda s: centres(s, offset), t)
        return np.concatenate([rate(lambda s: base(s)[0], t), spin(t), own]) if mounted else own

    state.q[-6 * LINKS :], state.v[:] = centres(0.0, offset), velocity(0.0)
    state.aux[:LINKS] = START
    if mounted:
        model.place_base(state, *base(0.0), state.v[:3].copy(), state.v[3:6].copy())
    assert model.reparametrise(state) or mounted
    np.testing.assert_allclose(state.aux[:LINKS], START, rtol=1e-12)
    mass, force = model.new_mass_matrix(), np.zeros(state.v.size)
    inputs = np.zeros(description.input_size)
    inputs[:LINKS] = RATES
    model.compute_mass_and_force(state, inputs, mass, force)
    return mass.dense() @ rate(velocity, 0.0) - force


def streams(layers, gas):
    """Mass per length of wall, tail and gas, and their speed in that of the tip."""
    layer = DENSITY * math.pi * (RADIUS**2 - (RADIUS - WALL) ** 2)
    tail = min(layers - 1.0, 0.5 * layers) * layer
    return (layers * layer - tail, 0.0), (tail, 2.0), (gas * math.pi * (RADIUS - WALL) ** 2, 1.0)


def integral(t, parts, function):
    """∫ function(μ, η, link, w) over all matter, by Gauss's rule, exact for quadratics."""
    lengths, passed, found = START + t * RATES, np.concatenate([[0.0], np.cumsum(RATES)]), np.zeros(())
    for mu, n in parts:
        for j in range(LINKS):
            for x in (-1.0, 1.0):
                eta = 0.5 * lengths[j] * (1.0 + x / math.sqrt(3.0))
                found = found + 0.5 * lengths[j] * function(mu, eta, j, n * passed[-1] - passed[j])
    return found


PARTS = [(2.0, 0.0), (2.0, 2e9), (1.0, 0.0), (1.4, 1e9)]


@pytest.mark.parametrize(("layers", "gas"), PARTS)
def test_the_equations_of_the_angles_are_those_of_lagrange(layers, gas):
    """d/dt ∂T/∂φ̇ − ∂T/∂φ with the kinetic energy T of all matter; what no tail brings is laid at the tip."""
    parts = streams(layers, gas)

    def energy(t, phi, rates):
        a = np.column_stack([np.cos(phi), np.sin(phi)])
        b = np.column_stack([-a[:, 1], a[:, 0]])
        moves = RATES[:, None] * a + ((START + t * RATES) * rates)[:, None] * b
        at = np.vstack([np.zeros(2), np.cumsum(moves, axis=0)])

        def of_point(mu, eta, j, w):
            velocity = at[j] + w * a[j] + eta * rates[j] * b[j]
            return 0.5 * mu * velocity @ velocity

        return integral(t, parts, of_point)

    def momentum(t, j):
        step = np.eye(LINKS)[j]  # T is quadratic in the rates
        here, speed = angles(t), rate(angles, t)
        return 0.5 * (energy(t, here, speed + step) - energy(t, here, speed - step))

    def bodies(phi):
        a = np.column_stack([np.cos(phi), np.sin(phi)])
        ends = np.vstack([np.zeros(2), np.cumsum(START[:, None] * a, axis=0)])
        near, far = ends[:-1] + 0.25 * START[:, None] * a, ends[1:] - 0.25 * START[:, None] * a
        return np.stack([np.hstack([near, phi[:, None]]), np.hstack([far, phi[:, None]])], axis=1).ravel()

    found = acting(thin_robot(mounted=False, wall_layers=layers, gas_density=gas), mounted=False)
    laid = (parts[0][0] - parts[1][0]) * RATES.sum()
    at_tip = rate(lambda t: pins(t, START + t * RATES)[-1], 0.0) - RATES.sum() * axes(0.0)[-1]
    for j in range(LINKS):
        # φ_j by s
        moved = rate(lambda s, j=j: bodies(angles(0.0) + s * np.eye(LINKS)[j]), 0.0)
        turned = rate(lambda s, j=j: energy(0.0, angles(0.0) + s * np.eye(LINKS)[j], rate(angles, 0.0)), 0.0)
        tip = np.array([-axes(0.0)[j, 1], axes(0.0)[j, 0]]) * START[j]
        wanted = rate(lambda t, j=j: momentum(t, j), 0.0) - turned - laid * at_tip @ tip
        assert found @ moved == pytest.approx(wanted, abs=NEAR * np.abs(found).max())


def test_on_a_base_that_moves_force_and_torque_are_the_rates_of_momentum():
    """Matter comes from the base, at its velocity."""
    parts = streams(2.0, 2e9)

    def of_point(t, mu, eta, j, w):
        def place(s):
            # matter passes the body of its pin at w
            origin, turn = base(s)
            flat = pins(s, START + s * RATES)[j] + (eta + w * (s - t)) * axes(s)[j]
            return origin + turn @ np.array([flat[0], 0.0, flat[1]])

        velocity = rate(place, t)
        return mu * np.concatenate([velocity, np.cross(place(t) - base(t)[0], velocity)])

    def momentum(t):
        return integral(t, parts, lambda *point: of_point(t, *point))

    found = acting(thin_robot(mounted=True, gas_density=2e9, base_mass=0.4, base_inertia=0.01), mounted=True)
    velocity = rate(lambda t: base(t)[0], 0.0)
    wanted = rate(momentum, 0.0)
    wanted[3:] += np.cross(velocity, momentum(0.0)[:3])
    inflow = sum(mu * n for mu, n in parts) * RATES.sum()
    wanted[:3] += 0.4 * rate(lambda t: rate(lambda s: base(s)[0], t), 0.0) - inflow * velocity
    wanted[3:] += 0.01 * rate(spin, 0.0)
    np.testing.assert_allclose(found[:6], wanted, atol=NEAR * np.abs(wanted).max())


def test_an_arm_that_grows_keeps_its_angular_momentum(robot, moving):
    """ω·L³ of one link without torque; a mass that came with the arm's velocity would keep ω."""
    ends = []
    for h in (4e-3, 2e-3):
        arm = robot(
            bodies=2, length=0.2, bending_stiffness=0.0, diameter=2e-3, collision="none", step=h,
            initial={"bend_rate": (3.0,), "growth_rate": 0.2},
        )  # fmt: skip
        simulation = moving(arm, step=h, growth_rate=0.2)
        for _ in range(round(1.0 / h)):
            simulation.step()
        length = simulation.state.aux[0]
        ends.append(simulation.state.v[2] * length**3 / (3.0 * 0.2**3) - 1.0)
        assert length == pytest.approx(0.4, rel=0.02)
    # of first order in the step
    assert abs(ends[1]) < 0.01
    assert ends[0] / ends[1] == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("angle", [0.0, 0.8])
def test_a_straight_tube_pushes_its_base_back_by_the_momentum_that_leaves_it(robot, moving, angle):
    """P = μ·L·L̇: the wall rests and the tail, half of the mass, moves at twice the speed of the tip."""
    arm = robot(bodies=6, length=0.3, heading=angle, bending_stiffness=1.0, initial={"growth_rate": 0.5})
    simulation = moving(arm, growth_rate=0.5)
    simulation.step()
    simulation.step()
    force = simulation.system.terms.bodies[0].row_impulse[:2] / 0.01
    mass = compute_body_inertia(arm.config)[0] * 6 / 0.3
    np.testing.assert_allclose(
        force, mass * 0.5**2 * np.array([math.cos(angle), math.sin(angle)]), rtol=1e-9, atol=1e-12
    )
