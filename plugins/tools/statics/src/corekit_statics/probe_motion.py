"""How far a step moves and turns bodies, measured at the probe points of their shapes."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.roles.collision_scene import CollisionScene

__all__ = ["ProbePoints", "displacements"]


@final
class ProbePoints:
    """Probe points of a world; those of two states are kept, since a step begins where the last one ended."""

    def __init__(self, scene: CollisionScene) -> None:
        self._scene = scene
        self._known: list[tuple[tuple[float, bytes, bytes], Array]] = []

    def points_at(self, state: State) -> Array:
        """Probe points at a world state, shape (k, 3) [m]; the caller must not change them."""
        instant = (state.time, state.q.tobytes(), state.aux.tobytes())
        for known, probes in self._known:
            if known == instant:
                return probes
        self._scene.update_poses(state)
        probes = self._scene.new_probes()
        self._known = [*self._known[-1:], (instant, probes)]
        return probes


def displacements(
    before: Array, after: Array, frame_body: IntArray, bodies: int, turns: bool = True
) -> tuple[Array, Array]:
    """Bounds of how far each body's probe points moved [m] and turned about their frames [rad], both (bodies,).

    Args:
        before, after: the origins of n frames, then three points around each, shape (4·n, 3) [m].
        frame_body: body of every frame, shape (n,).
        bodies: number of bodies.
        turns: whether rotations are needed; otherwise they are 0.
    Returns:
        The first is at most √3 times too large, and inf for all where any point is not finite.
    """
    n = len(frame_body)
    change = after - before
    moved, turned = np.zeros(bodies), np.zeros(bodies)
    if bodies == 1 and not turns:
        far = math.sqrt(3.0) * float(np.abs(change).max(initial=0.0))
        moved[0] = far if math.isfinite(far) else math.inf
        return moved, turned
    if not np.isfinite(change).all():
        moved[:] = math.inf
        return moved, turned
    _raise_to_largest(moved, frame_body, np.abs(change[:n]))
    if len(change) > n:
        around = np.repeat(np.arange(n), 3)
        owner = frame_body[around]
        _raise_to_largest(moved, owner, np.abs(change[n:]))
        if turns:
            arm = np.linalg.norm(before[n:] - before[around], axis=1)
            by = np.linalg.norm(change[n:] - change[around], axis=1)
            _raise_to_largest(turned, owner, (by / np.where(arm > 0, arm, math.inf))[:, None])
    return math.sqrt(3.0) * moved, turned


def _raise_to_largest(so_far: Array, owner: IntArray, values: Array) -> None:
    """Raise the entry of each owner to its largest value; `values` has shape (k, ·)."""
    if len(so_far) == 1:
        so_far[0] = max(so_far[0], values.max(initial=0.0))
    else:
        np.maximum.at(so_far, owner, values.max(axis=1, initial=0.0))
