"""Other worlds whose motion is known from that of a first: in a mirror, turned, in another order, in other units."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from scipy.spatial.transform import Rotation

from corekit_testing.worlds.drawing import World

__all__ = ["Image", "in_units", "mirrored", "reordered", "turned"]

Array = np.ndarray[Any, Any]
Units = tuple[float, float, float]
_MIRROR = np.diag([-1.0, 1.0, 1.0])


@frozen
class Image:
    """A world, and how a point x of the first one is found in it: length·(map·x + shift).

    Args:
        world: the other world.
        map: an orthogonal matrix, shape (3, 3).
        shift: of the origin [m], shape (3,).
        length: of what is 1 m in the first world.
    """

    world: World
    map: Array
    shift: Array
    length: float = 1.0


def mirrored(world: World) -> Image:
    """The world in a mirror across x."""
    new = _placed(world, _MIRROR, np.zeros(3))
    return Image(new, _MIRROR, np.zeros(3))


def turned(world: World, turn: Rotation, shift: Sequence[float]) -> Image:
    """The world turned about the origin, gravity too, and then shifted [m]."""
    return Image(_placed(world, turn.as_matrix(), np.array(shift)), turn.as_matrix(), np.array(shift))


def reordered(world: World, bodies: Sequence[int], obstacles: Sequence[int]) -> Image:
    """The world with its bodies and obstacles in the order of these indices."""
    new = copy.deepcopy(world)
    new["bodies"] = [new["bodies"][i] for i in bodies]
    new["world"]["obstacles"] = [new["world"]["obstacles"][i] for i in obstacles]
    return Image(new, np.eye(3), np.zeros(3))


def in_units(world: World, length: float, mass: float, time: float) -> Image:
    """The world with its numbers in other units, given by what 1 m, 1 kg and 1 s are in them."""
    return Image(_rescaled(world, (length, mass, time)), np.eye(3), np.zeros(3), length)


def _placed(world: World, map: Array, shift: Array) -> World:
    new = copy.deepcopy(world)
    new["world"]["gravity"] = (map @ new["world"]["gravity"]).tolist()
    is_mirror = float(np.linalg.det(map)) < 0.0
    for body in new["bodies"]:
        # a mirrored body stands on a base that a second mirror, of its own axes, makes right-handed
        mirror = _MIRRORS[body["use"]] if is_mirror else np.eye(3)
        _place(body["base"], map, mirror, shift)
        _CHANGES[body["use"]](body, map, mirror)
    mirror = _MIRRORS["rigid"] if is_mirror else np.eye(3)
    for joint in new.get("joints", ()):
        for name in {"place", "axis"} & set(joint):
            joint[name] = (mirror @ joint[name]).tolist()
    for obstacle in new["world"]["obstacles"]:
        _place(obstacle, map, _MIRROR if is_mirror else np.eye(3), shift)
    return new


def _place(table: dict[str, Any], map: Array, mirror: Array, shift: Array) -> None:
    turn = Rotation.from_euler("xyz", table["rotation_rpy"]).as_matrix()
    table["rotation_rpy"] = Rotation.from_matrix(map @ turn @ mirror).as_euler("xyz").tolist()
    table["position"] = (map @ table.get("position", np.zeros(3)) + shift).tolist()


def _change_rigid(body: dict[str, Any], map: Array, _mirror: Array) -> None:
    """Its velocities are those of the world's axes; its shape is its own mirror image."""
    start = body["initial"]
    start["velocity"] = (map @ start["velocity"]).tolist()
    start["angular_velocity"] = (np.linalg.det(map) * map @ start["angular_velocity"]).tolist()


def _change_pcc(body: dict[str, Any], _map: Array, mirror: Array) -> None:
    """Across y the first chamber of three is its own image, and the others are each other's."""
    if mirror[1, 1] < 0.0:
        for numbers in (
            body["initial"]["elongation"],
            body["initial"]["velocity"],
            body["inputs"][0]["signal"]["value"],
        ):
            numbers[1::3], numbers[2::3] = numbers[2::3], numbers[1::3]


def _change_gvs(body: dict[str, Any], _map: Array, mirror: Array) -> None:
    """Across z torsion and the bend about y change their signs, as turns about x and y and moves along z do."""
    if mirror[2, 2] > 0.0:
        return
    link = body["options"]["links"][0]
    count = link["divisions"][0]["strain"][0]["order"] + 1
    signs = [-1.0] + [-1.0] * count + [1.0] * count
    if link["joint"]["kind"] == "free":
        signs = [-1.0, -1.0, 1.0, 1.0, 1.0, -1.0, *signs]
    for name in ("coordinates", "velocity"):
        body["initial"][name] = (np.array(signs) * body["initial"][name]).tolist()


