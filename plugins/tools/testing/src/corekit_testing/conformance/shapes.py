"""Kinds of shapes as their authors state them: how far they reach, what is inside, and the surface that is drawn.

`corekit conform shapes.KIND` from a shell, with `--shape KIND=SIZES` for other sizes, and in the tests of a plugin

    test_torus = shape_conformance("torus", [(0.5, 0.1), (0.2, 0.15)])

What touching a shape means is its detector's: `corekit conform contact_detectors.NAME`, which is also asked about the
surface that is drawn (`touched-where-drawn`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.geometry.shape_specs import GROUP, ShapeSpec, shape_spec
from corekit_testing.conformance.check import NotApplicable, expect, expect_close
from corekit_testing.conformance.claims import Claim, Claims, parametrised
from corekit_testing.conformance.light import expect_light
from corekit_testing.conformance.shape_scenes import sizes_and_vertices

__all__ = ["SHAPE_CLAIMS", "shape_conformance"]

_ROUNDING = 1e-12
"""Relative, of a few operations."""
_FARTHEST = 2.0
"""How much larger than the shape its bounding radius may be."""
_POLYGONS = 0.05
"""What triangles leave out of a curved surface, relative to its size."""
_PLACES = 7
"""Places a side at which the largest ball inside of a surface is looked for."""

Sizes = Sequence[float]


def _given(spec: ShapeSpec, sizes: Sizes | None) -> tuple[tuple[float, ...], Array | None]:
    if not (spec.sizes or spec.vertices or spec.is_obstacle):
        raise NotApplicable("has no sizes, and vertices that models alone give")
    own, vertices = sizes_and_vertices(spec)
    return (own if sizes is None else tuple(float(each) for each in sizes)), vertices


def _scaled(vertices: Array | None, factor: float) -> Array | None:
    return None if vertices is None else factor * vertices


def _triangles(spec: ShapeSpec, size: tuple[float, ...], vertices: Array | None) -> Array:
    """Corners (t, 3, 3) [m]; raises `NotApplicable` without a surface, `CheckFailed` where it is none."""
    if not spec.surface:
        raise NotApplicable("names no surface")
    found: Any = spec.surface_triangles(size, vertices)
    corners = np.asarray(found, dtype=float)
    good = corners.ndim == 2 and corners.shape[1] == 3 and len(corners) % 3 == 0 and len(corners) > 0
    expect(good, f"the surface has the shape {corners.shape}; corners of t triangles are (3·t, 3)")
    expect(np.isfinite(corners).all(), "a corner of the surface is not finite")
    return corners.reshape(-1, 3, 3)


def _light(spec: ShapeSpec, _sizes: Sizes | None) -> None:
    expect_light(GROUP, spec.kind)


def _radii(spec: ShapeSpec, sizes: Sizes | None) -> None:
    size, vertices = _given(spec, sizes)
    bound, inside = (float(part(size, vertices)) for part in (spec.bounding_radius, spec.inradius))
    expect(
        bound > 0.0,
        f"the bounding radius of {spec.kind} with the sizes {size} is {bound}: it must be above 0",
    )
    expect(inside >= 0.0, f"the inradius of {spec.kind} with the sizes {size} is {inside}")
    expect(
        inside <= (1.0 + _ROUNDING) * bound,
        f"the inradius {inside:.6g} m is above the bounding radius {bound:.6g} m: a ball inside is no larger",
    )
    flat = spec.plane_normal is not None
    expect(not flat or math.isinf(bound), "has a plane_normal and an end: a plane has none")


def _lengths(spec: ShapeSpec, sizes: Sizes | None) -> None:
    size, vertices = _given(spec, sizes)
    twice, far = tuple(2.0 * each for each in size), _scaled(vertices, 2.0)
    for name, part in (("bounding radius", spec.bounding_radius), ("inradius", spec.inradius)):
        once, found = float(part(size, vertices)), float(part(twice, far))
        expect_close(
            f"{name} of a shape twice as large [m], which is a length", np.array(found), np.array(2.0 * once),
            0.0 if math.isinf(once) else _ROUNDING * found,
        )  # fmt: skip
    if spec.surface:
        wanted = 2.0 * _triangles(spec, size, vertices)
        expect_close(
            "surface of a shape twice as large [m]", _triangles(spec, twice, far), wanted,
            _ROUNDING * float(np.abs(wanted).max()),
        )  # fmt: skip


def _sizes_read(spec: ShapeSpec, sizes: Sizes | None) -> None:
    size, vertices = _given(spec, sizes)
    if math.isinf(float(spec.bounding_radius(size, vertices))) and not spec.surface:
        raise NotApplicable("has no end and no surface: its detector alone reads its sizes")
    for i, name in enumerate(spec.sizes):
        other = tuple(0.9 * each if j == i else each for j, each in enumerate(size))
        same = all(
            part(size, vertices) == part(other, vertices) for part in (spec.bounding_radius, spec.inradius)
        )
        drawn = spec.surface and not np.array_equal(
            _triangles(spec, size, vertices), _triangles(spec, other, vertices)
        )
        expect(
            drawn or not same, f"nothing changes with the size {name!r}: bounding radius, inradius, surface"
        )


def _bound(spec: ShapeSpec, sizes: Sizes | None) -> None:
    size, vertices = _given(spec, sizes)
    far = float(np.linalg.norm(_triangles(spec, size, vertices), axis=2).max())
    bound = float(spec.bounding_radius(size, vertices))
    expect(
        far <= (1.0 + _ROUNDING) * bound,
        f"with the sizes {size} a corner of the surface is {far:.6g} m from the origin, the bounding radius is "
        f"{bound:.6g} m: contacts out there are missed",
    )
    expect(
        math.isinf(bound) or bound <= _FARTHEST * far,
        f"with the sizes {size} no corner of the surface is farther than {far:.6g} m from the origin, the bounding "
        f"radius is {bound:.6g} m: pairs far apart are candidates",
    )


def _inside(spec: ShapeSpec, sizes: Sizes | None) -> None:
    size, vertices = _given(spec, sizes)
    triangles = _triangles(spec, size, vertices)
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    if math.isinf(float(spec.bounding_radius(size, vertices))):
        raise NotApplicable("has no end")
    steps = (np.arange(_PLACES) + 0.5) / _PLACES
    largest = 0.0
    for share in np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3):
        place = low + share * (high - low)
        if abs(_turns(triangles, place)) > 0.5:
            largest = max(largest, _distance(triangles, place))
    claimed = float(spec.inradius(size, vertices))
    expect(
        (1.0 - _POLYGONS) * largest <= claimed,
        f"with the sizes {size} a ball of {largest:.6g} m is within the surface, the inradius is {claimed:.6g} m: "
        "shapes are refused as overlapping that are not",
    )


def _turns(triangles: Array, place: Array) -> float:
    """How often a surface goes around a place: its solid angle over 4π, after van Oosterom and Strackee (1983)."""
    a, b, c = (triangles - place).transpose(1, 0, 2)
    la, lb, lc = (np.linalg.norm(each, axis=1) for each in (a, b, c))
    volume = np.einsum("ti,ti->t", a, np.cross(b, c))
    ab, bc, ca = (np.einsum("ti,ti->t", one, other) for one, other in ((a, b), (b, c), (c, a)))
    return float(np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb).sum() / (2.0 * np.pi))


def _distance(triangles: Array, place: Array) -> float:
    """At most the distance from a place to the surface [m]: that to the planes of the triangles, within them."""
    a, b, c = triangles.transpose(1, 0, 2)
    least = np.inf
    for u, v in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.5, 0.0), (0.0, 0.5), (0.5, 0.5), (1 / 3, 1 / 3)):
        points = a + u * (b - a) + v * (c - a)
        least = min(least, float(np.linalg.norm(points - place, axis=1).min()))
    longest = float(np.linalg.norm(triangles - np.roll(triangles, 1, axis=1), axis=2).max())
    return max(least - 0.5 * longest, 0.0)


def _directions(spec: ShapeSpec, _sizes: Sizes | None) -> None:
    for name, direction in (("axis", spec.axis), ("plane_normal", spec.plane_normal)):
        if direction is not None:
            size = float(np.linalg.norm(direction))
            expect(
                len(direction) == 3 and abs(size - 1.0) <= _ROUNDING,
                f"the {name} {direction} has the length {size:.6g}: it must be a unit vector",
            )


def _round(spec: ShapeSpec, sizes: Sizes | None) -> None:
    if not spec.is_round:
        raise NotApplicable("says nothing of being round")
    distance = np.linalg.norm(_triangles(spec, *_given(spec, sizes)), axis=2)
    expect(
        float(np.ptp(distance)) <= 1e-9 * float(distance.max()),
        f"is_round is a ball about its origin; corners of its surface are {distance.min():.6g} to "
        f"{distance.max():.6g} m away",
    )


def _pure(spec: ShapeSpec, sizes: Sizes | None) -> None:
    size, vertices = _given(spec, sizes)
    given, kept = list(size), None if vertices is None else vertices.copy()
    first = [float(part(given, vertices)) for part in (spec.bounding_radius, spec.inradius)]
    drawn = spec.surface_triangles(given, vertices) if spec.surface else np.zeros(0)
    once = np.array(drawn)
    changed = tuple(given) != size or (kept is not None and kept.tobytes() != np.asarray(vertices).tobytes())
    expect(not changed, "the sizes or vertices that are handed over are changed")
    _distort(drawn)
    again = [float(part(size, vertices)) for part in (spec.bounding_radius, spec.inradius)]
    expect(again == first, f"radii are {first} m and, asked again, {again} m")
    if spec.surface:
        same = np.array_equal(once, np.asarray(spec.surface_triangles(size, vertices)))
        expect(same, "the surface is another one when asked again, or the array that was handed out before")


def _distort(drawn: Any) -> None:
    """Write nonsense into an answer, as its owner may."""
    if isinstance(drawn, np.ndarray) and drawn.flags.writeable:
        drawn[...] = 0.0


SHAPE_CLAIMS: Claims = {
    "shape-light": Claim("importing its module imports nothing heavy", _light),
    "radii-sound": Claim("the inradius is within the bounding radius, and planes have no end", _radii),
    "sizes-are-lengths": Claim("a shape twice as large has radii and a surface twice as large", _lengths),
    "sizes-read": Claim("every size matters", _sizes_read),
    "bound-holds-surface": Claim(
        "the ball of the bounding radius holds the surface, and is no larger than that", _bound
    ),
    "inradius-holds": Claim("no ball within the surface is larger than the inradius", _inside),
    "directions-unit": Claim("axis and plane normal are unit vectors", _directions),
    "round-is-round": Claim("what is said to be round looks alike however it is turned", _round),
    "shape-pure": Claim("answers depend on sizes and vertices alone, which are not changed", _pure),
}
"""Checks of a kind of shape, of (spec, sizes or None)."""


def shape_conformance(kind: str, sizes: Sequence[Sizes] = ()) -> Callable[..., None]:
    """A parametrised pytest test of an installed kind of shape, with sizes [m] of its own or those of the kit."""

    def all_sizes(run: Callable[..., None]) -> Callable[..., None]:
        def each(spec: ShapeSpec) -> None:
            for one in sizes or (None,):
                run(spec, one)

        return each

    claims = {name: Claim(claim, all_sizes(run)) for name, (claim, run) in SHAPE_CLAIMS.items()}
    return parametrised(claims, lambda _folder: (shape_spec(kind),))
