"""One frame of a replay as coloured triangles for the rasteriser."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.errors import ResultsError
from corekit.geometry.shapes import Shape
from corekit.roles.viewer import ObstacleTrack, Replay
from corekit_view.meshes import Surface, patch
from corekit_view.meshes import box as slab
from corekit_view.normals import corner_normals
from corekit_view.palette import GROUND, OBSTACLE, SHAPES, body_colour, darker, rgb
from corekit_view.shape_surface import shape_surface
from corekit_view.skin import drawn_sizes
from corekit_view.tubes import drawn_lines, tube

__all__ = ["Bounds", "Scene", "Soup", "bounds"]

_Local: TypeAlias = tuple[Array, Array, bool]
"""Corners, normals, and whether the surface is closed, in the axes of a shape or of the world."""

VIEWED = 20_000
"""Largest count of points for fitting a view."""
MANY = 60
"""Least count of shapes with the coarse tessellation of tubes."""
GROUND_CELLS = 28
"""Cells of a half-space's chequered patch along one side."""
EDGE_ON = 0.02
"""Sine of the angle between a half-space and the direction to the viewer below which it is seen as a line."""


@frozen(eq=False)
class Bounds:
    """Bounds of a scene: an axis-aligned box.

    Args:
        low, high: corners [m], shape (3,).
        points: points that a view must contain, shape (n, 3) [m].
        radius: radius around each of these points [m], shape (n,).
    """

    low: Array
    high: Array
    points: Array
    radius: Array

    @property
    def centre(self) -> Array:
        """Middle [m], shape (3,)."""
        return 0.5 * (self.low + self.high)

    @property
    def extent(self) -> float:
        """Length of the diagonal [m]."""
        return float(np.linalg.norm(self.high - self.low))


@frozen(eq=False)
class Soup:
    """Triangles of a frame, m of them.

    Args:
        corners: corners [m], shape (m, 3, 3): face, corner, coordinate.
        normals: unit normals at the corners, shape (m, 3, 3).
        colours: red green blue in 0…1 at the corners, shape (m, 3, 3).
        owner: index of the object of a face, ≥ 0; −1 for ground, which has no outline; shape (m,).
        body: whether the object is a body, shape (m,).
        behind: whether the face is hidden by a coinciding one, shape (m,).
        closed: whether only its outer side is visible, shape (m,).
    """

    corners: Array
    normals: Array
    colours: Array
    owner: IntArray
    body: BoolArray
    behind: BoolArray
    closed: BoolArray


def bounds(replay: Replay) -> Bounds:
    """Return the box around bodies and contacts at all times, with the near parts of obstacles."""
    found: list[tuple[Array, Array]] = []
    for body in replay.bodies:
        found.append(_with_radius(body.outline, body.radius))
        found.append(
            _with_radius(body.shape_position, np.array([_bounding_radius(shape) for shape in body.shapes]))
        )
    touched = [contact.point[np.isfinite(contact.point).all(axis=1)] for contact in replay.contacts]
    nothing = _with_radius(np.zeros((0, 3)), np.zeros(1))
    found += [nothing, *(_with_radius(points, np.zeros(1)) for points in touched)]
    points, radius = (np.concatenate(part) for part in zip(*found, strict=True))
    solid = [vertices for vertices in map(_obstacle_points, replay.obstacles) if len(vertices)]
    if not len(points):
        points = np.concatenate(solid or [np.array([[-0.5] * 3, [0.5] * 3])])
        radius = np.zeros(len(points))
    low, high = (points - radius[:, None]).min(axis=0), (points + radius[:, None]).max(axis=0)
    wide = 0.25 * float(np.linalg.norm(high - low))
    for vertices in solid:
        if np.all(vertices.max(axis=0) > low - wide) and np.all(vertices.min(axis=0) < high + wide):
            points = np.concatenate([points, np.clip(vertices, low - wide, high + wide)])
    radius = np.concatenate([radius, np.zeros(len(points) - len(radius))])
    low, high = (points - radius[:, None]).min(axis=0), (points + radius[:, None]).max(axis=0)
    every = 1 + len(points) // VIEWED
    return Bounds(low, np.maximum(high, low + 1e-9), points[::every], radius[::every])


def _with_radius(points: Array, radius: Array) -> tuple[Array, Array]:
    """Return points (..., n, 3) as rows, each with its radius (n,)."""
    return points.reshape(-1, 3), np.broadcast_to(radius, points.shape[:-1]).ravel()


def _bounding_radius(shape: Shape) -> float:
    """Return the bounding radius of a shape [m]; for an infinite shape the sum of its sizes."""
    radius = shape.bounding_radius
    return radius if math.isfinite(radius) else float(sum(shape.size))


def _obstacle_points(track: ObstacleTrack) -> Array:
    """Return points of an obstacle's surface at all times, shape (n, 3) [m]; none for a half-space."""
    if track.shape.kind == "half-space":
        return np.zeros((0, 3))
    surface = _surface(track.shape, 1.0, f"obstacle {track.name!r}", 12)
    if surface is None:
        return np.zeros((0, 3))
    moving = bool(np.ptp(track.position, axis=0).any() or np.ptp(track.rotation, axis=0).any())
    times = slice(None) if moving else slice(1)
    world = np.einsum("tij,vj->tvi", track.rotation[times], surface.vertices) + track.position[times, None]
    return world.reshape(-1, 3)


def _surface(shape: Shape, extent: float, name: str, sides: int) -> Surface | None:
    try:
        return shape_surface(shape, extent, sides)
    except ValueError as error:
        raise ResultsError(f"{name} cannot be drawn: {error}") from error


