"""Obstacles of a scenario as shapes on paths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corekit.data.signals import as_signal
from corekit.dynamics.obstacles import Obstacle
from corekit.geometry.shape_specs import shape_spec
from corekit.geometry.shapes import Shape
from corekit.scenario.schema import Obstacle as ObstacleTable

__all__ = ["obstacles_of"]


def _shape(table: ObstacleTable) -> Shape:
    """The kernel's shape of an obstacle: a file gives whole edges and lengths, shapes take halves."""
    spec = shape_spec(table.shape)
    size = tuple(
        factor * float(value) for factor, value in zip(spec.file_sizes.values(), table.size, strict=True)
    )
    vertices = None if not table.vertices else np.array(table.vertices, dtype=float)
    if vertices is not None and vertices.shape[1] == 2:  # of the local x–z plane
        vertices = np.insert(vertices, 1, 0.0, axis=1)
    return Shape(kind=table.shape, size=size, vertices=vertices)


def obstacles_of(tables: Sequence[ObstacleTable]) -> tuple[Obstacle, ...]:
    """The obstacles of a scenario's `[[world.obstacles]]`."""
    return tuple(
        Obstacle(
            name=table.name,
            shape=_shape(table),
            position=as_signal(table.position),
            rotation_rpy=as_signal(table.rotation_rpy),
            friction=table.friction,
        )
        for table in tables
    )
