"""Codes of shape kinds, and of the features that identify the contacts of one pair.

A contact's id is (i·n + j)·FEATURES + feature, for shapes i and j of n.

A feature is a point of the pair that moves smoothly with it, so that its gap is a smooth function:

    PLUS, MINUS   the end (rim or end sphere) at local +z or −z of the cylinder or capsule, at its lowest point
    SIDE          its lateral surface against a corner of the box
    RIM + k       material point k of a cylinder's rims (8: four of the + rim, four of the − rim)
    CORNER + c    corner c of the box on a cap or beside a line along its edge (8), or of a box or polytope on a plane
    EDGE + e      edge e of the box against the lateral surface (12)
    CROSSING + x  where edge e of the box crosses the rim of a cap, entering or leaving (48)

`planar` defines the features of polygons and segments, `axial_overlap` those of two shapes with axes.
"""

from __future__ import annotations

from typing import Final

from corekit.compiled import compiled
from corekit.geometry.vectors import Vector

__all__ = [
    "AXIAL_PAIR",
    "BOX",
    "BOX_PAIR",
    "CAPSULE",
    "CIRCLE",
    "CORNER",
    "CROSSING",
    "CYLINDER",
    "EDGE",
    "FEATURES",
    "HALF_SPACE",
    "HALF_SPACE_PAIR",
    "KIND_CODES",
    "MINUS",
    "PLANAR_PAIR",
    "PLUS",
    "POLYGON",
    "POLYTOPE",
    "RIM",
    "RING",
    "SEGMENTS",
    "SIDE",
    "SPHERE",
    "SPHERE_PAIR",
    "corner_number",
    "edge_number",
    "end_feature",
    "family",
    "flat_first",
]

HALF_SPACE: Final = 0
SPHERE: Final = 1
BOX: Final = 2
CAPSULE: Final = 3
CYLINDER: Final = 4
POLYTOPE: Final = 5
CIRCLE: Final = 6
RING: Final = 7
POLYGON: Final = 8
SEGMENTS: Final = 9
KIND_CODES: Final = {
    "half-space": HALF_SPACE,
    "sphere": SPHERE,
    "box": BOX,
    "capsule": CAPSULE,
    "cylinder": CYLINDER,
    "polytope": POLYTOPE,
    "half-plane": HALF_SPACE,
    "circle": CIRCLE,
    "ring": RING,
    "polygon": POLYGON,
    "segments": SEGMENTS,
    "edge": CAPSULE,
}
"""Kind → code. A half-plane, unbounded along y, is a half-space; an edge is a capsule (`edges`)."""

PLUS: Final = 0
MINUS: Final = 1
SIDE: Final = 2
RIM: Final = 3
CORNER: Final = 11
EDGE: Final = 19
CROSSING: Final = 31
FEATURES: Final = 65536


HALF_SPACE_PAIR: Final = 0
BOX_PAIR: Final = 1
SPHERE_PAIR: Final = 2
AXIAL_PAIR: Final = 3
PLANAR_PAIR: Final = 4


@compiled
def family(first: int, second: int) -> int:
    """Return the family of a pair of kinds; each family has a loop that is compiled when a world needs it."""
    if max(first, second) >= CIRCLE:
        return PLANAR_PAIR
    if min(first, second) == HALF_SPACE:
        return HALF_SPACE_PAIR
    if first == BOX or second == BOX:
        return BOX_PAIR
    return SPHERE_PAIR if min(first, second) == SPHERE else AXIAL_PAIR


@compiled
def end_feature(end: float) -> int:
    """Return PLUS or MINUS for end = ±1."""
    return MINUS if end < 0.0 else PLUS


@compiled
def corner_number(direction: Vector) -> int:
    """Return the number 0…7 of the box corner that is furthest in a direction."""
    return (
        (1 if direction[0] < 0.0 else 0) + (2 if direction[1] < 0.0 else 0) + (4 if direction[2] < 0.0 else 0)
    )


@compiled
def edge_number(axis: int, direction: Vector) -> int:
    """Return the number 0…11 of the box edge along `axis` that is furthest in a direction."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    return 4 * axis + (1 if direction[j] < 0.0 else 0) + (2 if direction[k] < 0.0 else 0)


@compiled
def flat_first(first: int, second: int) -> bool:
    """Whether the pair is measured in the first shape's frame: that of a half-space or planar shape, else of a box."""
    return first == HALF_SPACE or first >= CIRCLE or (first == BOX and second in (SPHERE, CAPSULE, CYLINDER))
