"""A mesh file as a solid: its convex pieces, mass, centre of mass and inertia.

Volume, centre and second moments of the closed surface are integrals over the tetrahedra between its triangles and the
origin, exact for a polyhedron. Where bodies overlap they weigh more than once; `Solid.weighed_again` is its share. A
body that fills at least 1 − 1e-4 of its hull counts as convex. Separate bodies of a file that are convex are its
pieces; what is not convex is decomposed by CoACD.
"""

from __future__ import annotations

import io
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from corekit.data.arrays import Array
from corekit.files import read_regular
from corekit_import.bodies import bodies
from corekit_import.decomposition import decompose
from corekit_import.mesh_source import SUFFIXES, ImportProblem, MeshSource, check_file
from corekit_import.obj_file import read_obj
from corekit_import.winding import shares

if TYPE_CHECKING:
    from trimesh import Trimesh

__all__ = ["Solid", "read_solid"]

_CONVEX = 1e-4
_FLAT = 1e-9
_ROUNDED = 1e-12
_SHARE = 1e-3
"""Of the volume: what is weighed wrongly below it is no fault."""
_SMALLEST, _LARGEST = 1e-7, 1e5  # m


class Solid(NamedTuple):
    """A mesh in metres, in the file's axes.

    Attributes:
        pieces: vertices of each convex piece [m].
        volume: [m³].
        centre: of mass [m], shape (3,).
        inertia: about the centre, of density 1 kg/m³ [kg·m²], shape (3, 3).
        weighed_again: the share of the volume that overlaps, by which volume, centre and inertia are not the solid's.
    """

    pieces: tuple[Array, ...]
    volume: float
    centre: Array
    inertia: Array
    weighed_again: float = 0.0

    def of_mass(self, mass: float) -> Array:
        """The inertia of a body of this mass [kg·m²], shape (3, 3)."""
        return self.inertia * (mass / self.volume)


def read_solid(
    source: MeshSource, along: tuple[float, float, float] = (1.0, 1.0, 1.0), *, weighs: bool = False
) -> Solid:
    """Read a mesh.

    Args:
        source: the file, and what to do with it.
        along: further factors along its axes; a negative one mirrors it.
        weighs: whether volume, centre and inertia count; pieces of what overlaps touch as well as others.
    Raises:
        ImportProblem: there is no such file, it holds no mesh, the mesh bounds no volume, or it weighs and its bodies
            overlap by more than a thousandth of the volume.
    """
    check_file(source.file, SUFFIXES)
    stamp = source.file.stat()
    if not all(along):
        raise ImportProblem("must have a scale other than zero along every axis")
    solid = _read(source, along, stamp.st_mtime_ns, stamp.st_size)
    if weighs and solid.weighed_again > _SHARE:
        raise ImportProblem(
            f"must fill no place twice: {solid.weighed_again:.1%} of its volume is of bodies that overlap, or of a "
            "cavity whose triangles face outwards",
            "unite them in the program that made it, give mass, inertia and centre of mass, or use its hull: "
            'convex = "hull"',
        )
    return solid


@lru_cache(maxsize=64)
def _read(source: MeshSource, along: tuple[float, float, float], _changed: int, _size: int) -> Solid:
    mesh = _load(source.file)
    mesh.vertices *= source.factor * np.array(along)
    extent = float(np.ptp(mesh.vertices, axis=0).max())
    if not _SMALLEST <= extent <= _LARGEST:
        raise ImportProblem(
            f"is {extent:.3g} m large, which no part of a robot is", "give its units or scale"
        )
    hull = _hull(mesh.vertices)
    if source.convex == "hull":
        corners = mesh.vertices[hull.vertices]
        return Solid((corners,), *_moments(mesh.convex_hull))
    _check_closed(mesh)
    _check_copies(mesh)
    if mesh.volume < 0.0:
        mesh.invert()  # all triangles face inwards, or the mesh is mirrored
    again = _check_winding(mesh)
    return Solid(_convex_pieces(mesh, source), *_moments(mesh), again)


def _check_closed(mesh: Trimesh) -> None:
    """Refuse a surface of which not every edge is run through as often in one direction as in the other.

    Edges may belong to more than two triangles: bodies of a file may touch.
    """
    if not _unpaired(mesh.faces):
        return
    _, counts = np.unique(np.sort(mesh.edges, axis=1), axis=0, return_counts=True)
    open_count = int((counts % 2 == 1).sum())
    advice = 'in the program that made it, or use its hull: convex = "hull"'
    if open_count:
        said = f"must enclose a volume: it has a hole of {open_count} edges, or several of so many together"
        raise ImportProblem(said, f"close it {advice}")
    raise ImportProblem(
        "must have triangles that all face outwards: neighbours contradict each other",
        f"make the normals consistent {advice}",
    )


