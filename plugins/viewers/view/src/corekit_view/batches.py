"""A replay as instances of a few unit meshes with pose and scale.

A tube consists of one unit cylinder per segment and one unit sphere per joint, so a frame costs a pose and a
scale per instance instead of a mesh. The spheres at the ends are flattened along the tangent.
An instance maps a unit vertex x to

    position + R(quat)·(scale ∘ x)                                                        (1)
"""

from __future__ import annotations

import numpy as np
from attrs import evolve, frozen

from corekit.data.arrays import Array
from corekit.data.contacts import ContactMode
from corekit.errors import ResultsError
from corekit.geometry.frames import quat_wxyz_from_rotation
from corekit.geometry.shapes import Shape
from corekit.roles.viewer import BodyTrack, ObstacleTrack, Replay
from corekit_view.contacts import MAX_ARROW, Arrows, select_mode
from corekit_view.meshes import Surface, box, chequers, cone, cylinder, sphere
from corekit_view.palette import GROUND, MODES, OBSTACLE, SHAPES, body_colour, darker, rgb
from corekit_view.scene import Bounds
from corekit_view.shape_surface import shape_surface
from corekit_view.skin import drawn_sizes
from corekit_view.tubes import drawn_lines

__all__ = ["Batch", "batches", "rotation_to"]

FLAT = 0.02
"""Thickness of a tube's flat end relative to its radius."""
JOINT_RADIUS = 0.985
"""Radius of a joint relative to the tube's, inside the flat sides of a 24-sided link (0.991)."""


LENS = 0.9
"""Half thickness of a joint in a thick tube relative to the shorter of its links."""


OPACITY = 0.4
"""Opacity of a body that would hide forces."""
THICK = 0.15
"""Least half thickness of a body that hides forces, relative to the longest arrow."""


@frozen(eq=False)
class Batch:
    """Instances of one mesh over time (T frames, n instances).

    Args:
        name: path in the page's scene tree.
        mesh: the unit mesh.
        colour: red green blue in 0…1, shape (3,).
        position: positions [m], shape (T, n, 3).
        quat_wxyz: unit quaternions, (T, n, 4).
        scale: scales along the mesh's axes, (T, n, 3).
        opacity: less than 1 for bodies that would hide forces.
    """

    name: str
    mesh: Surface
    colour: Array
    position: Array
    quat_wxyz: Array
    scale: Array
    opacity: float = 1.0


def rotation_to(direction: Array) -> Array:
    """Return unit quaternions (w, x, y, z) of the least rotation from +z to unit directions, shape (..., 4).

    q = (1 + d_z, −d_y, d_x, 0) / ‖·‖;   a half turn about x if d = −z                (1)
    """
    x, y, z = np.moveaxis(direction, -1, 0)
    quat = np.stack([1.0 + z, -y, x, np.zeros_like(z)], axis=-1)
    norm = np.linalg.norm(quat, axis=-1, keepdims=True)
    down = norm[..., 0] < 1e-6
    return np.where(down[..., None], [0.0, 1.0, 0.0, 0.0], quat / np.where(norm > 0.0, norm, 1.0))


def batches(replay: Replay, extent: Bounds, arrows: Arrows, thinnest: float) -> list[Batch]:
    """Return everything in a replay as batches, in a constant order.

    A contact force points into its body, so bodies that would hide the arrow are transparent.

    Args:
        replay: replay with finite frames.
        extent: bounds of the scene.
        arrows: lengths of force arrows.
        thinnest: least drawn radius of tubes [m].
    """
    found: list[Batch] = []
    for i, body in enumerate(replay.bodies):
        shade = darker(body_colour(i), SHAPES) if drawn_lines(body) else body_colour(i)
        made = _tubes(body, f"/bodies/{i}", body_colour(i), thinnest)
        made += _shapes(body, f"/bodies/{i}", shade, extent.extent)
        hides = arrows.scale > 0 and _thickness(body) > THICK * MAX_ARROW * extent.extent
        found += [evolve(batch, opacity=OPACITY) for batch in made] if hides else made
    for i, obstacle in enumerate(replay.obstacles):
        found += _obstacle(obstacle, f"/obstacles/{i}", extent)
    for mode, word, colour, _ in MODES:
        found += _contacts(replay, mode, f"/contacts/{word}", rgb(colour), extent.extent, arrows)
    return found


