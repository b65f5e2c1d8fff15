"""Positions of markers on a body: fixed in frames, or evenly spaced along a line through frames.

With F frames e₀ … e_{F−1} and m markers, marker k has the line coordinate s = k·(F − 1)/(m − 1):

    p_k(q) = (1 − w)·e_⌊s⌋(q) + w·e_⌊s⌋+1(q),   w = s − ⌊s⌋                                        (1)

The spacing is even in frame indices, and in length if the distances between frames are equal.

Source: Jitosho et al. (2021), section III, the function p(q).
"""

from __future__ import annotations

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.errors import ConfigError, Mistake
from corekit.roles.model import ModelDescription
from corekit_fit.config import Markers
from corekit_fit.observations import Observations

__all__ = ["MarkerPositions", "frame_index", "marker_positions"]


@frozen(eq=False)
class MarkerPositions:
    """Each marker as a weighted sum of two points fixed in frames.

    Args:
        frame: indices of the model's frames, shape (m, 2).
        local: points in the frames [m], shape (m, 2, 3).
        weight: weights, shape (m, 2); rows sum to 1.
    """

    frame: IntArray
    local: Array
    weight: Array

    def world(self, position: Array, rotation: Array) -> Array:
        """Return the positions in the world for the poses of the frames [m], shape (m, 3)."""
        points = position[self.frame] + np.einsum("mkij,mkj->mki", rotation[self.frame], self.local)
        return np.einsum("mk,mki->mi", self.weight, points)

    def pull(self, covector: Array, frames: int) -> tuple[Array, Array]:
        """Derivatives by origins (T, frames, 3) and axes (T, frames, 3, 3) of those by positions, (T, m, 3)."""
        shares = self.weight[:, :, None] * np.eye(frames)[self.frame]
        by_position = np.einsum("mkf,tmi->tfi", shares, covector)
        return by_position, np.einsum("mkf,tmi,mkj->tfij", shares, covector, self.local)


def frame_index(description: ModelDescription, name: str, path: str) -> int:
    """Return the index of a frame.

    Raises:
        ConfigError: an unknown name.
    """
    if name in description.frames:
        return description.frames.index(name)
    few = (
        description.frames
        if len(description.frames) <= 12
        else (*description.frames[:6], "…", *description.frames[-3:])
    )
    raise ConfigError([Mistake(path, name, f"must be a frame of the body: {', '.join(few)}")], "the fit")


def _no_order(options: Markers, observed: Observations) -> Mistake:
    allowed = (
        f"must have one order of its markers, which are evenly spaced along the body in it: first come "
        f"{', '.join(observed.names)}, and at {observed.other_order:g} s others"
    )
    hint = (
        "write a marker that is hidden at first as a row without position, or say where each is in `attached`"
    )
    return Mistake("markers.file", str(options.file), allowed, hint)


def marker_positions(
    options: Markers, observed: Observations, description: ModelDescription
) -> MarkerPositions:
    """Return the positions of the observed markers on the body, by (1) or as attached.

    Raises:
        ConfigError: unknown frames or markers, markers without attachment, or none of them and no order of the markers.
    """
    m = len(observed.names)
    frame, local = np.zeros((m, 2), dtype=np.int64), np.zeros((m, 2, 3))
    weight = np.tile([1.0, 0.0], (m, 1))
    if options.attached:
        given = {each.marker: each for each in options.attached}
        mistakes = [
            Mistake("markers.attached", name, "is not a marker of the file")
            for name in set(given) - set(observed.names)
        ]
        mistakes += [
            Mistake("markers.attached", name, "is in the file, but has no entry in `attached`")
            for name in observed.names
            if name not in given
        ]
        if mistakes:
            raise ConfigError(mistakes, "the fit")
        for i, name in enumerate(observed.names):
            frame[i] = frame_index(description, given[name].frame, "markers.attached")
            local[i, 0] = given[name].local
        return MarkerPositions(frame, local, weight)
    if observed.other_order is not None:
        raise ConfigError([_no_order(options, observed)], "the fit")
    names = options.along or description.frames
    line = np.array([frame_index(description, name, "markers.along") for name in names])
    fraction = np.arange(m) * (len(line) - 1) / max(m - 1, 1)
    before = np.minimum(np.floor(fraction).astype(np.int64), max(len(line) - 2, 0))
    frame[:, 0], frame[:, 1] = line[before], line[np.minimum(before + 1, len(line) - 1)]
    weight[:, 1] = fraction - before
    weight[:, 0] = 1.0 - weight[:, 1]
    return MarkerPositions(frame, local, weight)
