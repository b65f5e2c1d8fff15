"""Momentum and energy of bodies from the shapes, masses and poses of a scenario, and what contacts gave."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen

from corekit.simulation.loop import Simulation
from corekit_testing.worlds.drawing import World

__all__ = ["Given", "Motions", "given_by_contacts", "inertia_of", "motions", "rod_masses", "total_mass"]

Array = np.ndarray[Any, Any]


def inertia_of(options: dict[str, Any]) -> Array:
    """Moments of a homogeneous body about its own axes [kg·m²], shape (3,).

    Source: Goldstein, Poole, Safko (2002), Classical Mechanics, 3rd ed., chapter 5.
    """
    size, mass = options["size"], options["mass"]
    if options["shape"] == "sphere":
        return np.full(3, 0.4 * mass * size[0] ** 2)
    if options["shape"] == "box":
        x, y, z = np.square(size)
        return mass / 12.0 * np.array([y + z, x + z, x + y])
    r, length = size
    if options["shape"] == "cylinder":
        across = 0.25 * r**2 + length**2 / 12.0
        return mass * np.array([across, across, 0.5 * r**2])
    # a cylinder and two halves of a ball, whose centres of mass are 3/8·r from their flats
    ball = mass / (1.0 + 0.75 * length / r)
    rod = mass - ball
    along = 0.5 * rod * r**2 + 0.4 * ball * r**2
    across = rod * (0.25 * r**2 + length**2 / 12.0)
    across += ball * (0.4 * r**2 + 0.25 * length**2 + 0.375 * r * length)
    return np.array([across, across, along])


@frozen
class Motions:
    """What a world has at a state.

    Args:
        momentum: [kg·m/s], shape (3,).
        spin: angular momentum about the origin of the world [kg·m²/s], shape (3,).
        energy: kinetic and potential [J].
        turning: kinetic energy of rotation [J].
        rate: of the body that turns fastest [rad/s].
        speed: of the fastest centre [m/s].
    """

    momentum: Array
    spin: Array
    energy: float
    turning: float
    rate: float
    speed: float


def motions(simulation: Simulation, world: World) -> Motions:
    """Add up what the bodies of a world have; of rods without clamps the momentum alone."""
    gravity = np.array(world["world"]["gravity"])
    momentum, spin, energy, turning = np.zeros(3), np.zeros(3), 0.0, 0.0
    rate = speed = 0.0
    for body in world["bodies"]:
        if body["use"] == "der":
            masses = rod_masses(body["options"]["limbs"][0])
            moved = [simulation.frame(f"{body['name']}.rod-{i}").velocity for i in range(len(masses))]
            momentum += masses @ moved
            speed = max(speed, float(np.linalg.norm(moved, axis=1).max()))
            continue
        mass, frame = body["options"]["mass"], simulation.frame(f"{body['name']}.body")
        own = inertia_of(body["options"]) * (frame.rotation.T @ frame.angular_velocity)
        momentum += mass * frame.velocity
        spin += mass * np.cross(frame.position, frame.velocity) + frame.rotation @ own
        turning += 0.5 * float(own @ (frame.rotation.T @ frame.angular_velocity))
        energy += mass * float(0.5 * frame.velocity @ frame.velocity - gravity @ frame.position)
        rate = max(rate, float(np.linalg.norm(frame.angular_velocity)))
        speed = max(speed, float(np.linalg.norm(frame.velocity)))
    return Motions(momentum, spin, energy + turning, turning, rate, speed)


def rod_masses(limb: dict[str, Any]) -> Array:
    """Masses of the nodes of a straight round rod: of half of the edges beside each [kg], shape (n,)."""
    edges = limb["nodes"] - 1
    edge = limb["density"][0] * np.pi * limb["radius"][0] ** 2 * limb["end"][0] / edges
    halves = np.full(edges, 0.5 * edge)
    return np.append(halves, 0.0) + np.append(0.0, halves)


def total_mass(world: World) -> float:
    """Of all bodies [kg]."""
    return sum(
        float(rod_masses(body["options"]["limbs"][0]).sum())
        if body["use"] == "der"
        else body["options"]["mass"]
        for body in world["bodies"]
    )


@frozen
class Given:
    """What contacts gave the bodies in the last step.

    Args:
        impulse: of obstacles [N·s], shape (3,).
        torque: of that impulse about the origin of the world [N·m·s], shape (3,).
        largest: Σ of the sizes of all impulses [N·s].
        pushed: Σ normal impulse · overlap of all contacts [N·s·m], which pushing out multiplies by a rate.
    """

    impulse: Array
    torque: Array
    largest: float
    pushed: float


def given_by_contacts(simulation: Simulation) -> Given:
    """Add up the record of the last step; what bodies give each other cancels."""
    record, obstacles = simulation.contacts(), {each.name for each in simulation.obstacles}
    outside = np.array([second in obstacles for _, second in record.names], dtype=bool)
    impulse = record.impulse
    return Given(
        impulse[outside].sum(axis=0),
        np.cross(record.point, impulse)[outside].sum(axis=0),
        float(np.linalg.norm(impulse, axis=1).sum()),
        float(record.normal_impulse @ np.maximum(-record.gap, 0.0)),
    )
