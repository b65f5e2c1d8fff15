"""Small scenes of shapes for detectors, and the gaps that closed formulas give.

A body carries one shape, off its frame's origin; an edge has two frames. The last shapes are obstacles.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shape_specs import ShapeSpec, VertexRule, shape_spec
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit_testing.conformance.check import expect

__all__ = [
    "GAPS",
    "SOLIDS",
    "Given",
    "Scene",
    "analytic_gap",
    "can_place",
    "is_endless",
    "is_flat",
    "measured",
    "outside",
    "random_rotation",
    "sizes_and_vertices",
    "turned",
]

SOLIDS = "sphere", "capsule", "cylinder", "box"
"""Kinds whose distance to a point has a formula here, `outside`."""
SIZES: Mapping[str, tuple[float, ...]] = {
    "half-space": (),
    "sphere": (0.07,),
    "box": (0.12, 0.08, 0.1),
    "capsule": (0.04, 0.09),
    "cylinder": (0.06, 0.05),
    "edge": (0.03,),
}
"""Sizes [m] of the kinds whose gaps have formulas here, and of those that have no end or two frames."""
_PLANAR = "half-plane", "ring"
"""Kinds that have no end in a plane and touch nothing outside of it: scenes are askew in space."""
_LENGTHS = 0.12, 0.08, 0.05
"""Sizes [m] of all other kinds, falling: the ring of a torus is wider than its tube."""


Given = Mapping[str, tuple[float, ...]]
"""Sizes [m] of kinds that whoever asks gives, in place of those of the kit."""
_NOTHING: Given = MappingProxyType({})


def is_flat(kind: str) -> bool:
    """Whether a shape of this kind is all of one side of a plane."""
    return shape_spec(kind).plane_normal is not None


def is_endless(kind: str, given: Given = _NOTHING) -> bool:
    """Whether a shape of this kind has no end; scenes hold it as an obstacle alone. An edge ends at its frames."""
    return kind != "edge" and math.isinf(_radius(kind, given))


def can_place(kind: str, given: Given = _NOTHING) -> bool:
    """Whether scenes can hold a shape of this kind: an edge, or one with a bounding radius, be it infinite."""
    return kind not in _PLANAR and (kind == "edge" or _radius(kind, given) > 0.0)


def _radius(kind: str, given: Given) -> float:
    return float(shape_spec(kind).bounding_radius(*sizes_and_vertices(shape_spec(kind), given)))


def sizes_and_vertices(spec: ShapeSpec, given: Given = _NOTHING) -> tuple[tuple[float, ...], Array | None]:
    """Sizes [m], and vertices in its own axes [m], shape (k, 3), of a shape of this kind in scenes."""
    if spec.kind in SIZES:
        return given.get(spec.kind, SIZES[spec.kind]), None
    sizes = given.get(spec.kind, _LENGTHS[: len(spec.sizes)])
    return sizes, None if spec.vertices is None else _vertices(spec.vertices)


def _vertices(rule: VertexRule) -> Array:
    """As few corners as it may have, of a convex shape [m], shape (k, 3); of a planar one in turn around it."""
    away = np.random.default_rng(15).normal(size=(rule.least, 3))
    if rule.numbers == 2:
        angle = 2.0 * np.pi * np.arange(rule.least) / rule.least
        away = np.stack([np.cos(angle), np.zeros(rule.least), np.sin(angle)], axis=1)
    return away / np.linalg.norm(away, axis=1, keepdims=True) * _LENGTHS


def random_rotation(random: np.random.Generator) -> Array:
    """A rotation drawn uniformly."""
    q, r = np.linalg.qr(random.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.sign(np.linalg.det(q))


def turned(spin: Array, s: float) -> Array:
    """exp(s·ŝpin), by Rodrigues' formula."""
    angle = s * float(np.linalg.norm(spin))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = s * spin / angle
    hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * hat + (1 - np.cos(angle)) * hat @ hat


