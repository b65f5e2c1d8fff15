"""Four material points on each rim of a cylinder, and which of them stand beside the lowest rim point.

The lowest rim point and material points of the rim report a cap on a flat. The lowest point's gap is the
pair's. Its rate is exact although the point moves along the rim, because its azimuth is stationary; the rates
of material points are exact anyway. Point k = 0…3 of a rim stands at azimuth 45°, 135°, −45°, −135° of the
local x axis (a set bit is a negative coordinate). The one nearest to the lowest point is omitted. The four
points are then at least 45° apart, with the rim's centre among them. A cap parallel to the flat has no lowest
point: the four material points report it.
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.geometry.vectors import Vector, add_scaled, dot
from corekit_sdf.features import RIM

__all__ = ["nearest_rim_point", "rim_direction", "rim_feature"]

_DIAGONAL: Final = 0.7071067811865476


@compiled
def rim_direction(k: int, x_axis: Vector, y_axis: Vector) -> Vector:
    """Return the unit vector from the rim's centre to material point k."""
    sx, sy = -_DIAGONAL if k & 1 else _DIAGONAL, -_DIAGONAL if k & 2 else _DIAGONAL
    return add_scaled((sx * x_axis[0], sx * x_axis[1], sx * x_axis[2]), sy, y_axis)


@compiled
def nearest_rim_point(direction: Vector, x_axis: Vector, y_axis: Vector) -> int:
    """Return k of the material point nearest in azimuth."""
    return (1 if dot(direction, x_axis) < 0.0 else 0) + (2 if dot(direction, y_axis) < 0.0 else 0)


@compiled
def rim_feature(k: int, end: float) -> int:
    """Return the feature of material point k on the rim at end = ±1."""
    return RIM + k + (4 if end < 0.0 else 0)
