"""From a replay to rigid parts that move: what every format of animations can hold.

A collision shape is one part. A polyline of a body, a rod or a backbone, is a part a segment: a unit cylinder that is
stretched to the segment's length and radius. Planar shapes are drawn by their edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.geometry.frames import quat_wxyz_from_rotation
from corekit.geometry.shapes import Shape
from corekit.roles.viewer import BodyTrack, Replay
from corekit_export.surfaces import Mesh, shape_mesh, unit_cylinder

__all__ = ["Part", "Scene", "scene_of"]


@frozen(eq=False)
class Part:
    """A mesh that moves (T instants).

    Args:
        name: unique in the scene. owner: index of its body or obstacle among `Scene.owners`.
        mesh: parts of the same form share one.
        position: of its origin [m], shape (T, 3).
        quat_wxyz: its axes, without jumps of sign, shape (T, 4).
        scale: along its own axes, shape (T, 3).
    """

    name: str
    owner: int
    mesh: Mesh
    position: Array
    quat_wxyz: Array
    scale: Array


@frozen(eq=False)
class Scene:
    """Everything of a run that has a form.

    Args:
        title: name of the scenario. time: instants [s], shape (T,).
        owners: names of bodies and obstacles. bodies: how many of them are bodies.
        parts: what moves. replay: what it was made of.
    """

    title: str
    time: Array
    owners: tuple[str, ...]
    bodies: int
    parts: tuple[Part, ...]
    replay: Replay


def scene_of(replay: Replay) -> Scene:
    """Return the parts of a replay."""
    extent = _extent(replay)
    meshes: dict[str, Mesh | None] = {}
    cylinder = unit_cylinder()
    parts: list[Part] = []

    def add(name: str, owner: int, shape: Shape, position: Array, rotation: Array) -> None:
        key = repr(shape)
        if key not in meshes:
            meshes[key] = shape_mesh(shape, extent)
        mesh = meshes[key]
        if mesh is not None:
            ones = np.ones((len(replay.time), 3))
            parts.append(
                Part(name, owner, mesh, position, _continuous(quat_wxyz_from_rotation(rotation)), ones)
            )

    for i, body in enumerate(replay.bodies):
        for k, shape in enumerate(body.shapes):
            add(f"{body.name}/{k + 1}", i, shape, body.shape_position[:, k], body.shape_rotation[:, k])
        parts.extend(_segments(body, i, cylinder))
    for i, obstacle in enumerate(replay.obstacles, start=len(replay.bodies)):
        add(obstacle.name, i, obstacle.shape, obstacle.position, obstacle.rotation)
    owners = (*(body.name for body in replay.bodies), *(each.name for each in replay.obstacles))
    return Scene(replay.title, replay.time, owners, len(replay.bodies), tuple(parts), replay)


def _extent(replay: Replay) -> float:
    """Return half the size of what is drawn of endless shapes [m]: twice that of what moves."""
    points = [track.outline.reshape(-1, 3) for track in replay.bodies]
    points += [track.shape_position.reshape(-1, 3) for track in replay.bodies]
    all_points = np.concatenate(points) if points else np.zeros((0, 3))
    return max(1e-2, float(np.ptp(all_points, axis=0).max())) if len(all_points) else 1.0


def _segments(body: BodyTrack, owner: int, cylinder: Mesh) -> Iterator[Part]:
    bounds = [*(int(start) for start in body.starts), body.outline.shape[1]]
    for line, (begin, end) in enumerate(pairwise(bounds)):
        for k in range(begin, end - 1):
            first, second = body.outline[:, k], body.outline[:, k + 1]
            along = second - first
            length = np.linalg.norm(along, axis=1)
            radius = 0.5 * (body.radius[k] + body.radius[k + 1])
            if not radius > 0.0:
                continue
            yield Part(
                f"{body.name}/line-{line + 1}-{k - begin + 1}", owner, cylinder, 0.5 * (first + second),
                _continuous(_turn_z_to(along, length)), np.stack([np.full_like(length, radius)] * 2 + [length], axis=1),
            )  # fmt: skip


def _turn_z_to(along: Array, length: Array) -> Array:
    """Return the shortest turns that take z into the directions, shape (T, 4): (1 + d_z, −d_y, d_x, 0), normalised."""
    safe = np.where(length > 0.0, length, 1.0)[:, None]
    d = np.where(length[:, None] > 0.0, along / safe, [0.0, 0.0, 1.0])
    quat = np.stack([1.0 + d[:, 2], -d[:, 1], d[:, 0], np.zeros(len(d))], axis=1)
    quat[1.0 + d[:, 2] < 1e-12] = [0.0, 1.0, 0.0, 0.0]  # straight down: half a turn about x
    return quat / np.linalg.norm(quat, axis=1, keepdims=True)


def _continuous(quat: Array) -> Array:
    """Return the same rotations by quaternions of which each is near the one before."""
    signs = np.where(np.einsum("ti,ti->t", quat[1:], quat[:-1]) < 0.0, -1.0, 1.0)
    return quat * np.cumprod(np.concatenate([[1.0], signs]))[:, None]


def points_at(part: Part, k: int) -> Array:
    """Return the corners of a part at instant k, world axes [m], shape (n, 3)."""
    from corekit.geometry.frames import rotation_from_quat_wxyz

    rotation = rotation_from_quat_wxyz(part.quat_wxyz[k])
    return part.position[k] + (part.mesh.vertices * part.scale[k]) @ rotation.T


def faces_of(parts: tuple[Part, ...]) -> tuple[IntArray, IntArray]:
    """Return the triangles of all parts among all their corners, shape (f, 3), and the owner of each, shape (f,)."""
    first, faces, owners = 0, [], []
    for part in parts:
        faces.append(part.mesh.faces + first)
        owners.append(np.full(len(part.mesh.faces), part.owner))
        first += len(part.mesh.vertices)
    if not faces:
        return np.zeros((0, 3), dtype=np.int64), np.zeros(0, dtype=np.int64)
    return np.concatenate(faces), np.concatenate(owners)
