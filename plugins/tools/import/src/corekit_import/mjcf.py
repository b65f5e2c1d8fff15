"""MJCF: bodies and joints as MuJoCo describes them, a subset.

Read: bodies with inertia of their own or of their geoms; joints hinge, slide, ball and free, several in a body, with
range, damping, frictionloss, armature and stiffness; geoms sphere, capsule, cylinder, box and mesh; motors; defaults by
class. Left out: sites, cameras, lights, sensors, options of the simulation, contact pairs, geoms of the world. Refused,
each in a sentence: equalities, tendons, deformables, includes, frames and replicas, servos (`position`, `general` …),
springs that rest elsewhere than at zero.

Source: MuJoCo's XML reference, <https://mujoco.readthedocs.io/en/stable/XMLreference.html>.
"""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element

import numpy as np
from attrs import define, field

from corekit.data.arrays import Array
from corekit_import.link_meshes import MeshReader
from corekit_import.mjcf_defaults import MjcfSettings, settings_of
from corekit_import.mjcf_geoms import GeomReader
from corekit_import.robot import RobotLink, Triple, check_size, rpy_of, word
from corekit_import.robot_source import RobotSource
from corekit_import.xml_file import XmlReader, read_xml

__all__ = ["read_mjcf"]

_KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "free"}
_SECTIONS = {
    "compiler", "default", "asset", "worldbody", "actuator",
    "option", "size", "visual", "statistic", "custom", "sensor", "keyframe", "contact",
}  # fmt: skip
_AXES = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
_ATTRIBUTES = {
    "body": ("name", "childclass", "pos", *_AXES, "mocap", "gravcomp", "user"),
    "inertial": ("pos", *_AXES, "mass", "diaginertia", "fullinertia"),
    "joint": (
        "name", "class", "type", "group", "pos", "axis", "springdamper", "solreflimit", "solimplimit",
        "solreffriction", "solimpfriction", "stiffness", "range", "limited", "actuatorfrcrange",
        "actuatorfrclimited", "actuatorgravcomp", "margin", "ref", "springref", "armature", "damping",
        "frictionloss", "user",
    ),
    "geom": (
        "name", "class", "type", "contype", "conaffinity", "condim", "group", "priority", "size", "material",
        "friction", "mass", "density", "shellinertia", "solmix", "solref", "solimp", "margin", "gap", "fromto",
        "pos", *_AXES, "hfield", "mesh", "fitscale", "rgba", "fluidshape", "fluidcoef", "user",
    ),
    "motor": (
        "name", "class", "group", "ctrllimited", "forcelimited", "ctrlrange", "forcerange", "lengthrange", "gear",
        "cranklength", "joint", "jointinparent", "tendon", "cranksite", "slidersite", "site", "refsite", "user",
    ),
}  # fmt: skip
"""Tag → attributes of it, of which what is nearly one is a mistake."""
_SPRINGS = {
    "springdamper": "springdamper is not read: give the stiffness and the damping that it leads to",
    "springyield": "springyield is not read: springs are elastic",
}
_ACTING = (
    ("gravity", "0 0 -9.81", "gravity is that of the scenario, `world.gravity`"),
    ("density", "0", "a fluid is `fluid_density` of `gvs`"),
    ("viscosity", "0", "links of `gvs` have no drag of a viscous fluid"),
    ("wind", "0 0 0", "a fluid of `gvs` rests"),
)
"""Attribute of <option>, what is as if it were left out, and what does it instead."""
_SWITCHES = ("gravity", "spring", "damper", "passive", "limit", "frictionloss", "actuation", "contact")
_IN_BODY = {"body", "joint", "freejoint", "geom", "inertial", "site", "camera", "light"}


