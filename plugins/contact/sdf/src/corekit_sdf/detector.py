"""The closed-form contact detector."""

from __future__ import annotations

import math
from typing import Final, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import Candidates, ContactSet
from corekit.errors import PluginError
from corekit.geometry.pair_search import PairSearch
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit.linalg.array_table import ArrayTable
from corekit.roles.component import BuildContext
from corekit.roles.detector import ContactDetector
from corekit_sdf.axial_overlap import MAX_OVERLAP_POINTS
from corekit_sdf.broad_phase import find_near_pairs
from corekit_sdf.config import SdfConfig
from corekit_sdf.edges import update_edge_poses, write_edge_points
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
_SUPPORTED_PAIRS: Final = frozenset(
    [(first, second) for first in _ROUND for second in ("box", "sphere")]
    + [(first, second) for first in _ROUND[:3] for second in _ROUND[:3]]
    + [(first, flat) for first in (*_ROUND, "box", "polytope") for flat in _FLATS]
    + [(first, planar) for first in ("sphere", "capsule", "edge") for planar in PLANAR_KINDS]
)


_FAMILY_COUNT: Final = 5
"""Number of pair families, see `features.family`."""

_MAX_CONTACT_TABLES: Final = 8
"""Number of contact sets whose tables the detector keeps."""


def _shape_corners(kind: str, size: Array, vertices: Array | None, what: str) -> Array:
    """Corners [m] of a box (as in `features.corner_number`), polytope, polygon or segments; none of other kinds."""
    if kind == "box":
        return np.array([[-1.0 if c >> axis & 1 else 1.0 for axis in range(3)] for c in range(8)]) * size
    if kind in ("polygon", "segments"):
        return planar_corners(kind, vertices, what)
    return np.asarray(vertices, dtype=np.float64) if kind == "polytope" else np.zeros((0, 3))


