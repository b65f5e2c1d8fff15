"""Signed distances of points to obstacles as CasADi expressions.

With l the point in the shape's axes, in a box of half sizes b:

    k = |l| − b,   d = max k inside,   d = ‖max(k, 0)‖ outside                                     (1)

and likewise for the others; d > 0 is outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import casadi as ca

from corekit.errors import ConfigError, Mistake
from corekit.geometry.shapes import Shape

__all__ = ["DISTANCES", "signed_distance"]

Expression = Any
_TINY: Final = 1e-20
"""Regularisation [m²] of derivatives of a length at 0; negligible above 1e-7 m."""


def _length(vector: Expression) -> Expression:
    return ca.sqrt(ca.sumsqr(vector) + _TINY)


def _plane(_size: tuple[float, ...], at: Expression) -> Expression:
    return at[2]


def _sphere(size: tuple[float, ...], at: Expression) -> Expression:
    return _length(at) - size[0]


def _circle(size: tuple[float, ...], at: Expression) -> Expression:
    return _length(ca.vertcat(at[0], at[2])) - size[0]


def _ring(size: tuple[float, ...], at: Expression) -> Expression:
    return size[0] - _length(ca.vertcat(at[0], at[2]))


def _box(size: tuple[float, ...], at: Expression) -> Expression:
    k = ca.fabs(at) - ca.DM(list(size))
    deepest = ca.fmax(ca.fmax(k[0], k[1]), k[2])
    return ca.if_else(deepest > 0.0, _length(ca.fmax(k, 0.0)), deepest)


def _capsule(size: tuple[float, ...], at: Expression) -> Expression:
    along = ca.fmin(ca.fmax(at[2], -size[1]), size[1])
    return _length(ca.vertcat(at[0], at[1], at[2] - along)) - size[0]


DISTANCES: Final[Mapping[str, Any]] = {
    "half-space": _plane,
    "half-plane": _plane,
    "sphere": _sphere,
    "circle": _circle,
    "ring": _ring,
    "box": _box,
    "capsule": _capsule,
}
"""Signed distance (sizes, point in the shape's axes) by kind of shape."""


def signed_distance(
    shape: Shape, position: Expression, rotation: Expression, point: Expression
) -> Expression:
    """Return the distance of a point to an obstacle [m].

    Args:
        position, rotation: pose of the obstacle, (3, 1) [m] and (3, 3).
        point: point in the world, (3, 1) [m].
    Raises:
        ConfigError: a shape without a smooth expression.
    """
    if shape.kind not in DISTANCES:
        reason = f"a known contact needs the shape {', '.join(DISTANCES)}"
        raise ConfigError([Mistake("contacts", shape.kind, reason)], "the fit")
    return DISTANCES[shape.kind](shape.size, rotation.T @ (point - position))
