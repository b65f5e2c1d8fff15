"""Contacts as what is drawn: which carry force, in which mode, with arrows of which length."""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, BoolArray
from corekit.data.contacts import ContactMode
from corekit.roles.viewer import ContactTrack, Replay

__all__ = [
    "FARTHEST",
    "Arrows",
    "arrows_of",
    "counts",
    "longest_arrow",
    "of_mode",
    "round_figure",
    "total_force",
]

FARTHEST = 0.2
"""Length of the longest force arrow as a share of the scene's extent."""
USUAL = 90.0
"""Of the largest forces of all frames, the percentile that says what is usual."""


@frozen
class Arrows:
    """How long force arrows are drawn:  length = min(scale·‖force‖, longest).

    Args:
        scale: [m/N].
        longest: [m].
    """

    scale: float
    longest: float = math.inf

    @property
    def most(self) -> float:
        """The largest force that is drawn in full [N]."""
        return self.longest / self.scale if self.scale > 0 else math.inf

    def vectors(self, force: Array) -> Array:
        """Arrows of forces [N], shape (n, 3) [m]."""
        size = np.linalg.norm(force, axis=-1, keepdims=True)
        with np.errstate(divide="ignore"):
            return force * np.minimum(self.scale, self.longest / size)

    def cut(self, force: Array) -> BoolArray:
        """Which of the forces are longer than their arrows, shape (n,)."""
        return np.linalg.norm(force, axis=-1) > self.most * (1.0 + 1e-9)


def of_mode(contact: ContactTrack, mode: ContactMode) -> tuple[Array, Array]:
    """Points [m] and forces [N] of the contacts in a mode, both (n, 3); non-finite ones left out."""
    chosen = np.isfinite(contact.point).all(axis=1) & np.isfinite(contact.force).all(axis=1)
    chosen &= contact.mode == int(mode)
    return contact.point[chosen], contact.force[chosen]


def counts(replay: Replay, mode: ContactMode) -> Array:
    """Number of contacts in a mode at each frame, shape (T,)."""
    return np.array([np.count_nonzero(contact.mode == int(mode)) for contact in replay.contacts], dtype=float)


def total_force(replay: Replay) -> Array:
    """Sum of the magnitudes of all contact forces at each frame [N], shape (T,)."""
    return np.array([np.nansum(np.linalg.norm(contact.force, axis=1)) for contact in replay.contacts])


def arrows_of(replay: Replay, extent: float, given: float | None) -> Arrows:
    """Lengths of a replay's force arrows: by the scale given [m/N], else so that usual forces are seen.

    With F_k the largest force in frame k, over the frames in which there is one,

        scale = 0.2·extent / F,   longest = 0.2·extent,   F = min(max F_k, 2·(90th percentile of F_k))      (1)

    so a short blow does not shrink the forces of all other instants to nothing: its arrow is cut instead.

    Args:
        replay: with finite positions; non-finite forces are passed over.
        extent: of the scene [m].
        given: scale that the user asked for.
    """
    if given is not None:
        return Arrows(given)
    sizes = [np.linalg.norm(contact.force, axis=1) for contact in replay.contacts]
    largest = np.array([np.max(size, where=np.isfinite(size), initial=0.0) for size in sizes])
    largest = largest[largest > 0]
    if not len(largest):
        return Arrows(0.0)
    full = min(float(largest.max()), 2.0 * float(np.percentile(largest, USUAL)))
    return Arrows(FARTHEST * extent / full, FARTHEST * extent)


def longest_arrow(replay: Replay, arrows: Arrows) -> str:
    """What the longest arrow stands for, in words; nothing where there is no force."""
    sizes = np.concatenate(
        [np.zeros(1), *(np.linalg.norm(contact.force, axis=1) for contact in replay.contacts)]
    )
    largest = float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))
    if not largest * arrows.scale > 0:
        return ""
    if largest > arrows.most:
        return f"longest force arrow: {arrows.most:.2g} N and above, up to {largest:.2g} N"
    return f"longest force arrow: {largest:.2g} N"


def round_figure(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above a positive value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * max(step for step in (1.0, 2.0, 5.0) if step <= value / power * (1 + 1e-9)))
