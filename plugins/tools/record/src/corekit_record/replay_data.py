"""Data with which a run is drawn: shapes as text, outlines of constant length, tracks from poses."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.geometry.frames import Pose
from corekit.geometry.shapes import Shape
from corekit.roles.model import Outline
from corekit.roles.viewer import ContactTrack

__all__ = [
    "contact_track",
    "nearest_frame",
    "resample_outline",
    "shape_poses",
    "shapes_as_text",
    "shapes_from_text",
]


def shapes_as_text(shapes: Sequence[Shape]) -> str:
    """Write shapes as JSON, for an attribute."""
    return json.dumps(
        [
            {
                "kind": shape.kind,
                "size": list(shape.size),
                "frame": shape.frame,
                "second_frame": shape.second_frame,
                "offset_position": np.asarray(shape.offset.position).tolist(),
                "offset_rotation": np.asarray(shape.offset.rotation).tolist(),
                "friction": shape.friction,
                "vertices": None if shape.vertices is None else np.asarray(shape.vertices).tolist(),
            }
            for shape in shapes
        ]
    )


def shapes_from_text(text: str) -> tuple[Shape, ...]:
    """Read the shapes that `shapes_as_text` wrote."""
    return tuple(
        Shape(
            kind=each["kind"],
            size=tuple(each["size"]),
            frame=each["frame"],
            second_frame=each["second_frame"],
            offset=Pose(np.array(each["offset_position"]), np.array(each["offset_rotation"])),
            friction=each["friction"],
            vertices=None if each["vertices"] is None else np.array(each["vertices"], dtype=float),
        )
        for each in json.loads(text)
    )


def nearest_frame(origins: Array, point: Array) -> int:
    """Return which of some frames, with origins (n, 3) [m], is nearest to a point; of several the first.

    What is nearer by less than a micrometre is not: points of outlines are stored in single precision.
    """
    away = np.linalg.norm(origins - point, axis=1)
    return int(np.argmax(away <= away.min() + 1e-6))


def resample_outline(outline: Outline, length: int, starts: IntArray) -> Array:
    """Resample an outline to as many points as it had at the start, shape (length, 3) [m].

    A body that grows may draw more points: each polyline is then sampled at even intervals of its own numbering.
    """
    points = np.asarray(outline.points, dtype=float)
    if len(points) == length:
        return points
    old = [*(int(start) for start in outline.starts), len(points)]
    new = [*(int(start) for start in starts), length]
    out = np.zeros((length, 3))
    last = points[-1] if len(points) else np.zeros(3)
    for k in range(len(new) - 1):
        count = new[k + 1] - new[k]
        if k + 1 >= len(old):  # a polyline that is not there now
            out[new[k] : new[k + 1]] = last
            continue
        line = points[old[k] : old[k + 1]]
        index = np.linspace(0.0, len(line) - 1, count)
        for axis in range(3):
            out[new[k] : new[k + 1], axis] = np.interp(index, np.arange(len(line)), line[:, axis])
    return out


def shape_poses(shapes: Sequence[Shape], position: Array, rotation: Array) -> tuple[Array, Array]:
    """Return world poses of shapes, (T, s, 3) [m] and (T, s, 3, 3), from those of their body's frames.

    x = R_frame·x_offset + x_frame,   R = R_frame·R_offset                                       (1)
    """
    frames = [shape.frame for shape in shapes]
    offset = np.array([shape.offset.position for shape in shapes]).reshape(-1, 3)
    turned = np.array([shape.offset.rotation for shape in shapes]).reshape(-1, 3, 3)
    carried = rotation[:, frames]
    return position[:, frames] + np.einsum("tsij,sj->tsi", carried, offset), carried @ turned


def contact_track(
    point: Array,
    normal: Array,
    tangent: Array,
    impulse: Array,
    tangential: Array,
    mode: IntArray,
    step: float,
) -> ContactTrack:
    """Return the contacts of one instant with the force on the first body, impulse/h [N]."""
    second = np.cross(normal, tangent)
    force = impulse[:, None] * normal + tangential[:, :1] * tangent + tangential[:, 1:] * second
    return ContactTrack(point=point, force=force / step if step > 0 else np.zeros_like(force), mode=mode)