def _change_der(body: dict[str, Any], _map: Array, mirror: Array) -> None:
    """Everything is told in the axes of the base; a twist changes its sign."""
    for start in body["initial"]["limbs"]:
        start["twist"] *= float(np.linalg.det(mirror))
        start["velocity"] = (mirror @ start.get("velocity", np.zeros(3))).tolist()
        start["velocities"] = (start["velocities"] @ mirror).tolist()


def _change_lagrangian(body: dict[str, Any], _map: Array, mirror: Array) -> None:
    """Across y a turn about x changes its sign, those about y and moves along z stay."""
    if mirror[1, 1] < 0.0:
        for numbers in body["initial"].values():
            numbers[1] *= -1.0


def _change_vine(_body: dict[str, Any], _map: Array, _mirror: Array) -> None:
    """Nothing: the mirror is its plane."""


_MIRRORS: Mapping[str, Array] = {
    "rigid": _MIRROR, "pcc": np.diag([1.0, -1.0, 1.0]), "gvs": np.diag([1.0, 1.0, -1.0]),
    "der": np.diag([1.0, 1.0, -1.0]), "vine": np.diag([1.0, -1.0, 1.0]),
    "lagrangian": np.diag([1.0, -1.0, 1.0]),
}  # fmt: skip
_CHANGES: Mapping[str, Callable[[dict[str, Any], Array, Array], None]] = {
    "rigid": _change_rigid, "pcc": _change_pcc, "gvs": _change_gvs, "der": _change_der,
    "vine": _change_vine, "lagrangian": _change_lagrangian,
}  # fmt: skip

_POWERS = {
    "size": (1, 0, 0), "position": (1, 0, 0), "margin": (1, 0, 0), "cap": (1, 0, -1), "push_out": (0, 0, -1),
    "gravity": (1, 0, -2), "velocity": (1, 0, -1), "angular_velocity": (0, 0, -1), "mass": (0, 1, 0),
    "duration": (0, 0, 1), "step": (0, 0, 1), "length": (1, 0, 0), "stiffness": (0, 1, -2), "damping": (0, 1, -1),
    "chamber_radius": (1, 0, 0), "disk_radius": (1, 0, 0), "disk_half_height": (1, 0, 0), "elongation": (1, 0, 0),
    "value": (1, 1, -2), "young": (-1, 1, -2), "density": (-3, 1, 0), "viscosity": (-1, 1, -1), "radius": (1, 0, 0),
    "start": (1, 0, 0), "place": (1, 0, 0), "end": (1, 0, 0), "twist": (-1, 0, 0), "velocities": (1, 0, -1),
    "diameter": (1, 0, 0), "body_mass": (0, 1, 0), "body_inertia": (2, 1, 0), "bending_stiffness": (3, 1, -2),
    "bending_damping": (3, 1, -1), "bend_rate": (0, 0, -1), "growth_rate": (1, 0, -1),
    "hinge_stiffness": (2, 1, -2), "hinge_damping": (2, 1, -1),
}  # fmt: skip
"""Of length, mass and time, by the name of an option."""
_PLAIN = {"friction", "approach", "rotation_rpy", "restitution", "tolerance", "coordinates", "bend", "axis"}


def _rescaled(value: Any, units: Units, key: str = "") -> Any:
    if isinstance(value, dict):
        new = {name: _rescaled(each, units, name) for name, each in value.items()}
        if value.get("channel") == "growth-rate":
            new["signal"]["value"] = [each * units[0] / units[2] for each in value["signal"]["value"]]
        if value.get("use") == "gvs":
            # radians, but for the shift of a free joint
            rates = np.array(value["initial"]["velocity"]) / units[2]
            rates[3:6] *= units[0] if value["options"]["links"][0]["joint"]["kind"] == "free" else 1.0
            new["initial"]["velocity"] = rates.tolist()
        if value.get("use") == "lagrangian":
            # two angles and a slide
            place, rate = (np.array(value["initial"][name]) for name in ("coordinates", "velocities"))
            start = new["initial"]
            start["coordinates"] = (place * [1.0, 1.0, units[0]]).tolist()
            start["velocities"] = (rate / units[2] * [1.0, 1.0, units[0]]).tolist()
        return new
    if isinstance(value, list):
        return [_rescaled(each, units, key) for each in value]
    if isinstance(value, (str, bool, int)) or key in _PLAIN:
        return value
    return value * float(np.prod(np.power(units, _POWERS[key])))
