"""One frame of a replay as one soup of coloured triangles, ready to be rasterised."""

from __future__ import annotations

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.errors import ResultsError
from corekit.geometry.shapes import Shape
from corekit.roles.viewer import Replay
from corekit_view.meshes import Surface, patch, shape_surface
from corekit_view.normals import corner_normals
from corekit_view.palette import GROUND, OBSTACLE, body_colour, darker, rgb
from corekit_view.tubes import polylines, tube

__all__ = ["Bounds", "Scene", "Soup", "bounds"]

GROUND_CELLS = 28
"""Cells of a half-space's chequered patch along one side."""


@frozen(eq=False)
class Bounds:
    """Where everything happens: an axis-aligned box.

    Args:
        low, high: corners [m], shape (3,).
    """

    low: Array
    high: Array

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
        corners: [m], shape (m, 3, 3): face, corner, coordinate.
        normals: at the corners, unit, shape (m, 3, 3).
        colours: at the corners, red green blue in 0…1, shape (m, 3, 3).
        owner: number of the thing a face belongs to, ≥ 0; −1 for ground, whose outline is not drawn; shape (m,).
        body: whether it belongs to a body, shape (m,).
        behind: of two coinciding surfaces, whether this one gives way, shape (m,).
    """

    corners: Array
    normals: Array
    colours: Array
    owner: IntArray
    body: BoolArray
    behind: BoolArray


def bounds(replay: Replay) -> Bounds:
    """The box that holds bodies and contacts at all times, and what of the obstacles lies near them."""
    points = [body.outline.reshape(-1, 3) for body in replay.bodies]
    margin = 0.0
    for body in replay.bodies:
        points.append(body.shape_position.reshape(-1, 3))
        margin = max([margin, *(float(r) for r in body.radius), *(max(s.size, default=0.0) for s in body.shapes)])
    points += [contact.point[np.isfinite(contact.point).all(axis=1)] for contact in replay.contacts]
    near = np.concatenate([p for p in points if len(p)] or [np.zeros((0, 3))])
    boxes = [_obstacle_box(o.shape, o.position, o.rotation) for o in replay.obstacles]
    boxes = [found for found in boxes if found is not None]
    if not len(near):
        near = np.concatenate([np.stack(found) for found in boxes] or [np.array([[-0.5] * 3, [0.5] * 3])])
    low, high = near.min(axis=0) - margin, near.max(axis=0) + margin
    reach = 0.25 * float(np.linalg.norm(high - low))
    wide_low, wide_high = low - reach, high + reach
    for box_low, box_high in boxes:
        if np.all(box_high > wide_low) and np.all(box_low < wide_high):
            low = np.minimum(low, np.clip(box_low, wide_low, wide_high))
            high = np.maximum(high, np.clip(box_high, wide_low, wide_high))
    return Bounds(low, np.maximum(high, low + 1e-9))


def _obstacle_box(shape: Shape, position: Array, rotation: Array) -> tuple[Array, Array] | None:
    if shape.kind == "half-space":
        return None
    surface = _surface(shape, 1.0, "obstacle", 8)
    if surface is None:
        return None
    world = np.einsum("tij,vj->tvi", rotation, surface.vertices) + position[:, None]
    return world.min(axis=(0, 1)), world.max(axis=(0, 1))


def _surface(shape: Shape, extent: float, name: str, sides: int) -> Surface | None:
    try:
        return shape_surface(shape, extent, sides)
    except ValueError as error:
        raise ResultsError(f"{name} cannot be drawn: {error}") from error


class Scene:
    """Draws any frame of a replay into triangles; shapes are tessellated once.

    Args:
        replay: what to draw.
        box: where it happens.
        sides: of round sections.
        thinnest: least drawn radius of a tube [m], so that hair-thin rods stay visible.
    """

    def __init__(self, replay: Replay, box: Bounds, sides: int, thinnest: float) -> None:
        self._replay, self._box, self._sides, self._thinnest = replay, box, sides, thinnest
        self._body_shapes = [
            [self._local(shape, f"shape {i} of body {body.name!r}") for i, shape in enumerate(body.shapes)]
            for body in replay.bodies
        ]
        self._obstacles = [
            self._ground() if obstacle.shape.kind == "half-space" else self._local(obstacle.shape, obstacle.name)
            for obstacle in replay.obstacles
        ]

    def _local(self, shape: Shape, name: str) -> tuple[Array, Array] | None:
        surface = _surface(shape, self._box.extent, name, self._sides)
        return None if surface is None else (surface.corners, corner_normals(surface))

    def _ground(self) -> tuple[Array, Array]:
        surface = patch(self._box.extent, GROUND_CELLS)
        return surface.corners, np.broadcast_to([0.0, 0.0, 1.0], surface.corners.shape)

    def soup(self, frame: int) -> Soup:
        """The triangles of frame `frame`."""
        parts: list[tuple[Array, Array, Array]] = []
        owner: list[int] = []
        body_flag: list[bool] = []
        behind: list[bool] = []

        def add(corners: Array, normals: Array, colours: Array, number: int, of_body: bool, back: bool) -> None:
            parts.append((corners, normals, np.broadcast_to(colours, corners.shape)))
            owner.append(number)
            body_flag.append(of_body)
            behind.append(back)

        number = 0
        for index, body in enumerate(self._replay.bodies):
            colour = body_colour(index)
            for line in polylines(body.starts, body.outline.shape[1]):
                radius = np.maximum(body.radius[line], self._thinnest)
                surface = tube(body.outline[frame, line], radius, self._sides)
                add(surface.corners, corner_normals(surface), colour, number, of_body=True, back=False)
                number += 1
            shade = darker(colour) if len(body.radius) else colour
            for i, local in enumerate(self._body_shapes[index]):
                if local is not None:
                    placed = _placed(local, body.shape_position[frame, i], body.shape_rotation[frame, i])
                    add(*placed, shade, number, of_body=True, back=True)
                    number += 1
        for obstacle, local in zip(self._replay.obstacles, self._obstacles, strict=True):
            if local is None:
                continue
            position, rotation = obstacle.position[frame], obstacle.rotation[frame]
            if obstacle.shape.kind == "half-space":
                # the patch lies where the bodies are, not where the plane happens to have its origin
                height = rotation[:, 2] @ (self._box.centre - position)
                centre = self._box.centre - height * rotation[:, 2]
                add(*_placed(local, centre, rotation), self._ground_colours(), -1, of_body=False, back=True)
            else:
                add(*_placed(local, position, rotation), rgb(OBSTACLE), number, of_body=False, back=True)
                number += 1
        if not parts:
            empty = np.zeros((0, 3, 3))
            return Soup(empty, empty, empty, *(np.zeros(0, dtype=kind) for kind in (np.int64, bool, bool)))
        sizes = [len(corners) for corners, _, _ in parts]
        return Soup(
            *(np.concatenate([part[i] for part in parts]) for i in range(3)),
            np.repeat(owner, sizes),
            np.repeat(body_flag, sizes),
            np.repeat(behind, sizes),
        )

    def _ground_colours(self) -> Array:
        """A faint chequer that fades to white at the patch's rim, shape (m, 3, 3)."""
        surface = patch(1.0, GROUND_CELLS)
        cell = np.arange(GROUND_CELLS * GROUND_CELLS)
        odd = ((cell // GROUND_CELLS + cell) % 2).repeat(2)[:, None, None]
        colour = np.where(odd == 1, rgb(GROUND), darker(rgb(GROUND), 0.955))
        fade = np.clip(1.6 * (1.0 - np.linalg.norm(surface.corners, axis=2)), 0.0, 1.0)[:, :, None]
        return 1.0 - fade * (1.0 - colour)


def _placed(local: tuple[Array, Array], position: Array, rotation: Array) -> tuple[Array, Array]:
    return local[0] @ rotation.T + position, local[1] @ rotation.T
