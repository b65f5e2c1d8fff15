"""A robot's file as links of `gvs`."""

from __future__ import annotations

from typing import Any

import numpy as np

from corekit.errors import Mistake
from corekit_import.mesh_source import ImportProblem, check_file
from corekit_import.mjcf import read_mjcf
from corekit_import.robot import RobotLink, link_tables
from corekit_import.robot_source import ROBOT_SUFFIXES, RobotSource
from corekit_import.urdf import read_urdf
from corekit_import.xml_file import XmlReader

__all__ = ["read_robot", "robot_links"]

_ROUNDED = 1e-3
"""Of moments as files round them."""


def read_robot(source: RobotSource, path: str, file: str, mistakes: list[Mistake]) -> list[dict[str, Any]]:
    """Tables of the links; none after a mistake.

    Args:
        source: the file, and what to read of it.
        path: where the scenario names it.
        file: its name there.
        mistakes: gets what is wrong.
    """
    return link_tables(robot_links(source, XmlReader(path, file), mistakes))


def robot_links(source: RobotSource, reader: XmlReader, mistakes: list[Mistake]) -> list[RobotLink]:
    """The links; none after a mistake."""
    path, file = reader.path, reader.file
    try:
        check_file(source.file, ROBOT_SUFFIXES)
        read = read_urdf if source.file.suffix.lower() == ".urdf" else read_mjcf
        links = read(source, reader)
    except ImportProblem as problem:
        mistakes.append(Mistake(path, file, problem.allowed, problem.hint))
        return []
    reader.doubts.extend(_impossible(links))
    mistakes.extend(reader.mistakes or _massless(links, path, file))
    return [] if reader.mistakes else links


def _massless(links: list[RobotLink], path: str, file: str) -> list[Mistake]:
    """Joints that move nothing that has mass or inertia."""
    heavy = {link.name for link in links if link.mass or link.inertia.any()}
    carrier = {link.name: link.on for link in links}
    for name in list(heavy):
        # what carries something that was met before was met with it
        while (name := carrier.get(name, "")) and name not in heavy:
            heavy.add(name)
    said = "moves, and neither it nor what it carries has mass"
    hint = "give it an <inertial>, or make its joint fixed"
    return [
        Mistake(path, f"{file}: link {link.name!r}", said, hint)
        for link in links
        if link.moves and link.name not in heavy
    ]


def _impossible(links: list[RobotLink]) -> list[str]:
    """Links with an inertia that no body has; it may still be right about the axes about which a link turns."""
    found = []
    for link in links:
        moments = np.linalg.eigvalsh(link.inertia)
        if moments[2] > (moments[0] + moments[1]) * (1.0 + _ROUNDED):
            shown = ", ".join(f"{moment:.3g}" for moment in moments)
            found.append(
                f"link {link.name!r}: no body has the principal moments {shown} kg·m², the largest exceeds the sum of "
                "the others"
            )
    return found