class Scene:
    """Shapes in the world, movable by the frames of their bodies."""

    def __init__(
        self, kinds: Sequence[str], obstacles: int, random: np.random.Generator, given: Given = _NOTHING
    ) -> None:
        n = len(kinds)
        bodies = n - obstacles
        self.kinds = tuple(kinds)
        self.body = np.array([i if i < bodies else -1 for i in range(n)], dtype=np.int64)
        first = np.cumsum([0, *(2 if kind == "edge" else 1 for kind in kinds[:bodies])])
        self.frame = np.array([first[i] if i < bodies else -1 for i in range(n)], dtype=np.int64)
        edge = [i < bodies and kind == "edge" for i, kind in enumerate(kinds)]
        self.second = np.where(edge, self.frame + 1, -1)
        sizes, vertices = zip(*(sizes_and_vertices(shape_spec(kind), given) for kind in kinds), strict=True)
        self.table = ShapeTable(
            kind=self.kinds,
            size=np.array([[*size, 0.0, 0.0, 0.0][:3] for size in sizes]),
            body=self.body,
            frame=self.frame,
            second_frame=self.second,
            offset_position=np.zeros((n, 3)),
            offset_rotation=np.tile(np.eye(3), (n, 1, 1)),
            obstacle=np.array([-1 if i < bodies else i - bodies for i in range(n)], dtype=np.int64),
            vertices=vertices,
            excluded_pairs=np.zeros((0, 2), dtype=np.int64),
            self_contact=np.zeros(max(bodies, 1), dtype=bool),
        )
        for i in range(bodies):
            if not edge[i]:
                self.table.offset_position[i] = 0.05 * random.normal(size=3)
                self.table.offset_rotation[i] = random_rotation(random)
        self.frames = int(first[-1])
        self.poses = ShapePoses(
            np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)),
            np.zeros((self.frames, 3)), np.tile(np.eye(3), (self.frames, 1, 1)),
        )  # fmt: skip

    def place(self, i: int, position: Array, rotation: Array, span: Array | None = None) -> None:
        """Put shape i somewhere; an edge goes from `position` to `position + span`."""
        poses, f = self.poses, int(self.frame[i])
        poses.position[i], poses.rotation[i], poses.end[i] = position, rotation, position
        if f < 0:
            return
        if self.second[i] >= 0:
            assert span is not None
            poses.end[i] = position + span
            poses.frame_position[f : f + 2] = position, position + span
            poses.frame_rotation[f : f + 2] = rotation
            return
        poses.frame_rotation[f] = rotation @ self.table.offset_rotation[i].T
        poses.frame_position[f] = position - poses.frame_rotation[f] @ self.table.offset_position[i]

    def shift(self, i: int, by: Array) -> None:
        """Move shape i with its frames [m]."""
        span = self.poses.end[i] - self.poses.position[i]
        self.place(i, self.poses.position[i] + by, self.poses.rotation[i].copy(), span)

    def moved(self, velocity: Array, spin: Array, s: float) -> ShapePoses:
        """Poses after every frame f has moved by s·velocity[f] and turned by s·spin[f]."""
        p = self.poses
        out = ShapePoses(
            p.position.copy(), p.rotation.copy(), p.end.copy(), p.frame_position + s * velocity,
            np.array([turned(spin[f], s) @ p.frame_rotation[f] for f in range(self.frames)]).reshape(-1, 3, 3),
        )  # fmt: skip
        for i in range(len(self.kinds)):
            f = int(self.frame[i])
            if f >= 0:
                out.rotation[i] = out.frame_rotation[f] @ self.table.offset_rotation[i]
                out.position[i] = (
                    out.frame_position[f] + out.frame_rotation[f] @ self.table.offset_position[i]
                )
                second = int(self.second[i])
                out.end[i] = out.frame_position[second] if second >= 0 else out.position[i]
        return out

    def all_pairs(self, served: frozenset[tuple[str, str]]) -> Candidates:
        """Every served pair as a candidate."""
        pairs = self.table.pairs(served)
        found = Candidates(max(len(pairs), 1))
        found.pairs[: len(pairs)] = pairs
        found.count = len(pairs)
        return found


def measured(detector: Any, scene: Scene, poses: ShapePoses, margin: float = np.inf) -> ContactSet:
    """The contacts of every served pair; with an infinite margin there are some."""
    found = ContactSet(4)
    detector.compute_contacts(scene.all_pairs(detector.supported_pairs), poses, margin, found)
    expect(
        found.count or margin < np.inf,
        f"no contact of {', '.join(scene.kinds[:2])} is reported with an infinite margin",
    )
    return found


