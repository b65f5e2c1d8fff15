"""The closed-form contact detector."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import Candidates, ContactSet
from corekit.errors import PluginError
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit.linalg.array_table import ArrayTable
from corekit.roles.component import BuildContext, Memory
from corekit.roles.detector import ContactDetector
from corekit_sdf.axial_overlap import MOST_FOUND
from corekit_sdf.broad_phase import near_pairs
from corekit_sdf.config import SdfConfig
from corekit_sdf.edges import carry_edges, place_edges
from corekit_sdf.features import CIRCLE, KIND_CODES, family
from corekit_sdf.measure_axial import measure_axial_pairs
from corekit_sdf.measure_box import measure_box_pairs
from corekit_sdf.measure_half_space import measure_half_space_pairs
from corekit_sdf.measure_planar import measure_planar_pairs
from corekit_sdf.measure_sphere import measure_sphere_pairs
from corekit_sdf.planar_corners import PLANAR_KINDS, planar_corners
from corekit_sdf.rows import MAX_POINTS

__all__ = ["SdfDetector"]

_FLATS: Final = ("half-space", "half-plane")
_ROUND: Final = ("cylinder", "capsule", "edge", "sphere")
_SERVED: Final = frozenset(
    [(first, second) for first in _ROUND for second in ("box", "sphere")]
    + [(first, second) for first in _ROUND[:3] for second in _ROUND[:3]]
    + [(first, flat) for first in (*_ROUND, "box", "polytope") for flat in _FLATS]
    + [(first, planar) for first in ("sphere", "capsule", "edge") for planar in PLANAR_KINDS]
)


_FAMILIES: Final = 5
"""Families of pairs, see `features.family`."""

_SETS: Final = 8
"""Contact sets whose tables are kept."""


def _corners(kind: str, size: Array, vertices: Array | None, what: str) -> Array:
    """Corners of a box, numbered as in `features.corner_number`, of a polytope, polygon or segments [m], else none."""
    if kind == "box":
        return np.array([[-1.0 if c >> axis & 1 else 1.0 for axis in range(3)] for c in range(8)]) * size
    if kind in ("polygon", "segments"):
        return planar_corners(kind, vertices, what)
    return np.asarray(vertices, dtype=np.float64) if kind == "polytope" else np.zeros((0, 3))


@final
class SdfDetector(ContactDetector):
    """Exact signed distances of cylinders, capsules and spheres to each other, half-spaces, boxes and planar shapes.

    Boxes and polytopes are served against half-spaces alone, by their corners (`corners`).

    The gap of a pair is the signed distance φ of `separation` (1): distance apart, minus the penetration
    depth inside, to rounding. A flat or line lying on a flat is reported by up to four points, the least of
    whose gaps is φ; everything else by its closest pair.

    Contacts carry the point midway between the two surfaces. Nothing is remembered: answers depend on the
    poses alone, ids on the features alone (`features`).
    """

    def __init__(self, config: SdfConfig, context: BuildContext | None = None) -> None:
        self._path = context.path if context is not None else ""
        self._flat_sine = math.sin(config.flat_angle) if config.patch else 0.0
        self._flat_cosine = math.cos(2.0 * config.flat_angle)
        self._kind: IntArray = np.zeros(0, dtype=np.int64)
        self._frame: IntArray = np.zeros(0, dtype=np.int64)
        self._size: Array = np.zeros((0, 3))
        self._radius: Array = np.zeros(0)
        self._corners: Array = np.zeros((0, 3))
        self._corner_start: IntArray = np.zeros(1, dtype=np.int64)
        self._pairs: IntArray = np.zeros((0, 2), dtype=np.int64)
        # which families of pairs the world has, in the order of their numbers in `features`
        self._families = [False] * _FAMILIES
        self._known: ShapePoses | None = None
        self._found: Array = np.zeros((MOST_FOUND, 7))
        self._found_names: IntArray = np.zeros(MOST_FOUND, dtype=np.int64)
        self._edges: IntArray = np.zeros(0, dtype=np.int64)
        self._lengths = False
        self._second_frame: IntArray = np.zeros(0, dtype=np.int64)
        self._position: Array = np.zeros((0, 3))
        self._rotation: Array = np.zeros((0, 3, 3))
        self._rows: Array = np.zeros((MAX_POINTS, 7))
        self._names: IntArray = np.zeros(MAX_POINTS, dtype=np.int64)
        self._shapes = self._where = ArrayTable()
        self._written: dict[int, ArrayTable] = {}

    @property
    def served(self) -> frozenset[tuple[str, str]]:
        """Round shapes with each other, boxes and planar shapes; all but meshes with half-spaces and half-planes."""
        return _SERVED

    def prepare(self, table: ShapeTable, served: frozenset[tuple[str, str]]) -> None:
        """Take the world's shapes; refuses kind pairs that it has no closed form for."""
        foreign = sorted(
            f"{first}–{second}"
            for first, second in served
            if (first, second) not in _SERVED and (second, first) not in _SERVED
        )
        if foreign:
            where = f"{self._path}: " if self._path else ""
            raise PluginError(
                f"{where}detector 'sdf' has no closed form for {', '.join(foreign)}; "
                "add a detector that serves them, for example 'mpr'"
            )
        # shapes of other kinds occur in no pair of ours
        self._kind = np.array([KIND_CODES.get(kind, -1) for kind in table.kind], dtype=np.int64)
        self._frame = np.ascontiguousarray(table.frame, dtype=np.int64)
        self._size = np.array(table.size, dtype=np.float64)  # ours: the lengths of edges are written into it
        self._second_frame = np.ascontiguousarray(table.second_frame, dtype=np.int64)
        self._edges = np.flatnonzero(self._second_frame >= 0)
        self._position, self._rotation = np.zeros((len(table), 3)), np.zeros((len(table), 3, 3))
        # planar shapes have no end along y, where shapes in space meet them too
        self._radius = np.where(self._kind >= CIRCLE, np.inf, table.bounding_radii())
        where = f"{self._path}: " if self._path else ""
        corners = [
            _corners(*each, f"{where}{each[0]} (shape {k})")
            for k, each in enumerate(zip(table.kind, self._size, table.vertices, strict=True))
        ]
        self._corners = np.concatenate([np.zeros((0, 3)), *corners])
        self._corner_start = np.cumsum([0, *(len(each) for each in corners)], dtype=np.int64)
        self._pairs = table.pairs(served)
        families = {family(int(self._kind[i]), int(self._kind[j])) for i, j in self._pairs}
        self._families = [number in families for number in range(_FAMILIES)]
        self._known = None
        self._shapes = ArrayTable(
            self._kind, self._size, self._radius, self._corners, self._corner_start, self._frame, self._pairs
        )
        self._lengths = bool(len(self._edges))

    def candidates(self, poses: ShapePoses, margin: float, out: Candidates) -> None:
        """Pairs whose bounding spheres, planes or boxes are closer than `margin` [m]."""
        if len(self._pairs) > len(out.pairs):
            out.reserve(len(self._pairs))
        if self._lengths:
            self._placed(poses)
            for i in self._edges:
                self._radius[i] = self._size[i, 0] + self._size[i, 1]
        where = self._where.table if poses is self._known else self._poses(poses)
        out.count = near_pairs(self._shapes.table, where, margin, out.pairs)

    def measure(self, candidates: Candidates, poses: ShapePoses, margin: float, out: ContactSet) -> None:
        """Append up to four contacts a pair, those with gap < `margin` [m]."""
        before, wanted = out.count, out.count + MAX_POINTS * candidates.count
        if wanted > len(out.gap):
            out.reserve(wanted)
        if self._lengths:
            self._placed(poses)
        pairs, number, shapes, rows, names = (
            candidates.pairs, candidates.count, self._shapes.table, self._rows, self._names
        )  # fmt: skip
        where = self._where.table if poses is self._known else self._poses(poses)
        contacts, sine, cosine = self._contacts(out), self._flat_sine, self._flat_cosine
        half_space, box, sphere, axial, planar = self._families
        if half_space:
            out.count = measure_half_space_pairs(
                pairs, number, shapes, where, margin, sine, rows, names, out.count, contacts
            )
        if box:
            out.count = measure_box_pairs(
                pairs, number, shapes, where, margin, sine, cosine, rows, names, out.count, contacts
            )
        if sphere:
            out.count = measure_sphere_pairs(
                pairs, number, shapes, where, margin, rows, names, out.count, contacts
            )
        if planar:
            out.count = measure_planar_pairs(
                pairs, number, shapes, where, margin, sine, rows, names, out.count, contacts
            )
        if axial:
            out.count = measure_axial_pairs(
                pairs, number, shapes, where, margin, sine, cosine, self._found, self._found_names, rows, names,
                out.count, contacts,
            )  # fmt: skip
        if self._lengths:
            carry_edges(
                before, out.count, self._second_frame, self._frame, self._size, self._position, self._rotation,
                out.shape, out.gap, out.point, out.normal, out.frame, out.local, out.weight,
            )  # fmt: skip

    def _poses(self, poses: ShapePoses) -> IntArray:
        """Poses of shapes, edges as capsules, and of frames as one table, kept while `poses` is the same object."""
        self._known = poses
        position, rotation = (
            (self._position, self._rotation) if self._lengths else (poses.position, poses.rotation)
        )
        self._where = ArrayTable(position, rotation, poses.frame_position, poses.frame_rotation)
        return self._where.table

    def _contacts(self, out: ContactSet) -> IntArray:
        """The arrays of a set as one table, of the few sets that a step writes in turns."""
        found = self._written.get(id(out.gap))
        if found is None or found.arrays[2] is not out.gap:
            if len(self._written) >= _SETS:
                self._written.clear()
            found = self._written[id(out.gap)] = ArrayTable(
                out.id, out.shape, out.gap, out.point, out.normal, out.frame, out.local, out.weight
            )
        return found.table

    def _placed(self, poses: ShapePoses) -> None:
        """Write positions and rotations of all shapes, of which some are edges, those as capsules."""
        position, rotation = self._position, self._rotation
        np.copyto(position, poses.position)
        np.copyto(rotation, poses.rotation)
        place_edges(self._edges, poses.end, self._size, position, rotation)

    def memory(self) -> Memory:
        """Nothing is remembered."""
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Nothing to take over."""
