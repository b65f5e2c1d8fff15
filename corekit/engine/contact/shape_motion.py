"""How far two shapes may approach each other in a step, from how their probe points moved in the last one.

Bodies move on as they did over the last step, or at the first one as their velocities say; obstacles as they will.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.body import Body
from corekit.roles.collision_scene import CollisionScene
from corekit.roles.component import InternalState

__all__ = ["ShapeMotion"]


@final
class ShapeMotion:
    """The probe points of a scene in the last step and in this one.

    Args:
        bodies: of the world.
        scene: where their shapes are.
    """

    def __init__(self, bodies: Sequence[Body], scene: CollisionScene) -> None:
        self._bodies, self._scene = tuple(bodies), scene
        probes = scene.new_probes()
        # −∞ before the first step [s]
        self._last_probes, self._last_time = np.zeros_like(probes), -math.inf
        self._probes, self._time = probes, -math.inf
        # where `closing` left the shapes, for one `approach`: the start, and how often the scene was placed till then
        self._placed: tuple[State, int] | None = None
        self._moved = 0.0
        # the start of the current step, at which the probe points are
        self._start: State | None = None

    def approach(self, start: State, step: float) -> float:
        """Place the shapes at the start and return how far two of them may approach in a step h [m]."""
        scene, self._time, self._start = self._scene, start.time, start
        self._place(start)
        moved = self._moved
        elapsed = self._time - self._last_time
        if 0.0 < elapsed < math.inf and not scene.moving:
            return 2.0 * (step * (moved / elapsed))
        return 2.0 * (step * self._speed(start, step, moved, elapsed))

    def _place(self, start: State) -> None:
        """Place the shapes at the start, unless they stand there; measure how far probes moved since the last step."""
        placed, self._placed, scene = self._placed, None, self._scene
        if placed is None or placed[0] is not start or placed[1] != scene.placements:
            scene.update_poses(start)
            self._moved = scene.update_probes(self._last_probes, self._probes)

    def closing(self, start: State, step: float) -> float:
        """As `approach`, without what all bodies do alike and what slides along planes [m]."""
        self._placed, scene = None, self._scene
        approach = self.approach(start, step)
        elapsed = self._time - self._last_time
        if not 0.0 < elapsed < math.inf or scene.moving:
            return approach
        self._placed = start, scene.placements
        return min(approach, step / elapsed * scene.closing_distance(self._last_probes, self._probes))

    def _speed(self, start: State, step: float, moved: float, elapsed: float) -> float:
        """How fast shapes may approach [m/s].

        Args:
            moved: largest distance of a probe point since the last step [m].
            elapsed: since then [s].
        """
        scene, now = self._scene, self._probes
        if not 0 < elapsed < math.inf:
            ahead = State.stacked([body.sizes for body in self._bodies])
            for i, body in enumerate(self._bodies):
                part = start.body_states[i]
                body.model.integrate(part, part.v, step, part, ahead.body_states[i])
            ahead.time = start.time
            scene.update_poses(ahead)
            # those of the last step stay: an integrator may begin a step at an earlier time in between
            moved, elapsed = scene.update_probes(now, np.zeros_like(now)), step
            scene.update_poses(start)
        speed = moved / elapsed
        if scene.moving:
            t0, t1 = start.time, start.time + step
            to_come = [scene.obstacle_displacement(o, now, t0, t0, t1) for o in scene.moving]
            speed += max(float(np.max(np.linalg.norm(path, axis=1), initial=0.0)) for path in to_come) / step
        return speed

    def probes_at(self, start: State) -> Array | None:
        """The probe points at the start of the current step, (4·frames, 3) [m]; None if another one is asked for."""
        return self._probes if self._start is start else None

    def accept(self) -> None:
        """Keep where the probe points are at the start of an accepted step."""
        self._placed = self._start = None
        self._last_probes, self._probes, self._last_time = self._probes, self._last_probes, self._time

    def internal_state(self) -> InternalState:
        """Where the probe points were in the last step, and when."""
        return {"probe": self._last_probes.copy(), "probe_time": np.array(self._last_time)}

    def restore(self, internal_state: InternalState) -> None:
        """Restore what `internal_state` gave; empty means a fresh start."""
        self._placed = self._start = None
        self._last_time = float(internal_state.get("probe_time", -math.inf))
        self._last_probes[:] = internal_state.get("probe", 0.0)
