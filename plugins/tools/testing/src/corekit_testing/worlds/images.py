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
    for obstacle in new["world"]["obstacles"]:
        _place(obstacle, map, _MIRROR if is_mirror else np.eye(3), shift)
    return new


def _place(table: dict[str, Any], map: Array, mirror: Array, shift: Array) -> None:
    turn = Rotation.from_euler("xyz", table["rotation_rpy"]).as_matrix()
    table["rotation_rpy"] = Rotation.from_matrix(map @ turn @ mirror).as_euler("xyz").tolist()
    table["position"] = (map @ table.get("position", np.zeros(3)) + shift).tolist()


def _change_rigid(body: dict[str, Any], map: Array, mirror: Array) -> None:
    """Its velocities are those of the world's axes; its shape is its own mirror image."""
    start = body["initial"]
    turn = Rotation.from_euler("xyz", start["rotation_rpy"]).as_matrix()
    start["rotation_rpy"] = Rotation.from_matrix(mirror @ turn @ mirror).as_euler("xyz").tolist()
    start["velocity"] = (map @ start["velocity"]).tolist()
    start["angular_velocity"] = (np.linalg.det(map) * map @ start["angular_velocity"]).tolist()


_MIRRORS: Mapping[str, Array] = {"rigid": _MIRROR}
_CHANGES: Mapping[str, Callable[[dict[str, Any], Array, Array], None]] = {"rigid": _change_rigid}

_POWERS = {
    "size": (1, 0, 0), "position": (1, 0, 0), "margin": (1, 0, 0), "cap": (1, 0, -1), "push_out": (0, 0, -1),
    "gravity": (1, 0, -2), "velocity": (1, 0, -1), "angular_velocity": (0, 0, -1), "mass": (0, 1, 0),
    "duration": (0, 0, 1), "step": (0, 0, 1),
}  # fmt: skip
"""Of length, mass and time, by the name of an option; the least names stand for themselves."""
_PLAIN = {"friction", "approach", "rotation_rpy", "restitution", "tolerance", "beta"}


def _rescaled(value: Any, units: tuple[float, float, float], key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _rescaled(each, units, name) for name, each in value.items()}
    if isinstance(value, list):
        return [_rescaled(each, units, key) for each in value]
    if isinstance(value, (str, bool, int)):
        return value
    if key in _PLAIN:
        return value
    return value * float(np.prod(np.power(units, _POWERS[key])))