class Scene:
    """Triangles of any frame of a replay; shapes are tessellated once.

    Args:
        replay: the replay.
        box: bounds of the scene.
        sides: sides of round sections.
        thinnest: least drawn radius of a tube [m], which keeps thin rods visible.
        towards: direction to the viewer: half-spaces that are seen edge on get a thickness below their surface.
    """

    def __init__(
        self, replay: Replay, box: Bounds, sides: int, thinnest: float, towards: Array | None = None
    ) -> None:
        self._replay, self._box, self._sides, self._thinnest = replay, box, sides, thinnest
        shapes = sum(len(body.shapes) for body in replay.bodies) + len(replay.obstacles)
        self._shape_sides = 2 * sides if shapes < MANY else sides
        self._body_shapes = [
            [
                self._local(shape, f"shape {i} of body {body.name!r}", size)
                for i, (shape, size) in enumerate(zip(body.shapes, drawn_sizes(body), strict=True))
            ]
            for body in replay.bodies
        ]
        self._edge_on = [
            towards is not None and bool(np.abs(obstacle.rotation[:, :, 2] @ towards).max() < EDGE_ON)
            for obstacle in replay.obstacles
        ]
        self._obstacles = [
            (self._slab() if edge_on else self._ground())
            if obstacle.shape.kind == "half-space"
            else self._local(obstacle.shape, f"obstacle {obstacle.name!r}")
            for obstacle, edge_on in zip(replay.obstacles, self._edge_on, strict=True)
        ]

    def _local(self, shape: Shape, name: str, size: float = 1.0) -> _Local | None:
        surface = _surface(shape, self._box.extent, name, self._shape_sides) if size else None
        return None if surface is None else (size * surface.corners, corner_normals(surface), surface.closed)

    def _ground(self) -> _Local:
        surface = patch(self._box.extent, GROUND_CELLS)
        return surface.corners, np.broadcast_to([0.0, 0.0, 1.0], surface.corners.shape), False

    def _slab(self) -> _Local:
        """Return what is drawn of a half-space that is seen edge on, as thick as a half-plane."""
        half = 0.03 * self._box.extent
        surface = slab((self._box.extent, self._box.extent, half))
        below = surface.corners - np.array([0.0, 0.0, half])
        return below, corner_normals(surface), surface.closed

    def soup(self, frame: int) -> Soup:
        """Return the triangles of frame `frame`."""
        parts: list[tuple[Array, Array, Array]] = []
        flags: list[tuple[int, bool, bool, bool]] = []

        def add(local: _Local, colours: Array, number: int, *, of_body: bool, behind: bool) -> None:
            corners, normals, closed = local
            parts.append((corners, normals, np.broadcast_to(colours, corners.shape)))
            flags.append((number, of_body, behind, closed))

        number = 0
        for index, body in enumerate(self._replay.bodies):
            colour = body_colour(index)
            for line in drawn_lines(body):
                radius = np.maximum(body.radius[line], self._thinnest)
                surface = tube(body.outline[frame, line], radius, self._sides)
                add(
                    (surface.corners, corner_normals(surface), True),
                    colour,
                    number,
                    of_body=True,
                    behind=False,
                )
                number += 1
            shade = darker(colour, SHAPES) if drawn_lines(body) else colour
            for i, local in enumerate(self._body_shapes[index]):
                if local is not None:
                    placed = _placed(local, body.shape_position[frame, i], body.shape_rotation[frame, i])
                    add(placed, shade, number, of_body=True, behind=True)
                    number += 1
        tracks = zip(self._replay.obstacles, self._obstacles, self._edge_on, strict=True)
        for obstacle, local, edge_on in tracks:
            if local is None:
                continue
            position, rotation = obstacle.position[frame], obstacle.rotation[frame]
            if obstacle.shape.kind == "half-space":
                # the patch of the plane is near the bodies, not at the origin of the plane
                height = rotation[:, 2] @ (self._box.centre - position)
                centre = self._box.centre - height * rotation[:, 2]
                colours = rgb(OBSTACLE) if edge_on else self._ground_colours()
                add(_placed(local, centre, rotation), colours, -1, of_body=False, behind=True)
            else:
                add(_placed(local, position, rotation), rgb(OBSTACLE), number, of_body=False, behind=True)
                number += 1
        sizes = [len(corners) for corners, _, _ in parts]
        table = np.array(flags, dtype=np.int64).reshape(-1, 4).repeat(sizes, axis=0)
        empty = np.zeros((0, 3, 3))
        return Soup(
            corners=np.concatenate([empty, *(corners for corners, _, _ in parts)]),
            normals=np.concatenate([empty, *(normals for _, normals, _ in parts)]),
            colours=np.concatenate([empty, *(colours for _, _, colours in parts)]),
            owner=table[:, 0],
            body=table[:, 1].astype(bool),
            behind=table[:, 2].astype(bool),
            closed=table[:, 3].astype(bool),
        )

    def _ground_colours(self) -> Array:
        """Return a faint chequer that fades to white at the rim of the patch, shape (m, 3, 3)."""
        surface = patch(1.0, GROUND_CELLS)
        cell = np.arange(GROUND_CELLS * GROUND_CELLS)
        odd = ((cell // GROUND_CELLS + cell % GROUND_CELLS) % 2).repeat(2)[:, None, None]
        colour = np.where(odd == 1, rgb(GROUND), darker(rgb(GROUND), 0.955))
        fade = np.clip(1.6 * (1.0 - np.linalg.norm(surface.corners, axis=2)), 0.0, 1.0)[:, :, None]
        return 1.0 - fade * (1.0 - colour)


def _placed(local: _Local, position: Array, rotation: Array) -> _Local:
    return local[0] @ rotation.T + position, local[1] @ rotation.T, local[2]
