"""URDF: links and joints as ROS describes them.

Read: links with inertia and collision shapes; joints that are fixed, revolute, continuous, prismatic or floating, with
limits, effort, damping and friction. Pictures, materials, transmissions, velocity limits and extensions of
simulators are left out. Refused: `mimic`, planar joints, links that form no tree.

Source: URDF's specification, <https://wiki.ros.org/urdf/XML>.
"""

from __future__ import annotations

from collections import Counter
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from corekit.geometry.frames import rotation_from_rpy
from corekit_import.link_meshes import MeshReader
from corekit_import.robot import RobotLink, Triple, check_size, word
from corekit_import.robot_source import RobotSource
from corekit_import.xml_file import XmlReader, read_xml

__all__ = ["read_urdf"]

_STILL: Triple = (0.0, 0.0, 0.0)
_KINDS = {
    "fixed": "fixed",
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "floating": "free",
}
_TENSOR = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_WORDS = {
    "link": ("name", "inertial", "collision", "visual"),
    "inertial": ("origin", "mass", "inertia"),
    "mass": ("value",),
    "inertia": _TENSOR,
    "collision": ("name", "origin", "geometry"),
    "origin": ("xyz", "rpy"),
    "geometry": ("box", "cylinder", "sphere", "capsule", "mesh"),
    "joint": (
        "name",
        "type",
        "origin",
        "parent",
        "child",
        "axis",
        "limit",
        "dynamics",
        "mimic",
        "calibration",
    ),
    "parent": ("link",),
    "child": ("link",),
    "axis": ("xyz",),
    "limit": ("lower", "upper", "effort", "velocity"),
    "dynamics": ("damping", "friction"),
}
"""Tag → attributes and elements of it: what is nearly one of them is a mistake, and all else is left out."""


def read_urdf(source: RobotSource, reader: XmlReader) -> list[RobotLink]:
    """The links of a file; mistakes in it are the reader's.

    Raises:
        ImportProblem: it cannot be read at all.
    """
    root = read_xml(source.file, "robot")
    check_size(len(root.findall("link")))
    links: dict[str, RobotLink] = {}
    meshes = MeshReader(source, reader)
    for element in (*root.findall("link"), *root.findall("joint")):
        for each in element.iter():
            if words := _WORDS.get(each.tag):
                reader.refuse_misspelt(each, [*each.attrib, *(inner.tag for inner in each)], words)
    for element in root.findall("link"):
        name = element.get("name", "")
        if not name or name in links:
            reader.problem(element, "must have a name of its own")
            continue
        links[name] = RobotLink(word(name))
        if len(element.findall("inertial")) > 1:
            reader.problem(element, "must have one <inertial>")
        _inertial(element.find("inertial"), links[name], reader)
        if source.collision:
            for collision in element.findall("collision"):
                links[name].shapes += _shapes(collision, meshes, reader)
    for element in root.findall("joint"):
        _joint(element, links, source, reader)
    return _tree(root, links, reader)


def _origin(element: Element | None, reader: XmlReader) -> tuple[Triple, Triple]:
    origin = None if element is None else element.find("origin")
    x, y, z = reader.numbers(origin, "xyz", 3, _STILL)
    roll, pitch, yaw = reader.numbers(origin, "rpy", 3, _STILL)
    return (x, y, z), (roll, pitch, yaw)


def _inertial(element: Element | None, link: RobotLink, reader: XmlReader) -> None:
    if element is None:
        return
    link.centre, turn = _origin(element, reader)
    mass, tensor = element.find("mass"), element.find("inertia")
    link.mass = reader.number(mass, "value", 0.0, low=0.0)
    if mass is None or "value" not in mass.attrib:
        reader.problem(element, 'must have a <mass value="…">')
    if tensor is not None and (absent := [key for key in _TENSOR if key not in tensor.attrib]):
        reader.problem(tensor, f"must have six moments, lacks {', '.join(absent)}")
    xx, yy, zz, xy, xz, yz = (reader.number(tensor, key, 0.0) for key in _TENSOR)
    R = rotation_from_rpy(turn)
    link.inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    least, largest = np.linalg.eigvalsh(link.inertia)[[0, -1]]
    if least < -1e-9 * abs(largest):
        reader.problem(element, f"its moments of inertia must not be negative, one is {least:.3g} kg·m²")


def _shapes(collision: Element, meshes: MeshReader, reader: XmlReader) -> list[dict[str, Any]]:
    position, turn = _origin(collision, reader)
    place = {"position": list(position), "rotation_rpy": list(turn)}
    geometry = collision.find("geometry")
    kinds = [] if geometry is None else list(geometry)
    if len(kinds) != 1:
        reader.problem(collision, "must have one <geometry> with one shape")
        return []
    (shape,) = kinds
    if shape.tag == "mesh":
        scale: Any = reader.numbers(shape, "scale", 3, (1.0, 1.0, 1.0))
        solid = meshes.read(shape, shape.get("filename", ""), scale)
        pieces = () if solid is None else solid.pieces
        return [{"shape": "polytope", "vertices": piece.tolist(), **place} for piece in pieces]
    size = _size(shape, reader)
    return [] if size is None else [{"shape": shape.tag, "size": size, **place}]