def _tubes(body: BodyTrack, name: str, colour: Array, thinnest: float) -> list[Batch]:
    joints: list[tuple[Array, Array, Array]] = []
    links: list[tuple[Array, Array, Array]] = []
    for line in drawn_lines(body):
        points = body.outline[:, line]
        radius = np.broadcast_to(np.maximum(body.radius[line], thinnest), points.shape[:2])
        round_scale = np.repeat(JOINT_RADIUS * radius[:, :, None], 3, axis=2)
        quat = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (*points.shape[:2], 4)).copy()
        if points.shape[1] > 1:
            step = np.diff(points, axis=1)
            length = np.linalg.norm(step, axis=2)
            direction = _unit_vectors(step)
            mean = 0.5 * (radius[:, 1:] + radius[:, :-1])
            middle = 0.5 * (points[:, 1:] + points[:, :-1])
            links.append((middle, rotation_to(direction), np.stack([mean, mean, 0.5 * length], axis=2)))
            for end in (0, -1):
                quat[:, end] = rotation_to(direction[:, end])
                round_scale[:, end, 2] *= FLAT
            if np.any(radius[:, 1:-1] > np.minimum(length[:, 1:], length[:, :-1])):
                # thick tube of short links: flatten the joints, otherwise those near an end protrude
                quat[:, 1:-1] = rotation_to(_unit_vectors(direction[:, 1:] + direction[:, :-1]))
                near = np.minimum(length[:, 1:], length[:, :-1])
                round_scale[:, 1:-1, 2] = np.minimum(round_scale[:, 1:-1, 2], LENS * near)
        joints.append((points, quat, round_scale))
    found = []
    for word, mesh, parts in (("joints", sphere(1.0, 16), joints), ("links", cylinder(1.0, 1.0, 24), links)):
        if parts:
            position, quat, scale = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
            found.append(Batch(f"{name}/{word}", mesh, colour, position, quat, scale))
    return found


def _thickness(body: BodyTrack) -> float:
    """Return the largest half thickness of the body's tubes and shapes [m]."""
    found = [0.0, *(float(radius) for radius in body.radius)]
    for shape in body.shapes:
        if shape.kind == "box":
            found.append(min(shape.size))
        elif shape.vertices is not None:
            found.append(0.5 * float(np.linalg.norm(shape.vertices, axis=1).max()))
        elif shape.size:
            found.append(shape.size[0])
    return max(found)


