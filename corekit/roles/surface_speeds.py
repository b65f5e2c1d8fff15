"""How fast velocities move the surface of a body, for `ModelDescription.velocity_scale`.

Where one velocity is 1 and the others are 0, a point p of the surface moves with its column of the point Jacobian J_p:

    s_j = max_p |J_p·e_j|                                                                  (1)

Of a frame the origin counts, and of every shape on it the six points at its bounding radius along the frame's axes.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.geometry.shape_specs import shape_spec
from corekit.geometry.shapes import Shape
from corekit.roles.model import Model

__all__ = ["surface_speeds"]

_UNMOVED = 1e-9
"""Share of the largest speed below which a velocity moves no point."""
_ROUNDING = 64.0 * sys.float_info.epsilon
"""What rounding leaves of the speed of a point on an axis of turning, relative to how far points are [1/s]."""


def surface_speeds(model: Model, initial: Any = None) -> Array:
    """Return (1) of a model with `point-jacobian` in its rest state, shape (nv,); 1 for what moves no point.

    Args:
        model: built but for this entry of its description.
        initial: options of another state than that of rest.
    """
    description = model.description
    state = State.zeros(len(description.coordinates), len(description.velocities), description.aux)
    model.compute_initial_state(initial, state)
    frame, local = _points(len(description.frames), description.shapes)
    width = description.jacobian_width
    dofs, values = np.zeros((len(frame), width), dtype=np.int64), np.zeros((len(frame), 3, width))
    model_with_rows: Any = model
    model_with_rows.compute_point_jacobians(state, frame, local, dofs, values)
    speeds = np.zeros(len(description.velocities))
    np.maximum.at(speeds, dofs.ravel(), np.linalg.norm(values, axis=1).ravel())
    position, rotation = np.zeros((len(description.frames), 3)), np.zeros((len(description.frames), 3, 3))
    model.compute_frame_poses(state, position, rotation)
    reach = float(np.abs(position).max(initial=0.0) + np.abs(local).max(initial=0.0))
    least = max(_UNMOVED * np.max(speeds, initial=0.0, where=np.isfinite(speeds)), _ROUNDING * reach)
    moves = np.isfinite(speeds) & (speeds > least)
    return np.where(moves, speeds, 1.0)


def _points(frames: int, shapes: tuple[Shape, ...]) -> tuple[IntArray, Array]:
    """Frames of points, and the points in their axes [m]."""
    around = np.concatenate([np.eye(3), -np.eye(3)])
    frame, local = [np.arange(frames)], [np.zeros((frames, 3))]
    for shape in shapes:
        radius = _radius(shape)
        frame.append(np.full(6, shape.frame))
        local.append(shape.offset.position + radius * around)
    return np.concatenate(frame), np.concatenate(local)


def _radius(shape: Shape) -> float:
    """How far it reaches from its origin [m]; of an endless one, as an edge, how thick it is."""
    spec = shape_spec(shape.kind)
    for radius in (shape.bounding_radius, spec.inradius(shape.size, shape.vertices)):
        if math.isfinite(radius):
            return float(radius)
    return 0.0
