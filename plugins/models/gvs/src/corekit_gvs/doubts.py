"""What is improbable about the options of a tree, or leaves out what matters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from corekit.geometry.sections import outline_doubt
from corekit.roles.options import doubt_given
from corekit_gvs.build import Robot
from corekit_gvs.config import GVSConfig

__all__ = ["doubts_of"]


def doubts_of(config: GVSConfig, robot: Robot) -> tuple[str, ...]:
    """Return a sentence on everything that is doubtful, with its path among the options."""
    return (*robot.acting.doubts, *_section_doubts(robot), *_fluid_doubts(config), *_idle_options(config))


def _idle_options(config: GVSConfig) -> Iterator[str]:
    """Yield what a choice beside it leaves unread: of links that touch nothing, and of cables by tension."""
    for i, link in enumerate(config.links):
        if link.collision == "none" and not link.solids:
            yield from doubt_given(link, "collision", ("shapes", "friction"), f"links[{i}].")
        if link.collision != "spheres":
            yield from doubt_given(link, "collision", ("spheres",), f"links[{i}].")
    for kind in ("cables", "tendons"):
        for i, cable in enumerate(getattr(config, kind)):
            if cable.drive == "tension":
                yield from doubt_given(cable, "drive", ("stiffness",), f"{kind}[{i}].")
    if config.self_contact and all(link.collision == "none" and not link.solids for link in config.links):
        yield "self_contact does nothing where every link has collision = 'none'"


def _section_doubts(robot: Robot) -> Iterator[str]:
    """Yield what rods leave out of the sections of divisions that twist."""
    for part in (part for parts in robot.tree.parts.values() for part in parts):
        twists = any("torsion" in basis.modes for basis in part.division.strain)
        if part.division.section == "outline" and twists:
            said = outline_doubt(part.division.outline, part.division.holes)
            if said:
                yield f"{part.path}.outline {said}"


def _fluid_doubts(config: GVSConfig) -> Iterator[str]:
    """Yield what acts in a fluid alone, where there is none."""
    if config.fluid_density:
        return
    for i, link in enumerate(config.links):
        of_link = ("drag", "added_mass", "buoyant_volume")
        given = [f"links[{i}].{name}" for name in of_link if np.any(getattr(link, name))]
        for k, division in enumerate(link.divisions):
            names = (name for name in ("drag", "lift", "added_mass") if np.any(getattr(division, name)))
            given += [f"links[{i}].divisions[{k}].{name}" for name in names]
        for path in given:
            yield f"{path} does nothing without a fluid: give `fluid_density`"
