"""The contact detector for edges of rods: against each other, floors, and solids."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Final, final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit.roles.component import BuildContext, Memory
from corekit.roles.detector import ContactDetector
from corekit_imc.broad_phase import near_edge_pairs, near_solids
from corekit_imc.config import EdgeDetectorConfig
from corekit_imc.measure import measure_pairs
from corekit_imc.neighbourhood import neighbour_keys
from corekit_imc.solids import BOX, CAPSULE, CYLINDER, EDGE, HALF_SPACE, KIND_CODES, SPHERE

__all__ = ["EdgeDetector"]

_SERVED: Final = frozenset(
    {("edge", other) for other in ("edge", "capsule", "half-space", "sphere", "cylinder", "box")}
    | {("capsule", "capsule")}
)


@final
class EdgeDetector(ContactDetector):
    """Finds near edges by a spatial hash and measures them exactly; see `broad_phase` and `measure`.

    Edges of one body that are near each other along it are left out, see `neighbourhood`; lengths are those at the
    first step and are remembered. A node is measured against half-spaces once, with the largest radius of its edges.
    """

    def __init__(self, config: EdgeDetectorConfig | None = None, context: BuildContext | None = None) -> None:
        self._share = (config or EdgeDetectorConfig()).neighbourhood
        self._table: ShapeTable | None = None
        self._kind: IntArray = np.zeros(0, dtype=np.int64)
        self._radius = self._bound = self._node_radius = np.zeros(0)
        self._edges: IntArray = np.zeros(0, dtype=np.int64)
        self._segments: IntArray = np.zeros(0, dtype=np.int64)
        self._solids: IntArray = np.zeros(0, dtype=np.int64)
        self._capsules: IntArray = np.zeros(0, dtype=np.int64)
        self._owner: IntArray = np.zeros(0, dtype=np.int64)
        self._allowed: BoolArray = np.zeros((6, 6), dtype=bool)
        self._length: Array | None = None
        self._never: IntArray = np.zeros(0, dtype=np.int64)
        self._listed: IntArray = np.zeros(0, dtype=np.int64)

    @property
    def served(self) -> frozenset[tuple[str, str]]:
        """Edge with edge, capsule, half-space, sphere, cylinder or box; capsule with capsule."""
        return _SERVED

    def prepare(self, table: ShapeTable, served: frozenset[tuple[str, str]]) -> None:
        """Take the world's shapes, and the kind pairs that are ours."""
        self._table, n = table, len(table)
        self._allowed[:] = False
        for first, second in served:
            if first in KIND_CODES and second in KIND_CODES:
                a, b = KIND_CODES[first], KIND_CODES[second]
                self._allowed[a, b] = self._allowed[b, a] = True
        # shapes of other kinds occur in no pair of ours
        self._kind = kind = np.array([KIND_CODES.get(name, -1) for name in table.kind], dtype=np.int64)
        self._edges = np.flatnonzero(kind == EDGE)
        self._segments = np.flatnonzero((kind == EDGE) | (kind == CAPSULE))
        self._solids = np.flatnonzero(kind >= HALF_SPACE)
        size = np.ascontiguousarray(table.size, dtype=np.float64)
        self._size, self._frame = size, np.ascontiguousarray(table.frame, dtype=np.int64)
        self._second = np.ascontiguousarray(table.second_frame, dtype=np.int64)
        self._radius = np.where(kind <= CAPSULE, size[:, 0], 0.0)
        bound = np.where(kind == SPHERE, size[:, 0], 0.0)
        bound = np.where(kind == CYLINDER, np.hypot(size[:, 0], size[:, 1]), bound)
        self._bound = np.where(kind == BOX, np.linalg.norm(size, axis=1), bound)
        frames = int(max(self._frame.max(initial=-1), self._second.max(initial=-1))) + 1
        self._owner = np.full(frames, -1, dtype=np.int64)
        self._node_radius = np.zeros(frames)
        for e, ends in itertools.product(self._edges[::-1], (self._second, self._frame)):
            self._owner[ends[e]] = e
            self._node_radius[ends[e]] = max(self._node_radius[ends[e]], self._radius[e])
        pairs = np.sort(np.asarray(table.never, dtype=np.int64).reshape(-1, 2), axis=1)
        self._listed = np.unique(pairs[:, 0] * n + pairs[:, 1])
        self._never = self._listed
        self._length = None
        owners = np.unique(table.body[self._segments])
        # one body alone that does not touch itself has no pairs of edges to look for
        if len(owners) == 1 and not (owners[0] >= 0 and table.self_contact[owners[0]]):
            self._segments = self._segments[:0]
        self._capsules = self._segments[kind[self._segments] == CAPSULE]

    def candidates(self, poses: ShapePoses, margin: float, out: Candidates) -> None:
        """Pairs of edges by the hash, and every edge whose distance to a solid's bounding sphere is small enough."""
        table = self._table
        assert table is not None
        if self._length is None:
            self._measure_lengths(poses)
        start, end = self._spans(poses)
        n = len(table)
        while True:
            found = 0
            if len(self._segments) > 1:
                found = near_edge_pairs(
                    self._segments, start, end, self._radius, self._kind, self._allowed, table.body,
                    table.self_contact, self._never, n, margin, out.pairs, 0,
                )  # fmt: skip
            found = near_solids(
                self._edges, self._solids, start, end, self._radius, self._frame, self._second, self._node_radius,
                self._kind, self._allowed, self._bound, poses.position, poses.rotation, table.body,
                table.self_contact, self._never, n, margin, out.pairs, found,
            )  # fmt: skip
            if found <= len(out.pairs):
                out.count = found
                return
            out.count = 0
            out.reserve(found)

    def measure(self, candidates: Candidates, poses: ShapePoses, margin: float, out: ContactSet) -> None:
        """Append up to two contacts a pair, those with gap < `margin` [m], in one compiled call."""
        assert self._table is not None
        out.reserve(out.count + 2 * candidates.count)
        out.count = measure_pairs(
            candidates.pairs, candidates.count, len(self._table), self._kind, self._size, self._radius, self._frame,
            self._second, self._owner, self._node_radius, poses.position, poses.rotation, poses.end,
            poses.frame_position, poses.frame_rotation, margin, out.count, out.id, out.shape, out.gap, out.point,
            out.normal, out.frame, out.local, out.weight,
        )  # fmt: skip

    def _spans(self, poses: ShapePoses) -> tuple[Array, Array]:
        """Both ends of every segment [m]."""
        capsules = self._capsules
        if not len(capsules):
            return poses.position, poses.end
        start, end = poses.position.copy(), poses.end.copy()
        half = poses.rotation[capsules, :, 2] * self._size[capsules, 1:2]
        start[capsules] -= half
        end[capsules] = poses.position[capsules] + half
        return start, end

    def _measure_lengths(self, poses: ShapePoses) -> None:
        span = poses.end[self._edges] - poses.position[self._edges]
        self._take_lengths(np.linalg.norm(span, axis=1))

    def _take_lengths(self, length: Array) -> None:
        """Leave out the pairs that are neighbours for these lengths of the edges [m]."""
        assert self._table is not None
        self._length = length
        mine = self._edges[self._frame[self._edges] >= 0]
        ends = np.column_stack([self._frame[mine], self._second[mine]])
        keys = neighbour_keys(
            mine,
            ends,
            length[self._frame[self._edges] >= 0],
            self._radius[mine],
            len(self._table),
            self._share,
        )
        self._never = np.union1d(self._listed, keys)

    def memory(self) -> Memory:
        """Lengths of the edges at the first step [m]."""
        return {} if self._length is None else {"length": self._length.copy()}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over what `memory` gave; an empty one means that the next step is the first."""
        self._length, self._never = None, self._listed
        if memory:
            if self._table is None:
                self._length = np.asarray(memory["length"]).copy()
            else:
                self._take_lengths(memory["length"].copy())
