"""How long the next step of a fixed-step integrator is."""

from __future__ import annotations

__all__ = ["next_step"]


def next_step(step: float, time: float, t_stop: float) -> tuple[float, float]:
    """Length of the next step [s] and the time at its end, exactly `t_stop` where it lands there.

    A whole step keeps its exact length, whatever rounding is in the two times.
    """
    left = t_stop - time
    if left > step * (1 + 1e-9):
        return step, time + step
    return (step if left > step * (1 - 1e-9) else left), t_stop
