"""The estimator `adjoint`: parameters of a simulated motion by gradients of whole runs, through contact.

The misfit (1) of `run_misfit` is minimised within bounds by the search that comes with gradients, BFGS with weak Wolfe
points, which goes on where contacts make kinks. A gradient costs one run and one sweep back, whatever the number of
parameters, but for two evaluations of each step a parameter. Verdicts need the Jacobian of the terms, which is found
once in the end, by differences of four simulations a parameter.

Source: docs/gradients.md; A. S. Lewis, M. L. Overton (2013), Nonsmooth optimization via quasi-Newton methods,
Mathematical Programming 141.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo
from corekit.roles.component import BuildContext
from corekit.roles.estimator import Estimate, EstimationTask, Estimator
from corekit_fit.config import AdjointConfig
from corekit_fit.run_estimate import Found, answer
from corekit_fit.run_misfit import RunMisfit

__all__ = ["Adjoint"]


@final
class Adjoint(Estimator):
    """Least misfit by gradients, for any model whose steps have derivatives, with or without contact."""

    def __init__(self, config: AdjointConfig, context: BuildContext | None = None) -> None:
        self._config = config

    def estimate(
        self, task: EstimationTask, progress: Callable[[Mapping[str, float | str]], None]
    ) -> tuple[Estimate, SolveInfo]:
        """Search from every start; the best is the answer.

        Raises:
            ConfigError: inconsistent markers, frames or parameters; no bounds to spread the starts over.
            GradientError: a step has no derivative.
            PluginError: nothing installed differentiates runs.
            StepFailed: the scenario cannot be simulated with the first start.
        """
        config, misfit, found = self._config, RunMisfit(task, self._config, progress), []
        # z is relative where θ is positive; where bounds are closer, they say what size a change has
        scale = np.minimum(0.5 * (misfit.high - misfit.low), 1.0)

        def scaled(y: Array) -> tuple[float, Array]:
            value, slope = misfit.try_gradient(np.clip(y * scale, misfit.low, misfit.high))
            return value, slope * scale

        for z in misfit.starts():
            made: Any = task.minimise(
                scaled, z / scale, misfit.low / scale, misfit.high / scale, iterations=config.max_iterations,
                tolerance=config.tolerance,
            )  # fmt: skip
            found.append(made)
            misfit.costs.append(made.value if np.isfinite(made.value) else np.inf)
        best = min(found, key=lambda each: each.value if np.isfinite(each.value) else np.inf)
        z = np.clip(best.x * scale, misfit.low, misfit.high)
        slope = float(np.abs(best.gradient).max())
        found = Found(z, misfit.residual(z), slope, best.iterations, best.converged, f"BFGS: {best.reason}")
        return answer(misfit, found)
