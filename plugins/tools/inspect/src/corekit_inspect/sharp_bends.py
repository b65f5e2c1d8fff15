"""Bodies that are bent more sharply than they are thick: nothing of matter is, so that a load or a unit is wrong.

A tube of radius r about a curve of curvature κ stretches its inner side by 1 − κ·r. Where κ·r > 1 that is below 0: the
tube has passed through itself. In a kink the curvature is large for a moment, so the mean over a curve counts

    σ = r·Σθ/Σl > 1                                                                               (1)

θ are the angles between neighbouring pieces of the polyline that draws the body, and l their lengths. Even a spring
that is wound turn to turn has σ < 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from corekit.roles.model import Outline
from corekit.simulation.loop import Simulation

__all__ = ["bend_doubts", "sharpest_bend"]

_PIECES = 5
"""With fewer ones a polyline is a chain of joints, and no curve."""


def sharpest_bend(outline: Outline) -> tuple[float, float, float, float]:
    """Return the largest σ of (1) among the polylines of a body, and Σθ [rad], Σl and r [m] there; or zeros."""
    found = (0.0, 0.0, 0.0, 0.0)
    ends = [*outline.starts[1:], len(outline.points)]
    for begin, end in zip(outline.starts, ends, strict=True):
        if end - begin <= _PIECES:
            continue
        pieces = np.diff(outline.points[begin:end], axis=0)
        lengths = np.linalg.norm(pieces, axis=1)
        if not (np.isfinite(lengths).all() and (lengths > 0.0).all()):
            continue
        along = pieces / lengths[:, None]
        sines = np.linalg.norm(np.cross(along[:-1], along[1:]), axis=1)
        turned = float(np.arctan2(sines, (along[:-1] * along[1:]).sum(axis=1)).sum())
        whole, radius = float(lengths.sum()), float(outline.radius[begin:end].min())
        found = max(found, (radius * turned / whole, turned, whole, radius))
    return found


def bend_doubts(simulation: Simulation, when: str) -> Iterator[str]:
    """Yield a sentence for every body with σ > 1 now.

    Args:
        when: now, in words.
    """
    for body in simulation.bodies:
        outline = body.model.compute_outline(simulation.state.body_states[body.index])
        sharp, turned, length, radius = sharpest_bend(outline)
        if sharp > 1.0:
            yield (
                f"bodies.{body.name}: {when} it turns at least {turned / (2.0 * math.pi):.3g} times in {length:.3g} m, "
                f"sharper than its radius of {1e3 * radius:.3g} mm allows: look for a load or a stiffness in another "
                "unit"
            )
