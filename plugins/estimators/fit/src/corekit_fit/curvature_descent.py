"""The estimator `curvature-descent`: natural curvature by gradient descent, Algorithm 1 of the paper.

    λ(x) = ½·mean over markers of |p̂ − p(x)|²                                                        (1)
    xᵢ ← xᵢ − α·∂λ/∂xᵢ/sᵢ²,     sᵢ² = mean of |∂p/∂xᵢ|²,     α ← α/2 where λ grew                      (2)

with ∂p/∂xᵢ ≈ (p(x + ε·eᵢ) − p(x))/ε by forward differences, one equilibrium each, and ∂λ/∂xᵢ from them. The paper's
loss is the absolute difference of the limbs' curvatures, which it takes from the markers first; (1) takes the markers
themselves, so that markers need no assignment to limbs, and has a gradient where it is smallest. Scaling by s stands
for what the paper's loss does by itself: it makes limbs that move all markers and limbs that move few alike.

Source: Choi et al. (2024), section V-B, equations (19)–(21), Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo
from corekit.roles.component import BuildContext
from corekit.roles.estimator import Estimate, EstimationTask, Estimator
from corekit_fit.config import CurvatureDescentConfig
from corekit_fit.rest_shapes import Match, RestShapes, Shape, fit_shapes

__all__ = ["CurvatureDescent"]


@final
class CurvatureDescent(Estimator):
    """Natural-curvature schedules from markers of a body that moves slowly, for any model with `curvature-input`."""

    def __init__(self, config: CurvatureDescentConfig, context: BuildContext | None = None) -> None:
        self._config = config

    def estimate(
        self, task: EstimationTask, progress: Callable[[Mapping[str, float]], None]
    ) -> tuple[Estimate, SolveInfo]:
        """Fit every shape in turn.

        Raises:
            ConfigError: markers, frames or channels that do not fit together.
            StaticsFailed: a shape that could not be found.
        """
        shapes = RestShapes(task, self._config)
        return fit_shapes(shapes, _Descent(shapes, self._config), progress, "curvature-descent")


@final
class _Descent:
    """Matches one shape by (2)."""

    def __init__(self, shapes: RestShapes, config: CurvatureDescentConfig) -> None:
        self._shapes, self._config = shapes, config

    def __call__(self, before: Shape, place: Array, time: float) -> Match:
        shapes, config = self._shapes, self._config
        now = shapes.at(before.x, before.state, time)
        loss, rate = _loss(now, place), config.rate
        for iteration in range(1, config.max_iterations + 1):
            direction = self._direction(now, place, time)
            while True:
                step = rate * direction
                trial, _ = shapes.towards(now, step, time)
                reached = _loss(trial, place)
                small = float(np.abs(step).max()) <= config.tolerance
                if reached <= loss or small:
                    break
                rate *= 0.5
            if reached <= loss:
                now, loss = trial, reached
            if small:
                return Match(now, settled=True, iterations=iteration)
        return Match(now, settled=False, iterations=config.max_iterations)

    def _direction(self, now: Shape, place: Array, time: float) -> Array:
        """−∂λ/∂xᵢ/sᵢ²; 0 for what moves no marker."""
        seen, probe = np.isfinite(place), self._config.probe
        off = np.where(seen, place - now.markers, 0.0)
        direction = np.zeros(len(now.x))
        for i in range(len(now.x)):
            x = now.x.copy()
            x[i] += probe
            moved = np.where(seen, self._shapes.at(x, now.state, time).markers - now.markers, 0.0) / probe
            size = float(np.sum(moved**2))
            direction[i] = float(np.sum(moved * off)) / size if size > 0.0 else 0.0
        return direction


def _loss(shape: Shape, place: Array) -> float:
    off = np.where(np.isfinite(place), place - shape.markers, 0.0)
    return 0.5 * float(np.mean(np.sum(off**2, axis=1)))
