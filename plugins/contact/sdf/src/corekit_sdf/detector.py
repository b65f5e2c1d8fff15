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
from corekit.roles.compiled_form import CompiledForm
from corekit.roles.component import BuildContext
from corekit.roles.detector import ContactDetector
from corekit_sdf.axial_overlap import MAX_OVERLAP_POINTS
from corekit_sdf.broad_phase import find_near_pairs
from corekit_sdf.compiled_form import form_of
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
from corekit_sdf.shared_ends import merge_shared_ends
from corekit_sdf.write import write_contacts

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
        self._overlap_rows: Array = np.zeros((MAX_OVERLAP_POINTS, 7))
        self._overlap_ids: IntArray = np.zeros(MAX_OVERLAP_POINTS, dtype=np.int64)
        self._edges: IntArray = np.zeros(0, dtype=np.int64)
        self._has_edges = False
        self._has_appended = False
        self._second_frame: IntArray = np.zeros(0, dtype=np.int64)
        self._position: Array = np.zeros((0, 3))
        self._rotation: Array = np.zeros((0, 3, 3))
        # rows of the pairs, their ids and the pairs, see `write`
        self._rows: Array = np.zeros((0, 7))
        self._ids: IntArray = np.zeros(0, dtype=np.int64)
        self._shapes: IntArray = np.zeros((0, 2), dtype=np.int64)
        # links of `shared_ends`, by frame and by contact
        self._newest: IntArray = np.zeros(0, dtype=np.int64)
        self._earlier: IntArray = np.zeros(0, dtype=np.int64)

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
        self._has_edges = bool(len(self._edges))
        self._newest = np.zeros(np.max([self._frame, self._second_frame], initial=-1) + 1, dtype=np.int64)

    def compiled_form(self) -> CompiledForm | str:
        """The tables and entries of `compiled_form`; in words what has none."""
        pairs = None if self._search is None else self._search.listed
        if pairs is None:
            return "more pairs of shapes than are listed"
        return form_of(
            self._families, (self._flat_sine, self._flat_cosine), self._kind, self._frame, self._size, self._radius,
            self._corners, self._corner_start, pairs, self._second_frame,
        )  # fmt: skip

    def find_candidates(self, poses: ShapePoses, margin: float, out: Candidates) -> None:
        """Find the pairs whose bounding spheres, planes or boxes are closer than `margin` [m]."""
        if self._search is None:
            out.count = 0
            return
        position, rotation = self._shape_poses(poses)
        for i in self._edges:
            self._radius[i] = self._size[i, 0] + self._size[i, 1]
        pairs = self._search.near(position, self._radius, margin)
        if len(pairs) > len(out.pairs):
            out.reserve(len(pairs))
        out.count = find_near_pairs(
            pairs, self._kind, self._size, self._radius, self._corners, self._corner_start, position, rotation, margin,
            out.pairs,
        )  # fmt: skip

    def compute_contacts(
        self, candidates: Candidates, poses: ShapePoses, margin: float, out: ContactSet
    ) -> None:
        """Append up to four contacts per pair with gap < `margin` [m]; an end that edges share on a flat has one."""
        pairs, pair_count, capacity = candidates.pairs, candidates.count, MAX_POINTS * candidates.count
        if capacity > len(self._rows):
            self._reserve_rows(2 * capacity)
        position, rotation = self._shape_poses(poses)
        kind, size, corners, starts = self._kind, self._size, self._corners, self._corner_start
        rows, ids, shapes, sine, cosine = (
            self._rows,
            self._ids,
            self._shapes,
            self._flat_sine,
            self._flat_cosine,
        )
        half_space, box, sphere, axial, planar = self._families
        count = 0
        if half_space:
            count = measure_half_space_pairs(
                pairs, pair_count, kind, size, position, rotation, margin, self._radius, corners, starts, sine,
                count, rows, ids, shapes,
            )  # fmt: skip
        if box:
            count = measure_box_pairs(
                pairs,
                pair_count,
                kind,
                size,
                position,
                rotation,
                margin,
                sine,
                cosine,
                count,
                rows,
                ids,
                shapes,
            )
        if sphere:
            count = measure_sphere_pairs(
                pairs, pair_count, kind, size, position, rotation, margin, count, rows, ids, shapes
            )
        if planar:
            count = measure_planar_pairs(
                pairs, pair_count, kind, size, position, rotation, margin, corners, starts, sine,
                count, rows, ids, shapes,
            )  # fmt: skip
        if axial:
            count = measure_axial_pairs(
                pairs, pair_count, kind, size, position, rotation, margin, sine, cosine, self._overlap_rows,
                self._overlap_ids, count, rows, ids, shapes,
            )  # fmt: skip
        if count or not self._has_appended:  # so that the kernels of the first contact are loaded before it
            self._append(count, poses, out)
            self._has_appended = True

    def _reserve_rows(self, capacity: int) -> None:
        self._rows = np.zeros((capacity, 7))
        self._ids = np.zeros(capacity, dtype=np.int64)
        self._shapes = np.zeros((capacity, 2), dtype=np.int64)
        self._earlier = np.zeros(capacity, dtype=np.int64)

    def _append(self, count: int, poses: ShapePoses, out: ContactSet) -> None:
        """Append the first `count` rows to a contact set, those of a shared end once."""
        first = out.count
        if first + count > len(out.gap):
            out.reserve(first + count)
        out.count = first + count
        write_contacts(
            count, self._rows, self._ids, self._shapes, self._frame, poses.frame_position, poses.frame_rotation,
            first, out.id, out.shape, out.gap, out.point, out.normal, out.frame, out.local_point, out.weight,
        )  # fmt: skip
        if self._has_edges:
            write_edge_points(
                first, out.count, self._second_frame, self._frame, self._size, self._position, self._rotation,
                out.shape, out.gap, out.point, out.normal, out.frame, out.local_point, out.weight,
            )  # fmt: skip
            out.count = merge_shared_ends(
                first, out.count, self._kind, self._second_frame, self._size, self._rotation, self._flat_cosine,
                self._newest, self._earlier, out.id, out.shape, out.gap, out.point, out.normal, out.frame,
                out.local_point, out.weight,
            )  # fmt: skip

    def _shape_poses(self, poses: ShapePoses) -> tuple[Array, Array]:
        """Return positions and rotations of all shapes, those of edges as capsules."""
        if not self._has_edges:
            return poses.position, poses.rotation
        position, rotation = self._position, self._rotation
        np.copyto(position, poses.position)
        np.copyto(rotation, poses.rotation)
        update_edge_poses(self._edges, poses.end, self._size, position, rotation)
        return position, rotation
