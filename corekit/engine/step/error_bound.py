"""What may be left of a velocity v⁺ that a step solves for, in any units of length and time.

    ε(v⁺) = max(tolerance·V, 64·ϵ·X/h),     V = max(|v₀|, |v⁺|, |v_f|),     |v| = max_j r_j·|v_j|            (1)

with r the `velocity_scale`, by which rates of turning count as speeds of the surface. V is the largest speed that the
step itself knows: at its start, at its end, and v_f, at which the bodies would be without the impulses of contacts and
bounded rows. So a body that lies still is solved relative to the speed that its weight would give it in the step, as a
contact solver's own tolerance is (`corekit.roles.contact_scale`).

The second term is what rounding of places makes of speeds: no step moves anything by less than ϵ·X, ϵ = 2⁻⁵² and X the
largest coordinate of a frame. Rounding of stiff forces is no more: what is off by ϵ·X in the argument of a stiffness K
moves by h·(M + h²·K)⁻¹·h·K·ϵ·X/h, at most ϵ·X/h along K's eigenvectors. With it a world that comes to rest ends its
iterations there. 64 is as of `corekit_testing.rounding`: operations one after the other between places and forces.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.linalg.vectors import max_abs
from corekit.roles.body import stacked_velocity_scale
from corekit.roles.stage_solver import velocity_norms

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["NEGLIGIBLE", "ErrorBound"]

NEGLIGIBLE: Final = 1e-9
"""Tolerance of (1) within which nothing is wrong with an answer of a contact solver."""

_OPERATIONS: Final = 64.0


@compiled
def _largest_speed(scale: Array, start: Array, end: Array, free: Array) -> float:
    """V of (1), for vectors (nv,); nan where an entry is nan."""
    largest, total = 0.0, 0.0
    for i in range(len(scale)):
        for value in (start[i], end[i], free[i]):
            speed = abs(value * scale[i])
            largest, total = max(largest, speed), total + speed
    return math.nan if math.isnan(total) else largest


@compiled
def _reach(probes: Array) -> float:
    """X of (1) by the probe points of a scene (4·frames, 3), of which every fourth is the origin of a frame [m]."""
    largest, total = 0.0, 0.0
    for p in range(0, len(probes), 4):
        for i in range(3):
            size = abs(probes[p, i])
            largest, total = max(largest, size), total + size
    return math.nan if math.isnan(total) else largest


@final
class ErrorBound:
    """(1) of the steps of a world.

    Args:
        world: the world's terms.

    Attributes:
        scale: r, shape (nv,).
    """

    def __init__(self, world: WorldTerms) -> None:
        self._world = world
        scale = stacked_velocity_scale([terms.body for terms in world.bodies])
        self.scale = np.ones(world.nv) if scale is None else scale
        self._diagonals = [
            terms.matrix.where(np.arange(terms.body.nv), np.arange(terms.body.nv)) for terms in world.bodies
        ]
        frames = [len(terms.body.description.frames) for terms in world.bodies]
        self._poses = [(np.zeros((n, 3)), np.zeros((n, 3, 3))) for n in frames]
        self._start, self._step = world.new_state(), 0.0
        self._rounding: float | None = None

    def begin_step(self, start: State, step: float) -> None:
        """Begin a step h [s] from a state, which stays as it is until the step ends."""
        self._start, self._step, self._rounding = start, step, None

    def speed(self, velocity: Array) -> float:
        """|v| of (1) of a velocity, (nv,) [m/s]; nan where an entry is nan."""
        return velocity_norms(velocity, self.scale)[1]

    def of(
        self, velocity: Array, tolerance: float, free: Array | None = None, about: Array | None = None
    ) -> float:
        """(1) for v⁺ = `velocity` [m/s].

        Args:
            velocity: shape (nv,).
            tolerance: relative to V.
            free: v_f, shape (nv,), of a step with impulses that was reduced to them.
            about: v_k of one that was not, shape (nv,).
        """
        largest = _largest_speed(self.scale, self._start.v, velocity, velocity if free is None else free)
        if about is not None:
            largest = max(largest, self.speed(self.alone(about)))
        return max(tolerance * largest, self.rounding)

    @property
    def rounding(self) -> float:
        """The second term of (1) [m/s]."""
        if self._rounding is None:
            pipeline = self._world.pipeline
            probes = None if pipeline is None else pipeline.motion.probes_at(self._start)
            reach = self._place_frames() if probes is None else _reach(probes)
            self._rounding = _OPERATIONS * sys.float_info.epsilon * reach / self._step
        return self._rounding

    def _place_frames(self) -> float:
        """X of (1) by the models [m]."""
        reach = 0.0
        for terms, own, (position, rotation) in zip(
            self._world.bodies, self._start.body_states, self._poses, strict=True
        ):
            terms.body.model.compute_frame_poses(own, position, rotation)
            reach = max(reach, max_abs(position.ravel()))
        return reach

    def alone(self, about: Array) -> Array:
        """v_k + r_j/A_jj, shape (nv,), r of the step equation as expanded: what every coordinate alone would do."""
        moved = about.copy()
        for terms, where, own in zip(self._world.bodies, self._world.slices, self._diagonals, strict=True):
            mobile = terms.matrix.data.ravel(order="K")[own]
            moved[where] += np.divide(terms.rhs, mobile, out=np.zeros_like(terms.rhs), where=mobile > 0.0)
        return moved
