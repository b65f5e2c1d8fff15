"""Names and units of coordinates, and what the kernel reads of a tree once."""

from __future__ import annotations

import numpy as np

from corekit.roles.model import Coordinate, ModelDescription
from corekit_gvs.basis import MODES
from corekit_gvs.build import Robot
from corekit_gvs.config import GVSConfig
from corekit_gvs.doubts import doubts_of
from corekit_gvs.initial_state import PrescribedJoints
from corekit_gvs.joints import Joint
from corekit_gvs.links import Division

__all__ = ["description_of"]

_JOINT_NAMES = {
    "revolute": (("angle", "rad"),),
    "prismatic": (("shift", "m"),),
    "helical": (("angle", "rad"),),
    "cylindrical": (("angle", "rad"), ("shift", "m")),
    "universal": (("angle-1", "rad"), ("angle-2", "rad")),
    "planar": (("angle", "rad"), ("shift-1", "m"), ("shift-2", "m")),
    "spherical": (("turn-x", "rad"), ("turn-y", "rad"), ("turn-z", "rad")),
    "free": (
        ("turn-x", "rad"), ("turn-y", "rad"), ("turn-z", "rad"), ("shift-x", "m"), ("shift-y", "m"), ("shift-z", "m"),
    ),
    "fixed": (),
}  # fmt: skip


def _of_joint(joint: Joint, link: str) -> list[tuple[str, str]]:
    return [(f"{link}-{name}", unit) for name, unit in _JOINT_NAMES[joint.kind]]


def _of_division(division: Division, link: str) -> list[tuple[str, str]]:
    """Independent bases by the strain's row, then dependent ones."""
    entries = sorted(
        (MODES[mode], mode, basis.per_mode)
        for basis in division.strain
        if basis.kind != "dependent"
        for mode in basis.modes
    )
    out = [
        (f"{link}-{mode}-{j}", "rad" if row < 3 else "1")
        for row, mode, count in entries
        for j in range(count)
    ]
    for basis in division.strain:
        if basis.kind == "dependent":
            out += [(f"{link}-{basis.modes[0]}-q{j + 1}", "1") for j in range(basis.coordinates)]
    return out


def _uncounted(config: GVSConfig, robot: Robot) -> str:
    """The first of what does work without an input."""
    for wrench in config.distributed:
        if not wrench.input:
            return f"the distributed wrench {wrench.name!r}"
    for load in config.loads:
        if load.function is not None:
            return f"the load {load.name!r}"
    if robot.acting.length_drives:
        return "cables driven by length"
    return "" if all(basis.steady for basis in robot.dependents) else "a basis that moves with t"


def description_of(config: GVSConfig, robot: Robot, motions: PrescribedJoints) -> ModelDescription:
    """The layout."""
    pairs: list[tuple[str, str]] = []
    for link in config.links:
        pairs += _of_joint(link.joint, link.name)
        for i, division in enumerate(link.divisions):
            name = link.name if len(link.divisions) == 1 else f"{link.name}-{i + 1}"
            pairs += _of_division(division, name)
    visible = robot.visible
    return ModelDescription(
        coordinates=tuple(Coordinate(name, unit) for name, unit in pairs),
        velocities=tuple(Coordinate(name, "1/s" if unit == "1" else unit + "/s") for name, unit in pairs),
        inputs=tuple(robot.acting.channels),
        frames=tuple(visible.frames),
        shapes=tuple(visible.shapes),
        excluded_pairs=np.array(visible.never, dtype=np.int64).reshape(-1, 2),
        self_contact=config.self_contact,
        aux=12 * len(robot.tree.charts),
        prescribed_velocity_index=motions.index,
        prescribed_coordinate_index=motions.index,
        prescribed_signals=motions.signals,
        constraint_count=robot.joint_rows.count,
        jacobian_width=robot.size,
        untracked_work=_uncounted(config, robot),
        doubts=doubts_of(config, robot),
    )
