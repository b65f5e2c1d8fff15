"""Cables and chambers as lines to draw: p(s) + R(s)·(0, y(s), z(s)) along their links.

p is the cubic of `lines` between the places of the computation, R the mean of the axes at the places around.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit_gvs.config import GVSConfig
from corekit_gvs.lines import Lines
from corekit_gvs.load_options import Cable, Chamber
from corekit_gvs.profiles import profile_of
from corekit_gvs.tree import Tree

__all__ = ["ActuatorLines"]

_PIECES = 12


@final
class ActuatorLines:
    """Every cable and chamber of a robot.

    Args:
        config: of the robot, as it was built to `tree`.
    """

    def __init__(self, config: GVSConfig, tree: Tree) -> None:
        self._lines: list[tuple[str, Lines, Array]] = []
        listed: list[tuple[str, Cable | Chamber]] = [
            *((f"cables[{i}]", each) for i, each in enumerate(config.cables)),
            *((f"chambers[{i}]", each) for i, each in enumerate(config.chambers)),
        ]
        for path, each in listed:
            parts = tree.parts[each.link]
            for part in [parts[k] for k in each.divisions] if each.divisions else parts:
                line = Lines([(list(part.node), np.zeros(len(part.node)), True)], _PIECES)
                s = line.between(part.start + part.division.length * np.asarray(part.X, dtype=np.float64))
                y, _ = profile_of(each.y, "s", s, f"{path}.y")
                z, _ = profile_of(each.z, "s", s, f"{path}.z")
                self._lines.append((each.name, line, np.stack([np.zeros(len(s)), y, z], axis=1)))
        nodes = [line.node for _, line, _ in self._lines]
        self.node: IntArray = np.concatenate([np.zeros(0, dtype=np.int64), *nodes])
        """Nodes whose places they need."""

    def through(self, position: Array, rotation: Array) -> tuple[tuple[str, Array], ...]:
        """Name and points [m] of each, with positions (n, 3) and axes (n, 3, 3) of `node`; a line a division."""
        found, first = [], 0
        for name, line, offset in self._lines:
            own = slice(first, first := first + len(line.node))
            axes = line.between(rotation[own])
            points = line.through(position[own], rotation[own]).points + np.einsum("nij,nj->ni", axes, offset)
            found.append((name, points))
        return tuple(found)
