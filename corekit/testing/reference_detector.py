"""Reference detector: spheres on half-spaces and on spheres, edges on edges; every pair is tested.

    half-space:  φ = n·(x − o) − r                                                     (1)
    spheres:     φ = |x₁ − x₂| − r₁ − r₂,        hollow obstacle:  φ = R − |x − o| − r     (2)
    edges:       φ = min_{s,t} |a₀ + s·(a₁ − a₀) − b₀ − t·(b₁ − b₀)| − r₁ − r₂            (3)

Carriers of spheres are the frames' points at the contact; of edges the four end frames with weights
(1 − s), s, −(1 − t), −t.
Source for (3): Ericson (2005), "Real-Time Collision Detection", section 5.1.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit.roles.component import BuildContext, Memory
from corekit.roles.detector import ContactDetector
from corekit.roles.options import option

__all__ = ["ReferenceDetector", "ReferenceDetectorConfig", "closest_points"]


@frozen(kw_only=True)
class ReferenceDetectorConfig:
    """Options of the reference detector."""

    hollow: bool = option(False, "spheres of the surroundings hold the bodies inside")


def closest_points(a0: Array, a1: Array, b0: Array, b1: Array) -> tuple[float, float]:
    """Parameters s, t ∈ [0, 1] of the closest points of two segments."""
    a, b, r = a1 - a0, b1 - b0, a0 - b0
    aa, bb, ab, ar, br = a @ a, b @ b, a @ b, a @ r, b @ r
    across = aa * bb - ab * ab
    s = float(np.clip((ab * br - ar * bb) / across, 0.0, 1.0)) if across > 1e-14 * aa * bb else 0.5
    t = float(np.clip((ab * s + br) / bb, 0.0, 1.0))
    s = float(np.clip((ab * t - ar) / aa, 0.0, 1.0))
    return s, t


class _Touch(NamedTuple):
    """Gap, point, normal, and the carriers as (shape's frame, point in the world or None for its origin, weight)."""

    gap: float
    point: Array
    normal: Array
    carriers: tuple[tuple[int, Array | None, float], ...]


@final
class ReferenceDetector(ContactDetector):
    """Implements (1)–(3). Ids are first·n + second over the n shapes: one feature a pair."""

    def __init__(
        self, config: ReferenceDetectorConfig | None = None, context: BuildContext | None = None
    ) -> None:
        self._hollow = (config or ReferenceDetectorConfig()).hollow
        self._pairs: IntArray = np.zeros((0, 2), dtype=np.int64)
        self._table: ShapeTable | None = None

    @property
    def served(self) -> frozenset[tuple[str, str]]:
        return frozenset({("sphere", "half-space"), ("sphere", "sphere"), ("edge", "edge")})

    def memory(self) -> Memory:
        return {}

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        pass

    def prepare(self, table: ShapeTable, served: frozenset[tuple[str, str]]) -> None:
        self._table = table
        self._pairs = table.pairs(served)

    def candidates(self, poses: ShapePoses, margin: float, out: Candidates) -> None:
        out.count = 0
        out.reserve(len(self._pairs))
        for i, j in self._pairs:
            if self._touch(int(i), int(j), poses).gap < margin:
                out.pairs[out.count] = i, j
                out.count += 1

    def measure(self, candidates: Candidates, poses: ShapePoses, margin: float, out: ContactSet) -> None:
        table = self._table
        assert table is not None
        out.reserve(out.count + candidates.count)
        for i, j in candidates.pairs[: candidates.count]:
            touch = self._touch(int(i), int(j), poses)
            if touch.gap >= margin:
                continue
            c = out.count
            out.count += 1
            out.id[c] = int(i) * len(table) + int(j)
            out.shape[c] = i, j
            out.gap[c], out.point[c], out.normal[c] = touch.gap, touch.point, touch.normal
            out.frame[c], out.local[c], out.weight[c] = -1, 0.0, 0.0
            for slot, (frame, point, weight) in enumerate(touch.carriers):
                out.frame[c, slot], out.weight[c, slot] = frame, weight
                if point is not None:
                    arm = point - poses.frame_position[frame]
                    out.local[c, slot] = arm @ poses.frame_rotation[frame]

    def _touch(self, i: int, j: int, poses: ShapePoses) -> _Touch:
        assert self._table is not None
        kinds = self._table.kind[i], self._table.kind[j]
        if kinds == ("edge", "edge"):
            return self._edges(i, j, poses)
        return self._plane(i, j, poses) if "half-space" in kinds else self._spheres(i, j, poses)

    def _plane(self, i: int, j: int, poses: ShapePoses) -> _Touch:
        assert self._table is not None
        if self._table.kind[i] == "half-space":
            raise ValueError("a half-space carried by a body is not served by the reference detector")
        normal = poses.rotation[j, :, 2].copy()
        radius = self._table.size[i, 0]
        gap = float(normal @ (poses.position[i] - poses.position[j])) - radius
        point = poses.position[i] - normal * (radius + 0.5 * gap)
        return _Touch(gap, point, normal, ((int(self._table.frame[i]), point, 1.0),))

    def _spheres(self, i: int, j: int, poses: ShapePoses) -> _Touch:
        table = self._table
        assert table is not None
        across = poses.position[i] - poses.position[j]
        distance = float(np.linalg.norm(across))
        mine, other = table.size[i, 0], table.size[j, 0]
        first, second = int(table.frame[i]), int(table.frame[j])
        if self._hollow and second < 0:
            gap, normal = other - distance - mine, -across / distance
        else:
            gap, normal = distance - mine - other, across / distance
        point = poses.position[i] - normal * (mine + 0.5 * gap)
        carriers = ((first, point, 1.0),) if second < 0 else ((first, point, 1.0), (second, point, -1.0))
        return _Touch(gap, point, normal, carriers)

    def _edges(self, i: int, j: int, poses: ShapePoses) -> _Touch:
        table = self._table
        assert table is not None
        a0, a1, b0, b1 = poses.position[i], poses.end[i], poses.position[j], poses.end[j]
        s, t = closest_points(a0, a1, b0, b1)
        onto, off = a0 + s * (a1 - a0), b0 + t * (b1 - b0)
        distance = float(np.linalg.norm(onto - off))
        normal = (onto - off) / distance
        mine, other = table.size[i, 0], table.size[j, 0]
        gap = distance - mine - other
        ends = (
            (table.frame[i], 1 - s),
            (table.second_frame[i], s),
            (table.frame[j], t - 1),
            (table.second_frame[j], -t),
        )
        carriers = tuple((int(frame), None, float(weight)) for frame, weight in ends)
        return _Touch(gap, onto - normal * (mine + 0.5 * gap), normal, carriers)