def read_mjcf(source: RobotSource, reader: XmlReader) -> list[RobotLink]:
    """The links of a file; mistakes in it are the reader's.

    Raises:
        ImportProblem: it cannot be read at all.
    """
    root = read_xml(source.file, "mujoco")
    check_size(sum(each.tag in {"body", "joint", "freejoint"} for each in root.iter()))
    for section in root:
        if section.tag not in _SECTIONS:
            reader.problem(section, f"<{section.tag}> is not read", "a scenario or `gvs` may say it instead")
        for each in section.iter() if section.tag in {"default", "worldbody", "actuator"} else ():
            if known := _ATTRIBUTES.get(each.tag):
                reader.refuse_misspelt(each, each.attrib, known)
    settings = settings_of(root, source.file.parent, reader)
    assets = {
        mesh.get("name") or mesh.get("file", "").rpartition("/")[2].rpartition(".")[0]: settings.complete(
            mesh
        )
        for asset in root.findall("asset")
        for mesh in asset.findall("mesh")
    }
    tree = _Tree(source, settings, GeomReader(settings, MeshReader(source, reader), assets))
    for world in root.findall("worldbody"):
        if count := len(world.findall("geom")):
            said = f"{count} geoms of the world are left out: write what may be touched as `world.obstacles`"
            reader.doubts.append(said)
        for body in world.findall("body"):
            tree.add(body, "", np.zeros(3), "main")
    reader.doubts.extend(_left_out(root))
    if not tree.links:
        reader.problem(root, "must have a <body> in its <worldbody>")
    tree.drive([each for section in root.findall("actuator") for each in section])
    return tree.links


