"""Other materials of soft links: of a robot's tables only sections, masses and linear stiffness change."""

from __future__ import annotations

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.roles.options import all_but
from corekit_gvs.build import Robot, with_tree
from corekit_gvs.config import GVSConfig
from corekit_gvs.links import Division, Link
from corekit_gvs.sections import Section, section_at
from corekit_gvs.tree import Part, quadrature_rows

__all__ = ["is_same_but_for_matter", "with_matter_of"]


_OF_ROBOT = all_but(GVSConfig, "links")
_OF_LINK = all_but(Link, "divisions")
_OF_DIVISION = all_but(Division, "young", "poisson", "density", "viscosity")


def is_same_but_for_matter(one: GVSConfig, other: GVSConfig) -> bool:
    """Whether two robots differ at most in the materials of their divisions."""
    return (
        _OF_ROBOT(one) == _OF_ROBOT(other)
        and len(one.links) == len(other.links)
        and all(a is b or _is_same_link(a, b) for a, b in zip(one.links, other.links, strict=True))
    )


def _is_same_link(one: Link, other: Link) -> bool:
    pairs = zip(one.divisions, other.divisions, strict=False)
    return (
        _OF_LINK(one) == _OF_LINK(other)
        and len(one.divisions) == len(other.divisions)
        and all(a is b or _OF_DIVISION(a) == _OF_DIVISION(b) for a, b in pairs)
    )


def with_matter_of(robot: Robot, config: GVSConfig) -> Robot:
    """The robot with the materials of a config that is the same in all else."""
    tree = robot.tree
    sections, bodies = list(tree.sections), list(tree.bodies)

    def renewed(part: Part, division: Division) -> Part:
        if division is not part.division:
            _write(part, division, tree.fluid, sections, bodies)
        return part._replace(division=division)

    parts = {
        link.name: [
            renewed(part, division)
            for part, division in zip(tree.parts[link.name], link.divisions, strict=True)
        ]
        for link in config.links
        if link.name in tree.parts
    }
    links = {link.name: link for link in config.links}
    return with_tree(robot, evolve(tree, links=links, parts=parts, sections=sections, bodies=bodies))


def _write(part: Part, division: Division, fluid: float, sections: list[Array], bodies: list[Array]) -> None:
    """Write the rows of a division's quadrature."""
    # at all places of its nodes, as the tree did: the last bits of a profile may depend on what it is evaluated with
    section, at = (
        section_at(division, part.X, fluid, part.path),
        np.searchsorted(part.X, part.quadrature_place),
    )
    old = np.array([sections[row] for row in part.quadrature])
    elastic, body = quadrature_rows(Section(*(each[at] for each in section)), old[:, 0], old[:, 13:])
    for k, (row, mass) in enumerate(zip(part.quadrature, part.quadrature_mass, strict=True)):
        sections[row], bodies[mass] = elastic[k], body[k]
