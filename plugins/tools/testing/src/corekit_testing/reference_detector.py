"""Reference detector: spheres on half-spaces and on spheres, edges on edges; every pair is tested.

    half-space:  φ = n·(x − o) − r                                                     (1)
    spheres:     φ = |x₁ − x₂| − r₁ − r₂,        hollow obstacle:  φ = R − |x − o| − r     (2)
    edges:       φ = min_{s,t} |a₀ + s·(a₁ − a₀) − b₀ − t·(b₁ − b₀)| − r₁ − r₂            (3)

Carriers of spheres are the frames' points at the contact; of edges the four end frames with weights
(1 − s), s, −(1 − t), −t. The contact point is in the middle of the gap, on the line between the closest points.
Source for (3): Ericson (2005), "Real-Time Collision Detection", section 5.1.9.
"""

from __future__ import annotations

import math
from typing import Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit.roles.component import BuildContext
from corekit.roles.detector import ContactDetector
from corekit_testing.reference_detector_config import ReferenceDetectorConfig

__all__ = ["ReferenceDetector", "ReferenceDetectorConfig", "closest_points"]

_HALF_SPACE: Final = 0
_SPHERE: Final = 1
_EDGE: Final = 2
_KINDS: Final = {"half-space": _HALF_SPACE, "sphere": _SPHERE, "edge": _EDGE}


@final
class ReferenceDetector(ContactDetector):
    """Implements (1)–(3). Ids are first·n + second over the n shapes: one feature a pair."""

    def __init__(
        self, config: ReferenceDetectorConfig | None = None, context: BuildContext | None = None
    ) -> None:
        self._hollow = (config or ReferenceDetectorConfig()).hollow
        nothing: IntArray = np.zeros(0, dtype=np.int64)
        self._pairs: IntArray = np.zeros((0, 2), dtype=np.int64)
        self._kind, self._radius, self._frame, self._second_frame = nothing, np.zeros(0), nothing, nothing
        self._normal = np.zeros(3)

    @property
    def supported_pairs(self) -> frozenset[tuple[str, str]]:
        return frozenset({("sphere", "half-space"), ("sphere", "sphere"), ("edge", "edge")})

    def prepare(self, table: ShapeTable, served: frozenset[tuple[str, str]]) -> None:
        self._pairs = table.pairs(served)
        if any(table.kind[i] == "half-space" and table.body[i] >= 0 for i in self._pairs.ravel()):
            raise ValueError("a half-space carried by a body is not served by the reference detector")
        self._kind = np.array([_KINDS.get(kind, -1) for kind in table.kind], dtype=np.int64)
        self._radius = table.size[:, 0].copy()
        self._frame, self._second_frame = table.frame, table.second_frame

    def find_candidates(self, poses: ShapePoses, margin: float, out: Candidates) -> None:
        out.count = 0
        out.reserve(len(self._pairs))
        out.count = _near(
            self._pairs, margin, self._hollow, self._kind, self._radius, self._frame,
            poses.position, poses.rotation, poses.end, self._normal, out.pairs,
        )  # fmt: skip

    def compute_contacts(
        self, candidates: Candidates, poses: ShapePoses, margin: float, out: ContactSet
    ) -> None:
        out.reserve(out.count + candidates.count)
        out.count = _measure(
            candidates.pairs, candidates.count, margin, self._hollow, self._kind, self._radius, self._frame,
            self._second_frame, poses.position, poses.rotation, poses.end, poses.frame_position, poses.frame_rotation,
            out.count, out.id, out.shape, out.gap, out.point, out.normal, out.frame, out.local_point, out.weight,
        )  # fmt: skip


@compiled
def closest_points(a0: Array, a1: Array, b0: Array, b1: Array) -> tuple[float, float]:
    """Parameters s, t ∈ [0, 1] of the closest points of two segments."""
    aa = bb = ab = ar = br = 0.0
    for k in range(3):
        a, b, r = a1[k] - a0[k], b1[k] - b0[k], a0[k] - b0[k]
        aa, bb, ab = aa + a * a, bb + b * b, ab + a * b
        ar, br = ar + a * r, br + b * r
    across = aa * bb - ab * ab
    s = min(max((ab * br - ar * bb) / across, 0.0), 1.0) if across > 1e-14 * aa * bb else 0.5
    t = min(max((ab * s + br) / bb, 0.0), 1.0)
    s = min(max((ab * t - ar) / aa, 0.0), 1.0)
    return s, t


