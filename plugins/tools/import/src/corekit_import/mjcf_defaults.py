"""What every element of an MJCF file is read with: units of angles, defaults by class, orientations."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
from attrs import frozen
from scipy.spatial.transform import Rotation

from corekit.data.arrays import Array
from corekit_import.xml_file import XmlReader

__all__ = ["MjcfSettings", "settings_of"]

_WEIGHING = {
    "inertiafromgeom": ("auto", "false"),
    "inertiagrouprange": ("0 5",),
    "balanceinertia": ("false",),
    "settotalmass": ("-1", "0"),
    "boundmass": ("0",),
    "boundinertia": ("0",),
}
"""Attribute of the compiler → what changes no mass."""


@frozen
class MjcfSettings:
    """Settings of a file.

    Args:
        reader: receives problems.
        degree: one unit of angle [rad].
        euler: sequence of axes, small letters for axes that turn along.
        autolimits: whether a range makes a limit.
        meshes: folder of meshes.
        defaults: class → tag → attributes, with those of the classes around it.
    """

    reader: XmlReader
    degree: float
    euler: str
    autolimits: bool
    meshes: Path
    defaults: dict[str, dict[str, dict[str, str]]]

    def complete(self, element: Element, inherited: str = "main") -> Element:
        """The element with the defaults of its class, or of the one that its body passes on."""
        name = element.get("class", inherited)
        if name not in self.defaults:
            self.reader.problem(element, f"class={name!r} is no <default> of the file")
            name = "main"
        return Element(element.tag, {**self.defaults[name].get(element.tag, {}), **element.attrib})

    def is_limited(self, element: Element, flag: str, limits: str) -> bool:
        """Whether a range counts: it is there, and nothing switches it off."""
        said = element.get(flag, "auto")
        return limits in element.attrib and (said == "true" or (said == "auto" and self.autolimits))

    def rotation(self, element: Element) -> Array:
        """Axes of an element in those around it, as columns."""
        given = [key for key in ("quat", "axisangle", "euler", "xyaxes", "zaxis") if key in element.attrib]
        if len(given) > 1:
            self.reader.problem(element, f"must have one orientation, has {' and '.join(given)}")
        key = given[0] if given else "quat"
        count = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}[key]
        idle = {"quat": (1.0, 0.0, 0.0, 0.0), "axisangle": (0.0, 0.0, 1.0, 0.0), "euler": (0.0, 0.0, 0.0)}
        values = np.array(
            self.reader.numbers(element, key, count, idle.get(key, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)[-count:]))
        )
        try:
            return self._matrix(key, values)
        except (ValueError, ZeroDivisionError):
            self.reader.problem(element, f"{key}={element.get(key)!r}: must not be zero")
            return np.eye(3)

    def _matrix(self, key: str, values: Array) -> Array:
        if key == "quat":
            return Rotation.from_quat(values, scalar_first=True).as_matrix()
        if key == "axisangle":
            axis = _unit(values[:3])
            return Rotation.from_rotvec(values[3] * self.degree * axis).as_matrix()
        if key == "euler":
            # capitals mean axes that turn along there, axes that stay here
            return Rotation.from_euler(self.euler.swapcase(), values * self.degree).as_matrix()
        if key == "xyaxes":
            x = _unit(values[:3])
            y = _unit(values[3:] - x * (x @ values[3:]))
            return np.array([x, y, np.cross(x, y)]).T
        return _least_turn(_unit(values))


def _unit(vector: Array) -> Array:
    length = math.hypot(*vector)
    if length == 0.0:
        raise ValueError("zero")
    return vector / length


def _least_turn(z: Array) -> Array:
    """The least rotation that turns the z axis to `z`; about x where that is −z."""
    across = np.cross((0.0, 0.0, 1.0), z)
    sine = math.hypot(*across)
    axis = across / sine if sine > 0.0 else np.array([1.0, 0.0, 0.0])
    return Rotation.from_rotvec(math.atan2(sine, z[2]) * axis).as_matrix()


def settings_of(root: Element, folder: Path, reader: XmlReader) -> MjcfSettings:
    """The settings of a file.

    Args:
        folder: of the file.
    """
    attributes: dict[str, str] = {}
    for each in root.findall("compiler"):
        attributes.update(each.attrib)
    if attributes.get("coordinate", "local") != "local":
        reader.problem(root, "coordinates must be local")
    for key, idle in _WEIGHING.items():
        if attributes.get(key, idle[0]).split() not in [each.split() for each in idle]:
            said = f"{key}={attributes[key]!r} is not read, which gives bodies another mass"
            reader.problem(root, said, "let the file hold the masses that are meant")
    euler = attributes.get("eulerseq", "xyz")
    if len(euler) != 3 or set(euler.lower()) - set("xyz") or euler not in {euler.lower(), euler.upper()}:
        reader.problem(root, f"eulerseq={euler!r}: must be three of x, y, z, all small or all capital")
        euler = "xyz"
    defaults: dict[str, dict[str, dict[str, str]]] = {"main": {}}
    for each in root.findall("default"):
        _add_class(each, "main", {}, defaults)
    return MjcfSettings(
        reader=reader,
        degree=1.0 if attributes.get("angle") == "radian" else math.pi / 180.0,
        euler=euler,
        autolimits=attributes.get("autolimits", "true") == "true",
        meshes=folder / attributes.get("meshdir", attributes.get("assetdir", "")),
        defaults=defaults,
    )


def _add_class(
    element: Element,
    name: str,
    around: dict[str, dict[str, str]],
    defaults: dict[str, dict[str, dict[str, str]]],
) -> None:
    own = {tag: dict(attributes) for tag, attributes in around.items()}
    for child in element:
        if child.tag != "default":
            own[child.tag] = {**own.get(child.tag, {}), **child.attrib}
    name = element.get("class", name)
    defaults[name] = own
    for child in element.findall("default"):
        _add_class(child, name, own, defaults)
