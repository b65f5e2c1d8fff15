"""Motion of one phase as named quantities over time."""

from __future__ import annotations

from typing import final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import ResultsError
from corekit_mpcc.transcription.stage import Stage
from corekit_mpcc.transcription.variables import Blocks

__all__ = ["Motion"]


@final
@frozen(eq=False)
class Motion:
    """Variables of every step.

    Args:
        variables: blocks of one step.
        start: x₋₁, shape (n,).
        x: physical variables, shape (N, n).
    """

    variables: Blocks
    start: Array
    x: Array

    def __getitem__(self, name: str) -> Array:
        """Return a quantity at every step, shape (N, size)."""
        return self.x[:, self.variables[name]]

    def with_start(self, name: str) -> Array:
        """Return a quantity at the start and at every step, shape (N + 1, size)."""
        return np.vstack([self.start[None, self.variables[name]], self[name]])

    def convert_to(self, stage: Stage, start: Array) -> Motion:
        """Convert to the variables of another stage; missing variables have their values of `start`.

        Raises:
            ResultsError: a variable has another size; the motion is of another world.
        """
        x = np.tile(start, (len(self.x), 1))
        for block in stage.variables:
            if block.name in self.variables:
                size = self.variables.block(block.name).size
                if size != block.size:
                    raise ResultsError(
                        f"the earlier plan has {size} variables {block.name!r} where this one has {block.size}: "
                        "it is of another world, or touches elsewhere"
                    )
                x[:, stage.variables[block.name]] = self[block.name]
        return Motion(stage.variables, start, x)

    def resample(self, steps: int) -> Array:
        """Interpolate x linearly to another count of steps, shape (steps, n)."""
        old_times, new_times = np.linspace(0.0, 1.0, len(self.x) + 1), np.linspace(0.0, 1.0, steps + 1)[1:]
        values = np.vstack([self.start, self.x])
        return np.stack([np.interp(new_times, old_times, column) for column in values.T], axis=1)

    def shift(self, by: int = 1) -> Array:
        """Return x from `by` steps later on; the last step repeats with zero velocity, shape (N, n)."""
        x = np.vstack([self.x[by:], np.tile(self.x[-1], (by, 1))])
        for name in ("v", "omega", "drift"):
            if name in self.variables:
                x[-by:, self.variables[name]] = 0.0
        return x
