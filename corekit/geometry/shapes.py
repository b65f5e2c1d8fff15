"""Collision shapes, and the table of all shapes in a world that contact detectors read."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.geometry.frames import Pose

__all__ = ["SHAPE_SIZES", "Shape", "ShapePoses", "ShapeTable"]

SHAPE_SIZES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "half-space": (),
        "sphere": ("radius",),
        "box": ("half_x", "half_y", "half_z"),
        "capsule": ("radius", "half_length"),
        "cylinder": ("radius", "half_height"),
        "polytope": (),
        "mesh": (),
        "edge": ("radius",),
        "half-plane": (),
        "circle": ("radius",),
        "ring": ("radius",),
        "polygon": (),
        "segments": ("radius",),
    }
)
"""Shape kind → names of its sizes [m]. Axes of capsule and cylinder are the local z axis; a half-space
is local z ≤ 0, its outward normal local +z; a disk is a flat cylinder; an edge is a capsule between the
origins of two frames; a polytope is the hull of its vertices.

The last five are planar: they stand in the local x–z plane and reach without end along local y. A half-plane is local
z ≤ 0, a ring is what is outside of a circle (a pipe in section), a polygon, convex or not, is enclosed by its
vertices in turn, segments are the lines between theirs, with a radius."""


@frozen(eq=False)
class Shape:
    """One collision shape carried by a frame (an edge: by two).

    Args:
        kind: key of `SHAPE_SIZES`.
        size: the kind's sizes in that order [m].
        frame: index of the carrying frame in the model's layout (ignored for obstacles).
        second_frame: the other end of an edge, else −1.
        offset: pose of the shape in its frame.
        friction: coefficient μ of this surface, or None if the scenario decides.
        vertices: of a polytope, mesh, polygon or segments, in the shape's own axes [m], shape (k, 3).
    """

    kind: str
    size: tuple[float, ...]
    frame: int = 0
    second_frame: int = -1
    offset: Pose = field(factory=Pose)
    friction: float | None = None
    vertices: Array | None = None

    def __attrs_post_init__(self) -> None:
        if self.kind not in SHAPE_SIZES:
            raise ValueError(f"unknown shape {self.kind!r}; shapes are {', '.join(SHAPE_SIZES)}")
        names = SHAPE_SIZES[self.kind]
        if len(self.size) != len(names):
            raise ValueError(f"a {self.kind} takes the sizes ({', '.join(names)}), got {self.size}")
        if any(not (np.isfinite(value) and value > 0) for value in self.size):
            raise ValueError(f"the sizes of a {self.kind} must be positive and finite, got {self.size}")


@frozen(eq=False)
class ShapeTable:
    """Every collision shape of a world, as arrays over n shapes; bodies' shapes first, then obstacles'.

    Attributes:
        kind: shape kinds, n strings.
        size: sizes padded with zeros, shape (n, 3) [m].
        body: index of the body, −1 for an obstacle, shape (n,).
        frame: world frame index of the carrier, −1 for an obstacle, shape (n,).
        second_frame: the other end of an edge, else −1, shape (n,).
        offset_position, offset_rotation: pose of the shape in its frame, (n, 3) and (n, 3, 3).
        obstacle: index of the obstacle, −1 for a body's shape, shape (n,).
        vertices: of polytopes, meshes, polygons and segments, n entries, None for the others.
        never: pairs (i < j) never to test, shape (k, 2).
        self_contact: per body, whether its own shapes may touch each other.
    """

    kind: tuple[str, ...]
    size: Array
    body: IntArray
    frame: IntArray
    second_frame: IntArray
    offset_position: Array
    offset_rotation: Array
    obstacle: IntArray
    vertices: tuple[Array | None, ...]
    never: IntArray
    self_contact: BoolArray

    def __len__(self) -> int:
        return len(self.kind)

    def pairs(self, served: frozenset[tuple[str, str]]) -> IntArray:
        """All pairs (i, j) that may touch and whose kinds are served, shape (p, 2); an obstacle stands second.

        Quadratic in the number of shapes: meant for detectors that test every pair of a small scene.

        Args:
            served: kind pairs; (a, b) serves (b, a) too.
        """
        excluded = {(int(i), int(j)) for i, j in self.never}
        found: list[tuple[int, int]] = []
        for i in range(len(self)):
            if self.body[i] < 0:
                break
            for j in range(i + 1, len(self)):
                same = self.body[i] == self.body[j]
                if (same and not self.self_contact[self.body[i]]) or (i, j) in excluded:
                    continue
                kinds = (self.kind[i], self.kind[j])
                if kinds in served or kinds[::-1] in served:
                    found.append((i, j))
        return np.array(found, dtype=np.int64).reshape(-1, 2)


@frozen(eq=False)
class ShapePoses:
    """Where the shapes of a table are at one instant; work buffers, rewritten at every state.

    Attributes:
        position, rotation: of each shape in the world, (n, 3) [m] and (n, 3, 3).
        end: second end of an edge in the world, (n, 3) [m]; equals `position` for other shapes.
        frame_position, frame_rotation: of every world frame, (f, 3) [m] and (f, 3, 3).
    """

    position: Array
    rotation: Array
    end: Array
    frame_position: Array
    frame_rotation: Array
