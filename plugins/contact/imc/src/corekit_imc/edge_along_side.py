"""An edge that lies along the side of a capsule or a cylinder: contacts at both ends of their overlap.

The nearest points of two lines jump from one end to the other as these tilt to and fro, see `edge_on_face`; both ends
of the overlap stay where they are. An end is that of the edge, measured at right angles to the axis c + t·d, or that of
the axis, measured at right angles to the edge x + s·e:

    φ = |x(s) − c(t)| − R − r,     (x − c)·d = 0 at an end of the edge,     (x − c)·e = 0 at one of the axis       (1)

Lines that cross are nearest in between, and the end of a cylinder is a rim: where the least of (1) is off by more than
a thousandth of the edge's radius the nearest points are the contact.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from corekit.compiled import compiled
from corekit.geometry.vectors import Vector, add_scaled, dot, norm

__all__ = ["Ends", "overlap_with_side", "place_on_line"]

_CROSSED: Final = 1e-3
"""Of the radius of the edge: by how much the lines may be nearer in between than at the ends, or the rim farther."""
_FLAT: Final = 0.1
"""Largest angle between edge and axis [rad]."""
_POINT: Final = 1e-6
"""Of the length: an overlap that is shorter is a point."""


class Ends(NamedTuple):
    """Whether an edge lies along a side, and s and t of (1) at both ends."""

    lies: bool
    s0: float
    t0: float
    s1: float
    t1: float


@compiled
def _end_of_axis(e: Vector, r: Vector, d: Vector, t: float) -> float:
    """Return s in [0, 1] of the foot of an end of the axis on the edge."""
    return min(max((t * dot(d, e) - dot(r, e)) / dot(e, e), 0.0), 1.0)


@compiled
def overlap_with_side(e: Vector, d: Vector, r: Vector) -> tuple[float, float, float, float]:
    """Return s and t of (1) at the ends of the overlap, s₀, t₀, s₁, t₁; s₀ ≥ s₁ where they do not lie along each other.

    Args:
        e, d: spans of edge and axis [m]. r: from the start of the axis to that of the edge [m].
    """
    ee, dd, ed = dot(e, e), dot(d, d), dot(e, d)
    if not (dd > 0.0 and ee * dd - ed * ed < _FLAT * _FLAT * ee * dd):
        return 1.0, 0.0, 0.0, 0.0
    # the foot of x(s) on the axis is at t = foot + s·slope
    foot, slope = dot(r, d) / dd, ed / dd
    s0, t0, s1, t1 = 0.0, foot, 1.0, foot + slope
    if t0 < 0.0 or t0 > 1.0:
        t0 = 0.0 if t0 < 0.0 else 1.0
        s0 = _end_of_axis(e, r, d, t0)
    if t1 < 0.0 or t1 > 1.0:
        t1 = 0.0 if t1 < 0.0 else 1.0
        s1 = _end_of_axis(e, r, d, t1)
    if not (s1 - s0 > _POINT and abs(t1 - t0) > _POINT):
        return 1.0, 0.0, 0.0, 0.0
    return s0, t0, s1, t1


@compiled
def place_on_line(e: Vector, d: Vector, r: Vector, nearest: float, radius: float) -> Ends:
    """Return where an edge touches a capsule or a cylinder along its side.

    Args:
        e, d, r: as of `overlap_with_side`. nearest: distance of the nearest points from each other, or of the edge from
            the axis as from the surface [m].
        radius: of the edge [m].
    """
    s0, t0, s1, t1 = overlap_with_side(e, d, r)
    if s0 < s1:
        low = norm(add_scaled(add_scaled(r, s0, e), -t0, d))
        high = norm(add_scaled(add_scaled(r, s1, e), -t1, d))
        return Ends(abs(min(low, high) - nearest) <= _CROSSED * radius, s0, t0, s1, t1)
    return Ends(False, 0.0, 0.0, 0.0, 0.0)
