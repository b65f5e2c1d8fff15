"""How far a trial step moves and turns bodies, by the probe points of their shapes."""

from __future__ import annotations

import math
from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.dynamics.collision_scene import CollisionScene

__all__ = ["Probed", "how_far"]


@final
class Probed:
    """Probes of a world, those at the last two states kept: an accepted step begins where the last one led."""

    def __init__(self, scene: CollisionScene) -> None:
        self._scene = scene
        self._known: list[tuple[tuple[float, bytes, bytes], Array]] = []

    def at(self, state: State) -> Array:
        """Probes at a world state, as `CollisionScene.probes` gives them; not to be changed."""
        place = (state.time, state.q.tobytes(), state.aux.tobytes())
        for known, probes in self._known:
            if known == place:
                return probes
        self._scene.update_poses(state)
        probes = self._scene.new_probes()
        self._known = [*self._known[-1:], (place, probes)]
        return probes


def how_far(
    before: Array, after: Array, frame_body: IntArray, bodies: int, turns: bool = True
) -> tuple[Array, Array]:
    """How far each body's probes moved [m] and turned about their frames' origins [rad], both (bodies,).

    Args:
        before, after: probes of a `CollisionScene`: the n frames' origins, then, if any shape reaches beyond its
            frame, three points around each, shape (n, 3) or (4·n, 3) [m].
        frame_body: body of every frame, shape (n,).
        bodies: how many there are.
        turns: whether to look at turning; otherwise it is told as 0.
    Returns:
        Bounds: the first at most √3 times too large, inf for all where any probe is not finite.
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
    _largest(moved, frame_body, np.abs(change[:n]))
    if len(change) > n:
        around = np.repeat(np.arange(n), 3)
        owner = frame_body[around]
        _largest(moved, owner, np.abs(change[n:]))
        if turns:
            arm = np.linalg.norm(before[n:] - before[around], axis=1)
            by = np.linalg.norm(change[n:] - change[around], axis=1)
            _largest(turned, owner, (by / np.where(arm > 0, arm, math.inf))[:, None])
    return math.sqrt(3.0) * moved, turned


def _largest(so_far: Array, owner: IntArray, values: Array) -> None:
    """Raise each owner's entry to its largest value, rows of shape (k, ·)."""
    if len(so_far) == 1:
        so_far[0] = max(so_far[0], values.max(initial=0.0))
    else:
        np.maximum.at(so_far, owner, values.max(axis=1, initial=0.0))