def _unit_vectors(vectors: Array) -> Array:
    """Return vectors (..., 3) at unit length; +z for zero vectors."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(length > 1e-9, vectors / np.where(length > 1e-9, length, 1.0), [0.0, 0.0, 1.0])


def _shapes(body: BodyTrack, name: str, colour: Array, extent: float) -> list[Batch]:
    """Return one batch per simple kind of shape, and one per other shape."""
    found: list[Batch] = []
    kinds: dict[str, list[tuple[int, tuple[float, float, float], float]]] = {}
    sizes = drawn_sizes(body)
    for i, shape in enumerate(body.shapes):
        match shape.kind:
            case "edge" | "half-space":
                continue
            case _ if not sizes[i]:
                continue
            case "sphere" | "box" | "cylinder" | "capsule":
                for kind, scale, shift in _parts(shape):
                    kinds.setdefault(kind, []).append((i, scale, shift))
            case _:
                place = (body.shape_position[:, [i]], body.shape_rotation[:, [i]])
                found.append(
                    _rigid(f"{name}/shape-{i}", _own_mesh(shape, f"{name} shape {i}", extent), colour, *place)
                )
    for kind, parts in kinds.items():
        index = [i for i, _, _ in parts]
        rotation = body.shape_rotation[:, index]
        shift = np.array([s for _, _, s in parts])
        position = body.shape_position[:, index] + shift[:, None] * rotation[:, :, :, 2]
        scale = np.broadcast_to([sizes[i] * np.array(s) for i, s, _ in parts], position.shape)
        found.append(
            Batch(
                f"{name}/{kind}",
                _unit(kind),
                colour,
                position,
                quat_wxyz_from_rotation(rotation),
                scale * 0.995,
            )
        )
    return found


def _parts(shape: Shape) -> list[tuple[str, tuple[float, float, float], float]]:
    """Return a simple shape as unit meshes: kind, scale, shift along the local z axis [m]."""
    size = shape.size
    match shape.kind:
        case "sphere":
            return [("sphere", (size[0], size[0], size[0]), 0.0)]
        case "box":
            return [("box", (size[0], size[1], size[2]), 0.0)]
        case "cylinder":
            return [("cylinder", (size[0], size[0], size[1]), 0.0)]
        case _:  # capsule
            radius, half = size
            ends = [("sphere", (radius, radius, radius), side * half) for side in (-1.0, 1.0)]
            return [("cylinder", (radius, radius, half), 0.0), *ends]


def _unit(kind: str) -> Surface:
    match kind:
        case "sphere":
            return sphere(1.0, 40)
        case "box":
            return box((1.0, 1.0, 1.0))
        case _:
            return cylinder(1.0, 1.0, 32)


def _own_mesh(shape: Shape, name: str, extent: float) -> Surface:
    try:
        surface = shape_surface(shape, extent, 32)
    except ValueError as error:
        raise ResultsError(f"{name} cannot be drawn: {error}") from error
    assert surface is not None
    return surface


def _rigid(name: str, mesh: Surface, colour: Array, position: Array, rotation: Array) -> Batch:
    """Return a batch of one instance: position (T, 1, 3), rotation (T, 1, 3, 3)."""
    return Batch(name, mesh, colour, position, quat_wxyz_from_rotation(rotation), np.ones_like(position))


def _obstacle(obstacle: ObstacleTrack, name: str, extent: Bounds) -> list[Batch]:
    position, rotation = obstacle.position[:, None], obstacle.rotation[:, None]
    if obstacle.shape.kind == "edge":
        return []
    if obstacle.shape.kind == "half-space":
        # the patch of the plane is near the bodies, not at the origin of the plane
        normal = rotation[:, :, :, 2]
        height = np.einsum("tij,tij->ti", normal, extent.centre - position)
        centre = extent.centre - height[:, :, None] * normal
        cells = zip(
            ("even", "odd"),
            chequers(extent.extent, 16),
            (rgb(GROUND), darker(rgb(GROUND), 0.94)),
            strict=True,
        )
        return [_rigid(f"{name}/{word}", mesh, colour, centre, rotation) for word, mesh, colour in cells]
    return [
        _rigid(
            name,
            _own_mesh(obstacle.shape, f"obstacle {obstacle.name!r}", extent.extent),
            darker(rgb(OBSTACLE), 0.82),
            position,
            rotation,
        )
    ]


def _contacts(
    replay: Replay, mode: ContactMode, name: str, colour: Array, extent: float, arrows: Arrows
) -> list[Batch]:
    """Return points and force arrows of the contacts in one mode; unused instances have zero size."""
    each = [select_mode(contact, mode) for contact in replay.contacts]
    most = max((len(point) for point, _ in each), default=0)
    if most == 0:
        return []
    point = np.zeros((len(each), most, 3))
    force = np.zeros_like(point)
    used = np.zeros((len(each), most))
    for k, (points, forces) in enumerate(each):
        point[k, : len(points)], force[k, : len(points)], used[k, : len(points)] = points, forces, 1.0
    size = np.linalg.norm(force, axis=2)
    direction = np.where(
        size[:, :, None] > 0, force / np.where(size > 0, size, 1.0)[:, :, None], [0.0, 0.0, 1.0]
    )
    quat = rotation_to(direction)
    length = np.minimum(arrows.scale * size, arrows.longest)
    thick = 0.0035 * extent * used * (length > 0)
    head = np.minimum(9.0 * 0.0035 * extent * used, 0.5 * length)
    shaft = length - head
    dot = np.repeat((0.009 * extent * used)[:, :, None], 3, axis=2)
    upright = np.broadcast_to([1.0, 0.0, 0.0, 0.0], quat.shape)
    middle = point + 0.5 * shaft[:, :, None] * direction
    along = np.stack([thick, thick, 0.5 * shaft], axis=2)
    tip = np.stack([0.36 * head, 0.36 * head, head], axis=2)
    return [
        Batch(f"{name}/points", sphere(1.0, 12), colour, point, upright, dot),
        Batch(f"{name}/shafts", cylinder(1.0, 1.0, 10), colour, middle, quat, along),
        Batch(f"{name}/heads", cone(1.0, 1.0, 16), colour, point + shaft[:, :, None] * direction, quat, tip),
    ]
