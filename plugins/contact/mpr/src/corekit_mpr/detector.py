"""The contact detector for convex shapes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import Candidates, ContactSet
from corekit.errors import PluginError
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit.roles.component import BuildContext, Memory
from corekit.roles.detector import ContactDetector
from corekit_mpr.config import MprConfig
from corekit_mpr.gap import work
from corekit_mpr.measure import Out, measure_pairs, near_pairs
from corekit_mpr.overlap import pool
from corekit_mpr.patch import MAX_POINTS
from corekit_mpr.solids import KINDS, Hulls, Solids, solids_of

__all__ = ["MprDetector"]

_SERVED: Final = frozenset((first, second) for first in KINDS for second in KINDS if first != "half-space")


def _longest_loop(hulls: Hulls) -> int:
    """Most corners of a face."""
    # heads come first: where the loop of each face begins and ends
    heads = hulls.links[: int(hulls.links[0, 0])] if len(hulls.links) else np.zeros((0, 2), dtype=np.int64)
    return int((heads[:, 1] - heads[:, 0]).max(initial=4))


@final
class MprDetector(ContactDetector):
    """Signed distances of any two convex shapes, from support functions alone.

    The gap of a pair is φ of `support` (1): by GJK apart, by portal refinement and expansion inside, both
    polished to rounding (`polish`) and held between two bounds: apart they meet to rounding, inside to
    `tolerance`, which decides only whether another direction could be better. A mesh counts as its hull.

    Contacts carry the point midway between the two surfaces. Nothing is remembered: answers depend on the
    poses alone, ids on the features alone (`features`).
    """

    def __init__(self, config: MprConfig, context: BuildContext | None = None) -> None:
        self._path = context.path if context is not None else ""
        self._tolerance = config.tolerance
        self._flat_sine = math.sin(config.flat_angle) if config.patch else 0.0
        self._flat_cosine = math.cos(2.0 * config.flat_angle)
        self._solids: tuple[Solids, Hulls] | None = None
        self._frame: IntArray = np.zeros(0, dtype=np.int64)
        self._pairs: IntArray = np.zeros((0, 2), dtype=np.int64)
        self._work = work()
        self._pool = pool(4)
        self._rows: Array = np.zeros((MAX_POINTS, 9))

    @property
    def served(self) -> frozenset[tuple[str, str]]:
        """Sphere, capsule, cylinder, box, polytope and mesh with each other and with half-spaces."""
        return _SERVED

    def prepare(self, table: ShapeTable, served: frozenset[tuple[str, str]]) -> None:
        """Take the world's shapes; refuses kinds without a support function, and hulls without a volume."""
        where = f"{self._path}: " if self._path else ""
        foreign = sorted(
            f"{first}–{second}"
            for first, second in served
            if (first, second) not in _SERVED and (second, first) not in _SERVED
        )
        if foreign:
            raise PluginError(
                f"{where}detector 'mpr' has no support functions for {', '.join(foreign)}; "
                "add a detector that serves them"
            )
        self._solids = _, hulls = solids_of(table, where)
        self._frame = np.ascontiguousarray(table.frame, dtype=np.int64)
        self._pairs = table.pairs(served)
        self._pool = pool(_longest_loop(hulls))

    def candidates(self, poses: ShapePoses, margin: float, out: Candidates) -> None:
        """Pairs whose bounding balls, planes or boxes are closer than `margin` [m]."""
        out.reserve(len(self._pairs))
        if self._solids is None:
            out.count = 0
            return
        out.count = near_pairs(
            self._solids[0], self._pairs, poses.position, poses.rotation, margin, out.pairs
        )

    def measure(self, candidates: Candidates, poses: ShapePoses, margin: float, out: ContactSet) -> None:
        """Append up to four contacts a pair, those with gap < `margin` [m], in one compiled call."""
        if self._solids is None:
            return
        out.reserve(out.count + MAX_POINTS * candidates.count)
        out.count = measure_pairs(
            *self._solids,
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
            self._work,
            self._pool,
            self._rows,
            out.count,
            Out(out.id, out.shape, out.gap, out.point, out.normal, out.frame, out.local, out.weight),
        )

    def memory(self) -> Memory:
        """Nothing is remembered."""
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Nothing to take over."""
