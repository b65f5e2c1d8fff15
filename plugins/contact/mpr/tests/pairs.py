"""Pairs of convex shapes at given poses, and the contacts that the detector computes for them."""

import numpy as np
from scipy.spatial import ConvexHull

from corekit.data.arrays import Array
from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit_mpr.config import MprConfig
from corekit_mpr.detector import MprDetector
from corekit_testing.rounding import rounding

ROUND = ("sphere", "capsule", "cylinder", "box", "polytope")
KINDS = [(first, second) for k, first in enumerate(ROUND) for second in ROUND[k:]]

LENGTH = rounding(64, 1.0)
"""Rounding of a gap or a coordinate [m] where the normal is a shape's own axis or a refined direction.

A point within 1 m passes four changes of frame (three products each), the support functions and the patch, forty
operations more."""
DIRECTION = rounding(64)
"""Rounding of a unit normal that is a shape's own axis: four changes of frame and a unit length."""


def _padded(size):
    return [*size, 0.0, 0.0, 0.0][:3]


class Scene:
    """Two shapes, each on its own body, the second an obstacle if `obstacle`."""

    def __init__(self, shapes, vertices=(None, None), obstacle=False, **options):
        bodies = np.array([0, -1]) if obstacle else np.arange(2)
        self.table = ShapeTable(
            kind=tuple(kind for kind, _ in shapes),
            size=np.array([_padded(size) for _, size in shapes]),
            body=bodies,
            frame=bodies.copy(),
            second_frame=np.full(2, -1),
            offset_position=np.zeros((2, 3)),
            offset_rotation=np.tile(np.eye(3), (2, 1, 1)),
            obstacle=np.where(bodies < 0, 0, -1),
            vertices=tuple(vertices),
            excluded_pairs=np.zeros((0, 2), dtype=np.int64),
            self_contact=np.zeros(2, dtype=bool),
        )
        self.position, self.rotation = np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1))
        frames = 1 if obstacle else 2
        # frames are views of the shapes' poses: `set_pose` of a shape moves its frame
        self.poses = ShapePoses(
            self.position, self.rotation, self.position, self.position[:frames], self.rotation[:frames]
        )
        self.detector = MprDetector(MprConfig(**options))
        self.detector.prepare(self.table, self.detector.supported_pairs)
        self.candidates, self.contacts = Candidates(), ContactSet()

    @property
    def tolerance(self) -> float:
        """Largest error of a depth [m] by default: a part of the ball that fits into the thinner shape."""
        thin = [self._ball(k) for k in range(2)]
        return MprConfig().tolerance * min(thin)

    def _ball(self, k):
        kind, vertices = self.table.kind[k], self.table.vertices[k]
        if vertices is not None:
            planes = ConvexHull(np.asarray(vertices) - np.asarray(vertices).mean(axis=0)).equations
            return float(-planes[:, 3].max())
        return float(self.table.size[k, : {"cylinder": 2, "box": 3}.get(kind, 1)].min())

    def set_pose(self, index, position, rotation=None):
        self.position[index] = position
        self.rotation[index] = np.eye(3) if rotation is None else rotation

    def measure(self, margin=np.inf) -> ContactSet:
        self.detector.find_candidates(self.poses, margin, self.candidates)
        self.contacts.count = 0
        self.detector.compute_contacts(self.candidates, self.poses, margin, self.contacts)
        return self.contacts

    def closest(self) -> tuple[float, Array, Array]:
        """Gap, normal and point of the closest contact."""
        contacts = self.measure()
        low = int(contacts.gap[: contacts.count].argmin())
        return float(contacts.gap[low]), contacts.normal[low].copy(), contacts.point[low].copy()

    @property
    def gap(self) -> float:
        return self.closest()[0]

    def rows(self, margin=np.inf):
        """Gap, normal and point of every contact by its id."""
        s = self.measure(margin)
        return {
            int(s.id[k]): (float(s.gap[k]), s.normal[k].copy(), s.point[k].copy()) for k in range(s.count)
        }


def rotation_about(axis, angle) -> Array:
    """Rotation matrix by Rodrigues' formula."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * hat + (1 - np.cos(angle)) * hat @ hat


def random_rotation(rng) -> Array:
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.sign(np.linalg.det(q))


def random_shape(rng, kind):
    """Sizes as in the world of a soft arm, and vertices [m]."""
    if kind == "half-space":
        return (), None
    if kind == "sphere":
        return (rng.uniform(0.02, 0.1),), None
    if kind == "box":
        return tuple(rng.uniform(0.02, 0.2, 3)), None
    if kind == "capsule":
        return (rng.uniform(0.02, 0.06), rng.uniform(0.02, 0.15)), None
    if kind == "cylinder":
        return (rng.uniform(0.03, 0.1), float(rng.choice([0.005, 0.02, 0.1]))), None
    points = rng.normal(size=(int(rng.integers(5, 20)), 3))
    return (), 0.1 * points / np.linalg.norm(points, axis=1)[:, None] + rng.normal(size=3) * 0.03


def random_pair(rng, first, second, gap=None, **options) -> Scene:
    """A pair at random poses with a gap near `gap`, by default from 25 mm deep to 30 mm apart."""
    shapes = [(kind, *random_shape(rng, kind)) for kind in (first, second)]
    scene = Scene([(k, s) for k, s, _ in shapes], [v for _, _, v in shapes], **options)
    scene.set_pose(1, rng.normal(size=3) * 0.1, random_rotation(rng))
    away = rng.normal(size=3)
    if second == "half-space":
        away = scene.rotation[1, :, 2]
    scene.set_pose(0, scene.position[1] + 0.7 * away / np.linalg.norm(away), random_rotation(rng))
    now, normal, _ = scene.closest()
    scene.position[0] += ((rng.uniform(-0.025, 0.03) if gap is None else gap) - now) * normal
    return scene


def support(kind, size, vertices, d) -> Array:
    """Maximum over the shape of d·x for directions (..., 3) in its own axes, independent of the detector's code."""
    if kind in ("polytope", "mesh"):
        return (d @ np.asarray(vertices).T).max(axis=-1)
    if kind == "box":
        return np.abs(d) @ np.asarray(size[:3])
    length, side = np.linalg.norm(d, axis=-1), np.hypot(d[..., 0], d[..., 1])
    if kind == "sphere":
        return size[0] * length
    if kind == "capsule":
        return size[0] * length + size[1] * np.abs(d[..., 2])
    return size[0] * side + size[1] * np.abs(d[..., 2])


def separation(scene: Scene, n) -> Array:
    """Evaluate f(n) = min over the first of n·a − max over the second of n·b, n of shape (..., 3); f ≤ gap."""
    low = support(scene.table.kind[0], scene.table.size[0], scene.table.vertices[0], -n @ scene.rotation[0])
    high = support(scene.table.kind[1], scene.table.size[1], scene.table.vertices[1], n @ scene.rotation[1])
    return n @ (scene.position[0] - scene.position[1]) - low - high
