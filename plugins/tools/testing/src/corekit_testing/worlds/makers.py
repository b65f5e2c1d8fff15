"""Bodies with numbers of no special value: one function a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import frozen
from scipy.spatial.transform import Rotation

__all__ = ["MAKERS", "Made", "Maker"]

Array = np.ndarray[Any, Any]
Random = np.random.Generator


@frozen
class Made:
    """A body of a scenario.

    Args:
        entry: its table, without name and base.
        centres, radii: of balls that hold its shapes, in the axes of the base [m], shapes (n, 3) and (n,).
        height: of the base above a floor on which it lies, if it can lie on one [m].
    """

    entry: dict[str, Any]
    centres: Array
    radii: Array
    height: float | None = None


Maker = Callable[[Random, Array, Rotation], Made]
"""Make a body that moves at a velocity in the axes of the world [m/s], if it can, on a base with a rotation."""


def rigid(random: Random, velocity: Array, _turn: Rotation) -> Made:
    """A ball, box, capsule or cylinder that flies and spins."""
    size = random.uniform(0.01, 0.03, 3)
    sizes, radius, height = {
        "sphere": (size[:1], size[0], size[0]),
        "box": (2.0 * size, np.linalg.norm(size), size[2]),
        "capsule": (size[:2], size[0] + 0.5 * size[1], size[0] + 0.5 * size[1]),
        "cylinder": (size[:2], np.hypot(size[0], 0.5 * size[1]), 0.5 * size[1]),
    }[shape := str(random.choice(["sphere", "box", "capsule", "cylinder"]))]
    options = {"shape": shape, "size": sizes.tolist(), "mass": random.uniform(0.02, 0.5)}
    initial = {"velocity": velocity.tolist(), "angular_velocity": random.normal(0.0, 5.0, 3).tolist()}
    return Made(
        {"use": "rigid", "options": options, "initial": initial},
        np.zeros((1, 3)), np.array([radius]), float(height),
    )  # fmt: skip


def pcc(random: Random, _velocity: Array, _turn: Rotation) -> Made:
    """An arm of one or two sections with three chambers each, along z of its base."""
    sections = int(random.integers(1, 3))
    length, radius = random.uniform(0.05, 0.1, sections), float(random.uniform(0.01, 0.02))
    options = {
        "sections": sections,
        "length": length.tolist(),
        "mass": random.uniform(0.05, 0.2, sections).tolist(),
        "stiffness": random.uniform(100.0, 1000.0, sections).tolist(),
        "damping": random.uniform(1.0, 20.0, sections).tolist(),
        "chamber_radius": random.uniform(0.01, 0.02),
        "disks": int(random.integers(0, 3)),
        "disk_radius": radius,
        "disk_half_height": 0.003,
        "coriolis": bool(random.integers(2)),
    }
    initial = {
        "elongation": random.normal(0.0, 5e-4, 3 * sections).tolist(),
        "velocity": random.normal(0.0, 0.2, 3 * sections).tolist(),
    }
    pushed = {"kind": "constant", "value": random.uniform(0.0, 5.0, 3 * sections).tolist()}
    return Made(
        {"use": "pcc", "options": options, "initial": initial,
         "inputs": [{"channel": "chamber-force", "signal": pushed}]},
        *_along([0.0, 0.0, float(length.sum())], 1.02 * radius),
    )  # fmt: skip


def gvs(random: Random, velocity: Array, turn: Rotation) -> Made:
    """A soft link along x of its base, held or flying."""
    length, radius = float(random.uniform(0.08, 0.15)), float(random.uniform(0.005, 0.01))
    free = bool(random.integers(2))
    order = int(random.integers(0, 3))
    strain = [
        {"kind": "legendre", "modes": ["bend-y", "bend-z"], "order": order},
        {"kind": "constant", "modes": ["torsion"]},
    ]
    division = {
        "length": length,
        "radius": [radius],
        "young": 10.0 ** random.uniform(5.0, 6.0),
        "density": random.uniform(500.0, 2000.0),
        "viscosity": 10.0 ** random.uniform(2.0, 3.5),
        "strain": strain,
    }
    link = {
        "name": "rod",
        "divisions": [division],
        "collision": str(random.choice(["spheres", "capsules"])),
        "shapes": int(random.integers(4, 8)),
        "joint": {"kind": "free" if free else "fixed"},
    }
    shape = random.normal(0.0, 0.2, 2 * order + 3)
    rate = random.normal(0.0, 2.0, len(shape))
    flight = np.array([*random.normal(0.0, 3.0, 3), *turn.inv().apply(velocity)] if free else [])
    initial = {
        "coordinates": np.append(0.0 * flight, shape).tolist(),
        "velocity": np.append(flight, rate).tolist(),
    }
    return Made(
        {"use": "gvs", "options": {"links": [link]}, "initial": initial},
        *_along([length, 0.0, 0.0], 1.3 * radius),
    )


def der(random: Random, velocity: Array, turn: Rotation) -> Made:
    """A rod along x of its base that flies, or is clamped at its start."""
    return rod(random, velocity, turn) if random.integers(2) else rod(random, None, turn)


def rod(random: Random, velocity: Array | None, turn: Rotation) -> Made:
    """A rod of `der` that flies; one without a velocity is clamped."""
    nodes, radius = int(random.integers(4, 9)), float(random.uniform(0.004, 0.01))
    length = float(nodes * random.uniform(0.015, 0.02))
    limb = {
        "name": "rod",
        "start": [0.0, 0.0, 0.0],
        "end": [length, 0.0, 0.0],
        "nodes": nodes,
        "radius": [radius],
        "young": [10.0 ** random.uniform(5.0, 6.5)],
        "density": [random.uniform(500.0, 2000.0)],
        "viscosity": [10.0 ** random.uniform(1.0, 3.0)],
    }
    options: dict[str, Any] = {"limbs": [limb], "collision": str(random.choice(["spheres", "capsules"]))}
    start: dict[str, Any] = {"limb": "rod", "twist": random.normal(0.0, 2.0)}
    if velocity is not None:
        start["velocity"] = turn.inv().apply(velocity).tolist()
        start["velocities"] = random.normal(0.0, 0.05, (nodes, 3)).tolist()
    else:
        options["clamps"] = [{"at": "rod.start", "kind": "clamp"}]
        moved = random.normal(0.0, 0.1, (nodes, 3)) * (np.arange(nodes) > 1)[:, None]
        start["velocities"] = moved.tolist()
    return Made(
        {"use": "der", "options": options, "initial": {"limbs": [start]}}, *_along([length, 0.0, 0.0], radius)
    )


def vine(random: Random, _velocity: Array, _turn: Rotation) -> Made:
    """A growing robot in the x–z plane of its base, along x."""
    links, length, radius = (
        int(random.integers(2, 6)),
        float(random.uniform(0.1, 0.2)),
        float(random.uniform(0.008, 0.015)),
    )
    options = {
        "bodies": 2 * links,
        "length": length,
        "diameter": 2.0 * radius,
        "body_mass": random.uniform(1e-3, 5e-3),
        "body_inertia": random.uniform(5e-6, 2e-5),
        "bending_stiffness": random.uniform(0.01, 0.1),
        "bending_damping": random.uniform(1e-4, 1e-3),
    }
    initial: dict[str, Any] = {
        "bend": random.normal(0.0, 0.02, links).tolist(),
        "bend_rate": random.normal(0.0, 1.0, links).tolist(),
    }
    rate = float(random.uniform(-0.02, 0.1))
    initial["growth_rate"] = rate
    grown = {"channel": "growth-rate", "signal": {"kind": "constant", "value": [rate]}}
    entry = {"use": "vine", "options": options, "initial": initial, "inputs": [grown]}
    return Made(entry, *_along([length, 0.0, 0.0], 1.1 * radius))


def lagrangian(random: Random, _velocity: Array, _turn: Rotation) -> Made:
    """An arm of two links along z of its base that hinges and slides, by equations of a user."""
    length, radius = random.uniform(0.04, 0.08, 2), float(random.uniform(0.008, 0.015))
    parameters = {
        "length": length.tolist(),
        "mass": random.uniform(0.05, 0.2, 2).tolist(),
        "radius": radius,
        "hinge_stiffness": random.uniform(0.2, 1.0),
        "hinge_damping": random.uniform(1e-3, 5e-3),
        "stiffness": random.uniform(100.0, 1000.0),
        "damping": random.uniform(1.0, 5.0),
    }
    initial = {
        "coordinates": [*random.normal(0.0, 0.02, 2).tolist(), float(random.normal(0.0, 5e-4))],
        "velocities": [*random.normal(0.0, 2.0, 2).tolist(), float(random.normal(0.0, 0.1))],
    }
    options = {"equations": "corekit_testing.worlds.mechanism:telescopic_arm", "parameters": parameters}
    return Made(
        {"use": "lagrangian", "options": options, "initial": initial},
        *_along([0.0, 0.0, float(length.sum())], 1.4 * radius),
    )


def _along(end: list[float], radius: float) -> tuple[Array, Array]:
    """Balls along the way from the base to an end."""
    count = 2 + int(np.linalg.norm(end) / radius)
    return np.linspace(0.0, 1.0, count)[:, None] * np.array(end), np.full(count, radius)


MAKERS: Mapping[str, Maker] = {
    "rigid": rigid,
    "pcc": pcc,
    "gvs": gvs,
    "der": der,
    "vine": vine,
    "lagrangian": lagrangian,
    "flying-rod": rod,
}
"""By the name of the model, or of what it is."""
