"""A third party's shape without an end and its detector: balls on a corrugated ground.

The ground is what lies below z = a·sin(2πx/l) in its own axes; the contact is at the place x of the sine nearest to
the ball's centre (c, ·, z), where

    f(x) = (x − c) + (s(x) − z)·s′(x) = 0,   s(x) = a·sin(2πx/l)                          (1)
    φ = ±|(c − x, z − s(x))| − r, positive above the ground                              (2)

by Newton's method from the best of some places; the balls of the kit are smaller than the sine is bent.
"""

import math
from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.geometry.shape_specs import ShapeSpec
from corekit.registry.spec import ComponentSpec
from corekit.roles.detector import ContactDetector

KIND = "corrugated-ground-of-the-kit"

ground = ShapeSpec(kind=KIND, sizes=("height", "length"), bounding_radius=lambda size, vertices: math.inf)
spec = ComponentSpec(
    role="contact_detectors",
    name="ground-detector",
    api="0.2",
    target=f"{__name__}:GroundDetector",
    config=f"{__name__}:Options",
    summary="Balls on corrugated ground.",
)


@frozen(kw_only=True)
class Options:
    """None."""


@final
class GroundDetector(ContactDetector):
    """Implements (1) and (2); a pair has one contact."""

    def __init__(self, config, context=None):
        self._table: Any = None

    @property
    def supported_pairs(self):
        return frozenset({("sphere", KIND)})

    def prepare(self, table, served):
        self._table, self._pairs = table, table.pairs(served)

    def find_candidates(self, poses, margin, out):
        out.reserve(len(self._pairs))
        out.count = 0
        for i, j in self._pairs:
            height = (poses.position[i] - poses.position[j]) @ poses.rotation[j][:, 2]
            if height - self._table.size[i, 0] - self._table.size[j, 0] < margin:
                out.pairs[out.count] = i, j
                out.count += 1

    def _gap(self, i, j, poses):
        """Gap and normal of (2), in world axes."""
        (a, length), r = self._table.size[j, :2], self._table.size[i, 0]
        k = 2.0 * np.pi / length
        c, _, z = (poses.position[i] - poses.position[j]) @ poses.rotation[j]
        places = c + np.linspace(-0.5, 0.5, 41) * length
        x = places[np.argmin((places - c) ** 2 + (a * np.sin(k * places) - z) ** 2)]
        for _ in range(30):
            s, ds, dds = a * np.sin(k * x), a * k * np.cos(k * x), -a * k * k * np.sin(k * x)
            x -= ((x - c) + (s - z) * ds) / (1.0 + ds * ds + (s - z) * dds)
        away = np.array([c - x, 0.0, z - a * np.sin(k * x)])
        above = 1.0 if z > a * np.sin(k * c) else -1.0
        distance = np.linalg.norm(away)
        return above * distance - r, poses.rotation[j] @ (above * away / distance)

    def compute_contacts(self, candidates, poses, margin, out):
        out.reserve(out.count + candidates.count)
        for i, j in candidates.pairs[: candidates.count]:
            gap, normal = self._gap(i, j, poses)
            if gap >= margin:
                continue
            c = out.count
            out.count += 1
            point = poses.position[i] - (self._table.size[i, 0] + 0.5 * gap) * normal
            out.id[c], out.shape[c], out.gap[c] = i * len(self._table) + j, (i, j), gap
            out.normal[c], out.point[c] = normal, point
            out.frame[c], out.local_point[c], out.weight[c] = -1, 0.0, 0.0
            frame = self._table.frame[i]
            out.frame[c, 0], out.weight[c, 0] = frame, 1.0
            out.local_point[c, 0] = (point - poses.frame_position[frame]) @ poses.frame_rotation[frame]
