"""Contacts for drawing: points and forces by mode, and lengths of arrows."""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, BoolArray
from corekit.data.contacts import ContactMode
from corekit.roles.viewer import ContactTrack, Replay

__all__ = [
    "MAX_ARROW",
    "Arrows",
    "compute_total_force",
    "count_contacts",
    "longest_arrow",
    "round_down",
    "select_arrows",
    "select_mode",
]

MAX_ARROW = 0.2
"""Length of the longest force arrow, relative to the extent of the scene."""
USUAL = 90.0
"""Percentile of the largest forces of all frames that defines a common force."""


@frozen
class Arrows:
    """Lengths of force arrows:  length = min(scale·‖force‖, longest).

    Args:
        scale: scale [m/N].
        longest: largest length [m].
    """

    scale: float
    longest: float = math.inf

    @property
    def most(self) -> float:
        """Largest force with a full-length arrow [N]."""
        return self.longest / self.scale if self.scale > 0 else math.inf

    def vectors(self, force: Array) -> Array:
        """Return the arrows of forces [N], shape (n, 3) [m]."""
        size = np.linalg.norm(force, axis=-1, keepdims=True)
        with np.errstate(divide="ignore"):
            return force * np.minimum(self.scale, self.longest / size)

    def cut(self, force: Array) -> BoolArray:
        """Return the mask of forces with shortened arrows, shape (n,)."""
        return np.linalg.norm(force, axis=-1) > self.most * (1.0 + 1e-9)


def select_mode(contact: ContactTrack, mode: ContactMode) -> tuple[Array, Array]:
    """Return points [m] and forces [N] of the finite contacts in a mode, both (n, 3)."""
    chosen = np.isfinite(contact.point).all(axis=1) & np.isfinite(contact.force).all(axis=1)
    chosen &= contact.mode == int(mode)
    return contact.point[chosen], contact.force[chosen]


def count_contacts(replay: Replay, mode: ContactMode) -> Array:
    """Return the count of contacts in a mode per frame, shape (T,)."""
    return np.array([np.count_nonzero(contact.mode == int(mode)) for contact in replay.contacts], dtype=float)


def compute_total_force(replay: Replay) -> Array:
    """Return the sum of the magnitudes of all contact forces per frame [N], shape (T,)."""
    return np.array([np.nansum(np.linalg.norm(contact.force, axis=1)) for contact in replay.contacts])


def select_arrows(replay: Replay, extent: float, given: float | None) -> Arrows:
    """Return the lengths of force arrows: by the scale of the user [m/N], or so that common forces are visible.

    With F_k the largest force in frame k, over the frames with a force,

        scale = 0.2·extent / F,   longest = 0.2·extent,   F = min(max F_k, 2·(90th percentile of F_k))      (1)

    A short impact therefore gets a shortened arrow, and the forces of all other instants stay visible.

    Args:
        replay: replay with finite positions; non-finite forces are ignored.
        extent: extent of the scene [m].
        given: scale of the user, or None.
    """
    if given is not None:
        return Arrows(given)
    sizes = [np.linalg.norm(contact.force, axis=1) for contact in replay.contacts]
    largest = np.array([np.max(size, where=np.isfinite(size), initial=0.0) for size in sizes])
    largest = largest[largest > 0]
    if not len(largest):
        return Arrows(0.0)
    full = min(float(largest.max()), 2.0 * float(np.percentile(largest, USUAL)))
    return Arrows(MAX_ARROW * extent / full, MAX_ARROW * extent)


def longest_arrow(replay: Replay, arrows: Arrows) -> str:
    """Return the meaning of the longest arrow as text; empty without a force."""
    sizes = np.concatenate(
        [np.zeros(1), *(np.linalg.norm(contact.force, axis=1) for contact in replay.contacts)]
    )
    largest = float(np.max(sizes, where=np.isfinite(sizes), initial=0.0))
    if not largest * arrows.scale > 0:
        return ""
    if largest > arrows.most:
        return f"longest force arrow: {arrows.most:.2g} N and above, up to {largest:.2g} N"
    return f"longest force arrow: {largest:.2g} N"


def round_down(value: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten that is not above a positive value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * max(step for step in (1.0, 2.0, 5.0) if step <= value / power * (1 + 1e-9)))
