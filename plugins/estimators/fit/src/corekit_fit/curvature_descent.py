"""The estimator `curvature-descent`: natural curvature by gradient descent, Algorithm 1 of the paper.

    λ(x) = ½·mean over markers of |p̂ − p(x)|²                                                        (1)
    xᵢ ← xᵢ − α·∂λ/∂xᵢ/sᵢ²,     sᵢ² = mean of |∂p/∂xᵢ|²,     α ← α/2 if λ grew                         (2)

with ∂p/∂xᵢ ≈ (p(x + ε·eᵢ) − p(x))/ε by forward differences, one equilibrium each. The loss of the paper is the absolute
difference of the limbs' curvatures, computed from the markers. (1) uses the markers directly. They need no
assignment to limbs, and (1) is differentiable at its minimum. The scales s give equal weight to limbs that move
many and few markers, as the loss of the paper does.

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
from corekit_fit.equilibrium_shapes import EquilibriumShapes, Match, Shape, fit_shapes

__all__ = ["CurvatureDescent"]


@final
class CurvatureDescent(Estimator):
    """Natural curvature over time from markers of a slow body, for any model with `curvature-input`."""

    def __init__(self, config: CurvatureDescentConfig, context: BuildContext | None = None) -> None:
        self._config = config

    def estimate(
        self, task: EstimationTask, progress: Callable[[Mapping[str, float]], None]
    ) -> tuple[Estimate, SolveInfo]:
        """Fit all shapes in order.

        Raises:
            ConfigError: inconsistent markers, frames or channels.
            StaticsFailed: a shape without an equilibrium.
        """
        shapes = EquilibriumShapes(task, self._config)
        return fit_shapes(shapes, _Descent(shapes, self._config), progress, "curvature-descent")


@final
class _Descent:
    """Fit of one shape by (2)."""

    def __init__(self, shapes: EquilibriumShapes, config: CurvatureDescentConfig) -> None:
        self._shapes, self._config = shapes, config

    def __call__(self, previous: Shape, position: Array, time: float) -> Match:
        shapes, config = self._shapes, self._config
        current = shapes.solve(previous.x, previous.state, time)
        loss, rate = _loss(current, position), config.rate
        for iteration in range(1, config.max_iterations + 1):
            direction = self._direction(current, position, time)
            while True:
                step = rate * direction
                trial, _ = shapes.step_towards(current, step, time)
                trial_loss = _loss(trial, position)
                is_small = float(np.abs(step).max()) <= config.tolerance
                if trial_loss <= loss or is_small:
                    break
                rate *= 0.5
            if trial_loss <= loss:
                current, loss = trial, trial_loss
            if is_small:
                return Match(current, converged=True, iterations=iteration)
        return Match(current, converged=False, iterations=config.max_iterations)

    def _direction(self, current: Shape, position: Array, time: float) -> Array:
        """Return −∂λ/∂xᵢ/sᵢ²; 0 if xᵢ moves no marker."""
        observed, probe = np.isfinite(position), self._config.probe
        error = np.where(observed, position - current.markers, 0.0)
        direction = np.zeros(len(current.x))
        for i in range(len(current.x)):
            x = current.x.copy()
            x[i] += probe
            marker_rate = (
                np.where(observed, self._shapes.solve(x, current.state, time).markers - current.markers, 0.0)
                / probe
            )
            size = float(np.sum(marker_rate**2))
            direction[i] = float(np.sum(marker_rate * error)) / size if size > 0.0 else 0.0
        return direction


def _loss(shape: Shape, position: Array) -> float:
    error = np.where(np.isfinite(position), position - shape.markers, 0.0)
    return 0.5 * float(np.mean(np.sum(error**2, axis=1)))
