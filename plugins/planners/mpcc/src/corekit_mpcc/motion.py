"""A motion found in one stage, by named quantities over time."""

from __future__ import annotations

from typing import final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit_mpcc.transcription.stage import Stage
from corekit_mpcc.transcription.variables import Blocks

__all__ = ["Motion"]


@final
@frozen(eq=False)
class Motion:
    """Variables of every step.

    Args:
        variables: what a step consists of.
        start: x₋₁, shape (n,). x: shape (N, n), physical.
    """

    variables: Blocks
    start: Array
    x: Array

    def __getitem__(self, name: str) -> Array:
        """A quantity at every step, shape (N, size)."""
        return self.x[:, self.variables[name]]

    def over_time(self, name: str) -> Array:
        """The same with the start before it, shape (N + 1, size)."""
        return np.vstack([self.start[None, self.variables[name]], self[name]])

    def carried_to(self, stage: Stage, start: Array) -> Motion:
        """The same motion in the variables of another stage; those it lacks stay as at that stage's start."""
        x = np.tile(start, (len(self.x), 1))
        for block in stage.variables:
            if block.name in self.variables:
                x[:, stage.variables[block.name]] = self[block.name]
        return Motion(stage.variables, start, x)

    def resampled(self, steps: int) -> Array:
        """x with another number of steps, linearly between the old ones, shape (steps, n)."""
        old, new = np.linspace(0.0, 1.0, len(self.x) + 1), np.linspace(0.0, 1.0, steps + 1)[1:]
        whole = np.vstack([self.start, self.x])
        return np.stack([np.interp(new, old, column) for column in whole.T], axis=1)

    def shifted(self, by: int = 1) -> Array:
        """x begun `by` steps later, its last step repeated at rest, shape (N, n)."""
        x = np.vstack([self.x[by:], np.tile(self.x[-1], (by, 1))])
        for name in ("v", "omega", "drift"):
            if name in self.variables:
                x[-by:, self.variables[name]] = 0.0
        return x
