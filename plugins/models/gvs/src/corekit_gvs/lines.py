"""Lines to draw: between two places of a soft link the cubic that leaves and meets them along the rod's axis.

    p(s) = h₀₀·p₀ + h₀₁·p₁ + ℓ·(h₁₀·t₀ + h₁₁·t₁),   s ∈ [0, 1],   t = R·e_x                        (1)
    ℓ = 2·|p₁ − p₀|/(1 + √((1 + t₀·t₁)/2))                                                       (2)

with Hermite's cubics h. With (2) an arc of a circle of angle α is met within α⁶/50,000 of its radius; t is along the
axis where nothing shears. Places are those of the computation, too few for a smooth picture of a rod that bends a lot.
A rigid link is drawn straight from its base to its tip, wherever its axes point.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.roles.model import Outline

__all__ = ["Lines"]

_PIECES = 4
"""Straight pieces drawn from place to place."""


@final
class Lines:
    """Every link as a polyline as thick as it is.

    Args:
        lines: nodes and radii [m] of each link's places, in order along it, and whether the link is soft.
        pieces: straight pieces drawn from place to place.
    """

    def __init__(self, lines: list[tuple[list[int], Array, bool]], pieces: int = _PIECES) -> None:
        self.node: IntArray = np.array([k for nodes, _, _ in lines for k in nodes], dtype=np.int64)
        lengths = [len(nodes) for nodes, _, _ in lines]
        firsts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        last = np.zeros(len(self.node), dtype=np.bool_)
        last[firsts[1:] - 1] = True
        # every place with the ones that follow up to the next; of a rigid link and at a link's end the place alone
        soft = np.repeat([each for _, _, each in lines], lengths)
        count = np.where(soft & ~last, pieces, 1)
        place = np.repeat(np.arange(len(last)), count)
        begins = np.concatenate([[0], np.cumsum(count)[:-1]])
        s = (np.arange(len(place)) - begins[place]) / pieces
        self._from, self._to = place, np.where(last[place], place, place + 1)
        self._starts = begins[firsts[:-1]].astype(np.int64)
        self._cubics = np.stack(
            [1 - 3 * s**2 + 2 * s**3, 3 * s**2 - 2 * s**3, s - 2 * s**2 + s**3, s**3 - s**2], axis=0
        )[:, :, None]
        self._share = s
        self._radius = self.between(np.concatenate([radius for _, radius, _ in lines]))

    def between(self, values: Array) -> Array:
        """Values at the drawn points, linear between those at places, (n, …)."""
        share = self._share.reshape(-1, *(1 for _ in values.shape[1:]))
        return (1 - share) * values[self._from] + share * values[self._to]

    def through(self, position: Array, rotation: Array) -> Outline:
        """The lines through places at these positions [m], shape (n, 3), with frames (n, 3, 3), x along the rod."""
        start, end = position[self._from], position[self._to]
        h00, h01, h10, h11 = self._cubics
        along = rotation[:, :, 0]
        leaves, meets = along[self._from], along[self._to]
        turned = np.maximum((leaves * meets).sum(axis=1), -1.0)
        reach = 2.0 * np.linalg.norm(end - start, axis=1) / (1.0 + np.sqrt(0.5 * (1.0 + turned)))
        points = h00 * start + h01 * end + reach[:, None] * (h10 * leaves + h11 * meets)
        return Outline(points=points, radius=self._radius.copy(), starts=self._starts.copy())
