"""Contacts as what is drawn: which carry force, in which mode, with arrows of which length."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactMode
from corekit.roles.viewer import ContactTrack, Replay

__all__ = ["arrow_scale", "counts", "of_mode", "round_figure", "total_force"]

FARTHEST = 0.2
"""Length of the longest force arrow as a share of the scene's extent."""


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


def arrow_scale(replay: Replay, extent: float, given: float | None) -> float:
    """Length of a force arrow per force [m/N]: as given, else the largest force spans a fifth of the scene."""
    if given is not None:
        return given
    sizes = [np.linalg.norm(contact.force, axis=1) for contact in replay.contacts if len(contact.force)]
    every = np.concatenate(sizes) if sizes else np.zeros(0)
    every = every[np.isfinite(every)]
    largest = float(every.max()) if len(every) else 0.0
    return FARTHEST * extent / largest if largest > 0 else 0.0


def round_figure(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above a positive value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * max(step for step in (1.0, 2.0, 5.0) if step <= value / power * (1 + 1e-9)))
