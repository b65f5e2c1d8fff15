"""How the bodies' states move in a step, prescribed coordinates on their given paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.world.body_system import BodySystem

__all__ = ["StepMotion"]


@final
class StepMotion:
    """Moves stacked states.

    Args:
        parts, slices: bodies, and where their velocities stand.

    Attributes:
        prescribes: whether any coordinate is prescribed.
    """

    def __init__(self, parts: Sequence[BodySystem], slices: Sequence[slice]) -> None:
        self._parts = tuple(parts)
        self._advance = tuple((i, part.body.model, slices[i]) for i, part in enumerate(parts))
        self._slices = tuple(slices)
        self._moving = np.zeros(slices[-1].stop)
        self.prescribes = any(len(part.prescribed) for part in parts)

    def advance(self, start: State, velocity: Array, step: float, near: State, out: State) -> None:
        """Move every body with v̄ over h; writes q, aux and time of `out`, prescribed coordinates set to p."""
        for i, model, where in self._advance:
            model.advance(start.parts[i], velocity[where], step, near.parts[i], out.parts[i])
        out.time = start.time + step
        if self.prescribes:
            self._place(out)

    def correct(self, smooth: State, velocity: Array, step: float, out: State) -> None:
        """After the split problem: q⁺ = advance(q_f, ½·(v⁺ − v_f), h) for v⁺ = `velocity`, at the same time."""
        np.subtract(velocity, smooth.v, out=self._moving)
        self._moving *= 0.5
        self.advance(smooth, self._moving, step, smooth, out)
        out.time = smooth.time
        if self.prescribes:
            self._place(out)

    def _place(self, out: State) -> None:
        """Set the prescribed coordinates of a state to p at its time."""
        for part, own in zip(self._parts, out.parts, strict=True):
            part.place(own, out.time)

    def impose_rates(self, out: State) -> None:
        """Set the prescribed velocities of a state to ṗ at its time."""
        if self.prescribes:
            for part, own in zip(self._parts, out.parts, strict=True):
                part.impose_rates(own, out.time)

    def fix(self, velocity: Array, time: float) -> None:
        """Set the prescribed entries of a stacked velocity to ṗ(time)."""
        if self.prescribes:
            for part, where in zip(self._parts, self._slices, strict=True):
                part.fix(time)
                velocity[where][part.prescribed] = part.fixed
