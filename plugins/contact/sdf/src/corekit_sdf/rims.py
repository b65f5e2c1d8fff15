"""Points on the rims of a cylinder: four material ones on each rim, and which to report beside the lowest.

A cap on a flat is reported by its lowest rim point and material points of the rim. The lowest point's
gap is the pair's, and its rate is exact although the point wanders (its azimuth is stationary); material
points' rates are exact anyway. Point k of a rim stands at azimuth 45°, 135°, −45°, −135° of the local x
axis for k = 0…3 (a set bit is a negative coordinate). The one nearest to the lowest point is left out, so
four points remain, no two closer than 45°, and the rim's centre is always among them. A cap parallel to
the flat has no lowest point: then it is the four material ones.
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.geometry.vectors import Vector, along, dot
from corekit_sdf.features import RIM

__all__ = ["nearest_rim_point", "rim_direction", "rim_feature"]

_DIAGONAL: Final = 0.7071067811865476


@compiled
def rim_direction(k: int, x_axis: Vector, y_axis: Vector) -> Vector:
    """Unit vector from the rim's centre to material point k."""
    sx, sy = -_DIAGONAL if k & 1 else _DIAGONAL, -_DIAGONAL if k & 2 else _DIAGONAL
    return along((sx * x_axis[0], sx * x_axis[1], sx * x_axis[2]), sy, y_axis)


@compiled
def nearest_rim_point(direction: Vector, x_axis: Vector, y_axis: Vector) -> int:
    """k of the material point nearest in azimuth."""
    return (1 if dot(direction, x_axis) < 0.0 else 0) + (2 if dot(direction, y_axis) < 0.0 else 0)


@compiled
def rim_feature(k: int, end: float) -> int:
    """Feature of material point k on the rim at end = ±1."""
    return RIM + k + (4 if end < 0.0 else 0)