@compiled
def _touch(
    i: int, j: int, hollow: bool, kind: IntArray, radius: Array, frame: IntArray, position: Array, rotation: Array,
    end: Array, normal: Array,
) -> tuple[float, float, float]:  # fmt: skip
    """φ, s and t of a pair; writes its normal. Spheres are edges without length: s = t = 0."""
    if kind[j] == _HALF_SPACE:
        height = 0.0
        for k in range(3):
            normal[k] = rotation[j, k, 2]
            height += normal[k] * (position[i, k] - position[j, k])
        return height - radius[i], 0.0, 0.0
    s = t = square = 0.0
    if kind[i] == _EDGE:
        s, t = closest_points(position[i], end[i], position[j], end[j])
    for k in range(3):
        onto = position[i, k] + s * (end[i, k] - position[i, k])
        off = position[j, k] + t * (end[j, k] - position[j, k])
        normal[k] = onto - off
        square += normal[k] * normal[k]
    distance = math.sqrt(square)
    inside = hollow and kind[j] == _SPHERE and frame[j] < 0
    for k in range(3):
        normal[k] /= -distance if inside else distance
    gap = radius[j] - distance if inside else distance - radius[j]
    return gap - radius[i], s, t


@compiled
def _near(
    pairs: IntArray, margin: float, hollow: bool, kind: IntArray, radius: Array, frame: IntArray, position: Array,
    rotation: Array, end: Array, normal: Array, out: IntArray,
) -> int:  # fmt: skip
    """Write the pairs with φ < `margin` [m]; returns how many there are."""
    count = 0
    for p in range(len(pairs)):
        i, j = pairs[p, 0], pairs[p, 1]
        gap, _, _ = _touch(i, j, hollow, kind, radius, frame, position, rotation, end, normal)
        if gap < margin:
            out[count, 0], out[count, 1] = i, j
            count += 1
    return count


@compiled
def _measure(
    pairs: IntArray, candidates: int, margin: float, hollow: bool, kind: IntArray, radius: Array, frame: IntArray,
    second_frame: IntArray, position: Array, rotation: Array, end: Array, frame_position: Array, frame_rotation: Array,
    count: int, id: IntArray, shape: IntArray, gap: Array, point: Array, normal: Array, carrier: IntArray,
    local: Array, weight: Array,
) -> int:  # fmt: skip
    """Append the contacts with φ < `margin` [m] to those there are; returns how many there are then."""
    for p in range(candidates):
        i, j = pairs[p, 0], pairs[p, 1]
        # what turns out to be too far is written over by the next
        found, s, t = _touch(i, j, hollow, kind, radius, frame, position, rotation, end, normal[count])
        if found >= margin:
            continue
        c = count
        count += 1
        id[c], shape[c, 0], shape[c, 1], gap[c] = i * len(kind) + j, i, j, found
        for k in range(3):
            onto = position[i, k] + s * (end[i, k] - position[i, k])
            point[c, k] = onto - normal[c, k] * (radius[i] + 0.5 * found)
        for slot in range(4):
            carrier[c, slot], weight[c, slot] = -1, 0.0
            for k in range(3):
                local[c, slot, k] = 0.0
        if kind[i] == _EDGE:
            carrier[c, 0], carrier[c, 1], weight[c, 0], weight[c, 1] = frame[i], second_frame[i], 1.0 - s, s
            carrier[c, 2], carrier[c, 3], weight[c, 2], weight[c, 3] = frame[j], second_frame[j], t - 1.0, -t
            continue
        for slot in range(2):
            f = frame[i] if slot == 0 else frame[j]
            if f >= 0:
                carrier[c, slot], weight[c, slot] = f, 1.0 - 2.0 * slot
                for k in range(3):
                    for m in range(3):
                        local[c, slot, k] += (point[c, m] - frame_position[f, m]) * frame_rotation[f, m, k]
    return count
