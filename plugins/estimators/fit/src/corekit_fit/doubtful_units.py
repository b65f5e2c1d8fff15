"""Markers that are probably in millimetres and instants in milliseconds: said before a search takes minutes.

A marker is attached to the body, so that at the first instant it is near where the scenario has the body, within a few
of its lengths; and what was observed lasts about as long as the scenario. What is off by more than √1000 is nearer to
the number in another unit, on the scale of factors, than to that in metres and seconds.
"""

from __future__ import annotations

import math

import numpy as np

from corekit.roles.estimator import EstimationTask
from corekit_fit.observations import Observations

__all__ = ["doubt_units"]

_OFF = math.sqrt(1000.0)


def doubt_units(task: EstimationTask, observed: Observations) -> None:
    """Report what is improbable about observed markers to the task."""
    last = float(observed.time[-1]) if len(observed.time) else 0.0
    if last > _OFF * task.duration:
        task.report(
            f"what was observed ends at {last:g} s, the scenario at {task.duration:g} s, and all of it is simulated: "
            "are instants in milliseconds? They are read in seconds"
        )
    points = task.model.compute_outline(task.start).points
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    first = observed.position[np.isfinite(observed.position).any(axis=(1, 2))][:1].reshape(-1, 3)
    first = first[np.isfinite(first).any(axis=1)]
    if not (len(first) and size > 0.0):
        return
    apart = np.nan_to_num(first[:, None] - points)  # in the directions that were seen
    distance = float(np.linalg.norm(apart, axis=2).min(axis=1).max())
    if distance > _OFF * size:
        task.report(
            f"a marker begins {distance:.3g} m from {task.body!r}, whose size is {size:.3g} m: are markers in "
            "millimetres? They are read in metres"
        )