def _check_copies(mesh: Trimesh) -> None:
    """Refuse triangles that stand there twice and face the same way; walls where bodies touch face each other."""
    corners = np.sort(mesh.faces, axis=1)
    first = np.argmin(mesh.faces, axis=1)[:, None]
    one, other = np.take_along_axis(mesh.faces, (first + [1, 2]) % 3, axis=1).T
    _, place = np.unique(corners, axis=0, return_inverse=True)
    facing = np.abs(np.bincount(place.ravel(), np.where(one < other, 1, -1)))
    if copies := int((facing - 1).clip(0).sum()):
        raise ImportProblem(
            f"must have every triangle once: {copies} stand there again, facing the same way",
            "remove the copy in the program that made it",
        )
    if not facing.any():
        raise ImportProblem("must enclose a volume: to every triangle there is one that faces it")


def _check_winding(mesh: Trimesh) -> float:
    """The share of the volume that is weighed more than once.

    Raises:
        ImportProblem: a body is inside out.
    """
    again, inside_out = shares(mesh.vertices, mesh.faces)
    if inside_out > _SHARE:
        raise ImportProblem(
            f"must have triangles that all face outwards: {inside_out:.1%} of its volume is inside out, and "
            "would weigh less than nothing",
            'turn that body in the program that made it, or use its hull: convex = "hull"',
        )
    return again


def _unpaired(faces: Array) -> int:
    """Number of edges that are not run through as often in one direction as in the other."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    ends, index = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
    signs = np.where(edges[:, 0] < edges[:, 1], 1, -1)
    return int(np.count_nonzero(np.bincount(index.ravel(), signs, len(ends))))


def _load(path: Path) -> Trimesh:
    """The surface in a file, from its bytes alone.

    The library gets no path: it would follow the names of pictures and materials, to a pipe that it reads for ever, and
    take a request to stop for an error of the picture.
    """
    import trimesh

    try:
        if path.suffix.lower() == ".obj":
            mesh = trimesh.Trimesh(*read_obj(path), process=False)
        else:
            data, kind = io.BytesIO(read_regular(path)), path.suffix[1:].lower()
            mesh = trimesh.load(data, file_type=kind, force="mesh", skip_materials=True)
        if isinstance(mesh, trimesh.Trimesh) and len(mesh.faces):
            mesh.merge_vertices(merge_tex=True, merge_norm=True)
            mesh.update_faces(mesh.nondegenerate_faces())
    except ImportProblem as problem:
        raise ImportProblem(f"is not read as .obj: {problem.allowed}") from None
    except Exception as error:  # a parser may raise anything
        raise ImportProblem(f"is not read as {path.suffix}: {type(error).__name__}: {error}") from error
    if not isinstance(mesh, trimesh.Trimesh) or not len(mesh.faces):
        raise ImportProblem("holds no triangles")
    if not np.isfinite(mesh.vertices).all():
        raise ImportProblem("has vertices that are not finite numbers")
    return mesh


def _hull(points: Array) -> ConvexHull:
    """The hull; refused if it is flat against its size."""
    extent = float(np.ptp(points, axis=0).max())
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise ImportProblem("must enclose a volume: it is flat, or a line or a point") from error
    if hull.volume <= _FLAT * extent**3:
        raise ImportProblem("must enclose a volume: it is flat")
    return hull


def _moments(mesh: Trimesh) -> tuple[float, Array, Array]:
    mass = mesh.mass_properties
    inertia = np.array(mass.inertia) / float(mass.density)
    return float(mass.volume), _clean(np.array(mass.center_mass), mesh.scale), _clean(inertia, inertia.max())


def _clean(values: Array, size: float) -> Array:
    """Zero what rounding leaves of a zero."""
    return np.where(np.abs(values) < _ROUNDED * size, 0.0, values)


def _convex_pieces(mesh: Trimesh, source: MeshSource) -> tuple[Array, ...]:
    parts = mesh.submesh(bodies(mesh.vertices, mesh.faces), repair=False)
    for cavity in [part for part in parts if part.volume <= 0.0]:
        parts = _around(cavity, [part for part in parts if part is not cavity])
    pieces: list[Array] = []
    for part in parts:
        hull = _hull(part.vertices)
        if part.volume >= (1.0 - _CONVEX) * hull.volume:
            pieces.append(part.vertices[hull.vertices])
        else:
            cut = decompose(part.vertices, part.faces, source.concavity)
            pieces.extend(vertices[_hull(vertices).vertices] for vertices in cut)
    return tuple(pieces)


def _around(cavity: Trimesh, parts: list[Trimesh]) -> list[Trimesh]:
    """The parts, of which those that may surround a cavity are one with it."""
    from trimesh.util import concatenate

    low, high = cavity.bounds
    outer = [bool((part.bounds[0] <= low).all() and (part.bounds[1] >= high).all()) for part in parts]
    one = concatenate([part for part, holds in zip(parts, outer, strict=True) if holds] + [cavity])
    return [one, *(part for part, holds in zip(parts, outer, strict=True) if not holds)]