@define
class _Tree:
    """Links while they are read; `jointed` is joint → the link that it carries."""

    source: RobotSource
    settings: MjcfSettings
    geoms: GeomReader
    links: list[RobotLink] = field(factory=list)
    jointed: dict[str, RobotLink] = field(factory=dict)
    _joint_limits: dict[str, float] = field(factory=dict)
    _motor_limits: dict[str, float] = field(factory=dict)
    """Link → largest effort that its joint takes, and that its motors have together, N·m or N."""

    def add(self, body: Element, on: str, anchor: Array, inherited: str) -> None:
        """A body and those that it carries.

        Args:
            body: its element.
            on: the link that carries it.
            anchor: of that link's joint, in the axes of its body.
            inherited: the class of defaults that it inherits.
        """
        reader, inherited = self.settings.reader, body.get("childclass", inherited)
        if inherited not in self.settings.defaults:
            reader.problem(body, f"childclass={inherited!r} is no <default> of the file")
            inherited = "main"
        self._check(body)
        name = self._free_name(word(body.get("name", "")) or "body")
        origin = np.array(reader.numbers(body, "pos", 3, (0.0, 0.0, 0.0))) - anchor
        rotation = self.settings.rotation(body)
        joints = [self._joint_element(each, inherited) for each in body if each.tag in {"joint", "freejoint"}]
        place, turn, at = origin, rotation, np.zeros(3)
        for k, joint in enumerate(joints or [None]):
            last = k == max(len(joints), 1) - 1
            now = np.zeros(3) if joint is None else np.array(reader.numbers(joint, "pos", 3, (0.0, 0.0, 0.0)))
            where = place + turn @ (now - at)
            label = name if last else self._free_name(f"{name}_{word(joint.get('name', str(k)))}")  # pyrefly: ignore
            link = RobotLink(label, on, _triple(where), rpy_of(turn))
            if joint is not None:
                self._set_joint(joint, link)
            self.links.append(link)
            place, turn, at, on = np.zeros(3), np.eye(3), now, label
        self._fill(body, self.links[-1], at, inherited)
        for child in body.findall("body"):
            self.add(child, name, at, inherited)

    def _check(self, body: Element) -> None:
        reader = self.settings.reader
        for child in body:
            if child.tag not in _IN_BODY:
                reader.problem(child, f"<{child.tag}> is not read")
        said = "is not read: a scenario moves what is prescribed"
        reader.refuse_attributes(body, {"mocap": f"mocap {said}", "gravcomp": "gravcomp is not read"})

    def _free_name(self, name: str) -> str:
        taken = {link.name for link in self.links}
        count = 1
        free = name
        while free in taken:
            count += 1
            free = f"{name}_{count}"
        return free

    def _joint_element(self, element: Element, inherited: str) -> Element:
        if element.tag == "freejoint":
            return Element("joint", {**element.attrib, "type": "free"})
        return self.settings.complete(element, inherited)

    def _set_joint(self, element: Element, link: RobotLink) -> None:
        reader, kind = self.settings.reader, element.get("type", "hinge")
        if kind not in _KINDS:
            reader.problem(element, f"type={kind!r}: must be {', '.join(_KINDS)}")
            return
        link.joint_name = element.get("name", "")
        self.jointed[link.joint_name] = link
        link.joint = {"kind": _KINDS[kind]}
        reader.refuse_attributes(
            element, {k: x for k, x in _SPRINGS.items() if not _same(element.get(k, "0"), "0")}
        )
        for key in ("damping", "stiffness", "armature"):
            if value := reader.number(element, key, 0.0, low=0.0):
                link.joint[key] = value
        for key in ("ref", "springref"):
            if reader.number(element, key, 0.0):
                reader.problem(
                    element, f"{key} must be 0: coordinates count from where the file shows the robot"
                )
        if kind == "free" and link.joint.pop("armature", 0.0):
            reader.problem(element, "armature of a free joint is not read: it has no rotor", "armature = 0")
        limited = self.source.limits and self.settings.is_limited(element, "limited", "range")
        if kind == "ball" and limited:
            reader.problem(element, "the range of a ball joint is not read", "limits = false")
        if kind not in {"ball", "free"}:
            self._set_axis(element, link, kind, limited=limited)

    def _set_axis(self, element: Element, link: RobotLink, kind: str, *, limited: bool) -> None:
        """What a hinge or a slide has: its axis, dry friction, limits, largest effort."""
        reader = self.settings.reader
        axis = reader.numbers(element, "axis", 3, (0.0, 0.0, 1.0))
        if not any(axis):
            reader.problem(element, "its axis must not be zero")
            return
        link.joint["axis"] = list(axis)
        if self.settings.is_limited(element, "actuatorfrclimited", "actuatorfrcrange"):
            limit = self._reach(element, "actuatorfrcrange", 'or let nothing drive it: motors = "none"')
            if limit is not None and self.source.motors != "none":
                self._joint_limits[link.name] = limit
        if self.source.friction and (friction := reader.number(element, "frictionloss", 0.0, low=0.0)):
            link.joint["dry_friction"] = friction
        if limited:
            unit = self.settings.degree if kind == "hinge" else 1.0
            lower, upper = (unit * each for each in reader.numbers(element, "range", 2, (-1.0, 1.0)))
            if not lower < upper:
                reader.problem(
                    element, f"range={element.get('range')!r}: the lower limit must be below the upper"
                )
            else:
                link.joint["limits"] = [lower, upper]

    def _fill(self, body: Element, link: RobotLink, anchor: Array, inherited: str) -> None:
        """Mass, inertia and shapes, from the link's joint at `anchor` in the body's axes."""
        given, collides = body.find("inertial"), self.source.collision
        found = [
            self.geoms.read(each, inherited, collides=collides, weighs=given is None)
            for each in body.findall("geom")
        ]
        geoms = [geom for geom in found if geom is not None]
        for shape in (shape for geom in geoms for shape in geom.shapes):
            link.shapes.append({**shape, "position": (np.array(shape["position"]) - anchor).tolist()})
        if given is not None:
            mass, centre, inertia = self._inertial(given)
        else:
            mass = sum(geom.mass for geom in geoms)
            moved = sum((geom.mass * geom.centre for geom in geoms), np.zeros(3))
            centre = moved / mass if mass else np.zeros(3)
            inertia = np.zeros((3, 3))
            for geom in geoms:
                r = geom.centre - centre
                inertia += geom.inertia + geom.mass * (r @ r * np.eye(3) - np.outer(r, r))
        link.mass, link.centre, link.inertia = mass, _triple(centre - anchor), inertia

    def _inertial(self, element: Element) -> tuple[float, Array, Array]:
        reader = self.settings.reader
        if "mass" not in element.attrib or not {"diaginertia", "fullinertia"} & set(element.attrib):
            reader.problem(element, "must have a mass, and diaginertia or fullinertia")
        mass = reader.number(element, "mass", 0.0, low=0.0)
        centre = np.array(reader.numbers(element, "pos", 3, (0.0, 0.0, 0.0)))
        R = self.settings.rotation(element)
        xx, yy, zz = reader.numbers(element, "diaginertia", 3, (0.0, 0.0, 0.0))
        xx, yy, zz, xy, xz, yz = reader.numbers(element, "fullinertia", 6, (xx, yy, zz, 0.0, 0.0, 0.0))
        return mass, centre, R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T

    def drive(self, actuators: list[Element]) -> None:
        """Make the file's motors channels, or every joint's effort, or none."""
        if self.source.motors == "all":
            for link in self.links:
                if link.moves:
                    link.joint["driven"] = True
        if self.source.motors == "file":
            for given in actuators:
                self._motor(self.settings.complete(given))
        for link in self.links:
            limit = min(each.get(link.name, math.inf) for each in (self._motor_limits, self._joint_limits))
            if link.joint.get("driven") and limit < math.inf:
                link.joint["effort_limit"] = limit

    def _motor(self, element: Element) -> None:
        reader, hint = self.settings.reader, 'drive every joint by its effort instead: motors = "all"'
        if element.tag != "motor":
            reader.problem(element, f"a servo <{element.tag}> is a controller's matter", hint)
            return
        link = self.jointed.get(element.get("joint", ""))
        if link is None:
            reader.problem(element, f"joint={element.get('joint')!r} must be one of the file's joints", hint)
            return
        link.joint["driven"] = True
        words = element.get("gear", "1").split()
        gear = abs(
            reader.number(
                Element("motor", {**element.attrib, "gear": words[0] if words else ""}), "gear", 1.0
            )
        )
        bounds = []
        for flag, key in (("ctrllimited", "ctrlrange"), ("forcelimited", "forcerange")):
            if self.settings.is_limited(element, flag, key):
                upper = self._reach(element, key, hint)
                if upper is None:
                    return
                bounds.append(gear * upper)
        # several motors of a joint push together
        self._motor_limits[link.name] = self._motor_limits.get(link.name, 0.0) + min(bounds, default=math.inf)

    def _reach(self, element: Element, key: str, hint: str) -> float | None:
        """How far a range reaches to both sides; None after a mistake."""
        lower, upper = self.settings.reader.numbers(element, key, 2, (-1.0, 1.0))
        if lower == -upper and upper > 0.0:
            return upper
        self.settings.reader.problem(
            element, f"{key} must reach as far to both sides, and further than 0", hint
        )
        return None


def _left_out(root: Element) -> list[str]:
    """Return sentences on options of the simulation that change how the bodies move."""
    found = []
    for option in root.findall("option"):
        for key, idle, instead in _ACTING:
            given = option.get(key, idle)
            if not _same(given, idle):
                found.append(f"<option {key}={given!r}> is left out: {instead}")
        found += [
            f"<flag {key}='disable'> is left out: what it switches off acts"
            for flag in option.findall("flag")
            for key in _SWITCHES
            if flag.get(key) == "disable"
        ]
    return found


def _same(given: str, idle: str) -> bool:
    """Whether a text has the numbers of another one, or of one number for all."""
    try:
        one, other = ([float(each) for each in text.split()] for text in (given, idle))
    except ValueError:
        return False
    return one == (other * len(one) if len(other) == 1 else other)


def _triple(vector: Array) -> Triple:
    x, y, z = (float(each) for each in vector)
    return x, y, z