@final
class SdfDetector(ContactDetector):
    """Exact signed distances of cylinders, capsules and spheres to each other, half-spaces, boxes and planar shapes.

    Boxes and polytopes meet only half-spaces, by their corners (`corners`).

    The gap of a pair is the signed distance φ of `separation` (1), to rounding. It is the distance when apart
    and minus the penetration inside. Up to four points report a flat or line that lies on a flat, and φ is
    the least of their gaps. The closest pair of points reports everything else.

    A contact's point is midway between the two surfaces. The detector has no internal state: its contacts
    depend on the poses alone, their ids on the features alone (`features`).
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
        self._search: PairSearch | None = None
        # whether the world has pairs of each family, in the order of their numbers in `features`
        self._families = [False] * _FAMILY_COUNT
        self._table_poses: ShapePoses | None = None
        self._overlap_rows: Array = np.zeros((MAX_OVERLAP_POINTS, 7))
        self._overlap_ids: IntArray = np.zeros(MAX_OVERLAP_POINTS, dtype=np.int64)
        self._edges: IntArray = np.zeros(0, dtype=np.int64)
        self._has_edges = False
        self._second_frame: IntArray = np.zeros(0, dtype=np.int64)
        self._position: Array = np.zeros((0, 3))
        self._rotation: Array = np.zeros((0, 3, 3))
        self._rows: Array = np.zeros((MAX_POINTS, 7))
        self._feature_ids: IntArray = np.zeros(MAX_POINTS, dtype=np.int64)
        self._shape_table = self._pose_table = ArrayTable()
        self._contact_tables: dict[int, ArrayTable] = {}

    @property
    def supported_pairs(self) -> frozenset[tuple[str, str]]:
        """Round shapes with each other, boxes and planar shapes; all but meshes with half-spaces and half-planes."""
        return _SUPPORTED_PAIRS

    def prepare(self, table: ShapeTable, served: frozenset[tuple[str, str]]) -> None:
        """Copy the shapes of the world.

        Raises:
            PluginError: the detector has no closed form for a pair of kinds.
        """
        unsupported = sorted(
            f"{first}–{second}"
            for first, second in served
            if (first, second) not in _SUPPORTED_PAIRS and (second, first) not in _SUPPORTED_PAIRS
        )
        if unsupported:
            where = f"{self._path}: " if self._path else ""
            raise PluginError(
                f"{where}detector 'sdf' has no closed form for {', '.join(unsupported)}; "
                "add a detector that supports them, for example 'mpr'"
            )
        # shapes of other kinds occur in no pair of this detector
        self._kind = np.array([KIND_CODES.get(kind, -1) for kind in table.kind], dtype=np.int64)
        self._frame = np.ascontiguousarray(table.frame, dtype=np.int64)
        # a copy, because `update_edge_poses` writes the edges' half lengths into it
        self._size = np.array(table.size, dtype=np.float64)
        self._second_frame = np.ascontiguousarray(table.second_frame, dtype=np.int64)
        self._edges = np.flatnonzero(self._second_frame >= 0)
        self._position, self._rotation = np.zeros((len(table), 3)), np.zeros((len(table), 3, 3))
        # planar shapes are unbounded along y, where spatial shapes can meet them
        self._radius = np.where(self._kind >= CIRCLE, np.inf, table.bounding_radii())
        where = f"{self._path}: " if self._path else ""
        corners = [
            _shape_corners(*each, f"{where}{each[0]} (shape {k})")
            for k, each in enumerate(zip(table.kind, self._size, table.vertices, strict=True))
        ]
        self._corners = np.concatenate([np.zeros((0, 3)), *corners])
        self._corner_start = np.cumsum([0, *(len(each) for each in corners)], dtype=np.int64)
        self._search = PairSearch(table, served)
        families = {family(KIND_CODES[first], KIND_CODES[second]) for first, second in self._search.kinds}
        self._families = [number in families for number in range(_FAMILY_COUNT)]
        self._table_poses = None
        self._shape_table = ArrayTable(
            self._kind, self._size, self._radius, self._corners, self._corner_start, self._frame
        )
        self._has_edges = bool(len(self._edges))

    def find_candidates(self, poses: ShapePoses, margin: float, out: Candidates) -> None:
        """Find the pairs whose bounding spheres, planes or boxes are closer than `margin` [m]."""
        if self._search is None:
            out.count = 0
            return
        if self._has_edges:
            self._update_edge_poses(poses)
            for i in self._edges:
                self._radius[i] = self._size[i, 0] + self._size[i, 1]
        pairs = self._search.near(self._position if self._has_edges else poses.position, self._radius, margin)
        if len(pairs) > len(out.pairs):
            out.reserve(len(pairs))
        where = self._pose_table.table if poses is self._table_poses else self._update_pose_table(poses)
        out.count = find_near_pairs(pairs, self._shape_table.table, where, margin, out.pairs)

    def compute_contacts(
        self, candidates: Candidates, poses: ShapePoses, margin: float, out: ContactSet
    ) -> None:
        """Append up to four contacts per pair, those with gap < `margin` [m]."""
        first_row, capacity = out.count, out.count + MAX_POINTS * candidates.count
        if capacity > len(out.gap):
            out.reserve(capacity)
        if self._has_edges:
            self._update_edge_poses(poses)
        pairs, pair_count, shapes, rows, feature_ids = (
            candidates.pairs, candidates.count, self._shape_table.table, self._rows, self._feature_ids
        )  # fmt: skip
        where = self._pose_table.table if poses is self._table_poses else self._update_pose_table(poses)
        contacts, sine, cosine = self._contact_table(out), self._flat_sine, self._flat_cosine
        half_space, box, sphere, axial, planar = self._families
        if half_space:
            out.count = measure_half_space_pairs(
                pairs, pair_count, shapes, where, margin, sine, rows, feature_ids, out.count, contacts
            )
        if box:
            out.count = measure_box_pairs(
                pairs, pair_count, shapes, where, margin, sine, cosine, rows, feature_ids, out.count, contacts
            )
        if sphere:
            out.count = measure_sphere_pairs(
                pairs, pair_count, shapes, where, margin, rows, feature_ids, out.count, contacts
            )
        if planar:
            out.count = measure_planar_pairs(
                pairs, pair_count, shapes, where, margin, sine, rows, feature_ids, out.count, contacts
            )
        if axial:
            out.count = measure_axial_pairs(
                pairs, pair_count, shapes, where, margin, sine, cosine, self._overlap_rows, self._overlap_ids,
                rows, feature_ids, out.count, contacts,
            )  # fmt: skip
        if self._has_edges:
            write_edge_points(
                first_row, out.count, self._second_frame, self._frame, self._size, self._position,
                self._rotation, out.shape, out.gap, out.point, out.normal, out.frame, out.local_point, out.weight,
            )  # fmt: skip

    def _update_pose_table(self, poses: ShapePoses) -> IntArray:
        """Make the table of shape and frame poses, edges as capsules; it is valid while `poses` is the same object."""
        self._table_poses = poses
        position, rotation = (
            (self._position, self._rotation) if self._has_edges else (poses.position, poses.rotation)
        )
        self._pose_table = ArrayTable(position, rotation, poses.frame_position, poses.frame_rotation)
        return self._pose_table.table

    def _contact_table(self, out: ContactSet) -> IntArray:
        """Return the arrays of a contact set as one table; the detector keeps the tables of the few sets in use."""
        entry = self._contact_tables.get(id(out.gap))
        if entry is None or entry.arrays[2] is not out.gap:
            if len(self._contact_tables) >= _MAX_CONTACT_TABLES:
                self._contact_tables.clear()
            entry = self._contact_tables[id(out.gap)] = ArrayTable(
                out.id, out.shape, out.gap, out.point, out.normal, out.frame, out.local_point, out.weight
            )
        return entry.table

    def _update_edge_poses(self, poses: ShapePoses) -> None:
        """Copy the poses of all shapes and rewrite those of edges as capsules."""
        position, rotation = self._position, self._rotation
        np.copyto(position, poses.position)
        np.copyto(rotation, poses.rotation)
        update_edge_poses(self._edges, poses.end, self._size, position, rotation)
