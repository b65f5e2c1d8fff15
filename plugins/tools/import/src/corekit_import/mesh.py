"""A mesh file as a solid: its convex pieces, mass, centre of mass and inertia.

Volume, centre and second moments of the closed surface are integrals over the tetrahedra between its triangles and the
origin, exact for a polyhedron. A body that fills at least 1 − 1e-4 of its hull counts as convex. Separate bodies of a
file that are convex are its pieces; what is not convex is decomposed by CoACD.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from corekit.data.arrays import Array
from corekit_import.decomposition import decompose
from corekit_import.mesh_source import SUFFIXES, ImportProblem, MeshSource, check_file
from corekit_import.obj_file import read_obj

if TYPE_CHECKING:
    from trimesh import Trimesh

__all__ = ["Solid", "read_solid"]

_CONVEX = 1e-4
_FLAT = 1e-9
_ROUNDED = 1e-12
_SMALLEST, _LARGEST = 1e-7, 1e5  # m


class Solid(NamedTuple):
    """A mesh in metres, in the file's axes.

    Attributes:
        pieces: vertices of each convex piece [m].
        volume: [m³].
        centre: of mass [m], shape (3,).
        inertia: about the centre, of density 1 kg/m³ [kg·m²], shape (3, 3).
    """

    pieces: tuple[Array, ...]
    volume: float
    centre: Array
    inertia: Array

    def of_mass(self, mass: float) -> Array:
        """The inertia of a body of this mass [kg·m²], shape (3, 3)."""
        return self.inertia * (mass / self.volume)


def read_solid(source: MeshSource, along: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> Solid:
    """Read a mesh.

    Args:
        source: the file, and what to do with it.
        along: further factors along its axes; a negative one mirrors it.
    Raises:
        ImportProblem: there is no such file, it holds no mesh, or the mesh bounds no volume.
    """
    check_file(source.file, SUFFIXES)
    stamp = source.file.stat()
    if not all(along):
        raise ImportProblem("must have a scale other than zero along every axis")
    return _read(source, along, stamp.st_mtime_ns, stamp.st_size)


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
    if mesh.volume < 0.0:
        mesh.invert()  # all triangles face inwards, or the mesh is mirrored
    return Solid(_convex_pieces(mesh, source), *_moments(mesh))


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


def _unpaired(faces: Array) -> int:
    """Number of edges that are not run through as often in one direction as in the other."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    ends, index = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
    signs = np.where(edges[:, 0] < edges[:, 1], 1, -1)
    return int(np.count_nonzero(np.bincount(index.ravel(), signs, len(ends))))


def _load(path: Path) -> Trimesh:
    import trimesh

    try:
        if path.suffix.lower() == ".obj":
            mesh = trimesh.Trimesh(*read_obj(path), process=False)
        else:
            mesh = trimesh.load(path, force="mesh")
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
    parts = list(mesh.split(only_watertight=False))
    if any(part.volume <= 0.0 or _unpaired(part.faces) for part in parts):
        parts = [mesh]  # a cavity belongs to what surrounds it
    pieces: list[Array] = []
    for part in parts or [mesh]:
        hull = _hull(part.vertices)
        if part.volume >= (1.0 - _CONVEX) * hull.volume:
            pieces.append(part.vertices[hull.vertices])
        else:
            cut = decompose(part.vertices, part.faces, source.concavity)
            pieces.extend(vertices[_hull(vertices).vertices] for vertices in cut)
    return tuple(pieces)
