"""Kinds of shapes with one small mistake each: a radius, a diameter, an axis, a surface elsewhere, a size unread."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import tori

__all__ = ["DRAWN", "SHAPES"]


def sound(size: Any, vertices: Any) -> Any:
    return tori.triangles(size, vertices)


def in_millimetres(size: Any, vertices: Any) -> Any:
    return 1e3 * sound(size, vertices)


def quads(size: Any, vertices: Any) -> Any:
    return sound(size, vertices)[: 4 * 100]


def by_triangles(size: Any, vertices: Any) -> Any:
    return sound(size, vertices).reshape(-1, 3, 3)


def torn(size: Any, vertices: Any) -> Any:
    found = sound(size, vertices)
    found[7] = np.nan
    return found


def jittered(size: Any, vertices: Any) -> Any:
    return sound(size, vertices) * (1.0 - 1e-9 * np.random.default_rng().random())


_KEPT: dict[Any, Any] = {}


def kept(size: Any, vertices: Any) -> Any:
    """Hands out the array that it keeps."""
    return _KEPT.setdefault(tuple(size), sound(size, vertices))


def sorts(size: Any, vertices: Any) -> Any:
    if isinstance(size, list):
        size.sort()
    return sound(sorted(size, reverse=True), vertices)


def with_a_stand(size: Any, vertices: Any) -> Any:
    """A corner at 5 cm whatever the size."""
    found = sound(size, vertices)
    found[:3] = [[0.05, 0.0, 0.0], [0.0, 0.05, 0.0], [0.0, 0.0, 0.0]]
    return found


def lying(size: Any, vertices: Any) -> Any:
    """About the y axis, where the detector has it about z."""
    return sound(size, vertices)[:, [0, 2, 1]]


def from_the_corner(size: Any, vertices: Any) -> Any:
    """From the corner of its box on."""
    return 0.5 * (sound(size, vertices) + [size[0] + size[1], size[0] + size[1], size[1]])


def thin(size: Any, vertices: Any) -> Any:
    """By the diameter of the ring, and with half of the tube."""
    return sound((size[0] + 0.5 * size[1], 0.5 * size[1]), vertices)


def filled(size: Any, vertices: Any) -> Any:
    """A disk in place of a ring."""
    return sound((0.5 * (size[0] + size[1]), 0.5 * (size[0] + size[1])), vertices)


def surface(function: Any) -> dict[str, Any]:
    return {"surface": f"{__name__}:{function.__name__}"}


SHAPES: dict[str, tuple[dict[str, Any], str, str]] = {
    "the bounding radius forgets the tube": (
        {"bounding_radius": lambda size, vertices: size[0]},
        "bound-holds-surface",
        "contacts out there are missed",
    ),
    "half of the bounding radius": (
        {"bounding_radius": lambda size, vertices: 0.5 * sum(size[:2])},
        "bound-holds-surface",
        "contacts out there are missed",
    ),
    "the bounding radius in centimetres": (
        {"bounding_radius": lambda size, vertices: 100.0 * sum(size[:2])},
        "bound-holds-surface",
        "pairs far apart are candidates",
    ),
    "the bounding radius is an area": (
        {"bounding_radius": lambda size, vertices: size[0] * size[1]},
        "sizes-are-lengths",
        "bounding radius of a shape twice as large",
    ),
    "a margin of a centimetre": (
        {"bounding_radius": lambda size, vertices: sum(size[:2]) + 0.01},
        "sizes-are-lengths",
        "bounding radius of a shape twice as large",
    ),
    "no bounding radius": ({"bounding_radius": lambda size, vertices: 0.0}, "radii-sound", "must be above 0"),
    "a bounding radius that is no number": (
        {"bounding_radius": lambda size, vertices: math.nan},
        "radii-sound",
        "must be above 0",
    ),
    "half of the inradius": (
        {"inradius": lambda size, vertices: 0.5 * size[1]},
        "inradius-holds",
        "refused as overlapping that are not",
    ),
    "an inradius above the bounding radius": (
        {"inradius": lambda size, vertices: 2.0 * (size[0] + size[1])},
        "radii-sound",
        "a ball inside is no larger",
    ),
    "an end, and a plane": ({"plane_normal": (0.0, 0.0, 1.0)}, "radii-sound", "a plane has none"),
    "an axis of any length": ({"axis": (0.0, 0.0, 2.0)}, "directions-unit", "must be a unit vector"),
    "round, by its looks": ({"is_round": True}, "round-is-round", "a ball about its origin"),
    "a size that nobody reads": (
        {
            "sizes": ("ring_radius", "tube_radius", "twist"),
            "file_sizes": {"ring_radius": 1.0, "tube_radius": 1.0, "twist": 1.0},
        },
        "sizes-read",
        "nothing changes with the size 'twist'",
    ),
    "a surface in millimetres": (
        surface(in_millimetres),
        "bound-holds-surface",
        "contacts out there are missed",
    ),
    "a surface from its corner on": (
        surface(from_the_corner),
        "bound-holds-surface",
        "a corner of the surface is",
    ),
    "a surface of squares": (surface(quads), "bound-holds-surface", "corners of t triangles are (3·t, 3)"),
    "a surface by triangles": (
        surface(by_triangles),
        "bound-holds-surface",
        "corners of t triangles are (3·t, 3)",
    ),
    "a surface with a hole of NaN": (surface(torn), "bound-holds-surface", "is not finite"),
    "a part of the surface has a size of its own": (
        surface(with_a_stand),
        "sizes-are-lengths",
        "surface of a shape twice as large",
    ),
    "a surface by lot": (surface(jittered), "shape-pure", "another one when asked again"),
    "a surface that is handed out": (surface(kept), "shape-pure", "or the array that was handed out before"),
    "sorts the sizes": (surface(sorts), "shape-pure", "are changed"),
}
"""Name → changes of a sound spec, the check, and what it says."""

DRAWN = {
    "a surface about another axis": (lying, "a corner"),
    "a surface of a thinner tube": (thin, "a corner"),
    "a surface of a disk": (filled, "a corner"),
}
"""Name → a surface elsewhere than that of the detector, by its check `touched-where-drawn`."""
