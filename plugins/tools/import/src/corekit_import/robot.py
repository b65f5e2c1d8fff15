"""A tree of rigid links as files describe it, and its table in the options of `gvs`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define, field

from corekit.data.arrays import Array
from corekit.geometry.frames import rotation_from_rpy
from corekit_import.mesh_source import ImportProblem

__all__ = ["RobotLink", "Triple", "check_size", "link_tables", "rpy_of", "word"]

Triple = tuple[float, float, float]
_THIN = 0.02
"""Radius with which links are drawn, as a share of the longest way from a base to a joint."""

_MOST_LINKS = 2000


@define
class RobotLink:
    """A link with the joint that carries it.

    Args:
        name: of the link.
        on: the link that carries it; empty for the base.
        position, rotation_rpy: of the joint in the frame of that link.
        joint: the joint's table.
        joint_name: the file's name of the joint.
        mass, centre, inertia: mass, centre of mass, and inertia about it in the link's axes.
        shapes: tables of collision shapes.
    """

    name: str
    on: str = ""
    position: Triple = (0.0, 0.0, 0.0)
    rotation_rpy: Triple = (0.0, 0.0, 0.0)
    joint: dict[str, Any] = field(factory=lambda: {"kind": "fixed"})
    joint_name: str = ""
    mass: float = 0.0
    centre: Triple = (0.0, 0.0, 0.0)
    inertia: Array = field(factory=lambda: np.zeros((3, 3)))
    shapes: list[dict[str, Any]] = field(factory=list)

    @property
    def moves(self) -> bool:
        """Whether its joint has coordinates."""
        return self.joint["kind"] != "fixed"


def check_size(count: int) -> None:
    """Refuse more links than any robot has: the time and memory of a step grow with their square.

    Raises:
        ImportProblem: there are.
    """
    if count > _MOST_LINKS:
        raise ImportProblem(f"must have at most {_MOST_LINKS} links, has {count}")


def word(name: str) -> str:
    """A name as places can be written with: dots, slashes and spaces become `_`."""
    return re.sub(r"[./\s]", "_", name)


def rpy_of(rotation: Array) -> Triple:
    """Roll, pitch, yaw with R = R_z(yaw)·R_y(pitch)·R_x(roll), also where the pitch is ±π/2."""
    R = rotation
    yaw = math.atan2(R[1, 0], R[0, 0]) if math.hypot(R[0, 0], R[1, 0]) > 1e-12 else 0.0
    # R_z(−yaw)·R = R_y(pitch)·R_x(roll), whose second row is (0, cos roll, −sin roll)
    rest = rotation_from_rpy((0.0, 0.0, -yaw)) @ R
    return math.atan2(-rest[1, 2], rest[1, 1]), math.atan2(-rest[2, 0], rest[0, 0]), yaw


def link_tables(links: Sequence[RobotLink]) -> list[dict[str, Any]]:
    """The links as the options of `gvs` hold them, carriers first."""
    ordered = _in_order(links)
    radius = max(_THIN * _reach(ordered), 1e-3)
    tips: dict[str, Triple] = {}
    for link in ordered:
        if any(link.position):
            tips.setdefault(link.on, link.position)
    return [_table(link, tips.get(link.name, (0.0, 0.0, 0.0)), radius) for link in ordered]


def _in_order(links: Sequence[RobotLink]) -> list[RobotLink]:
    carried: dict[str, list[RobotLink]] = {}
    for link in links:
        carried.setdefault(link.on, []).append(link)
    ordered, todo = [], list(reversed(carried.get("", [])))
    while todo:
        link = todo.pop()
        ordered.append(link)
        todo.extend(reversed(carried.get(link.name, [])))
    return ordered


def _reach(ordered: Sequence[RobotLink]) -> float:
    way = {"": 0.0}
    for link in ordered:
        way[link.name] = way[link.on] + math.hypot(*link.position)
    return max(way.values())


def _table(link: RobotLink, tip: Triple, radius: float) -> dict[str, Any]:
    I = link.inertia  # noqa: E741 - the letter of the tensor
    return {
        "name": link.name,
        "kind": "rigid",
        "on": f"{link.on}.base" if link.on else "",
        "position": list(link.position),
        "rotation_rpy": list(link.rotation_rpy),
        "joint": dict(link.joint),
        "mass": link.mass,
        "centre": list(link.centre),
        "inertia": [float(I[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))],
        "tip": list(tip),
        "radius": radius,
        "solids": link.shapes,
    }
