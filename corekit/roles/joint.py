"""Joints between bodies as a scenario gives them: which frames they hold to each other, and what they give."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from attrs import frozen

from corekit.data.arrays import Array
from corekit.roles.body import Body
from corekit.roles.obstacles import GivenMotion

__all__ = ["JOINT_KINDS", "BodyFrame", "Joint", "JointForce"]

JOINT_KINDS: Mapping[str, tuple[tuple[int, int], ...]] = MappingProxyType(
    {"weld": ((0, 1), (1, 2), (2, 0)), "hinge": ((2, 0), (2, 1)), "ball": ()}
)
"""Kind of joint → (j, k) of the rows (2), a_j·b_k = 0: a weld leaves nothing free, a hinge the turn about
its axis z, a ball every turn."""


class BodyFrame(NamedTuple):
    """A frame of a body, by its index."""

    body: Body
    frame: int


class JointForce(NamedTuple):
    """What a joint gives its first frame: force [N] at the joint and torque [N·m], world axes, (3,) each."""

    force: Array
    torque: Array


@frozen(eq=False)
class Joint:
    """Holds a point of a frame where it stands in another one, and turns as its kind says.

    Args:
        name: as in the scenario.
        kind: weld, hinge or ball.
        first: what is carried.
        second: what carries it: a frame, or a given motion.
        place: of the point, in the first frame [m].
        axis: of a hinge, in the axes of the first frame; any length but 0.
    """

    name: str
    kind: str
    first: BodyFrame
    second: BodyFrame | GivenMotion
    place: tuple[float, float, float] = (0.0, 0.0, 0.0)
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
