"""Contact detector for edges of rods: against each other, floors, and solids."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Final, final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit.roles.component import BuildContext, InternalState, Stateful
from corekit.roles.detector import ContactDetector
from corekit_imc.broad_phase import find_near_edge_pairs, find_near_solid_pairs
from corekit_imc.config import EdgeDetectorConfig
from corekit_imc.measure import measure_pairs
from corekit_imc.neighbourhood import neighbour_keys
from corekit_imc.solids import CAPSULE, EDGE, HALF_SPACE, KIND_CODES

__all__ = ["EdgeDetector"]

_SUPPORTED_PAIRS: Final = frozenset(
    {("edge", other) for other in ("edge", "capsule", "half-space", "sphere", "cylinder", "box")}
    | {("capsule", "capsule")}
)


@final
class EdgeDetector(ContactDetector, Stateful):
    """Finds near edges by a spatial hash and measures them exactly; see `broad_phase` and `measure`.

    Pairs of edges of one body that are close along it are excluded, see `neighbourhood`. The lengths are
    those at the first step and are the internal state. A node is measured against half-spaces once, with the
    largest radius of its edges.
    """

    def __init__(self, config: EdgeDetectorConfig | None = None, context: BuildContext | None = None) -> None:
        self._neighbourhood = (config or EdgeDetectorConfig()).neighbourhood
        self._table: ShapeTable | None = None
        self._kind: IntArray = np.zeros(0, dtype=np.int64)
        self._radius = self._bounding_radius = self._node_radius = np.zeros(0)
        self._edges: IntArray = np.zeros(0, dtype=np.int64)
        self._segments: IntArray = np.zeros(0, dtype=np.int64)
        self._solids: IntArray = np.zeros(0, dtype=np.int64)
        self._capsules: IntArray = np.zeros(0, dtype=np.int64)
        self._reporting_edge: IntArray = np.zeros(0, dtype=np.int64)
        self._allowed: BoolArray = np.zeros((6, 6), dtype=bool)
        self._length: Array | None = None
        self._excluded_keys: IntArray = np.zeros(0, dtype=np.int64)
        self._listed_keys: IntArray = np.zeros(0, dtype=np.int64)

    @property
    def supported_pairs(self) -> frozenset[tuple[str, str]]:
        """Edge with edge, capsule, half-space, sphere, cylinder or box; capsule with capsule."""
        return _SUPPORTED_PAIRS

    def prepare(self, table: ShapeTable, served: frozenset[tuple[str, str]]) -> None:
        """Copy the world's shapes, and the supported pairs of kinds."""
        self._table, n = table, len(table)
        self._allowed[:] = False
        for first, second in served:
            if first in KIND_CODES and second in KIND_CODES:
                a, b = KIND_CODES[first], KIND_CODES[second]
                self._allowed[a, b] = self._allowed[b, a] = True
        # shapes of other kinds occur in no pair of this detector
        self._kind = kind = np.array([KIND_CODES.get(name, -1) for name in table.kind], dtype=np.int64)
        self._edges = np.flatnonzero(kind == EDGE)
        self._segments = np.flatnonzero((kind == EDGE) | (kind == CAPSULE))
        self._solids = np.flatnonzero(kind >= HALF_SPACE)
        size = np.ascontiguousarray(table.size, dtype=np.float64)
        self._size, self._frame = size, np.ascontiguousarray(table.frame, dtype=np.int64)
        self._second_frame = np.ascontiguousarray(table.second_frame, dtype=np.int64)
        self._radius = np.where(kind <= CAPSULE, size[:, 0], 0.0)
        self._bounding_radius = table.bounding_radii()
        frames = int(max(self._frame.max(initial=-1), self._second_frame.max(initial=-1))) + 1
        self._reporting_edge = np.full(frames, -1, dtype=np.int64)
        self._node_radius = np.zeros(frames)
        for e, ends in itertools.product(self._edges[::-1], (self._second_frame, self._frame)):
            self._reporting_edge[ends[e]] = e
            self._node_radius[ends[e]] = max(self._node_radius[ends[e]], self._radius[e])
        pairs = np.sort(np.asarray(table.excluded_pairs, dtype=np.int64).reshape(-1, 2), axis=1)
        self._listed_keys = np.unique(pairs[:, 0] * n + pairs[:, 1])
        self._excluded_keys = self._listed_keys
        self._length = None
        owners = np.unique(table.body[self._segments])
        # a single body without self-contact has no pairs of edges
        if len(owners) == 1 and not (owners[0] >= 0 and table.self_contact[owners[0]]):
            self._segments = self._segments[:0]
        self._capsules = self._segments[kind[self._segments] == CAPSULE]

    def find_candidates(self, poses: ShapePoses, margin: float, out: Candidates) -> None:
        """Find the near pairs of edges by the hash, and the edges near a half-space or a solid's bounding sphere."""
        table = self._table
        assert table is not None
        if self._length is None:
            self._set_lengths_from_poses(poses)
        start, end = self._segment_ends(poses)
        n = len(table)
        while True:
            pair_count = 0
            if len(self._segments) > 1:
                pair_count = find_near_edge_pairs(
                    self._segments, start, end, self._radius, self._kind, self._allowed, table.body,
                    table.self_contact, self._excluded_keys, n, margin, out.pairs, 0,
                )  # fmt: skip
            pair_count = find_near_solid_pairs(
                self._edges, self._solids, start, end, self._radius, self._frame, self._second_frame,
                self._node_radius, self._kind, self._allowed, self._bounding_radius, poses.position,
                poses.rotation, table.body, table.self_contact, self._excluded_keys, n, margin, out.pairs,
                pair_count,
            )  # fmt: skip
            if pair_count <= len(out.pairs):
                out.count = pair_count
                return
            out.count = 0
            out.reserve(pair_count)

    def compute_contacts(
        self, candidates: Candidates, poses: ShapePoses, margin: float, out: ContactSet
    ) -> None:
        """Append up to two contacts per pair, those with gap < `margin` [m], in one compiled call."""
        assert self._table is not None
        out.reserve(out.count + 2 * candidates.count)
        out.count = measure_pairs(
            candidates.pairs, candidates.count, len(self._table), self._kind, self._size, self._radius,
            self._frame, self._second_frame, self._reporting_edge, self._node_radius, poses.position,
            poses.rotation, poses.end, poses.frame_position, poses.frame_rotation, margin, out.count, out.id,
            out.shape, out.gap, out.point, out.normal, out.frame, out.local_point, out.weight,
        )  # fmt: skip

    def _segment_ends(self, poses: ShapePoses) -> tuple[Array, Array]:
        """Return both ends of every segment [m]."""
        capsules = self._capsules
        if not len(capsules):
            return poses.position, poses.end
        start, end = poses.position.copy(), poses.end.copy()
        half = poses.rotation[capsules, :, 2] * self._size[capsules, 1:2]
        start[capsules] -= half
        end[capsules] = poses.position[capsules] + half
        return start, end

    def _set_lengths_from_poses(self, poses: ShapePoses) -> None:
        span = poses.end[self._edges] - poses.position[self._edges]
        self._set_lengths(np.linalg.norm(span, axis=1))

    def _set_lengths(self, length: Array) -> None:
        """Store the lengths of the edges [m], and exclude the pairs that are neighbours by them."""
        assert self._table is not None
        self._length = length
        on_body = self._edges[self._frame[self._edges] >= 0]
        ends = np.column_stack([self._frame[on_body], self._second_frame[on_body]])
        keys = neighbour_keys(
            on_body, ends, length[self._frame[self._edges] >= 0], self._radius[on_body], len(self._table),
            self._neighbourhood,
        )  # fmt: skip
        self._excluded_keys = np.union1d(self._listed_keys, keys)

    def internal_state(self) -> InternalState:
        """Return the lengths of the edges at the first step [m]."""
        return {} if self._length is None else {"length": self._length.copy()}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore the output of `internal_state`; an empty one means that the next step is the first."""
        self._length, self._excluded_keys = None, self._listed_keys
        if internal_state:
            if self._table is None:
                self._length = np.asarray(internal_state["length"]).copy()
            else:
                self._set_lengths(internal_state["length"].copy())
