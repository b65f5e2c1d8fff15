"""A third party's shape and its detector: tori against spheres and half-spaces, by closed forms.

With the ring's radius a, the tube's radius b, and x of the other shape in the axes of the torus,

    sphere:      φ = |(ρ − a, z)| − b − r,    ρ = |(x, y)|                                (1)
    half-space:  φ = n·(c − o) − a·|(n_x, n_y)| − b                                       (2)
"""

from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.geometry.shape_specs import ShapeSpec
from corekit.registry.spec import ComponentSpec
from corekit.roles.detector import ContactDetector

KIND = "torus-of-the-kit"

torus = ShapeSpec(
    kind=KIND,
    sizes=("ring_radius", "tube_radius"),
    bounding_radius=lambda size, vertices: sum(size[:2]),
    inradius=lambda size, vertices: size[1],
    surface=f"{__name__}:triangles",
)
spec = ComponentSpec(
    role="contact_detectors",
    name="torus-detector",
    api="0.2",
    target=f"{__name__}:TorusDetector",
    config=f"{__name__}:Options",
    summary="Tori against spheres and half-spaces.",
)


def triangles(size, vertices, sides=24):
    """Corners of triangles on the torus [m], shape (3·n, 3)."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides + 1)
    u, v = np.meshgrid(angle, angle, indexing="ij")
    rho = size[0] + size[1] * np.cos(v)
    points = np.stack([rho * np.cos(u), rho * np.sin(u), size[1] * np.sin(v)], axis=-1)
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    return np.stack([a, b, c, a, c, d], axis=2).reshape(-1, 3)


@frozen(kw_only=True)
class Options:
    """None."""


@final
class TorusDetector(ContactDetector):
    """Implements (1) and (2); a pair has one contact, with the id first·n + second."""

    def __init__(self, config, context=None):
        self._table: Any = None
        self._pairs = np.zeros((0, 2), dtype=np.int64)

    @property
    def supported_pairs(self):
        return frozenset({("sphere", KIND), (KIND, "half-space")})

    def prepare(self, table, served):
        self._table, self._pairs, self._bound = table, table.pairs(served), table.bounding_radii()

    def find_candidates(self, poses, margin, out):
        out.count = 0
        out.reserve(len(self._pairs))
        for i, j in self._pairs:
            away = poses.position[i] - poses.position[j]
            flat = self._table.kind[j] == "half-space"
            reach = self._bound[i] + (0.0 if flat else self._bound[j])
            distance = away @ poses.rotation[j][:, 2] if flat else np.linalg.norm(away)
            if distance - reach < margin:
                out.pairs[out.count] = i, j
                out.count += 1

    def _sphere_gap(self, ball, ring, poses):
        """Gap, normal into the sphere and point of (1)."""
        (a, b), r = self._table.size[ring, :2], self._table.size[ball, 0]
        x, y, z = (poses.position[ball] - poses.position[ring]) @ poses.rotation[ring]
        rho = np.hypot(x, y)
        across = np.array([(rho - a) * x / rho, (rho - a) * y / rho, z])
        distance = np.linalg.norm(across)
        normal, gap = poses.rotation[ring] @ across / distance, distance - b - r
        return gap, normal, poses.position[ball] - (r + 0.5 * gap) * normal

    def _plane_gap(self, ring, plane, poses):
        """Gap, normal into the torus and point of (2)."""
        (a, b), n = self._table.size[ring, :2], poses.rotation[plane][:, 2]
        x, y, _ = n @ poses.rotation[ring]
        lowest = -(a / np.hypot(x, y)) * (poses.rotation[ring] @ [x, y, 0.0]) - b * n
        gap = n @ (poses.position[ring] - poses.position[plane] + lowest)
        return gap, n, poses.position[ring] + lowest - 0.5 * gap * n

    def _gap(self, i, j, poses):
        if self._table.kind[j] == "half-space":
            return self._plane_gap(i, j, poses)
        if self._table.kind[j] == KIND:
            return self._sphere_gap(i, j, poses)
        gap, normal, point = self._sphere_gap(j, i, poses)
        return gap, -normal, point

    def compute_contacts(self, candidates, poses, margin, out):
        out.reserve(out.count + candidates.count)
        for i, j in candidates.pairs[: candidates.count]:
            gap, normal, point = self._gap(i, j, poses)
            if gap >= margin:
                continue
            c = out.count
            out.count += 1
            out.id[c], out.shape[c], out.gap[c] = i * len(self._table) + j, (i, j), gap
            out.normal[c], out.point[c] = normal, point
            out.frame[c], out.local_point[c], out.weight[c] = -1, 0.0, 0.0
            for slot, (shape, sign) in enumerate(((i, 1.0), (j, -1.0))):
                frame = self._table.frame[shape]
                if frame >= 0:
                    out.frame[c, slot], out.weight[c, slot] = frame, sign
                    place = point - poses.frame_position[frame]
                    out.local_point[c, slot] = place @ poses.frame_rotation[frame]
