"""Surfaces of collision shapes by kind."""

from __future__ import annotations

from corekit.geometry.shape_specs import shape_spec
from corekit.geometry.shapes import Shape
from corekit_view.meshes import Surface, box, capsule, cylinder, patch, polytope, sphere, triangles
from corekit_view.planar import planar_surface

__all__ = ["shape_surface"]


def shape_surface(shape: Shape, extent: float, sides: int = 24) -> Surface | None:
    """Return the surface of a collision shape, or None for an edge (the outline of the body shows it).

    Args:
        shape: a shape of any kind.
        extent: half width of the patch of a half-space [m].
        sides: sides of round shapes.
    Raises:
        ValueError: a polytope or mesh without valid vertices, or a third-party shape without a surface.
    """
    size = shape.size
    match shape.kind:
        case "half-space":
            return patch(extent)
        case "sphere":
            return sphere(size[0], sides)
        case "box":
            return box((size[0], size[1], size[2]))
        case "capsule":
            return capsule(size[0], size[1], sides)
        case "cylinder":
            return cylinder(size[0], size[1], sides)
        case "edge":
            return None
        case "half-plane" | "circle" | "ring" | "polygon" | "segments":
            return planar_surface(shape, extent, sides)
        case "polytope" | "mesh":
            if shape.vertices is None:
                raise ValueError(f"a {shape.kind} needs vertices to be drawn")
            return polytope(shape.vertices) if shape.kind == "polytope" else triangles(shape.vertices)
    return triangles(shape_spec(shape.kind).surface_triangles(size, shape.vertices))
