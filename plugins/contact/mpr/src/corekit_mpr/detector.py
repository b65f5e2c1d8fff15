"""Contact detector for convex shapes."""

from __future__ import annotations

import math
from typing import Final, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import Candidates, ContactSet
from corekit.errors import PluginError
from corekit.geometry.pair_search import PairSearch
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit.roles.component import BuildContext
from corekit.roles.detector import ContactDetector
from corekit_mpr.config import MprConfig
from corekit_mpr.gap import new_workspace
from corekit_mpr.measure import ContactColumns, find_near_pairs, measure_pairs
from corekit_mpr.overlap import new_overlap_buffers
from corekit_mpr.patch import MAX_POINTS
from corekit_mpr.solids import KINDS, Hulls, Solids, new_solids

__all__ = ["MprDetector"]

_SUPPORTED_PAIRS: Final = frozenset(
    (first, second) for first in KINDS for second in KINDS if first != "half-space"
)


def _max_face_corners(hulls: Hulls) -> int:
    """Return the largest number of corners of a face, at least 4."""
    # the first rows of the links are the corner ranges of the faces
    face_ranges = (
        hulls.links[: int(hulls.links[0, 0])] if len(hulls.links) else np.zeros((0, 2), dtype=np.int64)
    )
    return int((face_ranges[:, 1] - face_ranges[:, 0]).max(initial=4))


@final
class MprDetector(ContactDetector):
    """Signed distances of any two convex shapes, from support functions alone.

    The gap of a pair is φ of `support` (1): by GJK apart, by portal refinement and expansion inside.
    `refine_direction` improves both to rounding, and two bounds enclose them: apart they meet to rounding,
    inside to `tolerance`. The tolerance determines only whether another direction could be better. A mesh
    counts as its hull.

    A contact's point is midway between the two surfaces. The detector has no internal state: its contacts
    depend on the poses alone, their ids on the features alone (`features`).
    """

    def __init__(self, config: MprConfig, context: BuildContext | None = None) -> None:
        self._path = context.path if context is not None else ""
        self._tolerance = config.tolerance
        self._flat_sine = math.sin(config.flat_angle) if config.patch else 0.0
        self._flat_cosine = math.cos(2.0 * config.flat_angle)
        self._tables: tuple[Solids, Hulls] | None = None
        self._frame: IntArray = np.zeros(0, dtype=np.int64)
        self._search: PairSearch | None = None
        self._radius: Array = np.zeros(0)
        self._workspace = new_workspace()
        self._overlap_buffers = new_overlap_buffers(4)
        self._rows: Array = np.zeros((MAX_POINTS, 9))

    @property
    def supported_pairs(self) -> frozenset[tuple[str, str]]:
        """Sphere, capsule, cylinder, box, polytope and mesh with each other and with half-spaces."""
        return _SUPPORTED_PAIRS

    def prepare(self, table: ShapeTable, served: frozenset[tuple[str, str]]) -> None:
        """Make the tables of the world's shapes.

        Raises:
            PluginError: a kind has no support function, or a hull has no volume.
        """
        where = f"{self._path}: " if self._path else ""
        unsupported = sorted(
            f"{first}–{second}"
            for first, second in served
            if (first, second) not in _SUPPORTED_PAIRS and (second, first) not in _SUPPORTED_PAIRS
        )
        if unsupported:
            raise PluginError(
                f"{where}detector 'mpr' has no support functions for {', '.join(unsupported)}; "
                "add a detector that supports them"
            )
        self._tables = _, hulls = new_solids(table, where)
        self._frame = np.ascontiguousarray(table.frame, dtype=np.int64)
        self._search = PairSearch(table, served)
        self._radius = table.bounding_radii()
        self._overlap_buffers = new_overlap_buffers(_max_face_corners(hulls))

    def find_candidates(self, poses: ShapePoses, margin: float, out: Candidates) -> None:
        """Find the pairs whose bounding balls, planes or boxes are closer than `margin` [m]."""
        if self._tables is None or self._search is None:
            out.count = 0
            return
        pairs = self._search.near(poses.position, self._radius, margin)
        out.reserve(len(pairs))
        out.count = find_near_pairs(self._tables[0], pairs, poses.position, poses.rotation, margin, out.pairs)

    def compute_contacts(
        self, candidates: Candidates, poses: ShapePoses, margin: float, out: ContactSet
    ) -> None:
        """Append up to four contacts per pair, those with gap < `margin` [m], in one compiled call."""
        if self._tables is None:
            return
        out.reserve(out.count + MAX_POINTS * candidates.count)
        out.count = measure_pairs(
            *self._tables,
            candidates.pairs,
            candidates.count,
            self._frame,
            poses.position,
            poses.rotation,
            poses.frame_position,
            poses.frame_rotation,
            margin,
            self._tolerance,
            self._flat_sine,
            self._flat_cosine,
            self._workspace,
            self._overlap_buffers,
            self._rows,
            out.count,
            ContactColumns(
                out.id, out.shape, out.gap, out.point, out.normal, out.frame, out.local_point, out.weight
            ),
        )
