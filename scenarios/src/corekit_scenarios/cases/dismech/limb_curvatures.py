"""Algorithm 1 of DisMech as it is printed: natural curvatures whose shapes at rest have the limbs' filmed curvatures.

    κ = mean over the inner points of a limb of 2·(t₀ × t₁)/(1 + t₀·t₁),   t the directions between its points     (5)
    λ(κ̄) = |κ₁* − κ₁(κ̄)| + |κ₂* − κ₂(κ̄)|                                                                    (19)
    ∂λ/∂κ̄ᵢ ≈ (λ(κ̄ + ε·eᵢ) − λ(κ̄))/ε,     κ̄ ← κ̄ − α·∂λ/∂κ̄                                              (20), (21)

α begins at 0.1 in every shape and is halved where λ grew; a step is never taken back, and the next shape begins at the
κ̄ of the last. λ has a kink where it is least, so that steps keep their length until α is as short as what is left.

The paper gives α, and neither the points nor ε nor the tolerance. Points are five a limb, as in the authors' code:
its tags, and every sixth of its 25 nodes. The tolerance is that of the code too. κ̄ counts as κ does, over the length
between two points, so that without a weight κ is κ̄ and the slope of λ 1. In this measure ε must be below the tolerance:
where κᵢ is ε/2 short of κᵢ*, a forward difference reaches across the kink and vanishes; with both limbs there λ stays
at ε.

Source: Choi et al. (2024), section V-B, equations (5) and (19) to (21), Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array

__all__ = ["Descended", "descend", "limb_curvature", "turn_to"]

ALPHA = 0.1
PROBE, TOLERANCE = 1e-3, 2.5e-3
"""ε, ours, and the λ at which a shape is found."""
MOST_STEPS = 200
"""Of a shape, ours: the paper has no limit."""


def limb_curvature(points: Array) -> float:
    """(5) of a limb's points in the x–z plane, shape (k, 2), positive where it turns from x to z."""
    along = np.diff(points, axis=0)
    t = along / np.linalg.norm(along, axis=1)[:, None]
    before, after = t[:-1], t[1:]
    turn = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return float(np.mean(2.0 * turn / (1.0 + np.sum(before * after, axis=1))))


def turn_to(points: Array, like: Array) -> Array:
    """Turn points (k, 2) about the first one until the second lies in the direction of that of `like`."""
    (x, y), (u, v) = points[1] - points[0], like[1] - like[0]
    c, s = np.array([x * u + y * v, x * v - y * u]) / np.hypot(x, y) / np.hypot(u, v)
    return points[0] + (points - points[0]) @ np.array([[c, s], [-s, c]])


@frozen(eq=False)
class Descended:
    """Natural curvatures of a shape, (2,), λ there, and how many steps it took."""

    natural: Array
    loss: float
    steps: int

    @property
    def found(self) -> bool:
        """Whether λ fell to the tolerance."""
        return self.loss < TOLERANCE


def descend(curvatures: Callable[[Array], Array], wanted: Array, natural: Array) -> Descended:
    """Algorithm 1 for one shape.

    Args:
        curvatures: κ̄ → κ of both limbs at rest. wanted: κ*, (2,). natural: where κ̄ begins, (2,).
    """

    def loss_of(value: Array) -> float:
        return float(np.abs(wanted - curvatures(value)).sum())

    alpha, previous, steps = ALPHA, np.inf, 0
    while (loss := loss_of(natural)) >= TOLERANCE and steps < MOST_STEPS:
        if loss > previous:
            alpha *= 0.5
        previous = loss
        slope = np.array([loss_of(natural + PROBE * unit) - loss for unit in np.eye(2)]) / PROBE
        natural, steps = natural - alpha * slope, steps + 1
    return Descended(natural, loss, steps)
