"""The kinds of collision shapes: those of the kernel, and those that installed distributions bring.

A distribution names a `ShapeSpec` in the entry-point group `corekit.shapes`, and a contact detector that supports its
pairs in `corekit.contact_detectors`. The entry point has the name of the kind, and its module imports nothing heavy.

    [project.entry-points."corekit.shapes"]
    torus = "lab_shapes._spec:torus"

Axes of capsule and cylinder are the local z axis. A half-space is local z ≤ 0 with the outward normal local +z, a disk
is a flat cylinder, an edge is a capsule between the origins of two frames, and a polytope is the hull of its vertices.

Planar shapes stand in the local x–z plane and have no end along local y. A half-plane is local z ≤ 0, a ring is what
is outside of a circle (a pipe in section), a polygon, convex or not, is enclosed by its vertices in turn, and segments
are the lines between theirs, with a radius.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any

from attrs import field, frozen

from corekit.extensions import Extensions

__all__ = ["GROUP", "KERNEL_SHAPES", "ShapeSpec", "VertexRule", "obstacle_kinds", "shape_kinds", "shape_spec"]

GROUP = "corekit.shapes"
_MOST_SIZES = 3
"""Columns of `ShapeTable.size`; a shape with more parameters puts them into its vertices."""


@frozen
class VertexRule:
    """What the vertices of an obstacle's shape must be in a scenario file.

    Args:
        least: how many there are at least.
        numbers: coordinates of each, 3 for [x, y, z] or 2 for [x, z] of a planar shape.
    """

    least: int
    numbers: int = 3

    @property
    def written(self) -> str:
        """One vertex as a file writes it."""
        return "[x, y, z]" if self.numbers == 3 else "[x, z]"


def _at_most_three(_spec: object, _attribute: object, value: tuple[str, ...]) -> None:
    if len(value) > _MOST_SIZES:
        raise ValueError(f"a shape has at most {_MOST_SIZES} sizes, got {', '.join(value)}")


def _one_factor_each(spec: ShapeSpec, _attribute: object, value: Mapping[str, float]) -> None:
    if len(value) != len(spec.sizes):
        raise ValueError(f"file_sizes must name {len(spec.sizes)} sizes, got {', '.join(value) or 'none'}")


@frozen(kw_only=True)
class ShapeSpec:
    """One kind of collision shape.

    Args:
        kind: its name in scenario files and in detectors' pairs.
        sizes: names of the sizes [m] in the order of `Shape.size`, at most three.
        bounding_radius: (size, vertices) → radius of the ball about its origin that contains it [m], of a planar
            shape the circle in its plane; inf where it has no end.
        inradius: (size, vertices) → radius of the largest ball inside it [m], or more; by default the bounding radius.
        file_sizes: for an obstacle in a scenario file: name of each size and the factor that leads to `sizes`;
            by default the sizes themselves.
        vertices: what an obstacle's vertices must be, or None without any.
        is_obstacle: whether a scenario file may use it for an obstacle.
        axis: unit vector along it in its own axes, to which directional friction refers; None without one.
        is_round: whether turning it about its origin moves no point of its surface elsewhere.
        plane_normal: outward normal in its own axes, of a shape that is all of one side of a plane; None of others.
        surface: `module:function` (size, vertices) → corners of the triangles that viewers draw, shape (3·t, 3) [m];
            empty where viewers know the kind or cannot draw it.
    """

    kind: str
    sizes: tuple[str, ...] = field(validator=_at_most_three)
    bounding_radius: Callable[[Sequence[float], Any], float] = field(repr=False)
    inradius: Callable[[Sequence[float], Any], float] = field(repr=False)
    file_sizes: Mapping[str, float] = field(validator=_one_factor_each)
    vertices: VertexRule | None = None
    is_obstacle: bool = True
    axis: tuple[float, float, float] | None = None
    is_round: bool = False
    plane_normal: tuple[float, float, float] | None = None
    surface: str = ""

    @inradius.default
    def _the_bounding_radius(self) -> Callable[[Sequence[float], Any], float]:
        return self.bounding_radius

    @file_sizes.default
    def _the_sizes_themselves(self) -> Mapping[str, float]:
        return dict.fromkeys(self.sizes, 1.0)

    def surface_triangles(self, size: Sequence[float], vertices: Any) -> Any:
        """Corners of the triangles that viewers draw, shape (3·t, 3) [m].

        Raises:
            ValueError: the spec names no surface, or it cannot be imported.
        """
        if not self.surface:
            raise ValueError(f"the spec of the shape {self.kind!r} names no `surface` to draw")
        module, _, name = self.surface.partition(":")
        try:
            function = getattr(import_module(module), name)
        except Exception as error:  # a stranger's module may raise anything
            said = f"loading {self.surface} failed with {type(error).__name__}: {error}"
            raise ValueError(f"the surface of the shape {self.kind!r}: {said}") from error
        return function(size, vertices)


def _norm(size: Sequence[float], _vertices: Any) -> float:
    return math.hypot(*size)


def _first(size: Sequence[float], _vertices: Any) -> float:
    return size[0]


def _sum(size: Sequence[float], _vertices: Any) -> float:
    return math.fsum(size)


def _endless(_size: Sequence[float], _vertices: Any) -> float:
    return math.inf


def _farthest_vertex(size: Sequence[float], vertices: Any) -> float:
    farthest = 0.0 if vertices is None else max((math.hypot(*vertex) for vertex in vertices), default=0.0)
    return farthest + math.fsum(size)


def _least(size: Sequence[float], _vertices: Any) -> float:
    return min(size)


def _half_extent(size: Sequence[float], vertices: Any) -> float:
    """Half of the shortest side of the box about the vertices; that box holds the largest ball too."""
    extents = [max(along) - min(along) for along in zip(*vertices, strict=True)]
    return 0.5 * min(extents, default=0.0) + math.fsum(size)


_BOX = {"edge_x": 0.5, "edge_y": 0.5, "edge_z": 0.5}
_LONG = {"radius": 1.0, "length": 0.5}
_LOCAL_Z = (0.0, 0.0, 1.0)
KERNEL_SHAPES: Mapping[str, ShapeSpec] = MappingProxyType(
    {
        spec.kind: spec
        for spec in (
            ShapeSpec(kind="half-space", sizes=(), bounding_radius=_endless, plane_normal=_LOCAL_Z),
            ShapeSpec(
                kind="sphere", sizes=("radius",), bounding_radius=_first, inradius=_first, is_round=True
            ),
            ShapeSpec(
                kind="box",
                sizes=("half_x", "half_y", "half_z"),
                bounding_radius=_norm,
                inradius=_least,
                file_sizes=_BOX,
            ),
            ShapeSpec(
                kind="capsule",
                sizes=("radius", "half_length"),
                bounding_radius=_sum,
                inradius=_first,
                file_sizes=_LONG,
                axis=_LOCAL_Z,
            ),
            ShapeSpec(
                kind="cylinder",
                sizes=("radius", "half_height"),
                bounding_radius=_norm,
                inradius=_least,
                file_sizes=_LONG,
                axis=_LOCAL_Z,
            ),
            ShapeSpec(
                kind="polytope",
                sizes=(),
                bounding_radius=_farthest_vertex,
                inradius=_half_extent,
                vertices=VertexRule(4),
            ),
            ShapeSpec(
                kind="mesh",
                sizes=(),
                bounding_radius=_farthest_vertex,
                inradius=_half_extent,
                is_obstacle=False,
            ),
            # its ends are at frames
            ShapeSpec(
                kind="edge", sizes=("radius",), bounding_radius=_endless, inradius=_first, is_obstacle=False
            ),
            ShapeSpec(kind="half-plane", sizes=(), bounding_radius=_endless),
            ShapeSpec(kind="circle", sizes=("radius",), bounding_radius=_first, inradius=_first),
            ShapeSpec(kind="ring", sizes=("radius",), bounding_radius=_endless),
            ShapeSpec(
                kind="polygon",
                sizes=(),
                bounding_radius=_farthest_vertex,
                inradius=_half_extent,
                vertices=VertexRule(3, 2),
            ),
            ShapeSpec(
                kind="segments",
                sizes=("radius",),
                bounding_radius=_farthest_vertex,
                inradius=_first,
                vertices=VertexRule(2, 2),
            ),
        )
    }
)
"""Kind → spec of the shapes that the kernel brings."""


_SHAPES = Extensions(GROUP, ShapeSpec, "shape", "kind", KERNEL_SHAPES)


def shape_kinds() -> tuple[str, ...]:
    """Every kind there is, the kernel's first; imports nothing."""
    return _SHAPES.names()


def obstacle_kinds() -> tuple[str, ...]:
    """The kinds that a scenario file may use for an obstacle."""
    return tuple(
        kind for kind in shape_kinds() if kind not in KERNEL_SHAPES or KERNEL_SHAPES[kind].is_obstacle
    )


def shape_spec(kind: str) -> ShapeSpec:
    """The spec of a kind.

    Raises:
        ValueError: there is no such kind.
        PluginError: a distribution brings it, but its spec cannot be used, or two distributions do.
    """
    return _SHAPES.find(kind)
