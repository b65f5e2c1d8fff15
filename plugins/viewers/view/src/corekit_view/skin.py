"""How collision shapes stand out from the drawn tube of their body."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.viewer import BodyTrack
from corekit_view.tubes import polylines

__all__ = ["drawn_sizes"]

_THICKER, _BESIDE = 1.1, 0.1
"""Largest radius of a shape on a tube, and largest distance from its axis, relative to the tube's radius."""
_BELOW = 0.985
"""Size at which a shape on a tube is drawn, which has flat sides that would cut it."""


def drawn_sizes(body: BodyTrack) -> Array:
    """Return how large to draw each shape relative to its size, shape (s,), by the first record.

    Balls and capsules on the axis of a tube that is as thick as they are need not be drawn, 0: where a link bends they
    are chords, which would cut its skin. Those that look out of an end are drawn a little smaller than the tube.
    """
    sizes = np.ones(len(body.shapes))
    if not len(body.outline) or not body.outline.shape[1]:
        return sizes
    lines = [
        (body.outline[0, line], body.radius[line]) for line in polylines(body.starts, body.outline.shape[1])
    ]
    for i, shape in enumerate(body.shapes):
        if shape.kind not in ("sphere", "capsule"):
            continue
        radius, half = shape.size[0], shape.size[1] if shape.kind == "capsule" else 0.0
        along = half * body.shape_rotation[0, i, :, 2]
        ends = body.shape_position[0, i] + np.stack([-along, along])
        for line in lines:
            places = [_place(end, radius, *line) for end in ends]
            if None not in places:
                sizes[i] = 0.0 if all(places) else _BELOW
    return sizes


def _place(centre: Array, radius: float, points: Array, radii: Array) -> bool | None:
    """Whether a ball on a tube's axis, as thick as it, stays between its ends; None of another ball."""
    if len(points) < 2:
        return None
    segment = np.diff(points, axis=0)
    square = np.einsum("ij,ij->i", segment, segment)
    share = np.einsum("ij,ij->i", centre - points[:-1], segment) / np.where(square > 0.0, square, 1.0)
    share = np.clip(share, 0.0, 1.0)
    away = np.linalg.norm(points[:-1] + share[:, None] * segment - centre, axis=1)
    at = int(np.argmin(away))
    own = radii[at] + share[at] * (radii[at + 1] - radii[at])
    if radius > _THICKER * own or away[at] > _BESIDE * own:
        return None
    length = np.sqrt(square)
    return bool(radius <= length[:at].sum() + share[at] * length[at] <= length.sum() - radius)