def _size(shape: Element, reader: XmlReader) -> list[float] | None:
    if shape.tag == "box":
        size = list(reader.numbers(shape, "size", 3, _STILL))
    elif shape.tag == "sphere":
        size = [reader.number(shape, "radius", 0.0)]
    elif shape.tag in {"cylinder", "capsule"}:
        size = [reader.number(shape, "radius", 0.0), reader.number(shape, "length", 0.0)]
    else:
        reader.problem(shape, "must be a box, cylinder, sphere, capsule or mesh")
        return None
    if min(size) <= 0.0:
        reader.problem(shape, f"must have sizes above 0, has {size}")
        return None
    return size


def _joint(element: Element, links: dict[str, RobotLink], source: RobotSource, reader: XmlReader) -> None:
    ends = []
    for tag in ("parent", "child"):
        end = element.find(tag)
        name = "" if end is None else end.get("link", "")
        if name not in links:
            reader.problem(element, f"its <{tag}> {name!r} must be one of the links")
            return
        ends.append(name)
    parent, child = ends
    link = links[child]
    if link.joint_name or link.on:
        reader.problem(element, f"its child {child!r} hangs on another joint already")
        return
    link.on, link.joint_name = links[parent].name, element.get("name", "")
    link.position, link.rotation_rpy = _origin(element, reader)
    kind = element.get("type", "")
    if kind not in _KINDS:
        known = ", ".join(_KINDS)
        reader.problem(
            element, f"type={kind!r}: must be {known}", "a planar joint is two prismatic ones and a turn"
        )
        return
    if element.find("mimic") is not None:
        reader.problem(element, "<mimic> is not read", "make it fixed, or drive both joints alike")
    link.joint = {"kind": _KINDS[kind]}
    if link.joint["kind"] in {"revolute", "prismatic"}:
        _one_coordinate(element, link, source, reader)
    if source.motors != "none" and kind != "fixed" and (kind != "floating" or source.motors == "all"):
        link.joint["driven"] = True


def _one_coordinate(element: Element, link: RobotLink, source: RobotSource, reader: XmlReader) -> None:
    kind = element.get("type", "")
    axis = reader.numbers(element.find("axis"), "xyz", 3, (1.0, 0.0, 0.0))
    if not any(axis):
        reader.problem(element, "its <axis> must not be zero")
        axis = (1.0, 0.0, 0.0)
    link.joint["axis"] = list(axis)
    dynamics, limit = element.find("dynamics"), element.find("limit")
    link.joint["damping"] = reader.number(dynamics, "damping", 0.0, low=0.0)
    if source.friction:
        link.joint["dry_friction"] = reader.number(dynamics, "friction", 0.0, low=0.0)
    effort = reader.number(limit, "effort", 0.0, low=0.0)
    if effort > 0.0 and source.motors != "none":
        link.joint["effort_limit"] = effort
    if kind == "continuous" or not source.limits:
        return
    if limit is None:
        reader.problem(element, f"a {kind} joint must have a <limit>", 'a turn without end is "continuous"')
        return
    lower, upper = reader.number(limit, "lower", 0.0), reader.number(limit, "upper", 0.0)
    if not lower < upper:
        reader.problem(element, f"its lower limit {lower:g} must be below its upper one {upper:g}")
        return
    link.joint["limits"] = [lower, upper]


def _tree(root: Element, links: dict[str, RobotLink], reader: XmlReader) -> list[RobotLink]:
    """The links if they form one tree, without a root that only stands for the world."""
    if not links:
        reader.problem(root, "must have at least one <link>")
        return []
    roots = [name for name, link in links.items() if not link.on]
    if len(roots) != 1:
        found = ", ".join(roots) if roots else "none: the joints form a ring"
        reader.problem(root, f"must have one link that no joint carries, has {found}")
        return []
    first = links[roots[0]]
    carried: dict[str, list[str]] = {}
    for link in links.values():
        carried.setdefault(link.on, []).append(link.name)
    reached, todo = {first.name}, [first.name]
    while todo:
        more = [name for name in carried.get(todo.pop(), ()) if name not in reached]
        reached.update(more)
        todo += more
    if ring := [name for name, link in links.items() if link.name not in reached]:
        reader.problem(root, f"must be one tree: {', '.join(ring)} hang on each other in a ring")
        return []
    counts = Counter(link.name for link in links.values())
    for name in sorted(name for name, count in counts.items() if count > 1):
        reader.problem(root, f"two links are called {name!r}, once dots, slashes and spaces are _")
    if first.name != "world":
        return list(links.values())
    if first.mass or first.shapes:
        reader.problem(root, "the link 'world' must be empty: it stands for the base")
    rest = [link for link in links.values() if link is not first]
    for link in rest:
        link.on = "" if link.on == "world" else link.on
    return rest
