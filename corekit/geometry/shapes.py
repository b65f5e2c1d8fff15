"""Collision shapes, and the table of all shapes in a world that contact detectors read."""

from __future__ import annotations

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.geometry.frames import Pose
from corekit.geometry.shape_specs import shape_spec

__all__ = ["Shape", "ShapePoses", "ShapeTable"]


@frozen(eq=False)
class Shape:
    """One collision shape carried by a frame (an edge: by two).

    Args:
        kind: of a `ShapeSpec`, the kernel's or an installed distribution's.
        size: the kind's sizes in that order [m].
        frame: index of the carrying frame in the model's description (ignored for obstacles).
        second_frame: the other end of an edge, else −1.
        offset: pose of the shape in its frame.
        friction: coefficient μ of this surface, or None if the scenario decides.
        vertices: of a kind that has some, in the shape's own axes [m], shape (k, 3).
    """

    kind: str
    size: tuple[float, ...]
    frame: int = 0
    second_frame: int = -1
    offset: Pose = field(factory=Pose)
    friction: float | None = None
    vertices: Array | None = None

    def __attrs_post_init__(self) -> None:
        names = shape_spec(self.kind).sizes
        if len(self.size) != len(names):
            raise ValueError(f"a {self.kind} takes the sizes ({', '.join(names)}), got {self.size}")
        if any(not (np.isfinite(value) and value > 0) for value in self.size):
            raise ValueError(f"the sizes of a {self.kind} must be positive and finite, got {self.size}")

    @property
    def bounding_radius(self) -> float:
        """Radius of the ball about its origin that contains it [m]; inf where it has no end."""
        return shape_spec(self.kind).bounding_radius(self.size, self.vertices)


@frozen(eq=False)
class ShapeTable:
    """Every collision shape of a world, as arrays over n shapes; bodies' shapes first, then obstacles'.

    Attributes:
        kind: shape kinds, n strings.
        size: sizes padded with zeros, shape (n, 3) [m].
        body: index of the body, −1 for an obstacle, shape (n,).
        frame: world frame index of the frame that carries it, −1 for an obstacle, shape (n,).
        second_frame: the other end of an edge, else −1, shape (n,).
        offset_position, offset_rotation: pose of the shape in its frame, (n, 3) and (n, 3, 3).
        obstacle: index of the obstacle, −1 for a body's shape, shape (n,).
        vertices: of the shapes that have some, n entries, None for the others.
        excluded_pairs: pairs (i < j) never to test, shape (k, 2).
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
    excluded_pairs: IntArray
    self_contact: BoolArray

    def __len__(self) -> int:
        return len(self.kind)

    def bounding_radii(self) -> Array:
        """Radius of the ball about each shape's origin that contains it, shape (n,) [m]; inf where it has no end."""
        specs = [shape_spec(kind) for kind in self.kind]
        sizes = [size[: len(spec.sizes)] for spec, size in zip(specs, self.size.tolist(), strict=True)]
        rows = zip(specs, sizes, self.vertices, strict=True)
        return np.array([float(spec.bounding_radius(size, vertices)) for spec, size, vertices in rows])

    def pairs(self, served: frozenset[tuple[str, str]]) -> IntArray:
        """All pairs (i, j) that may touch and whose kinds are served, shape (p, 2); an obstacle stands second.

        Quadratic in the number of shapes: meant for detectors that test every pair of a small scene.

        Args:
            served: kind pairs; (a, b) serves (b, a) too.
        """
        excluded = {(int(i), int(j)) for i, j in self.excluded_pairs}
        found: list[tuple[int, int]] = []
        owners = self.body[self.body >= 0]
        for i, owner in enumerate(owners.tolist()):
            # shapes of a body stand together: those of a long chain that does not touch itself are passed over at once
            first = i + 1 if self.self_contact[owner] else int(np.searchsorted(owners, owner, side="right"))
            for j in range(first, len(self)):
                if (i, j) in excluded:
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
