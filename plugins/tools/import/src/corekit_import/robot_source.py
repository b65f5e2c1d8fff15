"""How a scenario names a robot's file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import field, frozen

from corekit.roles.options import option

__all__ = ["ROBOT_SUFFIXES", "RobotSource"]

ROBOT_SUFFIXES = (".urdf", ".xml", ".mjcf")


@frozen(kw_only=True)
class RobotSource:
    """A robot's file: `robot = { file = "arm.urdf" }` in the options of `gvs`."""

    file: Path = option(help="URDF, or MJCF (.xml); relative to the scenario's file")
    motors: str = option(
        "file",
        "which joints are driven: those that the file gives a motor (URDF: all that move), all, or none",
        choices=("file", "all", "none"),
    )
    limits: bool = option(True, "whether joints stop at their limits; needs a contact solver")
    friction: bool = option(True, "whether joints have their dry friction; needs a contact solver")
    collision: bool = option(True, "whether links carry their collision shapes")
    packages: Mapping[str, Path] = field(
        factory=dict,
        metadata={"help": "package → folder, for meshes `package://NAME/…`", "unit": "", "allowed": ""},
    )
    convex: str = option(
        "hull", "what of a link's mesh touches: its hull, or convex pieces", choices=("hull", "pieces")
    )
