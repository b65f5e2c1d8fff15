"""How long the next step is, so that steps land on the stops they are given."""

from __future__ import annotations

import math

__all__ = ["next_step", "step_towards"]


def next_step(step: float, time: float, t_stop: float) -> tuple[float, float]:
    """Return the size of the next step [s] and the time at its end, exactly `t_stop` where it lands there.

    A whole step keeps its exact size, whatever rounding is in the two times.
    """
    left = t_stop - time
    if left > step * (1.0 + 1e-9):
        return step, time + step
    return (step if left > step * (1.0 - 1e-9) else left), t_stop


def step_towards(step: float, wanted: float, time: float, t_stop: float) -> tuple[float, float]:
    """Return the same for a wanted size of at most a step: a whole number of such steps makes the next step."""
    whole, t_end = next_step(step, time, t_stop)
    parts = max(1, math.ceil(whole / wanted * (1.0 - 1e-9)))
    return (whole, t_end) if parts == 1 else (whole / parts, time + whole / parts)
