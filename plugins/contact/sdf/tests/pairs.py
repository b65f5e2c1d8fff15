"""Pairs of shapes at given poses, and the contacts that a detector computes for them."""

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit_sdf.config import SdfConfig
from corekit_sdf.detector import SdfDetector
from corekit_sdf.features import FEATURES
from corekit_testing.rounding import rounding

KINDS = [
    (first, second)
    for first in ("cylinder", "capsule", "sphere")
    for second in ("half-space", "box", "sphere")
]

LENGTH = rounding(64, 1.0)
"""Rounding of a gap or a coordinate [m].

A point within 1 m passes four changes of frame (three products each), a closed form of at most forty operations and
its root, here and in the detector.
"""
DIRECTION = rounding(64, 1.0 / 0.05)
"""Rounding of a unit normal: the difference of two such points over its length, 0.05 m or more except along an axis."""


class Scene:
    """Shapes on bodies of one frame each, at the frame's origin; the last shapes are obstacles."""

    def __init__(
        self, shapes: list[tuple[str, tuple[float, ...]]], obstacles: int = 1, vertices=None, **options
    ):
        n = len(shapes)
        bodies = np.array([i if i < n - obstacles else -1 for i in range(n)])
        self.table = ShapeTable(
            kind=tuple(kind for kind, _ in shapes),
            size=np.array([[*size, 0.0, 0.0, 0.0][:3] for _, size in shapes]),
            body=bodies,
            frame=bodies.copy(),
            second_frame=np.full(n, -1),
            offset_position=np.zeros((n, 3)),
            offset_rotation=np.tile(np.eye(3), (n, 1, 1)),
            obstacle=np.array([-1 if i < n - obstacles else i - (n - obstacles) for i in range(n)]),
            vertices=(None,) * n if vertices is None else tuple(vertices),
            excluded_pairs=np.zeros((0, 2), dtype=np.int64),
            self_contact=np.zeros(max(n - obstacles, 1), dtype=bool),
        )
        self.position, self.rotation = np.zeros((n, 3)), np.tile(np.eye(3), (n, 1, 1))
        frames = n - obstacles
        # the frames of the bodies are views of the first shapes' poses: `set_pose` of a shape moves its frame
        self.poses = ShapePoses(
            self.position, self.rotation, self.position, self.position[:frames], self.rotation[:frames]
        )
        self.detector = SdfDetector(SdfConfig(**options))
        self.detector.prepare(self.table, self.detector.supported_pairs)
        self.candidates, self.contacts = Candidates(), ContactSet()

    def set_pose(self, index: int, position, rotation=None) -> None:
        self.position[index] = position
        self.rotation[index] = np.eye(3) if rotation is None else rotation

    def measure(self, margin: float = np.inf) -> ContactSet:
        self.detector.find_candidates(self.poses, margin, self.candidates)
        self.contacts.count = 0
        self.detector.compute_contacts(self.candidates, self.poses, margin, self.contacts)
        return self.contacts

    @property
    def gap(self) -> float:
        contacts = self.measure()
        return float(contacts.gap[: contacts.count].min())

    def rows(self, margin: float = np.inf) -> dict[int, tuple[float, Array, Array]]:
        """Feature → gap, normal, point."""
        s = self.measure(margin)
        return {
            int(s.id[k]) % FEATURES: (float(s.gap[k]), s.normal[k].copy(), s.point[k].copy())
            for k in range(s.count)
        }


def rotation_about(axis, angle: float) -> Array:
    """Rotation matrix by Rodrigues' formula."""
    x, y, z = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * hat + (1 - np.cos(angle)) * hat @ hat


def random_rotation(rng: np.random.Generator) -> Array:
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.sign(np.linalg.det(q))


def random_size(rng: np.random.Generator, kind: str) -> tuple[float, ...]:
    """Sizes as in the world of a soft arm, from thin disks to long rods [m]."""
    if kind == "half-space":
        return ()
    if kind == "sphere":
        return (rng.uniform(0.02, 0.1),)
    if kind == "box":
        return tuple(rng.uniform(0.02, 0.2, 3))
    if kind == "capsule":
        return (rng.uniform(0.02, 0.06), rng.uniform(0.02, 0.15))
    return (rng.uniform(0.03, 0.1), float(rng.choice([0.005, 0.02, 0.1])))


def thinnest(size: tuple[float, ...]) -> float:
    return min(size, default=np.inf)


def random_pair(
    rng: np.random.Generator, first: str, second: str, gap: float | None = None, **options
) -> Scene:
    """A pair at random poses with a gap of about `gap`: apart, or inside by less than half the thinnest extent."""
    sizes = random_size(rng, first), random_size(rng, second)
    scene = Scene([(first, sizes[0]), (second, sizes[1])], **options)
    scene.set_pose(1, rng.normal(size=3) * 0.1, random_rotation(rng))
    away = rng.normal(size=3)
    if second == "half-space":
        away = scene.rotation[1, :, 2]
    offset = rng.normal(size=3) * 0.05
    scene.set_pose(0, scene.position[1] + 0.6 * away / np.linalg.norm(away) + offset, random_rotation(rng))
    if gap is None:
        gap = rng.uniform(-0.4 * min(thinnest(sizes[0]), thinnest(sizes[1])), 0.03)
    contacts = scene.measure()
    low = int(contacts.gap[: contacts.count].argmin())
    # a shift along the normal changes the separation by exactly the shift, and φ by no more
    scene.position[0] += (gap - contacts.gap[low]) * contacts.normal[low]
    return scene


def support(kind: str, size, direction: Array) -> Array:
    """Maximum over the shape of direction·x, for directions of shape (..., 3) in the shape's own axes."""
    d = np.asarray(direction)
    length, across = np.linalg.norm(d, axis=-1), np.hypot(d[..., 0], d[..., 1])
    if kind == "sphere":
        return size[0] * length
    if kind == "capsule":
        return size[0] * length + size[1] * np.abs(d[..., 2])
    if kind == "cylinder":
        return size[0] * across + size[1] * np.abs(d[..., 2])
    return np.abs(d) @ np.asarray(size[:3])


def excess(kind: str, size, x: Array) -> float:
    """Violation of the inequalities that define the shape [m] at a point; ≤ 0 inside."""
    if kind == "half-space":
        return float(x[2])
    if kind == "sphere":
        return float(np.linalg.norm(x) - size[0])
    if kind == "capsule":
        return float(np.hypot(np.hypot(x[0], x[1]), max(abs(x[2]) - size[1], 0.0)) - size[0])
    if kind == "cylinder":
        return float(max(np.hypot(x[0], x[1]) - size[0], abs(x[2]) - size[1]))
    return float(np.max(np.abs(x) - np.asarray(size[:3])))


def proven_gap(scene: Scene) -> float:
    """Lower bound of φ from the detector's normal: a plane separates the pair after a shift by −bound along it."""
    contacts = scene.measure()
    n = contacts.normal[int(contacts.gap[: contacts.count].argmin())]
    extent = sum(
        support(scene.table.kind[k], scene.table.size[k], sign * n @ scene.rotation[k])
        for k, sign in ((0, -1.0), (1, 1.0))
    )
    return float(n @ (scene.position[0] - scene.position[1]) - extent)