def outside(kind: str, size: Array, x: Array) -> float:
    """Signed distance of a point, in the shape's axes [m]."""
    if kind == "sphere":
        return float(np.linalg.norm(x)) - size[0]
    if kind == "capsule":
        return float(np.linalg.norm([x[0], x[1], max(abs(x[2]) - size[1], 0.0)])) - size[0]
    if kind == "cylinder":
        q = np.array([np.hypot(x[0], x[1]) - size[0], abs(x[2]) - size[1]])
    else:
        q = np.abs(x) - size
    return float(np.linalg.norm(np.maximum(q, 0.0)) + min(q.max(), 0.0))


def _support(kind: str, size: Array, d: Array) -> float:
    """max over the shape of d·x, in its axes, |d| = 1 [m]."""
    if kind == "sphere":
        return float(size[0])
    if kind == "capsule":
        return float(size[0] + size[1] * abs(d[2]))
    if kind == "cylinder":
        return float(size[0] * np.hypot(d[0], d[1]) + size[1] * abs(d[2]))
    return float(np.abs(d) @ size)


def _segments(a0: Array, a1: Array, b0: Array, b1: Array) -> float:
    """Least distance of two segments: inside both, or from one of the four ends [m]."""

    def end(x: Array, p: Array, q: Array) -> float:
        t = np.clip((x - p) @ (q - p) / ((q - p) @ (q - p)), 0.0, 1.0)
        return float(np.linalg.norm(x - p - t * (q - p)))

    ends = [end(a0, b0, b1), end(a1, b0, b1), end(b0, a0, a1), end(b1, a0, a1)]
    s, t = np.linalg.lstsq(np.column_stack([a1 - a0, b0 - b1]), b0 - a0, rcond=None)[0]
    if 0 <= s <= 1 and 0 <= t <= 1:
        ends.append(float(np.linalg.norm(a0 + s * (a1 - a0) - b0 - t * (b1 - b0))))
    return min(ends)


def _flat(table: ShapeTable, p: ShapePoses, i: int, j: int) -> float:
    n = p.rotation[j, :, 2]
    return float(n @ (p.position[i] - p.position[j])) - _support(
        table.kind[i], table.size[i], -n @ p.rotation[i]
    )


def _ball(table: ShapeTable, p: ShapePoses, i: int, j: int) -> float:
    """j is a sphere."""
    x = (p.position[j] - p.position[i]) @ p.rotation[i]
    return outside(table.kind[i], table.size[i], x) - float(table.size[j, 0])


def _ends(table: ShapeTable, p: ShapePoses, i: int) -> tuple[Array, Array]:
    if table.kind[i] == "edge":
        return p.position[i], p.end[i]
    axis = p.rotation[i, :, 2] * table.size[i, 1]
    return p.position[i] - axis, p.position[i] + axis


def _lines(table: ShapeTable, p: ShapePoses, i: int, j: int) -> float:
    distance = _segments(*_ends(table, p, i), *_ends(table, p, j))
    return distance - float(table.size[i, 0] + table.size[j, 0])


GAPS: Mapping[tuple[str, str], Callable[[ShapeTable, ShapePoses, int, int], float]] = {
    **{(kind, "half-space"): _flat for kind in ("sphere", "capsule", "cylinder", "box")},
    **{(kind, "sphere"): _ball for kind in ("sphere", "capsule", "cylinder", "box")},
    ("capsule", "capsule"): _lines,
    ("edge", "edge"): _lines,
}
"""Kind pair → gap [m] of shapes i and j of these kinds."""


def analytic_gap(scene: Scene, i: int, j: int) -> float:
    """The gap of two shapes whose kinds stand in `GAPS`, in either order."""
    kinds = scene.kinds[i], scene.kinds[j]
    formula = GAPS.get(kinds)
    if formula is not None:
        return formula(scene.table, scene.poses, i, j)
    return GAPS[kinds[1], kinds[0]](scene.table, scene.poses, j, i)
