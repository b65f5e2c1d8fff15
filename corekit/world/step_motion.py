"""How the bodies' states move in a step, prescribed coordinates on their given paths."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.world.body_system import BodySystem

__all__ = ["StepMotion", "take_over"]


@compiled
def take_over(motion: Array, velocity: Array) -> bool:
    """Whether all of q and v side by side is finite; then v (nv,) is written too."""
    for value in motion:
        if not math.isfinite(value):
            return False
    first = len(motion) - len(velocity)
    for i in range(len(velocity)):
        velocity[i] = motion[first + i]
    return True


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
        self._advance = tuple((i, part.body.model.advance, slices[i]) for i, part in enumerate(parts))
        self._alone = self._advance[0][1] if len(parts) == 1 else None
        self._slices = tuple(slices)
        self._moving = np.zeros(slices[-1].stop)
        self.prescribes = any(len(part.prescribed) for part in parts)

    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        """Move every body with v̄ over h; writes q, aux and time of `out`, prescribed coordinates set to p."""
        if self._alone is not None:
            self._alone(start.parts[0], velocity, step, previous.parts[0], out.parts[0])
        else:
            for i, advance, where in self._advance:
                advance(start.parts[i], velocity[where], step, previous.parts[i], out.parts[i])
        out.time = start.time + step
        if self.prescribes:
            self._place(out)

    def go_to(
        self, start: State, velocity: Array, step: float, theta: float, first: bool, trial: State, end: State | None
    ) -> State:  # fmt: skip
        """Move to the trial state of v_k = `velocity`, and to the end state if that is another and wanted; returns it.

        Args:
            first: whether the two are of another step, and so no neighbours: they may lie in another chart.
            end: where the end is wanted at θ ≠ 1, or None.
        """
        moving = self._moving
        np.multiply(start.v, 1.0 - theta, out=moving)
        moving += theta * velocity
        self.integrate(start, moving, theta * step, start if first else trial, trial)
        trial.v[:] = moving
        there = trial
        if theta != 1.0 and end is not None:
            self.integrate(start, moving, step, start if first else end, end)
            end.v[:] = moving
            there = end
        self.impose_rates(trial)
        return there

    def correct(self, smooth: State, velocity: Array, step: float, out: State) -> None:
        """After the split problem: q⁺ = advance(q_f, ½·(v⁺ − v_f), h) for v⁺ = `velocity`, at the same time."""
        np.subtract(velocity, smooth.v, out=self._moving)
        self._moving *= 0.5
        self.integrate(smooth, self._moving, step, smooth, out)
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
